"""The small interface that every agent's file fills."""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from agent_board.agents.events import Event
from agent_board.errors import UsageError

if TYPE_CHECKING:
    from agent_board.agents.running import LiveProcess, RunningSession


@dataclass(frozen=True, slots=True)
class Installation:
    """An agent's program on this machine."""

    path: str
    version: str | None = None
    problem: str | None = None
    """One sentence when it is here but can't run (a Node that is too old, say)."""


@dataclass(frozen=True, slots=True)
class Job:
    """All that an adapter needs to build the command of one run."""

    cwd: str
    session_file: str | None = None
    session_id: str | None = None
    model: str | None = None
    mode: str | None = None
    """One of the agent's `modes`; None: as the agent itself begins. Reading only counts for more."""
    read_only: bool = False
    resume: bool = False
    """The session has been used before."""
    rules: tuple[str, ...] = ()
    """What the agent is to be told beside the prompt, where it has a place for that."""
    args: tuple[str, ...] = ()
    """The user's own words for the agent's command line, from his settings."""
    tag: str = ""
    """Unique to the run: by it an agent's store tells which session the run has made."""


@dataclass(frozen=True, slots=True)
class ForeignSession:
    """A session that was started outside the board."""

    cwd: str
    session_id: str | None = None
    title: str | None = None
    """Its name, or its first prompt."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's word on an open request: `allow` it, `deny` it (`text` tells the agent why), or take a `choice`."""

    kind: str
    text: str = ""
    choice: int = 0
    """Which of the offered choices, from 1."""


@dataclass(frozen=True, slots=True)
class FirstSignal:
    """How an agent is asked to end: which signal, and to the process alone or to its group."""

    number: int = signal.SIGTERM
    group: bool = False


class Reader(ABC):
    """Turns the agent's stdout into events; one for each run."""

    @abstractmethod
    def feed(self, line: bytes) -> list[Event]:
        """The events of one line (without its LF). Unknown or broken lines give none; nothing is raised."""

    def close(self) -> list[Event]:
        """What only the end of stdout tells. Called once, after the last line."""
        return []

    def opened(self, prompt: str) -> list[Event]:
        """What is known as soon as the worker has the prompt, of which this is the beginning."""
        return []

    def exited(self, code: int) -> list[Event]:
        """What the exit code (negative: a signal) means of a worker that ended by itself. Called after `close`."""
        return []

    def answer(self, request_id: str, answer: Answer) -> tuple[bytes, list[Event]]:
        """What passes an answer to an open request on (one line for the agent), and the events of its being answered.

        For agents with a channel only. Raises UsageError when that request can't be answered so.
        """
        raise UsageError("This agent takes no answers while it runs; stop it and reply.")

    def may_hang_up(self, silent_s: float) -> bool:
        """Whether an agent with a channel has nothing more to ask, silent as it has been for so long."""
        return True


class Agent(ABC):
    """One coding agent. Instances hold no state and touch nothing but what a method's text says."""

    name: ClassVar[str]
    """As in `--agent`."""
    kind: ClassVar[str]
    """As in meta.json."""
    title: ClassVar[str]
    """As people call it."""
    install: ClassVar[str]
    """The command that installs it."""
    login: ClassVar[str] = ""
    """How its user logs in, in a few words for doctor; empty where there is nothing to log in to."""
    leave: ClassVar[str] = ""
    """How its user leaves the interactive program, in a few words; empty where that is not known."""
    first_signal: ClassVar[FirstSignal] = FirstSignal()
    channel: ClassVar[bool] = False
    """It takes the prompt as a line on a pipe that stays open for answers, instead of the prompt's file."""
    terminal: ClassVar[bool] = False
    """It runs on a pseudo-terminal, stdout and stderr in one; what it prints is for people."""
    takes_replies: ClassVar[bool] = True
    stall_after_s: ClassVar[float] = 300.0
    """Seconds without an event that are too long, unless the settings say otherwise."""
    modes: ClassVar[tuple[str, ...]] = ()
    """How freely it may be told to act, in its own program's words; empty where there is nothing to choose."""

    child_marks: ClassVar[frozenset[str]] = frozenset()
    """Variables by which its program tells what it starts that it is its child, which a run never is."""

    @abstractmethod
    def find(self) -> Installation | None:
        """Look for the program on PATH; None when it isn't here. May start the program's runtime once (tens of ms)."""

    @abstractmethod
    def command(self, job: Job) -> list[str]:
        """The argument list of a headless run; its stdin is the prompt's file, so no prompt is in it."""

    @abstractmethod
    def attach_command(self, job: Job) -> list[str]:
        """The argument list of the interactive program on that session."""

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """Where the session of a new view will be kept, and its id, as far as that is ours to choose or to know.

        `ours` is the place in the store for an agent that takes any; None is for what the agent decides later.
        """
        return ours, None

    def first_line(self, prompt: bytes) -> bytes:
        """The prompt as the line that an agent with a channel reads first."""
        raise NotImplementedError

    @abstractmethod
    def reader(self) -> Reader:
        """A fresh reader for one run's stdout."""

    def reader_for(self, job: Job) -> Reader:
        """The reader of that run, made before its worker starts; may look at what the session holds so far."""
        return self.reader()

    @abstractmethod
    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """What the transcript holds behind byte `mark`, as events; torn lines are passed over. Reads files."""

    def transcript_size(self, job: Job) -> int:
        """How far the transcript reaches now: the mark behind which stands what comes later. Raises OSError."""
        try:
            return os.stat(job.session_file).st_size if job.session_file else 0
        except FileNotFoundError:
            return 0

    def find_session(self, job: Job) -> str | None:
        """The id of the session that a run has made without ever naming it, by its tag. Reads files."""
        return None

    def logged_in(self) -> bool | None:
        """Whether its user has logged in, as far as files and the environment tell; None when they don't."""
        return None

    def startup_error(self, stderr: str) -> str | None:
        """The one sentence in stderr that says why the run could not start; None when it says nothing."""
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        return lines[-1] if lines else None

    def refusal(self, prompt: str, cwd: str) -> str | None:
        """Why this prompt can't be run there at all, in a sentence; None when it can be tried."""
        return None

    def takes_commands(self, prompt: str) -> bool:
        """Whether the agent may take this prompt for a command of its own instead of a task."""
        return False

    def foreign_session(self, path: str) -> ForeignSession | None:
        """What a session file of this agent says of itself; None when it isn't one. Reads its beginning."""
        return None

    def session_named(self, session_id: str) -> str | None:
        """The file of the session with that id; None when there is none. Reads folders."""
        return None

    def running_sessions(self, processes: "Sequence[LiveProcess]") -> "list[RunningSession]":
        """The sessions of this agent that run now, on the board or not, among `processes` or by its program's word.

        A wrong one is worse than none. May ask the program, for seconds at most.
        Raises BoardError when that doesn't answer.
        """
        return []
