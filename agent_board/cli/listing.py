"""`agent-board list` and `agent-board show`."""

import argparse
import time
from typing import Any

from agent_board.cli.objects import Object, run_objects, view_object
from agent_board.cli.output import print_array, print_object, say
from agent_board.cli.stores import to_read
from agent_board.cli.views import all_views, one_view
from agent_board.text import clean_line


def list_views(args: argparse.Namespace) -> int:
    """Print the views, those that need the user first."""
    from agent_board.cli.table import sort_key

    paths = to_read(args)
    found = [view_object(record) for record in all_views(paths, archived=args.all)]
    if not args.all:
        found = [view for view in found if view["archivedAt"] is None]
    if args.state:
        found = [view for view in found if view["semanticState"] == args.state]
    found.sort(key=sort_key)
    if args.json:
        print_array(found)
    else:
        _print_table(found)
    return 0


def _print_table(found: list[Object]) -> None:
    from agent_board.cli.output import on_terminal
    from agent_board.cli.table import table, width

    for line in table(found, width()):
        print(line)
    if not found and on_terminal():
        say("No tasks here. Start one: agent-board dispatch “what is to be done”.")


def show(args: argparse.Namespace) -> int:
    """Print one view and its runs."""
    from agent_board.cli.resolve import resolve

    paths = to_read(args)
    record = one_view(paths, resolve(paths, args.view))
    found = {**view_object(record), "runs": run_objects(paths, record.id)}
    if args.json:
        print_object(found)
    else:
        _print_view(found)
    return 0


def _print_view(found: Object) -> None:
    for label, value in _facts(found):
        if value not in (None, "", False):
            print(f"{label:<11} {clean_line(str(value))}")
    for run in found["runs"]:
        print(clean_line(_run_line(run)))


def _facts(found: Object) -> list[tuple[str, Any]]:
    state = found["semanticState"] or "unreadable"
    marks = [mark for mark in ("unread", "pinned", "attached", "readOnly") if found[mark]]
    return [
        ("name", found["name"] or "?"),
        ("id", found["id"]),
        ("state", f"{state}{' (your verdict)' if found['verdict'] and state == 'completed' else ''}"),
        ("unreadable", found["unreadable"]),
        ("summary", found["summary"]),
        ("question", found["question"]),
        ("error", found["error"]),
        ("waits for", found["queueReason"]),
        ("marks", ", ".join(marks)),
        ("held", found["heldPrompts"] or None),
        ("agent", found["agent"]),
        ("model", found["defaultModel"]),
        ("mode", found["mode"]),
        ("directory", found["cwd"]),
        ("session", found["sessionFile"] or found["sessionId"]),
        ("created", _clock(found["createdAt"])),
        ("changed", _clock(found["updatedAt"])),
        ("archived", _clock(found["archivedAt"])),
    ]


def _run_line(run: Object) -> str:
    began, ended = _clock(run["startedAt"]), _clock(run["endedAt"])
    code = f", exit code {run['exitCode']}" if run["exitCode"] is not None else ""
    pids = f", worker {run['workerPid']}" if run["workerPid"] and not run["endedAt"] else ""
    broken = f", {run['unreadable']}" if run["unreadable"] else ""
    state = run["semanticState"] or "unreadable"
    times = f"{began or '?'} to {ended or 'now'}" if began else "not begun"
    return f"run {run['seq'] or '?'} {run['runId']}: {state}{code}{pids}{broken}, {times}: {run['promptPreview'] or ''}"


def _clock(ms: int | None) -> str | None:
    if ms is None:
        return None
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000))
    except (OverflowError, ValueError, OSError):
        return str(ms)
