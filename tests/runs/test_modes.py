"""The mode of a task: chosen once, kept with it, and what each of its runs and terminals goes by."""

import json
import os
from pathlib import Path

import pytest

from agent_board.agents.base import Job
from agent_board.agents.registry import agent, names
from agent_board.errors import UsageError
from agent_board.runs.adopt import adopt
from agent_board.runs.claim import run_ids
from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.options import AgentOptions, Options
from agent_board.runs.reply import reply, retry
from agent_board.runs.status import job_of
from agent_board.runs.succession import next_request
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, RunRequest
from agent_board.store.views import view_ids
from tests.runs.views import settled
from tests.support import fake_claude

PLAN = Options(agents={"claude": AgentOptions(mode="plan"), "demo": AgentOptions(mode="plan")})


@pytest.fixture(autouse=True)
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_claude.install(tmp_path / "fake-bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def order(cwd: Path, *, name: str = "claude", mode: str | None = None, read_only: bool = False) -> Order:
    return Order(b"fake: say Done.", str(cwd), agent=name, mode=mode, read_only=read_only)


def meta_of(store: StorePaths, view_id: str) -> Meta:
    meta = plain.read(Meta, store.view(view_id).meta)
    assert isinstance(meta, Meta)
    return meta


def started_with(store: StorePaths, view_id: str) -> str | None:
    """The mode on the command line of the last run's agent."""
    settled(store, view_id)
    view = store.view(view_id)
    first = Path(view.run(run_ids(view)[-1]).stdout).read_text().splitlines()[0]
    words = json.loads(first)["argv"]
    assert words.count("--permission-mode") <= 1
    return words[words.index("--permission-mode") + 1] if "--permission-mode" in words else None


def test_what_was_chosen_counts_for_replies_retries_and_attaching(store: StorePaths, project: Path) -> None:
    """The word at dispatch counts more than the settings, at once and for good."""
    task = dispatch(store, order(project, mode="acceptEdits"), PLAN)
    assert started_with(store, task.view_id) == "acceptEdits"
    assert json.loads(Path(store.view(task.view_id).meta).read_text())["mode"] == "acceptEdits"
    reply(store, task.view_id, b"fake: say Again.", PLAN)
    assert started_with(store, task.view_id) == "acceptEdits"
    retry(store, task.view_id, PLAN)
    assert started_with(store, task.view_id) == "acceptEdits"
    view = store.view(task.view_id)
    last = plain.read_or_none(RunRequest, view.run(run_ids(view)[-1]).request)
    attach = next_request(view, last, meta_of(store, task.view_id), prompt_id="p", kind="attach", text="")
    line = agent("claude").attach_command(job_of(attach))
    assert line[line.index("--permission-mode") + 1] == "acceptEdits"


def test_the_settings_count_for_a_task_that_names_none(store: StorePaths, project: Path) -> None:
    task = dispatch(store, order(project), PLAN)
    assert started_with(store, task.view_id) == "plan"
    assert meta_of(store, task.view_id).mode == "plan"
    reply(store, task.view_id, b"fake: say Again.", Options())
    assert started_with(store, task.view_id) == "plan"


def test_a_task_that_only_reads_has_none(store: StorePaths, project: Path) -> None:
    task = dispatch(store, order(project, mode="bypassPermissions", read_only=True), PLAN)
    assert started_with(store, task.view_id) is None
    assert (meta_of(store, task.view_id).mode, meta_of(store, task.view_id).read_only) == (None, True)


def test_an_adopted_session_takes_the_settings_at_its_first_prompt(store: StorePaths, project: Path) -> None:
    first = dispatch(store, order(project))
    settled(store, first.view_id)
    session = meta_of(store, first.view_id).session_file or ""
    other = Path(session).with_name("22222222-0000-4000-8000-000000000000.jsonl")
    entry = {"type": "user", "uuid": "u", "cwd": str(project), "sessionId": other.stem, "message": {"content": "hi"}}
    other.write_text(json.dumps(entry) + "\n")
    adopted = adopt(store, str(other))
    for _ in range(2):
        reply(store, adopted.view_id, b"fake: say Done.", PLAN)
        assert started_with(store, adopted.view_id) == "plan"


@pytest.mark.parametrize(
    ("name", "mode", "options", "says"),
    [
        ("claude", "yolo", PLAN, "Claude Code has no mode “yolo”; it has manual, acceptEdits, plan, "),
        ("demo", "plan", Options(), "Demo has no modes to choose from, so no “plan”; leave it out."),
        ("demo", None, PLAN, "so no “plan”, which your settings name; leave it out."),
    ],
)
def test_a_wrong_mode_is_one_sentence_and_starts_nothing(
    store: StorePaths, project: Path, name: str, mode: str | None, options: Options, says: str
) -> None:
    with pytest.raises(UsageError, match=r".*") as error:
        dispatch(store, order(project, name=name, mode=mode), options)
    assert says in str(error.value)
    assert view_ids(store) == []


def test_each_agents_modes_are_words_of_its_own_command_line() -> None:
    """Those without modes take none."""
    for name in names():
        adapter = agent(name)
        for mode in adapter.modes:
            job = Job(cwd="/", session_id="11111111-0000-4000-8000-000000000000", mode=mode)
            assert any(mode in word for word in adapter.command(job)), name
            assert any(mode in word for word in adapter.attach_command(job)), name
