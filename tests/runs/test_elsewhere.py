"""Elsewhere: what runs outside the board and nothing else, whoever fails to tell (issue of discovery)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_board.agents import claude_running
from agent_board.errors import BoardError
from agent_board.runs.adopt import adopt
from agent_board.runs.elsewhere import Elsewhere, Found
from agent_board.runs.live import live_processes
from agent_board.runs.processes import MARKER
from agent_board.store.paths import StorePaths
from tests.agents.test_running import INTERACTIVE, pi_file
from tests.support.claude_listing import fake_claude

SESSION = str(INTERACTIVE["sessionId"])


@contextmanager
def holding(path: str, mode: str = "a", **environment: str) -> Iterator[int]:
    """A process that has that file open; its pid."""
    program = f"file = open({path!r}, {mode!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        yield holder.pid
        holder.communicate("\n")


def look(store: StorePaths) -> Found:
    return Elsewhere(store).look()


def pids(store: StorePaths) -> set[int]:
    return {session.pid for session in look(store).sessions}


def claude_file(home: Path, session_id: str) -> Path:
    path = home / ".claude" / "projects" / "-src-api" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"role": "user", "content": "Fix it"}
    path.write_text(
        json.dumps({"type": "user", "uuid": "u", "cwd": "/src/api", "sessionId": session_id, "message": said}) + "\n"
    )
    return path


def test_a_pi_session_that_a_process_holds_open(store: StorePaths, home: Path) -> None:
    path = pi_file(home, "held")
    with holding(path) as pid:
        (session,) = [one for one in look(store).sessions if one.pid == pid]
        assert (session.agent, session.session_file, session.title) == ("pi", path, "Do held")
        with pytest.raises(BoardError, match=f"Process {pid} has .* open"):
            adopt(store, path)
    assert pid not in pids(store)


def test_who_only_reads_a_session_does_not_run_it(store: StorePaths, home: Path) -> None:
    with holding(pi_file(home, "read"), "r") as pid:
        assert pid not in pids(store)


def test_what_the_board_has_or_started_is_not_elsewhere(store: StorePaths, home: Path) -> None:
    """By the session of a row, an archived or renamed one too, and by the mark of a run."""
    path = pi_file(home, "adopted")
    around = Elsewhere(store)
    with holding(pi_file(home, "run"), **{MARKER: "000001-abc"}) as pid:
        assert pid not in {one.pid for one in around.look().sessions}
        assert pid not in {process.pid for process in live_processes()}
    adopt(store, path)
    with holding(path) as pid:
        found = around.look()
        assert pid not in {one.pid for one in found.sessions}
    assert {path, "adopted"} <= found.ours


def test_claude_tells_by_its_program(store: StorePaths, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = claude_file(home, SESSION)
    fake_claude(home / "bin", monkeypatch, [INTERACTIVE | {"pid": os.getpid()}])
    monkeypatch.setenv("CLAUDECODE", "1")  # the board was opened by a Claude: the program must not know
    (session,) = [one for one in look(store).sessions if one.agent == "claude"]
    assert (session.session_file, session.title) == (str(path), "proj-31")
    with pytest.raises(BoardError, match=rf"Claude Code \(pid {os.getpid()}\) has .* open; end it first"):
        adopt(store, SESSION)
    whole = path.read_bytes()
    path.write_text('{"type": "mode"}\n')  # begun a moment ago, it does not tell yet whose it is
    with pytest.raises(BoardError, match=rf"Claude Code \(pid {os.getpid()}\) has .* open; end it first"):
        adopt(store, SESSION)
    path.write_bytes(whole)
    fake_claude(home / "bin", monkeypatch, [])
    assert adopt(store, SESSION).name == "fix-it"
    fake_claude(home / "bin", monkeypatch, [INTERACTIVE])
    assert [one for one in look(store).sessions if one.agent == "claude"] == []


@pytest.mark.parametrize("script", ["exit 3", "echo Hello", "exec sleep 60", "kill -9 $$"])
def test_one_that_fails_hides_no_other(
    store: StorePaths, home: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_claude(home / "bin", monkeypatch, script=script)
    monkeypatch.setattr(claude_running, "ASK_S", 0.5 if "sleep" in script else 5.0)
    with holding(pi_file(home, "held")) as pid:
        found = look(store)
    assert pid in {one.pid for one in found.sessions}
    assert list(found.problems) == ["claude"]
    assert found.problems["claude"].startswith("`claude agents --json` ")
    path = claude_file(home, "1234")
    if "sleep" in script:  # it may run: unknown is not free
        with pytest.raises(BoardError, match="did not answer"):
            adopt(store, str(path))
    else:
        assert adopt(store, str(path)).new


@pytest.mark.parametrize("session", ["no-such-id", "", "-", "../x", "a/b.jsonl"])
def test_what_is_neither_file_nor_id(
    store: StorePaths, session: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(BoardError, match="There is no session file"):
        adopt(store, session)
