"""`reply`, `followups`, `retry`: a prompt to a task that is there already (AB-025, AB-092; FIELD-FAULTS 45)."""

import json
import os
from pathlib import Path

import pytest

from agent_board.store.paths import RunPaths, StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view, tear
from tests.cli.test_usage import one_sentence
from tests.support.wait import wait_for

SETTLE = "30"


@pytest.fixture(autouse=True)
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def task(cli: Cli, script: str = "report completed", name: str = "task") -> str:
    """A settled task's id."""
    done = cli("dispatch", "--json", "--agent", "demo", "--name", name, "--wait", f"demo: {script}")
    assert done.code in (0, 4), done.err
    return str(done.json["viewId"])


def working(cli: Cli, here: Path, name: str = "task", then: str = "report completed") -> tuple[str, Path]:
    """A working task's id, and the file that lets it go on."""
    go = here / f"go-{name}"
    done = cli("dispatch", "--json", "--agent", "demo", "--name", name, f"demo: say Going.; until {go}; {then}")
    view_id = str(done.json["viewId"])
    wait_for(lambda: cli("show", view_id, "--json").json["semanticState"] == "working")
    return view_id, go


def run_of(store: StorePaths, answer: dict[str, str]) -> RunPaths:
    return store.view(answer["viewId"]).run(answer["runId"])


def prompts(store: StorePaths, view_id: str) -> list[str]:
    lines = Path(store.session(view_id)).read_text("utf-8").split("\n")
    return [entry["text"] for entry in map(json.loads, filter(None, lines)) if entry["type"] == "prompt"]


def test_a_reply_goes_on_in_the_same_conversation(cli: Cli, store: StorePaths):
    view_id = task(cli, "ask Keep the old name or drop it?")
    done = cli("reply", "task", "Keep it.\ndemo: report completed Kept it", "--json")
    assert done.code == 0, done.err
    assert set(done.json) == {"viewId", "runId", "followupId"}
    assert (done.json["viewId"], done.json["followupId"]) == (view_id, None)
    assert cli("wait", "task", "--timeout", SETTLE).out == "task: completed. Kept it\n"
    assert prompts(store, view_id)[1:] == ["Keep it.\ndemo: report completed Kept it"]
    assert [run["kind"] for run in cli("show", "task", "--json").json["runs"]] == ["prompt", "reply"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "received"),
    [
        (["- no, the other one"], b"", b"- no, the other one"),
        (["/compact it"], b"", b"/compact it"),
        (["!important"], b"", b"!important"),
        (["@notes.md then"], b"", b"@notes.md then"),
        (["-"], b"\n two \r\n lines\n\n", b"\n two \r\n lines\n\n"),
        (["-"], "é 中文\n".encode() * 6000, "é 中文\n".encode() * 6000),
        (["--", "-v", "is", "--", "-"], b"", b"-v is -- -"),
        (["--json", "--", "-"], b"", b"-"),
    ],
    ids=["dash", "slash", "bang", "at", "stdin", "long", "words", "a dash alone"],
)
def test_it_arrives_byte_for_byte(cli: Cli, store: StorePaths, arguments: list[str], stdin: bytes, received: bytes):
    task(cli)
    options = [] if "--json" in arguments else ["--json"]
    done = cli("reply", *options, "task", *arguments, stdin=stdin)
    assert done.code == 0, done.err
    assert Path(run_of(store, done.json).prompt).read_bytes() == received
    cli("wait", "task", "--timeout", SETTLE)


def test_options_may_stand_anywhere(cli: Cli):
    task(cli)
    for arguments in (["--json", "task", "demo: exit"], ["task", "--json", "demo: exit"], ["task", "demo: exit"]):
        assert cli("reply", *arguments).code == 0
        cli("wait", "task", "--timeout", SETTLE)


def test_a_reply_to_a_working_task_waits_its_turn(cli: Cli, store: StorePaths, here: Path):
    view_id, go = working(cli, here)
    done = cli("reply", "task", "Second\ndemo: report completed Second done", "--json")
    assert done.code == 0
    assert done.json["runId"] is None
    waiting = cli("followups", "task", "--json").json
    text = "Second\ndemo: report completed Second done"
    assert waiting == [{"id": done.json["followupId"], "text": text, "state": "waiting"}]
    told = cli("reply", "task", "Third\ndemo: report completed Third done").out
    assert told.startswith("“task” is still running; this waits its turn (")
    go.touch()
    wait_for(lambda: cli("show", "task", "--json").json["summary"] == "Third done", 30)
    assert prompts(store, view_id)[1:] == [text, "Third\ndemo: report completed Third done"]
    assert cli("followups", "task", "--json").json == []
    assert cli("followups", "task").out == ""


