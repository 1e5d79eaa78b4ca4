"""`agent-board explain`: why a task has the state it has."""

import argparse

from agent_board.cli.objects import view_object
from agent_board.cli.output import print_object, say
from agent_board.cli.resolve import resolve
from agent_board.cli.stores import to_read
from agent_board.cli.views import one_view
from agent_board.store.files import Unreadable
from agent_board.store.load import ViewRecord, load_status
from agent_board.store.paths import StorePaths
from agent_board.store.records import RunStatus, State


def run(args: argparse.Namespace) -> int:
    """Print the rule and the evidence, a sentence a line."""
    paths = to_read(args)
    record = one_view(paths, resolve(paths, args.view))
    lines = _explanation(paths, record)
    if args.json:
        found = view_object(record)
        kept = {key: found[key] for key in ("id", "name", "semanticState", "processState", "reason", "unreadable")}
        print_object({**kept, "explanation": lines})
    else:
        for line in lines:
            say(line)
    return 0


def _explanation(paths: StorePaths, record: ViewRecord) -> list[str]:
    from agent_board.states.explain import explain

    if isinstance(record.meta, Unreadable) or isinstance(record.state, Unreadable):
        where = paths.view(record.id).dir
        return [f"{where}/{record.unreadable}, so nothing can be said of the task; its other files are as they were."]
    state = record.state if isinstance(record.state, State) else None
    run_id = state.current_run_id if state else None
    status = load_status(paths.view(record.id), run_id) if run_id else None
    lines = explain(record.meta, state, status if isinstance(status, RunStatus) else None)
    if isinstance(status, Unreadable):
        lines.append(f"The run's status.json {status.why}.")
    return lines
