"""Which sessions run: Claude Code's listing in the shapes that it was seen in, and Pi's from processes and files."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_board.agents.claude_running import sessions_in
from agent_board.agents.pi import Pi
from agent_board.agents.running import Doing, NoListingError, RunningSession

INTERACTIVE = {
    "pid": 12345,
    "cwd": "/home/user/proj",
    "kind": "interactive",
    "startedAt": 1796063551996,
    "sessionId": "00000001-0000-4000-8000-000000000001",
    "name": "proj-31",
    "status": "busy",
}
WAITING = INTERACTIVE | {
    "kind": "background",
    "id": "00000032",
    "status": "waiting",
    "waitingFor": "permission prompt",
    "state": "blocked",
}
STOPPED = {"id": "00000027", "cwd": "/home/user/proj", "kind": "background", "sessionId": "27", "state": "stopped"}


def listed(*entries: object) -> list[RunningSession]:
    return sessions_in(json.dumps(entries).encode(), lambda session_id: f"/sessions/{session_id}.jsonl")


def test_claude_tells_what_each_is_at() -> None:
    (session,) = listed(INTERACTIVE)
    assert session == RunningSession(
        agent="claude",
        pid=12345,
        cwd="/home/user/proj",
        started_at=1796063551996,
        session_id="00000001-0000-4000-8000-000000000001",
        session_file="/sessions/00000001-0000-4000-8000-000000000001.jsonl",
        title="proj-31",
        doing=Doing.WORKING,
    )
    (waiting,) = listed(WAITING | {"something": "new"})
    assert (waiting.doing, waiting.detail) == (Doing.WAITING, "permission prompt")
    assert [one.doing for one in listed(INTERACTIVE | {"status": "idle"}, INTERACTIVE | {"status": "new"})] == [
        Doing.IDLE,
        Doing.UNKNOWN,
    ]


def test_claude_what_has_no_process_does_not_run() -> None:
    odd: list[object] = [STOPPED, "text", None, INTERACTIVE | {"pid": "1"}, INTERACTIVE | {"pid": True}]
    odd += [INTERACTIVE | {"cwd": 3}, INTERACTIVE | {"sessionId": ""}, {}]
    assert listed(*odd) == []
    assert sessions_in(b"", lambda _: None) == []


@pytest.mark.parametrize("said", [b"{}", b"Unknown command", b"\xff", b"[" * 100_000, b"null"])
def test_claude_saying_something_else_is_no_listing(said: bytes) -> None:
    with pytest.raises(NoListingError, match="something else"):
        sessions_in(said, lambda _: None)


# -- Pi

BEGAN = 1_790_000_000_000


@dataclass
class Fake:
    """A process as tests want it."""

    pid: int
    title: str = "pi"
    cwd: str = "/src/api"
    parent: int = 1
    program: str = "/usr/bin/node"
    started_at: int = BEGAN
    variables: Mapping[str, str] = field(default_factory=dict)
    holds: Sequence[str] = ()

    def variable(self, name: str) -> str | None:
        return self.variables.get(name) or os.environ.get(name)

    def writing(self, below: str) -> Sequence[str]:
        return [path for path in self.holds if path.startswith(below)]


def pi_file(
    home: Path, name: str, begun: int = BEGAN + 900, written: int = BEGAN + 60_000, last: str = "stop", cwd: str = ""
) -> str:
    """A session of /src/api in Pi's own place, begun and last written then."""
    folder = home / ".pi" / "agent" / "sessions" / "--src-api--"
    folder.mkdir(parents=True, exist_ok=True)
    at = datetime.fromtimestamp(begun / 1000, UTC).isoformat().replace("+00:00", "Z")
    entries = [
        {"type": "session", "version": 3, "id": name, "timestamp": at, "cwd": cwd or "/src/api"},
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": f"Do {name}"}]}},
        {"type": "message", "message": {"role": "assistant", "content": [], "stopReason": last}},
        {"type": "session_info", "name": ""},
    ]
    path = folder / f"2026_{name}.jsonl"
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    os.utime(path, (written / 1000, written / 1000))
    return str(path)


