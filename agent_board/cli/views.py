"""The views that a command looks at: loaded, and reconciled where one claims a live process."""

import argparse
from collections.abc import Iterable

from agent_board.cli.output import warn
from agent_board.cli.resolve import names_of, resolve
from agent_board.cli.stores import to_change
from agent_board.errors import BoardError
from agent_board.store.files import Missing
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, State
from agent_board.store.views import archived_ids, newer_store, view_ids


def all_views(paths: StorePaths, *, archived: bool) -> list[ViewRecord]:
    """Every view as it truly stands now; archived ones are not even read unless asked for."""
    hidden = set() if archived else archived_ids(paths)
    records = present(load_view(paths, view_id) for view_id in view_ids(paths) if view_id not in hidden)
    return reconciled(paths, records)


def one_view(paths: StorePaths, view_id: str) -> ViewRecord:
    """One view as it truly stands now. Raises BoardError when it is gone."""
    found = reconciled(paths, present([load_view(paths, view_id)]))
    if not found:
        raise BoardError(f"The task {view_id} is gone.")
    return found[0]


def view_to_change(args: argparse.Namespace) -> tuple[StorePaths, str]:
    """The store and the id of the view that a command is about to change, its row made true first.

    An unreadable view is as good as any here: the act says whether it can do without the file.
    """
    paths = to_change(args)
    view_id = resolve(paths, args.view)
    reconciled(paths, present([load_view(paths, view_id)]))
    return paths, view_id


def name_of(paths: StorePaths, view_id: str) -> str:
    """What to call a view in a sentence: its name in quotes, or its id where that can't be read."""
    name = names_of(paths, [view_id]).get(view_id)
    return view_id if name is None else f"“{name}”"


def present(found: Iterable[ViewRecord | Missing]) -> list[ViewRecord]:
    """Without the directories that hold no view (any more)."""
    return [record for record in found if isinstance(record, ViewRecord)]


def claims_life(record: ViewRecord) -> bool:
    """Whether the files say that something still runs or is about to, which only processes can prove."""
    state = record.state
    if isinstance(state, State):
        return state.process_state is ProcessState.ALIVE or not state.semantic_state.settled
    return isinstance(state, Missing)


def reconciled(paths: StorePaths, records: list[ViewRecord]) -> list[ViewRecord]:
    """The records, those read again that claimed a process which was not there any more.

    Where the store can't be written, what the files say is shown, with a warning.
    """
    claims = [record for record in records if claims_life(record)]
    if not claims or newer_store(paths):
        return records
    from agent_board.runs.reconcile import reconcile_claims

    try:
        changed = set(reconcile_claims(paths, claims))
    except (BoardError, OSError) as error:
        warn(f"Could not check what still runs ({error}).")
        return records
    if not changed:
        return records
    return present(load_view(paths, record.id) if record.id in changed else record for record in records)
