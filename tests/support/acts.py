"""What a user does in a shell, as functions: dispatch, look, wait, stop. Each one is a process of `agent-board`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import command
from tests.support.wait import wait_for

Shown = dict[str, Any]


@dataclass(frozen=True)
class Dispatched:
    """What `dispatch --json` printed."""

    view: str
    run: str

    @property
    def run_dir(self) -> Path:
        """Where the run's files are."""
        return Path(os.environ["AGENT_BOARD_HOME"]) / "views" / self.view / "runs" / self.run


def dispatch(prompt: str | bytes, *options: str, cwd: Path, agent: str = "pi") -> Dispatched:
    """Dispatch a prompt through standard input, so that it may be anything."""
    data = prompt if isinstance(prompt, bytes) else prompt.encode()
    out = command.ok("dispatch", "--json", "--agent", agent, *options, "-", stdin=data, cwd=cwd).json
    return Dispatched(out["viewId"], out["runId"])


def show(view: str) -> Shown:
    """One view as `show --json` prints it."""
    shown: Shown = command.ok("show", "--json", view).json
    return shown


def listed() -> dict[str, Shown]:
    """All views as `list --json` prints them, by id."""
    return {row["id"]: row for row in command.ok("list", "--json").json}


def settled(view: str, timeout: float = 60.0) -> Shown:
    """Wait until the view is neither queued nor working, then show it."""
    done = command.run("wait", view, "--timeout", f"{timeout:g}", timeout=timeout + 20)
    assert done.code in (0, 4), f"wait ended with {done.code}: {done.err}\n{show(view)}"
    return show(view)


def until(view: str, condition: Callable[[Shown], object], timeout: float = 30.0) -> Shown:
    """Look at the view again and again until the condition holds of it."""

    def look() -> Shown | None:
        shown = show(view)
        last.append(shown)
        return shown if condition(shown) else None

    last: list[Shown] = []
    try:
        return wait_for(look, timeout)
    except AssertionError:
        raise AssertionError(f"never came: {last[-1] if last else 'nothing'}") from None


def stop(view: str) -> None:
    """Stop the view's run, and wait until it has stopped."""
    command.ok("stop", view)


def run_of(shown: Shown) -> Shown:
    """The only run of a view that has one."""
    (run,) = shown["runs"]
    assert isinstance(run, dict)
    return run
