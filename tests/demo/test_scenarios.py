"""What the scripted agent does, as the board understands it: events → evidence → state."""

import dataclasses
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.agents import registry
from agent_board.agents.base import Job
from agent_board.demo import leaving
from agent_board.demo.script import SPEED, WORLD, chosen
from agent_board.states.decide import derive
from agent_board.states.observe import observe
from agent_board.store.records import VERSION, RunStatus, SemanticState

DEMO = registry.agent("demo")
S = SemanticState


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory inside an owned world, where the agent may edit without being told to."""
    owner = leaving.own(str(tmp_path))
    monkeypatch.setenv(WORLD, os.path.realpath(tmp_path))
    monkeypatch.setenv(SPEED, "200")
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "README.md").write_text("# src\n")
    (folder / "test.sh").write_text("#!/bin/sh\ntest -s README.md\n")
    (folder / "test.sh").chmod(0o755)
    monkeypatch.chdir(folder)
    yield folder
    os.close(owner)


def ended(prompt: str, session: str | None = None) -> RunStatus:
    """The status of a whole run, as a shim would conclude it."""
    job = Job(cwd=".", session_file=session)
    done = subprocess.run(DEMO.command(job), input=prompt.encode(), capture_output=True, timeout=60)
    status = RunStatus(version=VERSION, run_id="r", view_id="v", started_at=0)
    reader = DEMO.reader()
    for line in done.stdout.split(b"\n"):
        for event in reader.feed(line):
            status = observe(status, event, 1)
    words = DEMO.startup_error(done.stderr.decode()) if done.returncode else None
    evidence = dataclasses.replace(
        status.evidence,
        exited=True,
        exit_code=done.returncode,
        startup_error=None if status.evidence.settled else words,
    )
    return derive(dataclasses.replace(status, exit_code=done.returncode, evidence=evidence))


@pytest.mark.parametrize(
    ("script", "state", "words"),
    [
        ("say Looking.; edit a.md; test; report completed Added a line", S.COMPLETED, "Added a line"),
        ("say Looking.; edit a.md; say Added a line to a.md.", S.COMPLETED, "Added a line"),
        ("say Done, a.md is new. Want me to add tests too?", S.COMPLETED, "Done"),
        ("read README.md; ask I found two ways. Should I keep the old name or drop it?", S.NEEDS_INPUT, "old name"),
        ("report blocked Half done | Which region shall it run in?", S.NEEDS_INPUT, "Which region"),
        ("report failed The tests need a database", S.FAILED, "database"),
        ("fail 429 quota exhausted", S.FAILED, "429"),
        ("retry 2 503 overloaded; say Fine now.", S.COMPLETED, "Fine now"),
        ("cut", S.FAILED, "cut"),
        ("crash out of memory", S.FAILED, ""),
        ("refuse Not logged in; say x", S.FAILED, "Not logged in"),
        ("die", S.FAILED, ""),
        ("say All good.; settle; exit 3", S.COMPLETED, "All good"),
        ("permit May I push?; close denied; say Then I leave it at that.", S.COMPLETED, "leave it"),
        ("flood 200; line 200; say Enough.", S.COMPLETED, "Enough"),
    ],
)
def test_every_ending_is_told_rightly(script: str, state: SemanticState, words: str) -> None:
    status = ended(f"demo: {script}")
    assert status.semantic_state is state
    said = {S.COMPLETED: status.summary, S.FAILED: status.error, S.NEEDS_INPUT: status.question}[state]
    assert said
    assert words in said
    assert (status.error is None) == (state is not S.FAILED)


def kinds_of_script(may_edit: bool) -> dict[str, str]:
    """For each kind of ending that free text can choose: one text that chooses it."""
    found: dict[str, str] = {}
    for number in range(400):
        prompt = f"improve part {number}"
        steps = chosen(prompt, 0, may_edit)
        found.setdefault(" ".join(verb for verb, _ in steps), prompt)
    return found


def test_whatever_is_asked_something_sensible_comes_of_it(work: Path, tmp_path: Path) -> None:
    texts = kinds_of_script(True)
    assert len(texts) == 5
    outcomes = []
    for number, prompt in enumerate([*texts.values(), "修复登录页的报错"]):
        before = (work / "README.md").read_text()
        session = str(tmp_path / f"{number}.jsonl")
        first = ended(prompt, session)
        outcomes.append(first.semantic_state)
        assert first.summary
        assert "first try" not in (work / "README.md").read_text()
        if first.semantic_state is S.NEEDS_INPUT:
            assert first.question
        else:
            assert (work / "README.md").read_text() != before, "it really edits"
        reply = ended("the first one, please", session)
        assert reply.semantic_state is S.COMPLETED, "a reply goes on to completion"
        assert reply.usage.cost_usd
    assert set(outcomes) == {S.COMPLETED, S.NEEDS_INPUT}


def test_tools_in_use_are_shown(work: Path) -> None:
    status = RunStatus(version=VERSION, run_id="r", view_id="v", started_at=0)
    reader = DEMO.reader()
    lines = [b'{"type":"prompt","text":"x"}', b'{"type":"tool","id":"1","name":"edit","target":"src/auth.py"}']
    for line in lines:
        for event in reader.feed(line):
            status = observe(status, event, 1)
    status = derive(status)
    assert status.semantic_state is S.WORKING
    assert "auth.py" in status.summary