def test_what_is_held_is_sent_or_dropped(cli: Cli, store: StorePaths, here: Path):
    """AB-105: after a question nothing is sent by itself."""
    view_id, go = working(cli, here, then="ask Which one?")
    one, two = (cli("reply", "task", f"{word}\ndemo: report completed {word}", "--json").json for word in ("A", "B"))
    go.touch()
    assert cli("wait", "task", "--timeout", SETTLE).code == 4
    assert [prompt["state"] for prompt in cli("followups", "task", "--json").json] == ["held", "held"]
    lines = cli("followups", "task").out.splitlines()
    assert lines == [
        f"{item['followupId']} held {word} demo: report completed {word}" for item, word in ((one, "A"), (two, "B"))
    ]
    dropped = cli("followups", "task", "--drop", one["followupId"], "--json").json
    assert dropped == {"viewId": view_id, "id": one["followupId"], "text": "A\ndemo: report completed A"}
    sent = cli("followups", "task", "--send", two["followupId"], "--json").json
    assert (sent["followupId"], bool(sent["runId"])) == (None, True)
    assert cli("wait", "task", "--timeout", SETTLE).code == 0
    assert prompts(store, view_id)[1:] == ["B\ndemo: report completed B"]
    for option in ("--send", "--drop"):
        late = cli("followups", "task", option, two["followupId"])
        assert late.code == 1
        assert one_sentence(late.err)


def test_a_held_prompt_of_a_living_task_is_not_sent(cli: Cli, here: Path):
    _, go = working(cli, here)
    held = cli("reply", "task", "demo: report completed", "--json").json["followupId"]
    done = cli("followups", "task", "--send", held)
    assert done.code == 1
    assert "still running" in done.err
    assert cli("followups", "task", "--drop", held).out == "Dropped: demo: report completed\n"
    go.touch()
    cli("wait", "task", "--timeout", SETTLE)


def test_retry_sends_the_last_prompt_once_more(cli: Cli, store: StorePaths, here: Path):
    view_id = task(cli, "fail 503 overloaded")
    done = cli("retry", "task", "--json")
    assert done.code == 0, done.err
    assert Path(run_of(store, done.json).prompt).read_text() == "demo: fail 503 overloaded"
    cli("wait", "task", "--timeout", SETTLE)
    assert prompts(store, view_id) == ["demo: fail 503 overloaded"] * 2
    _, go = working(cli, here, "busy")
    refused = cli("retry", "busy")
    assert refused.code == 1
    assert "still running" in refused.err
    go.touch()
    cli("wait", "busy", "--timeout", SETTLE)


def test_a_reply_goes_by_the_settings_of_its_directory(cli: Cli, home: Path, here: Path):
    task(cli)
    config = home / ".config" / "agent-board" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'[agents.demo.directories."{here}"]\nwrap = ["env", "WRAPPED=yes"]')
    cli("reply", "task", "demo: run echo $WRAPPED > seen; report completed")
    cli("wait", "task", "--timeout", SETTLE)
    assert (here / "seen").read_text() == "yes\n"
    config.write_text("colour = 1")
    assert cli("reply", "task", "x").code == 2


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["task", ""], b"", 2),
        (["task", " \n"], b"", 2),
        (["task", "-"], b"", 2),
        (["task", "-"], b"caf\xe9\n", 2),
        (["task", "--"], b"", 2),
        (["task", os.fsdecode(b"\xff")], b"", 2),
        (["nothing", "x"], b"", 1),
        (["archived", "x"], b"", 1),
        (["torn", "x"], b"", 1),
        (["half", "x"], b"", 1),
        (["a", "x"], b"", 1),
        (["gone", "x"], b"", 1),
    ],
)
def test_bad_replies_are_one_sentence_and_change_nothing(
    cli: Cli, store: StorePaths, here: Path, arguments: list[str], stdin: bytes, code: int
):
    for view_id, meta in (
        ("11", {"name": "task", "cwd": str(here)}),
        ("22", {"name": "archived", "cwd": str(here), "archivedAt": 5}),
        ("torn", {}),
        ("half", {"cwd": str(here)}),
        ("aa1", {}),
        ("aa2", {}),
        ("33", {"name": "gone", "cwd": "/nonexistent/place"}),
    ):
        make_view(store, view_id, meta=meta)
    tear(store.view("torn").meta)
    tear(store.view("half").state)
    before = snapshot(store)
    done = cli("reply", *arguments, stdin=stdin)
    assert (done.code, done.out) == (code, ""), done.err
    assert one_sentence(done.err)
    assert snapshot(store) == before


def snapshot(store: StorePaths) -> dict[str, bytes]:
    """Every file of the views, byte for byte, but for the locks, which any look may make."""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(store.views) for name in names)
    return {path: Path(path).read_bytes() for path in found if os.path.basename(path) != "lock"}


def test_followups_that_can_not_be_read_are_no_empty_list(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    tear(store.view("aa11").followups)
    done = cli("followups", "aa11")
    assert done.code == 1
    assert one_sentence(done.err)
    assert cli("followups", "aa11", "--drop", "x").code == 1
