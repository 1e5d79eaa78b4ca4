"""`agent-board worktree`: worktrees by name, for work with no task of the board's in it. It never starts an agent."""

import argparse
import os
import sys
from collections.abc import Callable

from agent_board.cli.output import print_array, print_object, say, warn
from agent_board.cli.stores import here
from agent_board.errors import BoardError, UsageError
from agent_board.git.listing import Condition, Worktree, list_worktrees
from agent_board.git.named import Info, find_named, info_of, open_named
from agent_board.git.pruning import prune
from agent_board.git.removal import RemovalPlan, plan_removal, remove
from agent_board.git.repository import Kind, Place, identify, repositories_below
from agent_board.text import clean_line

_STANDS = {
    Condition.MISSING: "its directory is gone",
    Condition.REPLACED: "something else is at its place",
    Condition.INTERRUPTED: "unfinished: making or removing it was interrupted",
    Condition.BUSY: "being made or removed",
}


def run(args: argparse.Namespace) -> int:
    """Do what the second word says."""
    acts = {
        "create": _create,
        "list": _list,
        "info": _info,
        "out": _out,
        "remove": _remove,
        "prune": _prune,
        "start": _removed,
        "prepare": _removed,
    }
    code: int = acts[args.act](args)
    return code


def _removed(args: argparse.Namespace) -> int:
    raise UsageError(
        f"There is no `worktree {args.act}` any more: `agent-board worktree create NAME` makes one, and "
        "`agent-board dispatch --worktree on PROMPT` starts a task in its own."
    )


def _place() -> Place:
    """The repository of the directory we are in. Raises BoardError when there is none."""
    cwd = here()
    if cwd is None:
        raise BoardError("The directory you are in has been deleted; go to another one first.")
    place = identify(cwd)
    if not place.is_git:
        below = repositories_below(cwd)
        hint = f"go into one of these: {', '.join(map(os.path.basename, below))}" if below else "go into one first"
        raise BoardError(f"{cwd} is not in a git repository; {hint}.")
    return place


def _root() -> tuple[str | None, list[str]]:
    from agent_board.config import load_settings

    settings = load_settings().worktrees
    return settings.root, settings.setup_command


def _create(args: argparse.Namespace) -> int:
    place = _place()
    root, setup = _root()
    opened = open_named(
        place, args.name, base=args.base, root=root, setup=setup, progress=_progress()
    )  # fmt: skip
    for warning in opened.warnings:
        warn(warning)
    if args.json:
        print_object(
            {
                "status": opened.status,
                "path": opened.path,
                "branch": opened.branch,
                "dirty": opened.dirty,
                "base": opened.base,
            }
        )
        return 0
    said = {
        "created": f"Created {opened.path} on the new branch {opened.branch}, from {(opened.base or '')[:12]}.",
        "attached": f"Created {opened.path} on the branch {opened.branch}, which was there already.",
        "reused": f"{opened.path} is there already, on {opened.branch}.",
        "already-active": f"You are in it: {opened.path} on {opened.branch}.",
    }
    say(said[opened.status] + (" It has uncommitted changes." if opened.dirty else ""))
    return 0


def _progress() -> Callable[[str], None]:
    """Git's progress for somebody who looks on."""
    if sys.stderr is None or not sys.stderr.isatty():
        return lambda _: None
    return warn


def _list(args: argparse.Namespace) -> int:
    place = _place()
    trees = list_worktrees(place)
    if args.json:
        print_array(_tree_object(place, tree) for tree in trees)
        return 0
    width = max(len(_name(tree)) for tree in trees)
    for tree in trees:
        mark = "*" if place.top is not None and tree.path == place.top else " "
        print(f"{mark} {_name(tree):<{width}}  {clean_line(_line(tree))}")
    return 0


def _name(tree: Worktree) -> str:
    return clean_line(os.path.basename(tree.path)) if tree.kind is Kind.LINKED else f"({tree.kind})"


