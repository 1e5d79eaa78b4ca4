"""`agent-board stop`: end a task's run, and see it ended."""

import argparse

from agent_board.cli.output import print_object, say, warn
from agent_board.cli.resolve import resolve
from agent_board.cli.stores import to_change
from agent_board.cli.views import one_view

_PATIENCE_S = 15.0


def run(args: argparse.Namespace) -> int:
    """Stop one task; 1 when there is nothing to stop or it does not end."""
    from agent_board.cli.objects import shown_state
    from agent_board.cli.waiting import tell, wait
    from agent_board.runs.stop import stop

    paths = to_change(args)
    view_id = resolve(paths, args.view)
    one_view(paths, view_id)
    sentence = stop(paths, view_id)
    if not args.json:
        say(sentence)
    result = wait(paths, [view_id], None, _PATIENCE_S, until_exited=True)
    if args.json:
        state = shown_state(result.records[0])
        print_object({"viewId": view_id, "semanticState": state, "message": sentence})
    elif not result.timed_out:
        tell(result)
    if not result.timed_out:
        return 0
    warn(f"It has not ended within {_PATIENCE_S:.0f} s; agent-board explain {view_id} says what is known.")
    return 1
