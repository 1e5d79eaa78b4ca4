"""`agent-board delete`: show exactly what goes, ask, remove it."""

import argparse
import sys
from collections.abc import Iterator

from agent_board.cli.asking import agreed, agreed_by_name, can_ask
from agent_board.cli.output import print_object, say
from agent_board.cli.views import name_of, view_to_change
from agent_board.errors import BoardError
from agent_board.runs.delete import DeletePlan, delete, plan_delete
from agent_board.runs.life import not_running
from agent_board.text import clean_line

_DISCARD = "Take the work over first (agent-board merge), or add --discard-work."


def run(args: argparse.Namespace) -> int:
    """Delete one task's data; 1 when it lives or nobody has agreed."""
    paths, view_id = view_to_change(args)
    with not_running(paths, view_id, "delete it"):
        plan = plan_delete(paths, view_id)
    name = name_of(paths, view_id)
    if plan.obstacle:
        raise BoardError(plan.obstacle)
    for line in _lost(plan, args.discard_work):
        print(line, file=sys.stderr)
    if not args.yes:
        _ask(plan, name, discard_work=args.discard_work)
    if plan.loses and not args.discard_work:
        raise BoardError(f"Deleting {name} would lose {', '.join(plan.loses)}; nothing was deleted. {_DISCARD}")
    gone = delete(paths, view_id, shown=plan, discard_work=args.discard_work)
    if args.json:
        told = {"viewId": view_id, "name": gone.name, "goes": gone.goes, "stays": gone.stays, "bytes": gone.bytes}
        print_object({**told, "lost": gone.loses if args.discard_work else []})
    else:
        say(" ".join([f"Deleted {name}.", *gone.notes]))
    return 0


def _ask(plan: DeletePlan, name: str, *, discard_work: bool) -> None:
    """Show what goes and let the user agree. Raises BoardError when he doesn't, or nobody is there."""
    if not can_ask():
        raise BoardError(f"Deleting {name} can't be taken back; add --yes to do it without a terminal.")
    for line in _lines(plan):
        print(clean_line(line), file=sys.stderr)
    if plan.loses and not discard_work:
        return  # the refusal follows
    agree = agreed_by_name(name) if plan.loses else agreed(f"Delete {name} for good?")
    if not agree:
        raise BoardError("Nothing was deleted.")


def _lost(plan: DeletePlan, discard_work: bool) -> Iterator[str]:
    """What exists nowhere else, item by item: also for whoever has agreed beforehand."""
    removal = plan.worktree
    if removal is None:
        return
    for loss in (*removal.lost, *(removal.lost_with_branch if discard_work else ())):
        yield f"LOST:  {clean_line(loss.what)}, nowhere else"
        yield from (f"    {clean_line(item)}" for item in loss.items)
        if loss.count > len(loss.items) > 0:
            yield f"    and {loss.count - len(loss.items)} more"


def _lines(plan: DeletePlan) -> list[str]:
    return [
        *(f"goes:  {path}" for path in plan.goes),
        *(f"stays: {path} (the board did not make it)" for path in plan.stays),
        *plan.notes,
        f"{plan.bytes:,} bytes are freed.",
    ]
