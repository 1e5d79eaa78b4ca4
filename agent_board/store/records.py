"""The records on disk, each field defined once.

Plain dataclasses, because the runner must start in tens of milliseconds and pydantic alone costs 100; the board
and the command line validate the same classes with pydantic (`store.load`). Names on disk are camelCase, wall
times integer epoch milliseconds, absent is null.
"""

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

VERSION = 1


class SemanticState(StrEnum):
    """What a view means to the user."""

    QUEUED = "queued"
    WORKING = "working"
    NEEDS_INPUT = "needs_input"
    IDLE = "idle"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def settled(self) -> bool:
        """Neither queued nor working: nothing more happens by itself."""
        return self not in (SemanticState.QUEUED, SemanticState.WORKING)


class ProcessState(StrEnum):
    """The worker alone; never mixed with what the view means."""

    ALIVE = "alive"
    EXITED = "exited"


def camel(name: str) -> str:
    """The name on disk of a field: `session_file` → `sessionFile`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


PYDANTIC = {"alias_generator": camel, "extra": "ignore", "strict": True}


@dataclass(slots=True, frozen=True)
class Identity:
    """One process, for ever: compared exactly, never by pid alone (invariant 2)."""

    __pydantic_config__ = PYDANTIC
    machine_id: str
    boot_id: str
    pid_ns: str
    pid: int
    start_ticks: int


@dataclass(slots=True)
class Verdict:
    """The user's own word on a run: completed (done) or, after reopen, none at all."""

    __pydantic_config__ = PYDANTIC
    state: SemanticState
    run_id: str | None
    at: int


@dataclass(slots=True)
class Tool:
    """A tool in use or used last: its name and what it works on."""

    __pydantic_config__ = PYDANTIC
    name: str
    path: str | None = None


@dataclass(slots=True)
class Usage:
    """Tokens and cost of one run; null where the agent does not report it."""

    __pydantic_config__ = PYDANTIC
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class Meta:
    """`meta.json`: who a view is, and the user's verdict. Changed by acts, under the store lock."""

    __pydantic_config__ = PYDANTIC
    version: int
    id: str
    name: str
    cwd: str
    created_at: int
    updated_at: int
    session_file: str | None = None
    pinned: bool = False
    kind: str = "pi-session"
    default_model: str | None = None
    mode: str | None = None
    """How freely the agent may act, in its own words; null: as it begins by itself, or the task only reads."""
    worktree_mode: str = "off"
    worktree_path: str | None = None
    source: str = "agent-board"
    agent: str = "pi"
    session_id: str | None = None
    repo_root: str | None = None
    base_ref: str | None = None
    branch: str | None = None
    read_only: bool = False
    checkout: str | None = None
    """The real path of the work tree that its runs write in; null: they don't write."""
    archived_at: int | None = None
    verdict: Verdict | None = None
    seen_seq: int = 0


@dataclass(slots=True)
class State:
    """`state.json`: how a view stands now. Written by the holder of the view lock; can always be rebuilt."""

    __pydantic_config__ = PYDANTIC
    version: int
    view_id: str
    semantic_state: SemanticState
    process_state: ProcessState
    updated_at: int
    state_since: int
    current_run_id: str | None = None
    summary: str = ""
    last_activity_at: int | None = None
    needs_input: bool = False
    has_error: bool = False
    latest_assistant_preview: str | None = None
    latest_tool: Tool | None = None
    question: str | None = None
    choices: list[str] = field(default_factory=list)
    error: str | None = None
    reason: str | None = None
    queue_reason: str | None = None
    stalled_since: int | None = None
    attached: bool = False
    held_prompts: int = 0
    prompt_preview: str = ""
    """How the current run's prompt begins: what the board's filter finds a row by."""
    change_seq: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class Report:
    """What the agent said of its own run through the report tool."""

    __pydantic_config__ = PYDANTIC
    status: str
    summary: str = ""
    question: str | None = None


@dataclass(slots=True)
class Request:
    """Something only the user can answer, open while the worker lives."""

    __pydantic_config__ = PYDANTIC
    kind: str
    text: str
    choices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Retry:
    """The provider failed and the agent tries again by itself."""

    __pydantic_config__ = PYDANTIC
    attempt: int
    most: int
    error: str


@dataclass(slots=True)
class Evidence:
    """All that decides a run's state: folded from the agent's events, then from how the run ended."""

    __pydantic_config__ = PYDANTIC
    prompt_accepted: bool = False
    """The agent echoed the prompt: delivered."""
    activity: bool = False
    """First assistant or tool activity seen."""
    settled: bool = False
    """The agent itself said that the run has ended."""
    aborted: bool = False
    last_text: str = ""
    """The last assistant text; a long one keeps its head and its tail."""
    last_stop: str | None = None
    """Why the last assistant message ended: stop, tool, length, error, aborted."""
    error: str | None = None
    """The error of the last assistant message or of the retries that were used up."""
    report: Report | None = None
    """The last valid report with no assistant message after it."""
    open_requests: dict[str, Request] = field(default_factory=dict)
    retry: Retry | None = None
    gave_up: bool = False
    """The agent's own tries against a failing provider were used up."""
    running: dict[str, Tool] = field(default_factory=dict)
    """Tool calls that have not ended yet."""
    streaming: bool = False
    """The preview holds the tail of an answer that is still coming."""
    denials: int = 0
    exited: bool = False
    exit_code: int | None = None
    """Of the worker: negative is a signal; null when nobody was there to see it."""
    startup_error: str | None = None
    """The agent's own words on stderr when it ended before it accepted the prompt."""
    stop_requested: bool = False
    """stop.json was there, and no report or settled event before it."""
    outside: bool = False
    """The shim itself was told to end by somebody who left no stop.json."""
    command: bool = False
    """The prompt begins with `/`: the agent may have taken it for a command of its own."""
    started: bool = True
    """The gate was opened: the prompt may have reached the agent."""
    orphan: bool = False
    """The shim died; what is known was read back from files."""
    open_ended: bool = False
    """An adopted session or an attach: there was no prompt to finish."""


