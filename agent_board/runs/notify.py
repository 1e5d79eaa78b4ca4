"""Telling the user outside the screen: once for each transition, by the shim, so it works with no board open (UX 5)."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from agent_board.runs.processes import MARKER
from agent_board.store import plain
from agent_board.store.paths import ViewPaths
from agent_board.store.records import Meta, SemanticState, State

OFF = "-"
_WORDS = {
    SemanticState.NEEDS_INPUT: "needs you",
    SemanticState.FAILED: "failed",
    SemanticState.COMPLETED: "is done",
}


def worth_telling(before: State | None, now: State) -> bool:
    """A transition to needs-you, failed or completed; the same state of another run is one, too."""
    if now.semantic_state not in _WORDS or now.attached:
        return False
    return before is None or before.change_seq < now.change_seq


def announce(view: ViewPaths, command: list[str], before: State | None, now: State) -> None:
    """Tell the user of a change of this view, if it is worth telling. Never raises."""
    if worth_telling(before, now):
        meta = plain.read_or_none(Meta, view.meta)
        tell(command, meta.name if meta is not None else view.view_id, now)


def tell(command: list[str], name: str, state: State, environ: Mapping[str, str] = os.environ) -> None:
    """Start the user's notifier, or the desktop's own, and don't wait for it. Never raises.

    The user's command finds the row in its environment: AGENT_BOARD_VIEW, _NAME, _STATE and _SUMMARY. On the
    desktop only name and state are shown: arguments can be read by every user of the machine.
    """
    if command == [OFF]:
        return
    told = {
        **environ,
        MARKER: "notifier",  # not the run's own: neither ended with it nor left over by it
        "AGENT_BOARD_VIEW": state.view_id,
        "AGENT_BOARD_NAME": name,
        "AGENT_BOARD_STATE": state.semantic_state.value,
        "AGENT_BOARD_SUMMARY": state.summary,
    }
    argv = command or desktop_notifier(f"{name} {_WORDS[state.semantic_state]}", environ)
    if argv:
        with suppress(OSError, ValueError):
            # Through a shell that doesn't wait, so that nobody here has to.
            subprocess.run(
                ["/bin/sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *argv],
                env=told,
                start_new_session=True,
                check=False,
            )


def desktop_notifier(message: str, environ: Mapping[str, str]) -> list[str]:
    """The desktop's own command, or nothing where there is no desktop."""
    if sys.platform == "darwin":
        quoted = message.replace("\\", "\\\\").replace('"', '\\"')
        return ["osascript", "-e", f'display notification "{quoted}" with title "agent-board"']
    desktop = environ.get("WAYLAND_DISPLAY") or environ.get("DISPLAY")
    if desktop and environ.get("DBUS_SESSION_BUS_ADDRESS") and (program := shutil.which("notify-send")):
        return [program, "--app-name=agent-board", "agent-board", message]
    return []
