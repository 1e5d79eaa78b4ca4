"""Records of older versions, lifted to today's in memory; only a file's author writes the result."""

from collections.abc import Callable

from agent_board.store.files import Raw
from agent_board.store.records import VERSION

Step = Callable[[Raw], Raw]


def _from_0(raw: Raw) -> Raw:
    """Version 0, the prototypes: `currentTool` was a plain name, as was `latestTool`."""
    lifted = dict(raw)
    for key in ("currentTool", "latestTool"):
        if isinstance(lifted.get(key), str):
            lifted[key] = {"name": lifted[key], "path": None}
    return lifted


STEPS: dict[int, Step] = {0: _from_0}


def migrate(raw: Raw) -> Raw:
    """The object as of `VERSION`. Newer objects never get here: `files.parse_json` calls them unreadable."""
    version = raw["version"]
    while version < VERSION:
        raw = STEPS[version](raw)
        version += 1
        raw["version"] = version
    return raw
