"""Reading and replacing small files: atomic, durable where asked, and never mistaking a torn file for a missing one."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from agent_board.errors import BoardError
from agent_board.store.records import VERSION

DIR_MODE = 0o700
FILE_MODE = 0o600
_LARGEST = 256 << 20
"""No file of ours grows beyond this; a foreign one must not fill the memory."""


def now_ms() -> int:
    """Wall time in epoch milliseconds, for showing only."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such file."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file is there and can't be understood: torn, empty, foreign, forbidden or of a newer version."""

    why: str
    newer: bool = False


MISSING = Missing()
Raw = dict[str, Any]


def sync_dir(path: str) -> None:
    """Make a rename or a creation in this directory survive a power cut."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_bytes(path: str, data: bytes, *, sync: bool = False) -> None:
    """Replace a file atomically, mode 0600. With `sync` the bytes and the name are on disk when this returns.

    Raises OSError; the old file is then untouched and nothing is left beside it.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename = path
        raise
    if sync:
        sync_dir(folder)


def write_json(path: str, value: Any, *, sync: bool = False) -> None:
    """Replace a JSON file atomically (see `write_bytes`)."""
    write_bytes(
        path,
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"),
        sync=sync,
    )


def parse_json(data: bytes) -> Raw | Unreadable:
    """One JSON object of a version we know, or why it isn't."""
    if not data.strip():
        return Unreadable("is empty")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Unreadable("is torn or not JSON")
    if not isinstance(value, dict):
        return Unreadable("is not a JSON object")
    version = value.get("version")
    if type(version) is not int or version < 0:
        return Unreadable("has no version")
    if version > VERSION:
        return Unreadable(f"was written by a newer agent-board (version {version})", newer=True)
    return value


def _open_at_once(path: str, flags: int) -> int:
    """Open for reading; a named pipe that somebody put there must not hold up the board."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(path: str) -> bytes | Missing | Unreadable:
    """A whole file, with the reason when it can't be read."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            data = file.read(_LARGEST + 1) or b""
            return data if len(data) <= _LARGEST else Unreadable("is too large")
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        return Unreadable(f"can't be read ({error.strerror})")


def read_json(path: str) -> Raw | Missing | Unreadable:
    """One JSON object, nothing there, or there and not understood: three answers, never mixed."""
    data = read_bytes(path)
    return parse_json(data) if isinstance(data, bytes) else data


def keep_unreadable(path: str) -> str:
    """Set an unreadable file's bytes aside as `<name>.unreadable-<ms>`; returns where they are now."""
    kept = f"{path}.unreadable-{now_ms()}"
    os.replace(path, kept)
    return kept


def make_dir(path: str) -> None:
    """A private directory, parents included; nothing happens if it is there."""
    os.makedirs(path, mode=DIR_MODE, exist_ok=True)


@contextmanager
def disk_errors(doing: str) -> Iterator[None]:
    """Turn an OSError into one sentence: what failed, where and why."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename and str(error.filename) not in doing else ""
        raise BoardError(f"Can't {doing}: {error.strerror or error}{where}.") from error
