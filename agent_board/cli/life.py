"""`agent-board rename`, `pin`, `unpin`, `done`, `reopen`, `archive`, `restore`, `undo`: a row's life, not its runs'."""

import argparse
from typing import Any

from agent_board.cli.output import print_object, say
from agent_board.cli.stores import to_change
from agent_board.cli.views import name_of, view_to_change
from agent_board.runs import life
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths


def rename(args: argparse.Namespace) -> int:
    """Give a view another name."""
    paths, view_id = view_to_change(args)
    before = name_of(paths, view_id)
    kept = life.rename(paths, view_id, args.name)
    return _tell(args, paths, view_id, f"{before} is called “{kept}” now.", name=kept)


def pin(args: argparse.Namespace) -> int:
    """Put a view first in its group."""
    paths, view_id = view_to_change(args)
    life.pin(paths, view_id)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is pinned.")


def unpin(args: argparse.Namespace) -> int:
    """Take a pin away."""
    paths, view_id = view_to_change(args)
    life.pin(paths, view_id, pinned=False)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is not pinned any more.")


def done(args: argparse.Namespace) -> int:
    """The user's verdict: completed."""
    paths, view_id = view_to_change(args)
    life.done(paths, view_id)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is done.")


def reopen(args: argparse.Namespace) -> int:
    """Take completed back."""
    paths, view_id = view_to_change(args)
    life.reopen(paths, view_id)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is open again.")


def archive(args: argparse.Namespace) -> int:
    """Hide a view and keep everything."""
    paths, view_id = view_to_change(args)
    life.archive(paths, view_id)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is archived; agent-board undo takes it back.")


def restore(args: argparse.Namespace) -> int:
    """Bring an archived view back."""
    paths, view_id = view_to_change(args)
    life.restore(paths, view_id)
    return _tell(args, paths, view_id, f"{name_of(paths, view_id)} is back on the board.")


def undo(args: argparse.Namespace) -> int:
    """Take the last of these acts back."""
    sentence = life.undo(to_change(args))
    if args.json:
        print_object({"message": sentence})
    else:
        say(sentence)
    return 0


def _tell(args: argparse.Namespace, paths: StorePaths, view_id: str, sentence: str, **more: Any) -> int:
    if not args.json:
        say(sentence)
        return 0
    from agent_board.cli.objects import shown_state

    record = load_view(paths, view_id)
    state = shown_state(record) if isinstance(record, ViewRecord) else None
    print_object({"viewId": view_id, "semanticState": state, **more, "message": sentence})
    return 0
