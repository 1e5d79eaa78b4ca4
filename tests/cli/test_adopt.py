"""`adopt`: a session that was started elsewhere becomes a row, once."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_usage import one_sentence


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "old.jsonl"
    header = {"type": "session", "version": 3, "id": "abc", "timestamp": "2026-01-01T00:00:00Z", "cwd": str(tmp_path)}
    prompt = {"type": "message", "message": {"role": "user", "content": "Fix the typos"}}
    path.write_text(f"{json.dumps(header)}\n{json.dumps(prompt)}\n")
    return path


def test_a_session_is_adopted_once(cli: Cli, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    done = cli("adopt", str(session), "--json")
    assert done.code == 0, done.err
    assert set(done.json) == {"viewId", "new"}
    assert done.json["new"] is True
    (row,) = cli("list", "--json").json
    assert (row["id"], row["semanticState"], row["cwd"]) == (done.json["viewId"], "idle", str(tmp_path))
    assert (row["agent"], row["sessionFile"], row["unread"]) == ("pi", str(session), False)
    monkeypatch.chdir(tmp_path)
    assert cli("adopt", "old.jsonl", "--json").json == {"viewId": row["id"], "new": False}
    assert cli("adopt", "old.jsonl").out.startswith("It is on the board already, as “fix-the-typos” (")
    assert len(cli("list", "--json").json) == 1


def test_it_says_what_it_adopted(cli: Cli, session: Path):
    assert cli("adopt", str(session)).out.startswith("Adopted as “fix-the-typos” (")


@pytest.mark.parametrize("name", ["missing.jsonl", "folder", "garbage.jsonl", "empty.jsonl", ""])
def test_what_is_no_session_is_refused(cli: Cli, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage.jsonl").write_bytes(b"\0\xff{}\n[1, 2]\n")
    (tmp_path / "empty.jsonl").touch()
    done = cli("adopt", name)
    assert (done.code, done.out) == (1, "")
    assert one_sentence(done.err)
    assert cli("list", "--json").json == []
