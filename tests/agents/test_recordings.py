"""Every recording of Codex and its like is read rightly: state, question, error, usage, retries (AB-048…AB-063)."""

import pytest

from agent_board.agents.base import Reader
from agent_board.agents.codex_events import CodexReader
from agent_board.agents.events import RetryStarted
from agent_board.agents.registry import agent
from agent_board.store.records import SemanticState, Usage
from tests.agents import (
    claude_expectations,
    codex_expectations,
    copilot_expectations,
    gemini_expectations,
    opencode_expectations,
)
from tests.agents.conftest import Recordings
from tests.agents.replaying import Expected, ended, events_of, seen

TABLES = {
    "claude": ("stream-json", claude_expectations.EXPECTED),
    "codex": ("--json", codex_expectations.EXPECTED),
    "gemini": ("stream-json", gemini_expectations.EXPECTED),
    "copilot": ("--output-format", copilot_expectations.EXPECTED),
    "opencode": ('"--format", "json"', opencode_expectations.EXPECTED),
}
ROWS = [(name, row) for name, (_, rows) in TABLES.items() for row in rows]


def reader_of(name: str, row: Expected) -> Reader:
    if row.before is None:
        return agent(name).reader()
    return CodexReader(Usage(*row.before))


@pytest.mark.parametrize("name", TABLES)
def test_the_table_holds_every_headless_run(name: str, recordings: Recordings):
    flag, rows = TABLES[name]
    folders = [folder for folder in recordings(name).iterdir() if flag in (folder / "cmd.txt").read_text()]
    assert {folder.name for folder in folders} == {row.name for row in rows}


@pytest.mark.parametrize(("name", "row"), ROWS, ids=lambda value: getattr(value, "name", value))
def test_a_recorded_run_is_read_rightly(name: str, row: Expected, recordings: Recordings):
    recording = recordings(name) / row.name
    events = events_of(reader_of(name, row), recording)
    status = ended(agent(name), recording, seen(events))
    assert (status.semantic_state, status.reason) == (row.state, row.reason)
    assert (status.error or status.question or status.summary) == row.says
    assert (status.usage.input, status.usage.output) == row.usage
    assert status.usage.cost_usd == (None if row.cost is None else pytest.approx(row.cost))
    assert sum(isinstance(event, RetryStarted) for event in events) == row.retries
    assert bool(status.error) == (row.state == "failed")
    assert bool(status.question) == (row.state == "needs_input")


@pytest.mark.parametrize(
    ("name", "row"), [(name, row) for name, row in ROWS if row.reason in ("signal", "exit", "lost")], ids=str
)
def test_the_same_ends_are_stopped_when_the_user_asked(name: str, row: Expected, recordings: Recordings):
    recording = recordings(name) / row.name
    status = ended(agent(name), recording, seen(events_of(reader_of(name, row), recording)), stop_requested=True)
    assert (status.semantic_state, status.error) == (SemanticState.STOPPED, None)


@pytest.mark.parametrize("name", TABLES)
def test_recordings_name_no_machine(name: str, recordings: Recordings):
    for file in recordings(name).glob("*/*"):
        data = file.read_bytes()
        assert b"/root" not in data, file
        assert b"/work/" not in data, file
        assert b"/tmp/" not in data.replace(b'"/tmp"', b""), file


@pytest.mark.parametrize("name", TABLES)
def test_broken_lines_are_passed_over(name: str):
    reader = agent(name).reader()
    for line in (b"", b"{", b"null", b"[1]", b'{"type":[]}', b'{"type":"unheard.of"}', b"\xff\xfe", b'{"a":' * 4000):
        assert reader.feed(line) == []
    assert reader.close() == []
