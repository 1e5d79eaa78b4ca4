"""Completion scripts: whole, and safe against what a task may be called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_board.cli.parser import SHELLS
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script(cli: Cli, shell: str):
    done = cli("completion", shell)
    assert done.code == 0
    assert "agent-board completion views" in done.out
    assert "read-only" in done.out


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "agent-board"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agent_board "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def completed(cli: Cli, *words: str) -> set[str]:
    """What bash offers for the last word."""
    bash = shutil.which("bash")
    assert bash, "these tests need bash"
    asking = (
        f"{cli('completion', 'bash').out}\n"
        f"COMP_WORDS=({' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n"
        '_shtab_agent_board; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run([bash, "--norc", "-c", asking], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.usefixtures("on_path")
def test_bash_completes_commands_states_and_views(cli: Cli, store: StorePaths, tmp_path: Path):
    make_view(store, "aa11", meta={"name": "fix-typos"})
    make_view(store, "bb22", meta={"name": f"$(touch {tmp_path}/owned)"})
    assert "dispatch" in completed(cli, "agent-board", "dis")
    assert completed(cli, "agent-board", "show", "a") == {"aa11"}
    assert completed(cli, "agent-board", "show", "") >= {"aa11", "bb22", "fix-typos"}
    assert completed(cli, "agent-board", "list", "--state", "need") == {"needs_input"}
    assert not (tmp_path / "owned").exists()


def test_only_harmless_names_are_offered(cli: Cli, store: StorePaths):
    for number, name in enumerate(["ok-1.2", "a b", "$HOME", "`ls`", "*", "-n", "~", "修复", "a;b", "a\nb"]):
        make_view(store, f"a{number}", meta={"name": name})
    assert set(cli("completion", "views").out.split("\n")) == {"", "ok-1.2", *(f"a{number}" for number in range(10))}
