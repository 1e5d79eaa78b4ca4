"""`agent-board logs`: what the agent did in its current run, for people, for scripts, or byte for byte."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from agent_board.agents.registry import agent as agent_named
from agent_board.cli.output import on_terminal, print_object, warn
from agent_board.cli.resolve import resolve
from agent_board.cli.stores import to_read
from agent_board.cli.tailing import LineTail, LogTail
from agent_board.cli.transcript import entry
from agent_board.cli.views import one_view
from agent_board.errors import UsageError
from agent_board.runs.claim import run_ids
from agent_board.store import plain
from agent_board.store.load import ViewRecord
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import ProcessState, RunRequest, State
from agent_board.text import clean_block, printed

_STEP_S = 0.1
Source = Callable[[bool], None]
"""Prints what has come to one log; True says that nothing more will come."""


def run(args: argparse.Namespace) -> int:
    """Print the current run's log; with `--follow` go on until the run has ended."""
    if args.raw and args.json:
        raise UsageError("--raw is the agent's own output and --json is ours; choose one.")
    paths = to_read(args)
    record = one_view(paths, resolve(paths, args.view))
    if record.unreadable:
        warn(f"{paths.view(record.id).dir}/{record.unreadable}; showing what its last run has logged.")
    run_id = _current_run(paths, record)
    if run_id is None:
        warn("This task has no run yet, so there is no log.")
        return 0
    sources = _sources(paths.view(record.id).run(run_id), args)
    while True:
        over = not args.follow or _has_ended(one_view(paths, record.id), run_id)
        for source in sources:
            source(over)
        sys.stdout.flush()
        if over:
            return 0
        time.sleep(_STEP_S)


def _current_run(paths: StorePaths, record: ViewRecord) -> str | None:
    if isinstance(record.state, State) and record.state.current_run_id:
        return record.state.current_run_id
    runs = run_ids(paths.view(record.id))
    return runs[-1] if runs else None


def _has_ended(record: ViewRecord, run_id: str) -> bool:
    state = record.state
    if not isinstance(state, State):
        return record.unreadable is not None
    if state.current_run_id != run_id:
        return True
    return state.process_state is ProcessState.EXITED and state.semantic_state.settled


def _sources(run: RunPaths, args: argparse.Namespace) -> list[Source]:
    if args.raw:
        return [_clean_text(run.stdout) if on_terminal() else _exact_bytes(run.stdout)]
    show = print_object if args.json else _print_entry
    request = plain.read_or_none(RunRequest, run.request)
    if request is not None and agent_named(request.agent).terminal and not args.json:
        return [_by_line(run.stdout, lambda line: print(printed(line)))]
    return [
        _by_line(run.events, lambda line: _show_event(line, show)),
        _by_line(run.stderr, lambda line: show(_stderr_event(line))),
    ]


def _exact_bytes(path: str) -> Source:
    tail = LogTail(path)

    def source(over: bool) -> None:
        for chunk in tail.chunks():
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()

    return source


def _clean_text(path: str) -> Source:
    """On a terminal even raw output is text only: a control sequence of the agent's must not reach it."""
    return _by_line(path, lambda line: print(clean_block(line.decode("utf-8", "replace"))))


def _by_line(path: str, show: Callable[[bytes], None]) -> Source:
    tail = LineTail(path)

    def source(over: bool) -> None:
        for line in _lines(tail, over):
            show(line)

    return source


def _lines(tail: LineTail, over: bool) -> Iterator[bytes]:
    yield from tail.lines()
    last = tail.last() if over else b""
    if last:
        yield last


def _show_event(line: bytes, show: Callable[[dict[str, Any]], None]) -> None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # a torn line: the runner or the disk ended in the middle of it
        return
    if isinstance(event, dict):
        show(event)


def _stderr_event(line: bytes) -> dict[str, Any]:
    return {"type": "Stderr", "at": None, "text": line.decode("utf-8", "replace")}


def _print_entry(event: dict[str, Any]) -> None:
    text = entry(event)
    if text:
        print(text)
