"""Runs that never ran: their logs on disk, as a shim would have left them."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from agent_board.agents import events as ev
from agent_board.agents.events import Event
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, FollowUp, FollowUps, ProcessState, RunRequest, RunStatus, encode
from tests.support.fakestore import NOW_MS, write

EXCHANGE: tuple[Event, ...] = (
    ev.PromptAccepted("Fix the login page, please."),
    ev.AssistantMessage("I'll **look** first.", stop="tool"),
    ev.ToolStarted("1", "read", "src/login.py"),
    ev.ToolEnded("1", "read", result="42 lines"),
    ev.ToolStarted("2", "edit", "src/login.py"),
    ev.ToolEnded("2", "edit", result="1 line changed"),
    ev.ToolStarted("3", "bash", "pytest -q"),
    ev.ToolEnded("3", "bash", is_error=True, result="2 failed"),
    ev.AssistantMessage("Two tests disagree.\n\nKeep the old name, or take the new one?"),
    ev.Settled(),
)
QUESTION = "Keep the old name, or take the new one?"


def log_lines(events: Sequence[Event]) -> bytes:
    """events.jsonl with these events, a second apart."""
    lines = (
        {"type": type(event).__name__, "at": NOW_MS - 100_000 + number * 1000, **encode(event)}
        for number, event in enumerate(events)
    )
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def make_run(
    paths: StorePaths,
    view_id: str,
    events: Sequence[Event] = EXCHANGE,
    *,
    run_id: str = "",
    prompt: str = "Fix the login page, please.",
    alive: bool = False,
    kind: str = "prompt",
    log: bytes | None = None,
    **status: object,
) -> str:
    """One run of a view; its id is that of the fake view's current run unless told otherwise."""
    run_id = run_id or f"r{view_id}"
    run = paths.view(view_id).run(run_id)
    os.makedirs(run.dir, mode=0o700, exist_ok=True)
    Path(run.prompt).write_bytes(prompt.encode())
    if kind != "attach":
        Path(run.events).write_bytes(log_lines(events) if log is None else log)
    request = RunRequest(VERSION, run_id, view_id, f"p{run_id}", 1, NOW_MS, "pi", "/home/dev/src/api", kind=kind)
    facts = RunStatus(VERSION, run_id, view_id, NOW_MS - 100_000, kind=kind, model="model-1", session_id="0199abcdef")
    facts.process_state = ProcessState.ALIVE if alive else ProcessState.EXITED
    facts.ended_at = None if alive else NOW_MS
    facts.durations = {} if alive else {"run": 12_300}
    for name, value in status.items():
        setattr(facts, name, value)
    write(run.request, encode(request))
    write(run.status, encode(facts))
    return run_id


def make_waiting(paths: StorePaths, view_id: str, *texts: str, held: bool = True) -> None:
    """Prompts that wait in a view; their ids are w0, w1 …"""
    items = [FollowUp(f"w{number}", text, NOW_MS, held=held) for number, text in enumerate(texts)]
    write(paths.view(view_id).followups, encode(FollowUps(VERSION, items)))