def running(*processes: Fake) -> list[RunningSession]:
    return Pi().running_sessions(processes)


def test_pi_a_session_begun_with_its_process_is_its_own(home: Path) -> None:
    path = pi_file(home, "own")
    pi_file(home, "older", begun=BEGAN - 90_000, written=BEGAN - 60_000)
    pi_file(home, "of-a-namesake", cwd="/src-api")
    (session,) = running(Fake(7))
    assert (session.pid, session.session_file, session.session_id) == (7, path, "own")
    assert (session.title, session.cwd, session.doing) == ("Do own", "/src/api", Doing.IDLE)


@pytest.mark.parametrize(
    ("last", "doing"), [("toolUse", Doing.WORKING), ("aborted", Doing.IDLE), ("error", Doing.UNKNOWN)]
)
def test_pi_what_it_is_at_stands_in_the_last_message(home: Path, last: str, doing: Doing) -> None:
    pi_file(home, "own", last=last)
    (session,) = running(Fake(7))
    assert session.doing is doing


def test_pi_what_nothing_proves_is_not_claimed(home: Path) -> None:
    """Resumed, one of two in a directory, or another that has ended wrote there: it may have each of them."""
    resumed = pi_file(home, "resumed", begun=BEGAN - 90_000)
    (session,) = running(Fake(7))
    assert (session.session_file, session.title, session.may_have) == (None, "", (resumed,))
    assert session.has(resumed)
    own = pi_file(home, "own", written=BEGAN + 90_000)
    (session,) = running(Fake(7))
    assert (session.session_file, session.may_have) == (None, (own, resumed))
    Path(resumed).unlink()
    assert [one.may_have for one in running(Fake(7), Fake(8))] == [(own,), (own,)]
    Path(own).unlink()
    (session,) = running(Fake(7))
    assert (session.session_file, session.may_have) == (None, ())


def test_pi_the_commands_that_it_runs_tell_its_session(home: Path) -> None:
    one, other = pi_file(home, "one"), pi_file(home, "other")
    told = {"PI_SESSION_FILE": one}
    sessions = running(
        Fake(7),
        Fake(70, title="bash -c make", parent=7, variables=told),
        Fake(71, title="make", parent=70, variables=told),
        Fake(8),
        # An agent that is a command of the first: what it inherited is not its own.
        Fake(9, parent=71, cwd="/src/web", variables=told),
    )
    assert {s.pid: (s.session_file, s.may_have) for s in sessions} == {
        7: (one, ()),
        8: (None, (other,)),
        9: (None, ()),
    }
    assert sessions[0].doing is Doing.WORKING


def test_pi_a_file_held_open_for_writing_is_a_session(home: Path) -> None:
    path = pi_file(home, "held")
    (session,) = running(Fake(5, title="my-program", holds=[path, "/elsewhere/x.jsonl", f"{path}.lock"]))
    assert (session.pid, session.session_file) == (5, path)


def test_pi_other_programs_of_that_name_are_none(home: Path, tmp_path: Path) -> None:
    pi_file(home, "own")
    assert running(Fake(7, program="/usr/bin/pi"), Fake(8, title="pi 3.14"), Fake(9, title="node pi")) == []
    package = tmp_path / "pi" / "package.json"
    package.parent.mkdir()
    package.write_text('{"name": "@earendil-works/pi-coding-agent", "version": "1.6.0"}')
    assert [one.pid for one in running(Fake(7, program=str(package.parent / "pi")))] == [7]
    assert [one.pid for one in running(Fake(7, program="/opt/node22 (deleted)"))] == [7]
    assert [one.pid for one in running(Fake(7), Fake(8, parent=7))] == [7]  # before it is what it is to become


def test_pi_a_session_is_found_by_its_id(home: Path) -> None:
    path = pi_file(home, "0199-abc")
    assert Pi().session_named("0199-abc") == path
    assert Pi().session_named("0199") is None
