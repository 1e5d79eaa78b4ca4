"""A shell command as a task: no model, but the same rows, logs, stop and retry."""

import os
import re
import shlex
import signal
import time
from typing import ClassVar

from agent_board.agents.base import Agent, Installation, Job, Reader
from agent_board.agents.events import AssistantDelta, Event, PromptAccepted, Reported, Settled, ToolEnded, ToolStarted
from agent_board.text import preview, printed

_SHELLS = frozenset({"bash", "zsh", "sh", "dash", "ksh", "mksh", "ash", "busybox"})
_ASK_SECONDS = 5
_EVERY_S = 0.1
# Runs the text of the file that is its argument. A command that a signal ended ends this shell by the same one, so
# that its end is seen as what it was.
_RUN = """\
eval "$(cat "$1")"
code=$?
[ "$code" -gt 128 ] && [ "$code" -lt 160 ] && ulimit -c 0 && kill -"$((code - 128))" $$
exit "$code"
"""
_PLAIN_WORD = re.compile(r"[\w./+@%:~-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_CALL = "command"


class ShellReader(Reader):
    """Remembers the last line only: what a command prints is in its log."""

    def __init__(self) -> None:
        self._last = b""
        self._told_at = float("-inf")

    def opened(self, prompt: str) -> list[Event]:
        """See `Reader.opened`."""
        return [PromptAccepted(prompt), ToolStarted(_CALL, "shell", preview(prompt))]

    def feed(self, line: bytes) -> list[Event]:
        """A sign of life, ten times a second at most: a flood of lines costs nothing."""
        if line.strip():
            self._last = line
        now = time.monotonic()
        if now - self._told_at < _EVERY_S:
            return []
        self._told_at = now
        return [AssistantDelta(printed(self._last[-4096:]).strip() + "\n")]

    def exited(self, code: int) -> list[Event]:
        """See `Reader.exited`: 0 is done, all else failed."""
        last = preview(printed(self._last[-4096:]).strip())
        end = ToolEnded(_CALL, "shell", code != 0, last)
        if code == 0:
            return [end, Reported("completed", last or "Done, without output"), Settled()]
        what = f"Exit code {code}" if code > 0 else f"Ended by {_signal_name(-code)}"
        return [end, Reported("failed", f"{what}: {last}" if last else f"{what}."), Settled()]


class Shell(Agent):
    """The user's shell, on a pseudo-terminal; nobody answers what the command asks."""

    name: ClassVar[str] = "shell"
    kind: ClassVar[str] = "shell"
    title: ClassVar[str] = "Shell"
    install: ClassVar[str] = "set $SHELL"
    terminal: ClassVar[bool] = True
    takes_replies: ClassVar[bool] = False

    def find(self) -> Installation | None:
        """See `Agent.find`. A shell of another family than sh gives way to /bin/sh."""
        return Installation(_shell())

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`: the file with the text is added as the last argument."""
        return [_shell(), "-c", _RUN, "job"]

    def attach_command(self, job: Job) -> list[str]:
        """Never asked for: there is no session."""
        return [_shell()]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return ShellReader()

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`: none."""
        return None, None

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`: there is no transcript."""
        return []

    def refusal(self, prompt: str, cwd: str) -> str | None:
        """See `Agent.refusal`: its first word is no command. Asks the shell; only plain words are asked about."""
        word = _first_word(prompt)
        if word is None:
            return None
        if "/" in word:
            path = os.path.join(cwd, os.path.expanduser(word))
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return None
            return f"{word} is not there or can't be executed in {cwd}; nothing was started."
        return None if _known(word, cwd) else f"There is no command “{preview(word, 60)}”; nothing was started."


def _shell() -> str:
    chosen = os.environ.get("SHELL", "")
    fits = os.path.basename(chosen) in _SHELLS and os.access(chosen, os.X_OK)
    return chosen if fits else "/bin/sh"


def _first_word(prompt: str) -> str | None:
    """The command's name where the text is so plain that it can be told."""
    try:
        words = shlex.split(prompt.strip().split("\n", 1)[0])
    except ValueError:
        return None
    words = [word for word in words if not _ASSIGNMENT.match(word)]
    return words[0] if words and _PLAIN_WORD.fullmatch(words[0]) else None


def _known(word: str, cwd: str) -> bool:
    import subprocess  # not for the runner

    ask = [_shell(), "-c", 'command -v -- "$1"', "job", word]
    try:
        done = subprocess.run(
            ask, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return True  # then its run will tell
    return done.returncode == 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
