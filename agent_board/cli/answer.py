"""`agent-board answer`: what a running task asks, answered once."""

import argparse

from agent_board.cli.output import print_object, say
from agent_board.cli.views import name_of, view_to_change

_SAID = {"allow": "Allowed", "deny": "Denied", "choice": "Answered"}


def run(args: argparse.Namespace) -> int:
    """Pass one answer on; returns once the agent has been told."""
    from agent_board.agents.base import Answer
    from agent_board.runs.answer import answer

    if args.allow:
        given = Answer("allow")
    elif args.choice is not None:
        given = Answer("choice", choice=args.choice)
    else:
        given = Answer("deny", text=args.deny)
    paths, view_id = view_to_change(args)
    request_id = answer(paths, view_id, args.request, given)
    if args.json:
        print_object({"viewId": view_id, "requestId": request_id, "answer": given.kind})
    else:
        say(f"{_SAID[given.kind]}: {name_of(paths, view_id)} goes on.")
    return 0
