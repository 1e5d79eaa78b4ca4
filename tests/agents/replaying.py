"""Recorded runs of the agents that tell everything on stdout, read again as the shim reads them."""

import dataclasses
from pathlib import Path
from typing import NamedTuple

from agent_board.agents.base import Agent, Reader
from agent_board.agents.events import Event
from agent_board.states.decide import derive
from agent_board.states.observe import observe
from agent_board.store.records import ProcessState, RunStatus


class Expected(NamedTuple):
    """One run after its exit, without a stop of ours. `says` is the error, the question or else the summary."""

    name: str
    state: str
    reason: str
    says: str
    usage: tuple[int | None, int | None] = (None, None)
    """Input and output tokens; nothing where the agent reported none."""
    cost: float | None = None
    retries: int = 0
    before: tuple[int, int] | None = None
    """What the session had used before, where the agent counts on."""


def events_of(reader: Reader, recording: Path) -> list[Event]:
    """What a recorded stdout says."""
    lines = (recording / "stdout.jsonl").read_bytes().split(b"\n")
    return [event for line in lines for event in reader.feed(line)] + reader.close()


def seen(events: list[Event]) -> RunStatus:
    """The status of a living run after these events."""
    status = RunStatus(version=1, run_id="r1", view_id="v1", started_at=1, process_state=ProcessState.ALIVE)
    for at, event in enumerate(events):
        status = observe(status, event, at)
    return status


def ended(agent: Agent, recording: Path, status: RunStatus, **more: object) -> RunStatus:
    """The same after the recorded exit, as the shim concludes it."""
    code = int((recording / "exit.txt").read_text())
    failed = code != 0 and not status.evidence.settled
    startup = agent.startup_error((recording / "stderr.txt").read_text()) if failed else None
    facts: dict[str, object] = {"exited": True, "exit_code": code, "startup_error": startup, **more}
    return derive(dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, **facts)))  # type: ignore[arg-type]
