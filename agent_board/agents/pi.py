"""The Pi coding agent: where it is, how it is started, what it says."""

import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from agent_board.agents.base import Agent, ForeignSession, Installation, Job, Reader
from agent_board.agents.events import Event, PromptAccepted
from agent_board.agents.pi_errors import startup_sentence
from agent_board.agents.pi_events import REPORT, PiReader, transcript
from agent_board.agents.raw import object_of
from agent_board.resources import REPORT_EXTENSION

if TYPE_CHECKING:
    from agent_board.agents.running import LiveProcess, RunningSession

PACKAGE = "pi-coding-agent"
_READING = ("read", "grep", "find", "ls")
# Without an entry of this kind Pi adds every tool of its MCP servers to an allow-list.
_NO_MCP = "mcp__none"
_OLDEST = (1, 1, 0)  # before it `--tools +report` takes every other tool away
_ASK_SECONDS = 15
_HEADER_LINES, _HEADER_BYTES = 40, 1 << 20
_UP = 4  # from dist/bundle/cli.js to package.json, and one to spare
_VERSION = re.compile(r"(?<![\d.])(\d+)\.(\d+)(?:\.(\d+))?")


class Pi(Agent):
    """Pi in its JSON mode, one process for each prompt, with the report tool from our extension file."""

    name: ClassVar[str] = "pi"
    kind: ClassVar[str] = "pi-session"
    title: ClassVar[str] = "Pi"
    install: ClassVar[str] = "npm install -g @earendil-works/pi-coding-agent"
    leave: ClassVar[str] = "ctrl+d or /quit"

    def find(self) -> Installation | None:
        """See `Agent.find`. Starts `node --version`, or Pi itself when its package.json isn't found."""
        import shutil  # not for the runner

        path = shutil.which("pi")
        if path is None:
            return None
        package = _package_of(path)
        if package is None:
            return _asked_itself(path)
        version, needed = package
        problem = _too_old(version) or (_node_problem(version, needed) if needed else None)
        return Installation(path, version, problem)

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`."""
        return ["pi", "--mode", "json", *_session(job), *_model(job), *_tools(job), *_rules(job)]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`."""
        return ["pi", *_session(job), *_model(job), *_tools(job), *_rules(job)]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return PiReader()

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`. A session file that isn't there or can't be read holds nothing."""
        if job.session_file is None:
            return []
        try:
            with open(job.session_file, "rb") as file:
                file.seek(mark)
                return list(transcript(file))
        except OSError:
            return []

    def foreign_session(self, path: str) -> ForeignSession | None:
        """See `Agent.foreign_session`: the header line names the directory; a name or the first prompt may follow."""
        try:
            with open(path, "rb") as file:
                lines = file.read(_HEADER_BYTES).split(b"\n")[:_HEADER_LINES]
        except OSError:
            return None
        entries = [object_of(line) for line in lines]
        header = entries[0] if entries else {}
        cwd = header.get("cwd")
        if header.get("type") != "session" or "timestamp" not in header or not isinstance(cwd, str):
            return None
        names = [str(entry["name"]) for entry in entries if entry.get("type") == "session_info" and entry.get("name")]
        prompts = [event.text for event in transcript(lines) if isinstance(event, PromptAccepted)]
        return ForeignSession(cwd, str(header.get("id") or "") or None, next(iter([*names, *prompts]), None))

    def session_named(self, session_id: str) -> str | None:
        """See `Agent.session_named`."""
        from agent_board.agents.pi_running import session_named  # not for the runner

        return session_named(session_id)

    def running_sessions(self, processes: "Sequence[LiveProcess]") -> "list[RunningSession]":
        """See `Agent.running_sessions`: from processes and files, for Pi has no listing."""
        from agent_board.agents.pi_running import running  # not for the runner

        return running(processes, self.foreign_session, lambda program: _package_of(program) is not None)

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        return startup_sentence(stderr)

    def takes_commands(self, prompt: str) -> bool:
        """See `Agent.takes_commands`: Pi trims a prompt and takes a leading `/` as a command of its own."""
        return prompt.lstrip("\ufeff \t\r\n\v\f").startswith("/")


def _session(job: Job) -> list[str]:
    where = job.session_file or job.session_id
    return ["--session", where] if where else []


def _model(job: Job) -> list[str]:
    return ["--model", job.model] if job.model else []


def _tools(job: Job) -> list[str]:
    """Our extension, and the tools with `report` among them: a session remembers a choice made without it."""
    chosen = ",".join([*_READING, REPORT, _NO_MCP]) if job.read_only else f"+{REPORT}"
    return ["--extension", REPORT_EXTENSION, "--tools", chosen]


def _rules(job: Job) -> list[str]:
    """Per run; a session does not remember them."""
    return [word for rule in job.rules for word in ("--append-system-prompt", rule)]


def _package_of(path: str) -> tuple[str | None, tuple[int, int, int] | None] | None:
    """Version and the Node that is needed, from the package that the program belongs to; None if it has none."""
    folder = os.path.dirname(os.path.realpath(path))
    for _ in range(_UP):
        try:
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                raw = json.load(file)
        except (OSError, ValueError):
            raw = None
        if isinstance(raw, dict) and str(raw.get("name", "")).endswith(PACKAGE):
            engines = raw.get("engines")
            needed = engines.get("node") if isinstance(engines, dict) else None
            return str(raw["version"]) if raw.get("version") else None, _version_in(str(needed or ""))
        folder = os.path.dirname(folder)
    return None


def _version_in(text: str) -> tuple[int, int, int] | None:
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def _too_old(version: str | None) -> str | None:
    here = _version_in(version or "")
    if here is None or here >= _OLDEST:
        return None
    return f"Pi {version} is too old: agent-board needs {_OLDEST[0]}.{_OLDEST[1]} or newer; run `{Pi.install}`."


def _output_of(command: list[str]) -> tuple[int, str]:
    """Exit code and all output of a short command; -1 and the reason when it can't be run."""
    import subprocess  # not for the runner

    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, f"it did not answer within {_ASK_SECONDS} s"
    except (OSError, ValueError) as error:
        return -1, getattr(error, "strerror", None) or str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _node_problem(version: str | None, needed: tuple[int, int, int]) -> str | None:
    """Why the Node at hand can't run this Pi; the program's first line leaves the choice to PATH."""
    wants = f"Pi {version or ''} needs Node {needed[0]}.{needed[1]} or newer".replace("  ", " ")
    code, said = _output_of(["node", "--version"])
    here = _version_in(said) if code == 0 else None
    if here is None:
        return f"{wants}, and there is no working `node` on PATH: install it or put it on PATH."
    if here >= needed:
        return None
    return f"{wants}; node here is {'.'.join(map(str, here))}: install a newer Node and put it first on PATH."


def _asked_itself(path: str) -> Installation:
    code, said = _output_of([path, "--version"])
    found = _VERSION.search(said)
    if code == 0 and found:
        return Installation(path, found.group(), _too_old(found.group()))
    why = (startup_sentence(said) or "it says nothing").rstrip(".")
    return Installation(path, None, f"{path} does not run: {why}.")
