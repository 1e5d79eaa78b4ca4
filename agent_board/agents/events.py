"""What any agent says, in one vocabulary. Everything above the adapters knows only these."""

from dataclasses import dataclass, field

from agent_board.store.records import Usage


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The agent named its session."""

    session_id: str | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """The agent echoed a user message: the prompt is delivered."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class AssistantStarted:
    """The model began to answer."""


@dataclass(frozen=True, slots=True)
class AssistantDelta:
    """A piece of an answer while it streams; for the live preview only, never stored."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """A whole answer. `stop`: stop, tool, length, error, aborted."""

    text: str = ""
    stop: str = "stop"
    error: str | None = None
    model: str | None = None
    usage: Usage | None = None
    """Of this message alone; a run's usage is the sum."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins. `target` is what it works on: a path, a command, a pattern."""

    id: str
    name: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call has ended; its failure does not fail the run."""

    id: str
    name: str
    is_error: bool = False
    result: str = ""
    """The first line or so of what came out."""


REFUSED = "refused"
"""The kind of a request that the agent refused by itself, having nobody to ask, and over which it ended its turn."""


@dataclass(frozen=True, slots=True)
class RequestOpened:
    """The agent waits, alive, for something only the user can answer."""

    id: str
    kind: str
    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestClosed:
    """That request was answered or withdrawn."""

    id: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Reported:
    """A valid call of the report tool: completed, blocked (with a question) or failed."""

    status: str
    summary: str = ""
    question: str | None = None


@dataclass(frozen=True, slots=True)
class RetryStarted:
    """The provider failed; the agent waits and tries again."""

    attempt: int
    most: int
    error: str
    delay_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RetryEnded:
    """The tries came to an end, well or with the final error."""

    ok: bool
    error: str | None = None


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Usage outside an answer (a compaction, say) to be added to the run's."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something worth a line in the log: a compaction, a warning, an unknown but telling event."""

    text: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The agent says that the run has ended. Its exit follows."""

    aborted: bool = False


Event = (
    SessionStarted
    | PromptAccepted
    | AssistantStarted
    | AssistantDelta
    | AssistantMessage
    | ToolStarted
    | ToolEnded
    | RequestOpened
    | RequestClosed
    | Reported
    | RetryStarted
    | RetryEnded
    | UsageReported
    | Noticed
    | Settled
)
EVENTS: dict[str, type] = {event.__name__: event for event in Event.__args__}
