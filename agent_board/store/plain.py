"""Records as the runner and the acts read them: without pydantic, with the same three answers as `store.load`."""

from typing import Any, TypeVar

from agent_board.store.files import Missing, Unreadable, read_json, write_json
from agent_board.store.migrate import migrate
from agent_board.store.records import decode, encode

T = TypeVar("T")


def read(record: type[T], path: str) -> T | Missing | Unreadable:
    """One record from one file; values are not type-checked."""
    raw = read_json(path)
    if isinstance(raw, Missing | Unreadable):
        return raw
    try:
        return decode(record, migrate(raw))
    except ValueError as error:
        return Unreadable(f"has a wrong shape ({error})")


def read_or_none(record: type[T], path: str) -> T | None:
    """One record, or None when it is missing or unreadable; for files whose absence and whose ruin mean the same."""
    found = read(record, path)
    return None if isinstance(found, Missing | Unreadable) else found


def write(path: str, record: Any, *, sync: bool = False) -> None:
    """Replace a file by a record, atomically."""
    write_json(path, encode(record), sync=sync)
