"""A run's status and job as they follow from its request. Reads the beginning of the prompt, nothing else."""

import os

from agent_board.agents.base import Agent, Job
from agent_board.store.files import now_ms
from agent_board.store.paths import RunPaths
from agent_board.store.records import VERSION, Evidence, RunRequest, RunStatus

_HEAD = 4096


def job_of(request: RunRequest) -> Job:
    """What the adapter needs to know of a run."""
    return Job(
        cwd=request.cwd,
        session_file=request.session_file,
        session_id=request.session_id,
        model=request.model,
        read_only=request.read_only,
        resume=request.resume,
        rules=tuple(request.rules),
    )


def first_status(request: RunRequest, agent: Agent, run: RunPaths) -> RunStatus:
    """A run's status before anything is known of its worker."""
    with open(run.prompt, "rb") as file:
        head = file.read(_HEAD).decode("utf-8", "ignore")
    return RunStatus(
        version=VERSION,
        run_id=request.run_id,
        view_id=request.view_id,
        started_at=now_ms(),
        kind=request.kind,
        prompt_preview=request.prompt_preview,
        model=request.model,
        queue_reason="starting",
        evidence=Evidence(command=agent.takes_commands(head)),
    )


def transcript_size(session_file: str | None) -> int:
    """Bytes in the transcript now; 0 when there is none."""
    try:
        return os.stat(session_file).st_size if session_file else 0
    except FileNotFoundError:
        return 0
