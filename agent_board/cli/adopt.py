"""`agent-board adopt`: a session that was started elsewhere becomes a row."""

import argparse

from agent_board.cli.output import print_object, say
from agent_board.cli.stores import to_write


def run(args: argparse.Namespace) -> int:
    """Put the session on the board, once."""
    from agent_board.runs.adopt import adopt

    paths = to_write(args)
    adopted = adopt(paths, args.session)
    if args.json:
        print_object({"viewId": adopted.view_id, "new": adopted.new})
    elif adopted.new:
        say(f"Adopted as “{adopted.name}” ({adopted.view_id}).")
    else:
        say(f"It is on the board already, as “{adopted.name}” ({adopted.view_id}).")
    return 0
