"""Records: one definition for the runner (plain) and the readers (pydantic); versions lifted (AB-038, AB-095)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.store import plain
from agent_board.store.exact import exact
from agent_board.store.files import Unreadable, write_json
from agent_board.store.load import load, validated
from agent_board.store.migrate import migrate
from agent_board.store.records import (
    Evidence,
    FollowUp,
    FollowUps,
    Identity,
    Meta,
    ProcessState,
    Report,
    Request,
    Retry,
    Roster,
    RunRequest,
    RunStatus,
    SemanticState,
    ShimPid,
    State,
    Stop,
    Tool,
    Usage,
    Verdict,
    encode,
)

SHIM = Identity("machine", "boot", "pid:[1]", 42, 1234)
FULL: list[Any] = [
    Meta(1, "ab", "name", "/x", 1, 2, verdict=Verdict(SemanticState.COMPLETED, "r", 3), pinned=True),
    State(
        1,
        "ab",
        SemanticState.WORKING,
        ProcessState.ALIVE,
        5,
        6,
        latest_tool=Tool("edit", "a.py"),
        usage=Usage(1, 2, None, 4, 0.5),
    ),
    RunStatus(
        1,
        "r",
        "ab",
        7,
        worker_identity=SHIM,
        leftovers=[SHIM],
        durations={"run": 5},
        evidence=Evidence(
            report=Report("blocked", "s", "q?"),
            open_requests={"1": Request("permission", "t", ["a", "b"])},
            retry=Retry(1, 3, "503"),
        ),
    ),
    RunRequest(1, "r", "ab", "p", 1, 8, "pi", "/x", wrap=["direnv", "exec", "."]),
    ShimPid(1, 9, SHIM),
    Stop(1, 10),
    FollowUps(1, [FollowUp("f", "text\n", 11)]),
    Roster(1, ["a"], ["b"]),
]


@pytest.mark.parametrize("record", FULL, ids=lambda record: type(record).__name__)
def test_both_readers_give_back_what_was_written(record: object) -> None:
    raw = json.loads(json.dumps(encode(record)))
    assert exact(type(record), raw) == record
    assert validated(type(record), dict(raw)) == record


@pytest.mark.parametrize("record", FULL, ids=lambda record: type(record).__name__)
def test_unknown_keys_are_passed_over(record: object) -> None:
    raw = {**json.loads(json.dumps(encode(record))), "fromTheFuture": {"x": 1}}
    assert exact(type(record), raw) == record
    assert validated(type(record), raw) == record


def test_field_names_on_disk_are_those_of_the_contract() -> None:
    """AB-032, AB-033, AB-034: never renamed."""
    meta = set(encode(FULL[0]))
    assert meta == {
        *("version id name cwd sessionFile createdAt updatedAt pinned kind defaultModel".split()),
        *("worktreeMode worktreePath source agent sessionId repoRoot baseRef branch readOnly".split()),
        *("checkout archivedAt verdict seenSeq mode".split()),
    }
    state = set(encode(FULL[1]))
    assert {
        *("version viewId currentRunId semanticState processState summary lastActivityAt updatedAt".split()),
        *("needsInput hasError latestAssistantPreview latestTool stateSince question choices error reason".split()),
        *("queueReason stalledSince attached heldPrompts promptPreview changeSeq usage".split()),
    } == state
    status = set(encode(FULL[2]))
    assert status >= {
        *("version runId viewId pid startedAt endedAt exitCode semanticState processState summary".split()),
        *("lastActivityAt currentTool latestAssistantPreview question error promptPreview workerIdentity".split()),
        *("stopReason usage report transcriptMark durations".split()),
    }
    assert set(encode(Usage())) == {"input", "output", "cacheRead", "cacheWrite", "costUsd"}
    assert encode(FULL[4]) == {
        "version": 1,
        "at": 9,
        "identity": {"machineId": "machine", "bootId": "boot", "pidNs": "pid:[1]", "pid": 42, "startTicks": 1234},
    }


@pytest.mark.parametrize("change", [{"viewId": 3}, {"semanticState": "dancing"}, {"usage": 5}, {"updatedAt": "soon"}])
def test_a_wrong_value_is_unreadable_and_says_which(tmp_path: Path, change: dict[str, object]) -> None:
    path = str(tmp_path / "state.json")
    write_json(path, {**encode(FULL[1]), **change})
    found = load(State, path)
    assert isinstance(found, Unreadable)
    assert next(iter(change)) in found.why


def test_the_plain_reader_also_has_three_answers(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    write_json(path, {"version": 1, "viewId": "x"})
    assert isinstance(plain.read(State, path), Unreadable)
    write_json(path, {**encode(FULL[1]), "usage": 5})
    assert isinstance(plain.read(State, path), Unreadable)


def test_an_old_version_is_lifted_in_memory_only(tmp_path: Path) -> None:
    old = {**encode(FULL[2]), "version": 0, "currentTool": "bash"}
    path = tmp_path / "status.json"
    write_json(str(path), old)
    before = path.read_bytes()
    found = load(RunStatus, str(path))
    assert isinstance(found, RunStatus)
    assert (found.version, found.current_tool) == (1, Tool("bash"))
    assert path.read_bytes() == before


@given(
    st.dictionaries(st.sampled_from(["currentTool", "latestTool", "x"]), st.text(max_size=5) | st.none(), max_size=3)
)
def test_lifting_keeps_every_key(values: dict[str, object]) -> None:
    lifted = migrate({**values, "version": 0})
    assert lifted["version"] == 1
    assert lifted.keys() == values.keys() | {"version"}
