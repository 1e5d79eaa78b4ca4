"""Giving the terminal to another program for a while: an editor, an attached agent, a shell; and taking it back whole.

The program may leave the terminal in any condition, be killed, or be interrupted with ctrl+c: the board must come
back as it was, and its first key must work.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from textual.app import App, SuspendNotSupported

_RESETS = (
    *(f"\x1b[?{mode}l" for mode in (9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004)),
    "\x1b[<99u",  # every pushed keyboard protocol
    "\x1b[>4;0m",  # modifyOtherKeys
    "\x1b[?1l\x1b>",  # cursor keys and keypad as usual
    "\x1b[?7h",  # lines wrap
    "\x1b[?1047l",  # the usual screen; 1049 would move the cursor of a terminal that is there already
    "\x1b7\x1b[r\x1b8",  # the whole screen scrolls; the cursor stays under what was written last
    "\x1b(B\x0f",  # the usual characters
    "\x1b[?25h\x1b[0 q\x1b[m",
)
"""What puts a terminal right that a program left wrong: mouse, focus, paste, keys, screen, cursor, colours."""


@dataclass(frozen=True, slots=True)
class Returned:
    """How a program on the terminal ended."""

    exit_code: int | None
    """Negative: by that signal. None: it did not start."""
    problem: str = ""
    """One sentence when it did not start."""


def run_in_terminal(
    app: App[Any],
    command: Sequence[str],
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    words: str = "",
    title: str = "",
) -> Returned:
    """Run a program on the board's terminal and wait for its end; the screen stands still until then.

    `words` is the line printed first (how to come back, say), `title` the terminal's title meanwhile. Call it on the
    screen's own thread. Never raises: what went wrong is in the answer.
    """
    try:
        with app.suspend():
            return _on_terminal(command, cwd, environ, words, title)
    except SuspendNotSupported:
        return Returned(None, "This terminal can't be given to another program.")


def can_be_put_aside() -> bool:
    """Whether a shell with jobs is there to bring the board back; stopped without one, it would stay so for ever."""
    return os.getpgrp() != os.getsid(0)


def put_aside() -> None:
    """Stop the board as the terminal itself would at ctrl+z: with all of its job, `uvx` in front of it, say."""
    os.killpg(0, signal.SIGTSTP)


def take_up_again(app: App[Any]) -> None:
    """From now on the board comes back whole when it goes on after a stop, whoever stopped it.

    Textual takes each SIGCONT for the end of a SIGTSTP. After a SIGSTOP, or when nothing was stopped, it would read
    the keys twice and take the raw terminal for the one to give back at the end.
    """
    driver: Any = app._driver  # it has no other name for what is needed here

    def go_on(*_: object) -> None:
        if driver._auto_restart:  # else another program has the terminal
            if not driver._must_signal_resume:
                driver.suspend_application_mode()
                driver._must_signal_resume = True
            driver.resume_application_mode()

    if hasattr(driver, "_must_signal_resume"):
        signal.signal(signal.SIGCONT, go_on)


def editor() -> list[str]:
    """The user's editor as an argument list: $VISUAL, else $EDITOR, else what is here; empty when nothing is."""
    for name in ("VISUAL", "EDITOR"):
        with suppress(ValueError):
            if words := shlex.split(os.environ.get(name, "")):
                return words
    return next(([program] for program in ("editor", "nano", "vi") if shutil.which(program)), [])


def _on_terminal(
    command: Sequence[str], cwd: str | None, environ: Mapping[str, str] | None, words: str, title: str
) -> Returned:
    with _deaf(), _terminal_restored():
        if title:
            _write(f"\x1b]0;{title}\x07")
        if words:
            _write(f"\x1b[m{words}\r\n")
        _forget_keys()
        try:
            process = subprocess.Popen(list(command), cwd=cwd, env=None if environ is None else dict(environ))
        except OSError as error:
            return Returned(None, f"{command[0]} could not be started ({error.strerror or error}).")
        return Returned(process.wait())


@contextmanager
def _deaf() -> Iterator[None]:
    """Keys that signal the whole foreground group are the program's affair.

    A handler that does nothing: unlike an ignored signal it is not inherited by the program.
    """
    keys = (signal.SIGINT, signal.SIGQUIT)
    before = {number: signal.signal(number, lambda *_: None) for number in keys}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """Keep the terminal's settings and its foreground group; put back both, and what escape sequences changed."""
    import termios

    fd = _terminal()
    before = termios.tcgetattr(fd) if fd is not None else None
    try:
        yield
    finally:
        if fd is not None and before is not None:
            _take_foreground(fd)
            _write("".join(_RESETS))
            with suppress(termios.error):  # the terminal has gone
                termios.tcsetattr(fd, termios.TCSAFLUSH, before)


def _forget_keys() -> None:
    """What was typed until now was meant for the board."""
    import termios

    fd = _terminal()
    if fd is not None:
        with suppress(termios.error):
            termios.tcflush(fd, termios.TCIFLUSH)


def _take_foreground(fd: int) -> None:
    """A job-controlling program that was killed leaves its own group in the foreground, and us stopped at a write."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with suppress(OSError):
            os.tcsetpgrp(fd, os.getpgrp())
    finally:
        signal.signal(signal.SIGTTOU, before)


def _terminal() -> int | None:
    with suppress(AttributeError, OSError, ValueError):
        fd = sys.__stdin__.fileno()  # type: ignore[union-attr]
        return fd if os.isatty(fd) else None
    return None


def _write(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):
        sys.__stderr__.write(text)  # type: ignore[union-attr]
        sys.__stderr__.flush()  # type: ignore[union-attr]
