"""What an agent's adapter tells of sessions that run now, and what it is told of the processes of this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agent_board.errors import BoardError


class NoListingError(BoardError):
    """The agent's program answered, and not with a listing of its sessions: another version, perhaps."""


class Doing(StrEnum):
    """What a running session is at; unknown is said as what is certain: it runs."""

    WORKING = "working"
    WAITING = "waiting for you"
    IDLE = "idle"
    UNKNOWN = "running"


class LiveProcess(Protocol):
    """One living process of this user. What costs a system call is read when asked for."""

    pid: int
    parent: int

    @property
    def title(self) -> str:
        """Its command line, arguments joined by blanks; programs may write another one."""

    @property
    def program(self) -> str:
        """The path of its program; empty when it can't be told."""

    @property
    def cwd(self) -> str:
        """Its working directory; empty when it can't be told."""

    @property
    def started_at(self) -> int:
        """When it began, epoch milliseconds, exact to about a second."""

    def variable(self, name: str) -> str | None:
        """A variable of the environment that it was started with."""

    def writing(self, below: str) -> Sequence[str]:
        """The files in that directory that it has open for writing."""


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A session that a living process has open, as far as can be told for certain."""

    agent: str
    pid: int
    cwd: str
    started_at: int
    """When that process began, epoch milliseconds."""
    session_id: str | None = None
    session_file: str | None = None
    title: str = ""
    """Its name, or its first prompt, as the agent has it: not cleaned."""
    doing: Doing = Doing.UNKNOWN
    detail: str = ""
    """What it waits for, in the agent's words."""
    may_have: tuple[str, ...] = ()
    """Where nothing tells which session it has: the files that it could be, the last written first."""

    def has(self, path: str) -> bool:
        """Whether that file is, or could be, this session's."""
        return path == self.session_file or path in self.may_have
