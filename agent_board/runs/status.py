"""A run's status and job as they follow from its request. Reads the beginning of the prompt, nothing else."""

import os
from contextlib import suppress

from agent_board.agents.base import Agent, Job
from agent_board.agents.registry import agent as agent_named
from agent_board.store.files import now_ms
from agent_board.store.paths import RunPaths
from agent_board.store.records import VERSION, Evidence, Meta, RunRequest, RunStatus

_HEAD = 4096


def job_of(request: RunRequest, session_id: str | None = None) -> Job:
    """What the adapter needs to know of a run; `session_id` when it has been learned since the request."""
    return Job(
        cwd=request.cwd,
        session_file=request.session_file,
        session_id=session_id or request.session_id,
        model=request.model,
        mode=request.mode,
        read_only=request.read_only,
        resume=request.resume,
        rules=tuple(request.rules),
        args=tuple(request.args),
        tag=request.run_id,
    )


def first_status(request: RunRequest, agent: Agent, run: RunPaths) -> RunStatus:
    """A run's status before anything is known of its worker."""
    head = ""
    with suppress(OSError), open(run.prompt, "rb") as file:  # a run without its prompt has to end, too
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


def session_of(meta: Meta) -> Job:
    """The session of a view, for reading what it holds."""
    return Job(meta.worktree_path or meta.cwd, meta.session_file, meta.session_id)


def has_session(meta: Meta) -> bool:
    """Whether there is a session that could be attached to."""
    return os.path.exists(meta.session_file) if meta.session_file else bool(meta.session_id)


def transcript_size(agent: str, job: Job) -> int:
    """How far the transcript reaches now, in its agent's own measure; 0 when there is none. Raises OSError."""
    return agent_named(agent).transcript_size(job)
