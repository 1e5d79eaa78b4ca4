"""What the board remembers between two starts: grouping, scope, theme and the half-written task."""

from dataclasses import asdict, dataclass, field, fields

from agent_board.board.acts import NewTask
from agent_board.store.files import read_json, write_json
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION

_SIMPLE = {"grouping": str, "only_here": bool, "theme": str, "agent": str, "elsewhere": str}


@dataclass
class Memory:
    """`board.json` in the store's root. Two boards: the last one to write wins, it is only comfort."""

    grouping: str = "state"
    only_here: bool = False
    theme: str = ""
    """A theme chosen on the board; empty goes by the settings."""
    agent: str = ""
    """The agent that a task got by default last time, so that the first frame can name it."""
    elsewhere: str = ""
    """Sessions outside the board, as chosen there: `shown` or `hidden`; empty goes by the settings."""
    draft: NewTask = field(default_factory=NewTask)


def recall(paths: StorePaths) -> Memory:
    """What was remembered; the defaults for whatever isn't there or isn't understood."""
    raw = read_json(_path(paths))
    memory = Memory()
    if not isinstance(raw, dict):
        return memory
    for name, kind in _SIMPLE.items():
        if isinstance(raw.get(name), kind):
            setattr(memory, name, raw[name])
    draft = raw.get("draft")
    for spec in fields(NewTask):
        value = draft.get(spec.name) if isinstance(draft, dict) else None
        if isinstance(value, type(getattr(memory.draft, spec.name)) if spec.name != "agent" else str):
            setattr(memory.draft, spec.name, value)
    return memory


def remember(paths: StorePaths, memory: Memory) -> None:
    """Keep it. Raises OSError when the disk doesn't take it."""
    write_json(_path(paths), {"version": VERSION, **asdict(memory)})


def _path(paths: StorePaths) -> str:
    return f"{paths.root}/board.json"
