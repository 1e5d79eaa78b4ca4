"""Dying at an exact step of DESIGN 5: the launcher or the shim, killed by its own hand between two statements.

`python -m tests.runs.crash LAUNCHER_STEP SHIM_STEP PROMPT CWD` dispatches PROMPT in the store of the environment with
the launcher to die at one step and the shim at another (`-` for never); with `reply:VIEW` for CWD it replies, with
`send:VIEW` it sends the waiting prompt whose id is PROMPT.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

STEP = "AGENT_BOARD_TEST_CRASH_AT"


def die(*_: object, **__: object) -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(owner: Any, name: str) -> None:
    """Replace a function by death."""
    setattr(owner, name, die)


def die_before_rename(when: Callable[[str], bool]) -> None:
    """Die in place of the rename whose source path fits."""
    real = os.rename

    def renaming(source: str, target: str) -> None:
        if when(source):
            die()
        real(source, target)

    os.rename = renaming  # type: ignore[assignment]


def die_after(owner: Any, name: str, when: Callable[..., bool] = lambda *_, **__: True) -> None:
    """Let a function do its work, then die if `when` says so of its arguments."""
    real = getattr(owner, name)

    def doing(*arguments: Any, **options: Any) -> Any:
        result = real(*arguments, **options)
        if when(*arguments, **options):
            die()
        return result

    setattr(owner, name, doing)


def arm_launcher(step: str) -> None:
    """Make this process die at a step of dispatching."""
    from agent_board.runs import claim, followups, succession

    if step == "prompt written":
        die_after(claim, "write_bytes")
    elif step == "run built":
        die_before_rename(lambda source: "/runs/" in source)
    elif step == "view built":
        die_before_rename(lambda source: "/runs/" not in source)
    elif step == "view there":
        die_before(succession, "launch")
    elif step == "shim started":
        die_after(succession, "launch")
    elif step == "claimed":
        die_before(succession, "forget")
    elif step == "forgotten":
        die_after(succession, "forget")
    elif step == "waiting":
        die_after(followups, "add")
    else:
        assert step == "-", step


def arm_shim(step: str) -> None:
    """Make this process die at a step of the shim."""
    from agent_board.agents.events import PromptAccepted, Settled, ToolStarted
    from agent_board.runs import recorder, shim, succession
    from agent_board.runs.worker import Worker
    from agent_board.store import plain

    if step == "started":
        die_before(plain, "write")
    elif step == "owner recorded":
        die_before(shim.Shim, "run_to_the_end")
    elif step == "gate started":
        die_before(shim.Shim, "_record_worker")
    elif step == "worker recorded":
        die_before(Worker, "open_gate")
    elif step == "gate open":
        die_after(Worker, "open_gate")
    elif step in ("accepted", "in a tool", "settled"):
        kind = {"accepted": PromptAccepted, "in a tool": ToolStarted, "settled": Settled}[step]
        die_after(recorder.Recorder, "see", lambda _, event: isinstance(event, kind))
    elif step == "ended":
        die_before(recorder.Recorder, "finish")
    elif step == "status written":
        die_after(plain, "write", lambda path, record, **_: path.endswith("status.json") and record.ended_at)
    elif step == "all written":
        die_after(recorder.Recorder, "finish")
    elif step.startswith("answer "):
        arm_answering(step)
    elif step == "next chosen":
        die_after(shim, "next_or_release")
    elif step == "next built":
        die_before_rename(lambda source: "/runs/" in source)
    elif step == "next claimed":
        die_before(succession, "forget")
    elif step == "next forgotten":
        die_after(succession, "forget")
    elif step == "next queued":
        die_before(succession, "launch")
    elif step == "next started":
        die_after(succession, "launch")
    else:
        assert step == "-", step


def arm_answering(step: str) -> None:
    """Make this process die at a step of passing an answer on."""
    from agent_board.runs import inbox
    from agent_board.runs.channel import Channel

    if step == "answer seen":
        die_before(inbox, "move")
    elif step == "answer marked":
        die_after(inbox, "move", lambda _, outcome: outcome == inbox.SENDING)
    elif step == "answer written":
        die_after(Channel, "send", lambda _, line: b"control_response" in line)
    else:
        assert step == "answer recorded", step
        die_after(inbox, "move", lambda _, outcome: outcome == inbox.SENT)


def main(launcher_step: str, shim_step: str, prompt: str, cwd: str) -> None:
    """Dispatch or reply once."""
    from agent_board.runs import launch
    from agent_board.runs.dispatch import Order, dispatch
    from agent_board.runs.reply import reply, send
    from agent_board.store.views import open_store

    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crashing_runner.py")
    vars(launch)["JOB_RUNNER"] = runner
    os.environ[STEP] = shim_step
    arm_launcher(launcher_step)
    store = open_store(os.environ["AGENT_BOARD_HOME"])
    if cwd.startswith("reply:"):
        reply(store, cwd.removeprefix("reply:"), prompt.encode())
    elif cwd.startswith("send:"):
        send(store, cwd.removeprefix("send:"), prompt)
    else:
        dispatch(store, Order(prompt.encode(), cwd, agent="demo", read_only=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
