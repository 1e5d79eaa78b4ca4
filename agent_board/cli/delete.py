"""`agent-board delete`: show exactly what goes, ask, remove it."""

import argparse
import sys

from agent_board.cli.asking import agreed, can_ask
from agent_board.cli.output import print_object, say
from agent_board.cli.views import name_of, view_to_change
from agent_board.errors import BoardError
from agent_board.runs.delete import DeletePlan, delete, plan_delete
from agent_board.runs.life import not_running
from agent_board.text import clean_line


def run(args: argparse.Namespace) -> int:
    """Delete one task's data; 1 when it lives or nobody has agreed."""
    paths, view_id = view_to_change(args)
    with not_running(paths, view_id, "delete it"):
        plan = plan_delete(paths, view_id)
    name = name_of(paths, view_id)
    if not args.yes:
        if not can_ask():
            raise BoardError(f"Deleting {name} can't be taken back; add --yes to do it without a terminal.")
        for line in _lines(plan):
            print(clean_line(line), file=sys.stderr)
        if not agreed(f"Delete {name} for good?"):
            raise BoardError("Nothing was deleted.")
    gone = delete(paths, view_id)
    if args.json:
        print_object(
            {"viewId": view_id, "name": gone.name, "goes": gone.goes, "stays": gone.stays, "bytes": gone.bytes}
        )
    else:
        say(f"Deleted {name}.")
    return 0


def _lines(plan: DeletePlan) -> list[str]:
    return [
        *(f"goes:  {path}" for path in plan.goes),
        *(f"stays: {path} (the board did not make it)" for path in plan.stays),
        f"{plan.bytes:,} bytes are freed.",
    ]
