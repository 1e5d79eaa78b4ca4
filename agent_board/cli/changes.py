"""`agent-board diff` and `merge`: what a task changed, and taking it over."""

import argparse
import sys
from typing import TYPE_CHECKING

from agent_board.cli.asking import agreed, can_ask
from agent_board.cli.output import print_object, say
from agent_board.cli.resolve import resolve
from agent_board.cli.stores import to_read
from agent_board.cli.views import name_of, view_to_change
from agent_board.errors import BoardError
from agent_board.text import clean_block, clean_line

if TYPE_CHECKING:
    from agent_board.git.changes import Changes, FileChange
    from agent_board.git.merge import MergePlan

_WHOLE = 64 << 20
_SIGNS = {"added": "A", "deleted": "D", "renamed": "R", "type": "T"}


def diff(args: argparse.Namespace) -> int:
    """Print what differs between a task's base and where it works, uncommitted and new files included."""
    from agent_board.runs.changes import view_changes

    paths = to_read(args)
    view_id = resolve(paths, args.view)
    found = view_changes(paths, view_id, patch_bytes=0 if args.stat else _WHOLE)
    if args.json:
        print_object(_object(view_id, found, with_patch=not args.stat))
    elif args.stat:
        _print_stat(found)
    elif sys.stdout is not None:
        text = clean_block(found.patch) if sys.stdout.isatty() else found.patch
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    return 0


def _object(view_id: str, found: "Changes", *, with_patch: bool) -> dict[str, object]:
    files = [
        {
            "path": file.path,
            "oldPath": file.old_path,
            "status": file.status,
            "added": file.added,
            "removed": file.removed,
            "binary": file.binary,
            "uncommitted": file.uncommitted,
        }
        for file in found.files
    ]
    whole: dict[str, object] = {
        "viewId": view_id,
        "base": found.base,
        "head": found.head,
        "ahead": found.ahead,
        "commits": [{"id": commit.id, "subject": commit.subject} for commit in found.commits],
        "files": files,
        "added": found.added,
        "removed": found.removed,
        "uncommitted": found.uncommitted,
    }
    return {**whole, "patch": found.patch, "patchCut": found.patch_cut} if with_patch else whole


def _print_stat(found: "Changes") -> None:
    for commit in found.commits:
        say(f"commit {commit.id[:12]} {commit.subject}")
    for file in found.files:
        note = " (uncommitted)" if file.uncommitted else ""
        say(f"{_SIGNS.get(file.status, 'M')} {_count(file)} {_named(file)}{note}")
    commits = f"{found.ahead} commit{'' if found.ahead == 1 else 's'} ahead of {found.base[:12]}"
    files = f"{len(found.files)} file{'' if len(found.files) == 1 else 's'} changed"
    say(f"{commits}, {files}, +{found.added} -{found.removed}")


def _count(file: "FileChange") -> str:
    return "binary" if file.binary else f"+{file.added} -{file.removed}"


def _named(file: "FileChange") -> str:
    return f"{file.old_path} -> {file.path}" if file.old_path else file.path


def merge(args: argparse.Namespace) -> int:
    """Merge a task's branch into the main checkout, after showing the git commands that do it."""
    from agent_board.runs.changes import merge_view, plan_view_merge
    from agent_board.runs.life import not_running

    paths, view_id = view_to_change(args)
    with not_running(paths, view_id, "merge it"):
        plan = plan_view_merge(paths, view_id, args.commit)
    _show(plan, args.commit)
    if not args.yes:
        _ask(plan, name_of(paths, view_id), committed=args.commit is not None)
    merged = merge_view(paths, view_id, plan, args.commit)
    if args.json:
        print_object(
            {
                "viewId": view_id,
                "branch": plan.branch,
                "target": merged.target,
                "targetBranch": plan.target_branch,
                "head": merged.head,
                "committed": merged.committed,
                "commands": list(plan.commands(args.commit)),
            }
        )
    else:
        say(f"Merged {plan.branch} into {plan.target_branch} in {merged.target}, now at {merged.head[:12]}.")
    return 0


def _show(plan: "MergePlan", message: str | None) -> None:
    """What is taken over and the commands, on stderr, which leaves stdout to what scripts read."""
    for path in plan.uncommitted:
        print(f"uncommitted: {clean_line(path)}", file=sys.stderr)
    for commit in plan.commits:
        print(f"commit {commit.id[:12]} {clean_line(commit.subject)}", file=sys.stderr)
    for command in plan.commands(message):
        print(f"  {clean_line(command)}", file=sys.stderr)


def _ask(plan: "MergePlan", name: str, *, committed: bool) -> None:
    if plan.uncommitted and not committed and not can_ask():
        raise BoardError(
            f"{name} has uncommitted changes; say with --commit MESSAGE how to commit them. Nothing was merged."
        )
    if not can_ask():
        raise BoardError(f"Merging changes {plan.target}; add --yes to do it without a terminal.")
    first = "Commit these changes and merge" if plan.uncommitted else "Merge"
    if not agreed(f"{first} {plan.branch} into {plan.target_branch}?"):
        raise BoardError("Nothing was merged.")
