"""Records as the board and the command line read them: validated, with three answers.

`Record | Missing | Unreadable`: a torn, foreign or newer file is never taken for a missing one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from agent_board.store.exact import exact
from agent_board.store.files import MISSING, Missing, Raw, Unreadable, read_json
from agent_board.store.migrate import migrate
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Meta, RunRequest, RunStatus, State, encode

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


_ADAPTERS: "dict[Any, TypeAdapter[Any]]" = {}


def _adapter(record: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    if record not in _ADAPTERS:
        _ADAPTERS[record] = TypeAdapter(record)
    return _ADAPTERS[record]


def validated(record: type[T], raw: Raw) -> T | Unreadable:
    """The record of a JSON object, or which field is wrong. Pydantic is started only for one that looks odd."""
    raw = migrate(raw)
    quick = exact(record, raw)
    return _judged(record, raw) if quick is None else quick


def _judged(record: type[T], raw: Raw) -> T | Unreadable:
    from pydantic import ValidationError

    try:
        result: T = _adapter(record).validate_python(raw, strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return Unreadable(f"has a wrong {where or 'shape'} ({first['msg'].lower()})")
    return result


def load(record: type[T], path: str) -> T | Missing | Unreadable:
    """One record from one file."""
    raw = read_json(path)
    return raw if isinstance(raw, Missing | Unreadable) else validated(record, raw)


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """One view as its two files say; each may be unreadable, and the state may be missing."""

    id: str
    meta: Meta | Unreadable
    state: State | Missing | Unreadable

    @property
    def unreadable(self) -> str | None:
        """One sentence when a file of this view can't be understood."""
        for name, part in (("meta.json", self.meta), ("state.json", self.state)):
            if isinstance(part, Unreadable):
                return f"{name} {part.why}"
        return None


def load_view(paths: StorePaths, view_id: str) -> ViewRecord | Missing:
    """One view; missing when its directory has no meta.json."""
    view = paths.view(view_id)
    meta = load(Meta, view.meta)
    if isinstance(meta, Missing):
        return MISSING
    if isinstance(meta, Meta):
        meta.id = view_id  # a copied view's file names the one that it was copied from
    return ViewRecord(view_id, meta, load(State, view.state))


def load_status(view: ViewPaths, run_id: str) -> RunStatus | Missing | Unreadable:
    """How a run stands."""
    return load(RunStatus, view.run(run_id).status)


def load_request(view: ViewPaths, run_id: str) -> RunRequest | Missing | Unreadable:
    """What a run was asked to do."""
    return load(RunRequest, view.run(run_id).request)


def as_object(record: Meta | State | RunStatus) -> Raw:
    """The JSON object of a record without its version, for printing."""
    raw = encode(record)
    del raw["version"]
    return raw