def _line(tree: Worktree) -> str:
    where = "" if tree.kind is Kind.BARE else (tree.branch or f"detached at {(tree.head or '')[:12] or 'no commit'}")
    notes = [_STANDS[tree.condition]] if tree.condition in _STANDS else []
    if tree.condition is Condition.MISSING:
        notes.append("drop it with: agent-board worktree prune")
    if tree.locked is not None and tree.condition is Condition.OK:
        notes.append(f"locked ({tree.locked.removeprefix('agent-board: ') or 'no reason given'})")
    if tree.view is not None:
        notes.append(f"task {tree.view}")
    return "  ".join(part for part in (where, tree.path, "; ".join(notes)) if part)


def _tree_object(place: Place, tree: Worktree) -> dict[str, object]:
    return {
        "name": os.path.basename(tree.path),
        "path": tree.path,
        "kind": tree.kind,
        "branch": tree.branch,
        "head": tree.head,
        "condition": tree.condition,
        "stale": tree.condition in (Condition.MISSING, Condition.REPLACED),
        "current": place.top is not None and tree.path == place.top,
        "madeHere": tree.ours,
        "viewId": tree.view,
        "base": tree.base,
        "locked": tree.locked,
    }


def _info(args: argparse.Namespace) -> int:
    place = _place()
    info = info_of(place, find_named(place, args.name, root=_root()[0]))
    if args.json:
        print_object(_info_object(place, info))
        return 0
    tree = info.tree
    say(f"path:    {tree.path}")
    say(f"branch:  {tree.branch or 'none (detached)'}")
    say(f"base:    {info.base or 'unknown'}")
    say(f"ahead:   {info.ahead}")
    if info.behind is not None:
        say(f"behind:  {info.behind} ({info.default})")
    say(f"state:   {'dirty' if info.dirty else 'clean'}")
    if tree.locked is not None:
        say(f"locked:  {tree.locked or 'no reason given'}")
    for commit in info.commits:
        print(f"  {commit.id[:12]} {clean_line(commit.subject)}")
    for line in info.changes:
        print(f"  {line}")
    return 0


def _info_object(place: Place, info: Info) -> dict[str, object]:
    return {
        **_tree_object(place, info.tree),
        "base": info.base,
        "dirty": info.dirty,
        "ahead": info.ahead,
        "behind": info.behind,
        "defaultBranch": info.default,
        "commits": [{"id": commit.id, "subject": commit.subject} for commit in info.commits],
        "changes": list(info.changes),
    }


def _out(args: argparse.Namespace) -> int:
    del args
    place = _place()
    if place.main is None:
        raise BoardError(f"The repository {place.common_dir} is bare: it has no main checkout to go back to.")
    sys.stdout.buffer.write(os.fsencode(place.main) + b"\n")
    return 0


def _remove(args: argparse.Namespace) -> int:
    place = _place()
    tree = find_named(place, args.name, root=_root()[0])
    if tree.kind is not Kind.LINKED:
        raise BoardError(f"{tree.path} is the main checkout; only linked worktrees are removed.")
    plan = plan_removal(tree.path, repository=place.common_dir)
    lost = (*plan.lost, *(plan.lost_with_branch if args.discard_work else ()))
    if lost:
        _show(plan, discard=args.discard_work)
        if not args.discard_work and plan.obstacle is None:
            raise BoardError(
                f"Nothing was removed, for {plan.summary()} would be lost; commit that, or add --discard-work."
            )
    said = remove(plan, args.discard_work, drop_merged_branch=True)
    if args.json:
        losses = [{"kind": loss.kind, "count": loss.count, "items": list(loss.items)} for loss in lost]
        print_object({"path": plan.path, "branch": tree.branch, "lost": losses, "messages": said})
        return 0
    for sentence in said:
        say(sentence)
    return 0


def _show(plan: RemovalPlan, *, discard: bool) -> None:
    """What goes, on stderr, item by item."""
    for loss in (*plan.lost, *(plan.lost_with_branch if discard else ())):
        warn(f"{'goes' if discard else 'would be lost'}: {loss.what}")
        for item in loss.items:
            print(f"    {clean_line(item)}", file=sys.stderr)
        if loss.count > len(loss.items) > 0:
            print(f"    and {loss.count - len(loss.items)} more", file=sys.stderr)


def _prune(args: argparse.Namespace) -> int:
    said = prune(_place())
    if args.json:
        print_object({"messages": said})
        return 0
    for sentence in said or ["Nothing was stale."]:
        say(sentence)
    return 0
