"""What nobody foresaw: the details into the product's log, one sentence for the user."""

import os
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress

from agent_board import __version__
from agent_board.store.files import FILE_MODE
from agent_board.store.paths import StorePaths, home_from

_LARGEST_LOG = 1 << 20


def unexpected(error: BaseException, arguments: Sequence[str]) -> str:
    """Log an unforeseen error; returns the sentence that tells the user where the details are.

    The arguments themselves are not logged: one of them may be a prompt.
    """
    paths = StorePaths(home_from(_home_option(arguments)))
    what = f"{type(error).__name__}: {error}"
    kept = append_error(paths, "".join(traceback.format_exception(error)))
    if kept is None:
        return f"Something went wrong inside agent-board {__version__} ({what}{_place(error)}); please report it."
    return f"Something went wrong inside agent-board {__version__} ({what}); the details are in {kept}."


def append_error(paths: StorePaths, details: str) -> str | None:
    """Append to the store's error log; returns its path, or None where there is no store or it can't be written."""
    log = f"{paths.log}/errors.log"
    with suppress(OSError):
        if os.path.exists(log) and os.path.getsize(log) > _LARGEST_LOG:
            os.replace(log, f"{log}.1")
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} agent-board {__version__}\n{details}\n")
        return log
    return None


def _home_option(arguments: Sequence[str]) -> str | None:
    for at, word in enumerate(arguments):
        if word == "--":
            return None
        if word == "--home" and at + 1 < len(arguments):
            return arguments[at + 1]
        if word.startswith("--home="):
            return word.removeprefix("--home=")
    return None


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
