"""The board's own way to call the user: the terminal's bell or its notification, by one board of several (UX 5)."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from agent_board.errors import BusyError
from agent_board.store import locks
from agent_board.store.paths import StorePaths
from agent_board.text import clean_line

BELL = "\x07"
_OSC9 = ("ghostty", "iterm", "kitty", "wezterm")
_OSC777 = ("foot", "rxvt")
_ENDS = "\x07"


def form_for(setting: str, environ: Mapping[str, str]) -> str:
    """`bell`, `osc9`, `osc777` or `off`.

    Automatically it is the bell, which every terminal has and tmux passes on; over SSH, where the runner's desktop
    notifier can't reach the user, a terminal known for it shows a notification.
    """
    if setting != "auto":
        return setting
    if "SSH_CONNECTION" not in environ and "SSH_TTY" not in environ:
        return "bell"
    known = " ".join(environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL")).lower()
    if any(name in known for name in _OSC9):
        return "osc9"
    return "osc777" if any(name in known for name in _OSC777) else "bell"


def sequence(form: str, text: str, environ: Mapping[str, str]) -> str:
    """What is written to the terminal; inside tmux a notification goes through to the terminal around it."""
    text = clean_line(text)
    if form == "off":
        return ""
    if form == "osc9":
        return _through(f"\x1b]9;agent-board: {text}{_ENDS}", environ)
    if form == "osc777":
        return _through(f"\x1b]777;notify;agent-board;{text.replace(';', ',')}{_ENDS}", environ)
    return BELL


def _through(sequence: str, environ: Mapping[str, str]) -> str:
    # tmux drops this unless allow-passthrough is on; its own bell is heard in any case.
    if environ.get("TMUX"):
        return BELL + "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


class Bell:
    """Rings for this store if no other board does. The first board to have something to say does it until it leaves."""

    def __init__(
        self,
        paths: StorePaths,
        setting: str,
        write: Callable[[str], object],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._lock_path = f"{paths.locks}/notification"
        self._form = form_for(setting, environ)
        self._environ = environ
        self._write = write
        self._lock: int | None = None

    def ring(self, text: str) -> bool:
        """Call the user; False when another board does, or nobody wants it. One open and one try, no waiting."""
        if self._form == "off" or not self._is_ours():
            return False
        self._write(sequence(self._form, text, self._environ))
        return True

    def rest(self) -> None:
        """Let another board do it: this one leaves, or its terminal is lent to a program."""
        if self._lock is not None:
            locks.release(self._lock)
            self._lock = None

    def _is_ours(self) -> bool:
        if self._lock is None:
            with suppress(BusyError, OSError):
                self._lock = locks.acquire(self._lock_path, patience=0.0, what="the bell")
        return self._lock is not None
