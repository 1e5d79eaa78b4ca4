"""The `agent-board` command as a user's shell runs it: a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

AGENT_BOARD = (sys.executable, "-m", "agent_board")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, parsed."""
        return json.loads(self.out)


def environment() -> dict[str, str]:
    """This process's environment, without the window's size that readline puts where Python doesn't see it."""
    return dict(os.environ)


def run(*arguments: str, stdin: bytes = b"", cwd: str | os.PathLike[str] | None = None, timeout: float = 60.0) -> Done:
    """Run `agent-board` with these arguments, whatever its exit code; this process's environment applies."""
    line = [*AGENT_BOARD, *arguments]
    done = subprocess.run(line, input=stdin, capture_output=True, cwd=cwd, timeout=timeout, env=environment())
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def ok(*arguments: str, stdin: bytes = b"", cwd: str | os.PathLike[str] | None = None, timeout: float = 60.0) -> Done:
    """The same, and it must end with 0."""
    done = run(*arguments, stdin=stdin, cwd=cwd, timeout=timeout)
    assert done.code == 0, f"agent-board {' '.join(arguments)[:200]} ended with {done.code}: {done.err}{done.out}"
    return done


def start(*arguments: str, cwd: str | os.PathLike[str] | None = None) -> "subprocess.Popen[bytes]":
    """Start `agent-board` with these arguments and leave it running; the caller ends it."""
    return subprocess.Popen(
        [*AGENT_BOARD, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment(),
    )
