"""Who loads what: by contract for the whole package, and as seen in the processes where start-up counts."""

import subprocess
import sys
from pathlib import Path

from agent_board.agents import registry
from agent_board.store.paths import StorePaths
from tests.support.repository import ROOT

HEAVY = {"textual", "rich", "pydantic", "watchfiles", "psutil", "git", "shtab", "asyncio"}


def _modules(program: str, *flags: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded when the program has run."""
    ending = "\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, *flags, "-c", program + ending], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {line.partition(".")[0] for line in done.stderr.splitlines()}


def _command(*arguments: str) -> set[str]:
    program = f"""
import sys
sys.argv = ["agent-board", *{list(arguments)!r}]
from agent_board.cli.main import main
try:
    code = main()
except SystemExit as end:
    code = end.code
assert not code, code
"""
    return _modules(program)


def test_the_layers_are_kept() -> None:
    """Imports point down, and only the screen knows Textual; the contracts stand in pyproject.toml."""
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_runner_loads_nothing_heavy() -> None:
    """AB-018: a plain script on the standard library, whichever agent it runs; nothing else is even to be had."""
    agents = [name for name in registry.names() if name in ("pi", "demo")]
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import agent_board.runs.shim
from agent_board.agents import registry
for name in {agents!r}:
    registry.agent(name)
"""
    assert _modules(program, "-I", "-S") & HEAVY == set()


def test_a_listing_loads_no_screen(store: StorePaths) -> None:
    assert _command("list", "--json") & {"textual", "rich", "watchfiles", "git"} == set()


def test_the_version_loads_nothing_heavy() -> None:
    assert _command("--version") & HEAVY == set()
