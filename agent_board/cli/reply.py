"""`agent-board reply`, `followups` and `retry`: a prompt to a task that is there already."""

import argparse
from typing import TYPE_CHECKING

from agent_board.cli.dispatch import prompt_of
from agent_board.cli.output import print_array, print_object, say
from agent_board.cli.views import name_of, view_to_change
from agent_board.errors import BoardError
from agent_board.store import plain
from agent_board.store.files import Unreadable
from agent_board.store.paths import StorePaths
from agent_board.store.records import FollowUps, Meta
from agent_board.text import preview

if TYPE_CHECKING:
    from agent_board.runs.options import Options
    from agent_board.runs.reply import Replied

_PREVIEW_CELLS = 100


def reply(args: argparse.Namespace) -> int:
    """Send a reply, or accept it to wait, and say which."""
    prompt = prompt_of(args.prompt, args.words)
    from agent_board.runs.reply import reply as send_reply

    paths, view_id = view_to_change(args)
    _tell(paths, send_reply(paths, view_id, prompt, _options(paths, view_id)), args)
    return 0


def retry(args: argparse.Namespace) -> int:
    """Send the last prompt once more."""
    from agent_board.runs.reply import retry as send_again

    paths, view_id = view_to_change(args)
    _tell(paths, send_again(paths, view_id, _options(paths, view_id)), args)
    return 0


def followups(args: argparse.Namespace) -> int:
    """Print what waits, or send or drop one of them."""
    from agent_board.cli.resolve import resolve
    from agent_board.cli.stores import to_read

    if args.send is not None:
        return _send(args)
    if args.drop is not None:
        return _drop(args)
    paths = to_read(args)
    _list(paths, resolve(paths, args.view), as_json=args.json)
    return 0


def _list(paths: StorePaths, view_id: str, *, as_json: bool) -> None:
    from agent_board.cli.views import one_view
    from agent_board.runs.followups import listed

    one_view(paths, view_id)  # what waits behind a dead runner is held, and says so
    view = paths.view(view_id)
    found = plain.read(FollowUps, view.followups)
    if isinstance(found, Unreadable):
        raise BoardError(f"{view.followups} {found.why}; what waits can't be told.")
    prompts = listed(view)
    if as_json:
        print_array({"id": prompt.id, "text": prompt.text, "state": prompt.state} for prompt in prompts)
        return
    for prompt in prompts:
        say(f"{prompt.id} {prompt.state} {preview(prompt.text, _PREVIEW_CELLS)}")


def _send(args: argparse.Namespace) -> int:
    from agent_board.runs.reply import send

    paths, view_id = view_to_change(args)
    _tell(paths, send(paths, view_id, args.send, _options(paths, view_id)), args)
    return 0


def _drop(args: argparse.Namespace) -> int:
    from agent_board.runs.followups import drop

    paths, view_id = view_to_change(args)
    text = drop(paths, paths.view(view_id), args.drop)
    if args.json:
        print_object({"viewId": view_id, "id": args.drop, "text": text})
    else:
        say(f"Dropped: {preview(text, _PREVIEW_CELLS)}")
    return 0


def _options(paths: StorePaths, view_id: str) -> "Options":
    """What the user's settings say where the view works."""
    from agent_board.config import load_settings

    meta = plain.read_or_none(Meta, paths.view(view_id).meta)
    return load_settings().options((meta.worktree_path or meta.cwd) if meta is not None else "/")


def _tell(paths: StorePaths, replied: "Replied", args: argparse.Namespace) -> None:
    if args.json:
        print_object({"viewId": replied.view_id, "runId": replied.run_id, "followupId": replied.followup_id})
    elif replied.run_id is not None:
        say(f"Sent to {name_of(paths, replied.view_id)}.")
    else:
        say(f"{name_of(paths, replied.view_id)} is still running; this waits its turn ({replied.followup_id}).")
