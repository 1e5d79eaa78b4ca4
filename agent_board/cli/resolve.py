"""Which view a word on the command line means: its id, its name, or the only id that begins so."""

from agent_board.errors import BoardError
from agent_board.store.files import read_json
from agent_board.store.paths import StorePaths
from agent_board.store.views import archived_ids, view_ids
from agent_board.text import preview

_SHOWN = 5


def resolve(paths: StorePaths, word: str) -> str:
    """The id of the view. Raises BoardError, naming the candidates, when none or several are meant.

    Views whose files can't be read have an id as well, so they are found by it.
    """
    ids = sorted(view_ids(paths))
    if word in ids:
        return word
    names = names_of(paths, ids)
    for candidates in (_named(paths, names, word), [view_id for view_id in ids if word and view_id.startswith(word)]):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise BoardError(f"“{_brief(word)}” could be {_listing(candidates, names)}; name one by its id.")
    known = f"there are {_listing(ids, names)}" if ids else "there are no tasks yet"
    raise BoardError(f"No task is called “{_brief(word)}”; {known}.")


def names_of(paths: StorePaths, ids: list[str]) -> dict[str, str]:
    """The names of these views, without those whose meta.json can't be read."""
    names = {}
    for view_id in ids:
        meta = read_json(paths.view(view_id).meta)
        if isinstance(meta, dict) and isinstance(meta.get("name"), str):
            names[view_id] = meta["name"]
    return names


def _named(paths: StorePaths, names: dict[str, str], word: str) -> list[str]:
    """The views of that name; an archived one gives way to one on the board."""
    found = [view_id for view_id, name in names.items() if name == word]
    if len(found) > 1:
        archived = archived_ids(paths)
        found = [view_id for view_id in found if view_id not in archived] or found
    return found


def _listing(ids: list[str], names: dict[str, str]) -> str:
    listed = [f"{view_id} ({_brief(names[view_id])})" if view_id in names else view_id for view_id in ids[:_SHOWN]]
    return ", ".join(listed) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")


def _brief(text: str) -> str:
    return preview(text, 40)
