"""The user's terminal, lent to an agent's own program and taken back as it was."""

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agent_board.text import clean_line

_PUSH_TITLE, _POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
# What a program that died leaves switched on: mouse, focus, paste, keyboard protocols, hidden cursor, no wrap, colours
# and the alternate screen (1047, because 1049 would also move the cursor of a terminal that never was in it).
_RESET = "\x1b[?1000;1002;1003;1004;1006;1015;2004l\x1b[<u\x1b[>4;0m\x1b[?1047l\x1b[?7;25h\x1b[0m"


@contextmanager
def lent_terminal(name: str, leave: str) -> Iterator[None]:
    """Say in one line whose session it is and how to leave it, set the title; afterwards give all of it back."""
    before = _modes()
    name = clean_line(name)
    hint = f": leave it with {leave}" if leave else ""
    _write(f"attached to {name}{hint}\n{_PUSH_TITLE}\x1b]2;{name}\x07")
    try:
        yield
    finally:
        if before is not None:
            _take_back(before)
        _write(f"{_RESET}{_POP_TITLE}")


def _take_back(modes: list[Any]) -> None:
    """A program that was killed may have left another group in the foreground; a write would stop us then."""
    handler = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with suppress(termios.error, OSError):
            os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, modes)
    finally:
        signal.signal(signal.SIGTTOU, handler)


def _modes() -> list[Any] | None:
    with suppress(termios.error, OSError):
        return termios.tcgetattr(sys.stdin)
    return None


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # a terminal that is gone needs no words
        sys.stdout.write(text)
        sys.stdout.flush()