@dataclass(slots=True)
class RunStatus:
    """`status.json`: one run as its shim sees it."""

    __pydantic_config__ = PYDANTIC
    version: int
    run_id: str
    view_id: str
    started_at: int
    semantic_state: SemanticState = SemanticState.QUEUED
    process_state: ProcessState = ProcessState.EXITED
    kind: str = "prompt"
    pid: int | None = None
    worker_identity: Identity | None = None
    ended_at: int | None = None
    exit_code: int | None = None
    summary: str = ""
    last_activity_at: int | None = None
    current_tool: Tool | None = None
    latest_tool: Tool | None = None
    latest_assistant_preview: str | None = None
    question: str | None = None
    choices: list[str] = field(default_factory=list)
    error: str | None = None
    reason: str | None = None
    queue_reason: str | None = None
    prompt_preview: str = ""
    model: str | None = None
    session_id: str | None = None
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    report: Report | None = None
    transcript_mark: int | None = None
    """Size of the transcript in bytes just before the prompt could reach the agent."""
    durations: dict[str, int] = field(default_factory=dict)
    """Milliseconds on a monotonic clock: toWorker, toFirstEvent, run."""
    leftovers: list[Identity] = field(default_factory=list)
    """Processes of this run that outlived a normal end."""
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(slots=True)
class RunRequest:
    """`request.json`: what one run was asked to do. Immutable; names the prompt's id, so a prompt is claimed once."""

    __pydantic_config__ = PYDANTIC
    version: int
    run_id: str
    view_id: str
    prompt_id: str
    seq: int
    """1, 2, 3 … within the view; the order of runs (clocks decide nothing)."""
    created_at: int
    agent: str
    cwd: str
    kind: str = "prompt"
    resume: bool = False
    """The session has been used before: continue it."""
    session_file: str | None = None
    session_id: str | None = None
    model: str | None = None
    mode: str | None = None
    read_only: bool = False
    checkout: str | None = None
    """The work tree whose lease the run needs; null: it doesn't write."""
    worktree: bool = False
    """The checkout is the view's own worktree, made by the shim when it isn't there yet."""
    rules: list[str] = field(default_factory=list)
    """What the agent is told beside the prompt."""
    setup: list[str] = field(default_factory=list)
    """The user's command that makes a new worktree ready, run in it."""
    prompt_preview: str = ""
    prompt_bytes: int = 0
    wrap: list[str] = field(default_factory=list)
    """Put in front of the agent's command, from the user's settings."""
    args: list[str] = field(default_factory=list)
    """Added to the agent's command, from the user's settings."""
    stall_after_ms: int = 300_000
    notify: list[str] = field(default_factory=list)
    """The command that tells the user of a change; empty: the desktop's own, `-`: none."""


@dataclass(slots=True)
class ShimPid:
    """`pid.json`: the shim that owns a run."""

    __pydantic_config__ = PYDANTIC
    version: int
    at: int
    identity: Identity


@dataclass(slots=True)
class Stop:
    """`stop.json`: the user's intent, on disk before any signal."""

    __pydantic_config__ = PYDANTIC
    version: int
    at: int
    by: str = "user"


@dataclass(slots=True)
class GivenAnswer:
    """`inbox/<request>.json`: the user's answer to an open request of a living run, on its way there."""

    __pydantic_config__ = PYDANTIC
    version: int
    request_id: str
    at: int
    token: str
    """Of this answer alone: who gave it finds by it what became of it."""
    kind: str
    """allow, deny or choice."""
    text: str = ""
    choice: int = 0


@dataclass(slots=True)
class FollowUp:
    """A prompt that waits: for its turn, or (held) for the user."""

    __pydantic_config__ = PYDANTIC
    id: str
    text: str
    at: int
    held: bool = False
    origin: str | None = None
    """not-sent or maybe-received: it was the prompt of run `run_id`, which ended so."""
    run_id: str | None = None


@dataclass(slots=True)
class FollowUps:
    """`followups.json`: prompts waiting, in order. Changed under the store lock."""

    __pydantic_config__ = PYDANTIC
    version: int
    items: list[FollowUp] = field(default_factory=list)


@dataclass(slots=True)
class LeaseHolder:
    """`locks/checkout-<hash>.json`: who holds a checkout's lease, or held it last."""

    __pydantic_config__ = PYDANTIC
    version: int
    checkout: str
    view_id: str
    run_id: str


@dataclass(slots=True)
class Roster:
    """`roster.json`: an index, changed last; `views/` is the truth."""

    __pydantic_config__ = PYDANTIC
    version: int
    views: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)


_FIELDS: dict[Any, tuple[tuple[str, str], ...]] = {}
_AS_THEY_ARE = frozenset({str, int, bool, float, type(None), SemanticState, ProcessState})


def encode(record: Any) -> dict[str, Any]:
    """The JSON object of a record, every key present."""
    known = _FIELDS.get(type(record))
    if known is None:
        known = tuple((f.name, camel(f.name)) for f in dataclasses.fields(record))
        _FIELDS[type(record)] = known
    return {disk: _encode_value(getattr(record, name)) for name, disk in known}


def _encode_value(value: Any) -> Any:
    if type(value) in _AS_THEY_ARE:  # nearly all are
        return value
    if dataclasses.is_dataclass(value):
        return encode(value)
    if isinstance(value, list | tuple):
        return [_encode_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _encode_value(item) for key, item in value.items()}
    return value
