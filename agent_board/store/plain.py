"""Records as the runner and the acts read them: without pydantic, with the same three answers as `store.load`."""

from typing import Any, TypeVar

from agent_board.store.exact import exact
from agent_board.store.files import Missing, Unreadable, read_json, write_json
from agent_board.store.migrate import migrate
from agent_board.store.records import encode

T = TypeVar("T")


def read(record: type[T], path: str) -> T | Missing | Unreadable:
    """One record from one file."""
    raw = read_json(path)
    if isinstance(raw, Missing | Unreadable):
        return raw
    found = exact(record, migrate(raw))
    return Unreadable("has a wrong shape") if found is None else found


def read_or_none(record: type[T], path: str) -> T | None:
    """One record, or None when it is missing or unreadable; for files whose absence and whose ruin mean the same."""
    found = read(record, path)
    return None if isinstance(found, Missing | Unreadable) else found


def write(path: str, record: Any, *, sync: bool = False) -> None:
    """Replace a file by a record, atomically."""
    write_json(path, encode(record), sync=sync)
