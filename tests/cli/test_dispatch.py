"""`dispatch`: what becomes of a prompt, byte for byte, and what bad input gets."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_board.cli import dispatch as dispatching
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.views import view_ids
from tests.cli.conftest import Cli
from tests.cli.test_usage import one_sentence
from tests.support import command, fake_claude
from tests.support.wait import wait_for

SETTLE = "30"


@pytest.fixture(autouse=True)
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def start(cli: Cli, *arguments: str, stdin: bytes = b"") -> RunPaths:
    """Dispatch and wait; the run's files."""
    done = cli("dispatch", "--json", "--agent", "demo", "--wait", "--timeout", SETTLE, *arguments, stdin=stdin)
    assert done.code in (0, 4), done.err
    assert set(done.json) == {"viewId", "runId"}
    return StorePaths(os.environ["AGENT_BOARD_HOME"]).view(done.json["viewId"]).run(done.json["runId"])


def prompt_of(run: RunPaths) -> bytes:
    with open(run.prompt, "rb") as file:
        return file.read()


def test_a_task_is_started_and_seen(cli: Cli, here: Path):
    """AB-023, AB-090, AB-091."""
    done = cli("dispatch", "--json", "--agent", "demo", "--name", "typos", "--wait", "demo: report completed Fixed it")
    assert done.code == 0, done.err
    shown = cli("show", "typos", "--json").json
    assert shown["id"] == done.json["viewId"]
    assert (shown["semanticState"], shown["cwd"], shown["agent"]) == ("completed", str(here), "demo")
    (run,) = shown["runs"]
    assert (run["runId"], run["exitCode"], run["semanticState"]) == (done.json["runId"], 0, "completed")
    assert run["startedAt"] <= run["endedAt"]


def test_it_says_what_it_started_in_plain_words(cli: Cli):
    done = cli("dispatch", "--agent", "demo", "--wait", "--name", "typos", "demo: report completed Fixed 14 typos")
    first, second = done.out.splitlines()
    assert first.startswith("Started typos (")
    assert second == "typos: completed. Fixed 14 typos"


@pytest.mark.parametrize(
    ("script", "code"),
    [("report completed yes", 0), ("report failed no", 4), ("report blocked Stuck | Which one?", 4), ("hang", 3)],
)
def test_with_wait_the_exit_code_is_waits(cli: Cli, script: str, code: int):
    timeout = "0.3" if code == 3 else SETTLE
    done = cli("dispatch", "--agent", "demo", "--name", "t", "--wait", "--timeout", timeout, f"demo: {script}")
    assert done.code == code, done.err
    if code == 3:
        assert cli("stop", "t").code == 0


@pytest.mark.parametrize(
    "prompt",
    [
        "- fix the list",
        "--json is broken, mend it",
        "@notes.md says it all",
        "/review the last commit",
        " leading and trailing \n",
        "a\ttab and “quotes” and 中文",
    ],
)
def test_one_argument_is_the_prompt_as_it_is(cli: Cli, prompt: str):
    """AB-047: nothing is put before or taken from it."""
    assert prompt_of(start(cli, prompt)) == prompt.encode()


def test_words_behind_the_dashes_are_joined_by_one_blank(cli: Cli):
    assert prompt_of(start(cli, "--", "-v", "is", "--", "-")) == b"-v is -- -"
    assert prompt_of(start(cli, "--", "-")) == b"-"


@pytest.mark.parametrize(
    "data", [b"one line\n", b"no newline", b"\n\n two \r\n lines\n\n", b"nul \0 inside\n", "é\n".encode()]
)
def test_stdin_is_taken_byte_for_byte(cli: Cli, data: bytes):
    assert prompt_of(start(cli, "-", stdin=data)) == data


def test_two_megabytes_reach_the_agent_whole(cli: Cli):
    data = b"demo: report completed\n" + b"line of text\n" * 170_000
    run = start(cli, "-", stdin=data)
    assert prompt_of(run) == data
    shown = cli("show", os.path.basename(os.path.dirname(os.path.dirname(run.dir))), "--json").json
    assert shown["semanticState"] == "completed"
    assert len(shown["runs"][0]["promptPreview"]) < 500


def refused(cli: Cli, code: int, *arguments: str, stdin: bytes = b"") -> str:
    """The one sentence; nothing was put into the store."""
    done = cli("dispatch", *arguments, stdin=stdin)
    assert done.code == code, done.err
    assert done.out == ""
    assert one_sentence(done.err)
    assert view_ids(StorePaths(os.environ["AGENT_BOARD_HOME"])) == []
    return done.err


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        ([""], b""),
        ([" \t\n"], b""),
        (["\u3000\u00a0"], b""),
        (["--"], b""),
        (["--", " ", ""], b""),
        (["-"], b""),
        (["-"], b" \n\t\n"),
        ([], b"text that nobody asked for"),
    ],
)
def test_an_empty_prompt_is_refused(cli: Cli, arguments: list[str], stdin: bytes):
    refused(cli, 2, "--agent", "demo", *arguments, stdin=stdin)


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"\xff\xfe", b"ok \xc3", b"\xed\xa0\x80"])
def test_what_is_not_utf8_is_refused(cli: Cli, data: bytes):
    assert "UTF-8" in refused(cli, 2, "--agent", "demo", "-", stdin=data)


def test_an_argument_that_is_not_utf8_is_refused(cli: Cli):
    assert "UTF-8" in refused(cli, 2, "--agent", "demo", os.fsdecode(b"caf\xe9"))


def test_a_prompt_without_end_is_refused(cli: Cli, monkeypatch):
    monkeypatch.setattr(dispatching, "LARGEST_PROMPT", 1000)
    assert "larger" in refused(cli, 2, "--agent", "demo", "-", stdin=b"x" * 1001)


def test_a_directory_that_is_not_there_or_is_a_file(cli: Cli, here: Path):
    (here / "file").write_text("x")
    assert "does not exist" in refused(cli, 1, "--agent", "demo", "--cwd", "no-such", "x")
    assert "not a directory" in refused(cli, 1, "--agent", "demo", "--cwd", "file", "x")


def test_a_directory_that_can_not_be_read(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    done = unprivileged("dispatch", "--agent", "demo", "--cwd", str(closed), "x")
    assert done.returncode == 1
    assert one_sentence(done.stderr)
    assert str(closed) in done.stderr


@pytest.mark.parametrize("made", [True, False])
def test_a_store_that_can_not_be_written(store: StorePaths, made: bool, tmp_path: Path):
    place = Path(store.views) if made else tmp_path / "closed"
    place.mkdir(exist_ok=True)
    place.chmod(0o500)
    done = unprivileged("--home", store.root if made else str(place / "store"), "dispatch", "--agent", "demo", "x")
    assert done.returncode == 1
    assert one_sentence(done.stderr)
    assert str(place) in done.stderr
    place.chmod(0o700)


def unprivileged(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command without root's power to pass permissions (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH), if we are root."""
    drop = (
        "import ctypes, os, sys; [ctypes.CDLL(None).prctl(24, cap, 0, 0, 0) for cap in (1, 2)]; "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    return subprocess.run(
        [sys.executable, "-c", drop, *command.AGENT_BOARD, *arguments], capture_output=True, text=True
    )


def test_the_directory_is_relative_to_ours_and_a_tilde_is_home(cli: Cli, here: Path, home: Path):
    (here / "sub").mkdir()
    for option, place in (("sub", here / "sub"), ("~", home), (".", here)):
        run = start(cli, "--cwd", option, "--name", f"at-{place.name}", "demo: report completed")
        assert run
        assert cli("show", f"at-{place.name}", "--json").json["cwd"] == str(place)


def test_a_working_directory_that_was_deleted(cli: Cli, here: Path):
    here.rmdir()
    assert "deleted" in refused(cli, 1, "--agent", "demo", "x")


def test_an_unknown_agent_names_the_known_ones(cli: Cli):
    sentence = refused(cli, 2, "--agent", "gpt", "x")
    assert all(name in sentence for name in ("“gpt”", "pi, ", "demo"))


@pytest.mark.usefixtures("no_agents")
def test_an_agent_that_is_not_installed_names_its_command(cli: Cli):
    sentence = refused(cli, 1, "--agent", "pi", "x")
    assert "not installed" in sentence
    assert "npm install" in sentence


def test_an_agent_whose_runtime_is_too_old_says_which_it_needs(cli: Cli, no_agents: Path):
    package = no_agents / "pi-coding-agent"
    package.mkdir()
    engines = {"node": ">=22.19.0"}
    (package / "package.json").write_text(
        json.dumps({"name": "pi-coding-agent", "version": "1.6.0", "engines": engines})
    )
    for program, said in ((no_agents / "node", "v20.20.2"), (package / "cli.js", "SyntaxError")):
        program.write_text(f"#!/bin/sh\necho {said}\n")
        program.chmod(0o755)
    (no_agents / "pi").symlink_to(package / "cli.js")
    assert "22.19" in refused(cli, 1, "--agent", "pi", "x")


@pytest.mark.usefixtures("no_agents")
def test_on_a_machine_without_agents_the_demo_takes_it(cli: Cli):
    done = cli("dispatch", "--name", "t", "--wait", "demo: report completed")
    assert done.code == 0
    assert cli("show", "t", "--json").json["agent"] == "demo"


def test_the_configured_agent_is_the_default(cli: Cli, settings):
    settings('agent = "gpt"')
    assert "gpt" in refused(cli, 2, "x")


@pytest.fixture
def settings(home: Path):
    def write(text: str) -> None:
        path = home / ".config" / "agent-board" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def test_wrong_settings_are_refused_with_file_and_key(cli: Cli, settings):
    settings('colour = "red"')
    sentence = refused(cli, 2, "x")
    assert "config.toml" in sentence
    assert "colour" in sentence


def test_the_settings_can_wrap_the_agent(cli: Cli, settings, here: Path):
    settings(f'[agents.demo.directories."{here}"]\nwrap = ["env", "WRAPPED=yes"]')
    start(cli, "demo: run echo $WRAPPED > seen; report completed")
    assert (here / "seen").read_text() == "yes\n"


def test_a_name_that_is_taken_or_empty_is_refused(cli: Cli):
    refused(cli, 2, "--agent", "demo", "--name", " ", "x")
    start(cli, "--name", "same", "demo: report completed")
    done = cli("dispatch", "--agent", "demo", "--name", "same", "x")
    assert done.code == 2
    assert "same" in done.err


def test_a_full_disk_is_a_sentence_and_leaves_no_half_task(store: StorePaths):
    """Invariant 11: a file size limit stands for the disk that takes no more."""
    limited = f"ulimit -f 0; exec '{sys.executable}' -m agent_board dispatch --agent demo x"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True)
    assert done.returncode == 1
    assert one_sentence(done.stderr)
    assert view_ids(store) == []


def test_it_returns_while_the_task_goes_on(cli: Cli):
    done = cli("dispatch", "--json", "--agent", "demo", "--name", "long", "demo: say Looking; hang")
    assert done.code == 0
    wait_for(lambda: cli("show", "long", "--json").json["semanticState"] == "working")
    assert cli("stop", "long").code == 0


def test_a_mode_is_shown_and_a_wrong_one_is_wrong_usage(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = fake_claude.install(tmp_path / "fake-bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    start_one = ("dispatch", "--agent", "claude", "--name", "typos", "--wait", "--mode")
    wrong = cli(*start_one, "accept-edits", "fake: say Done.")
    assert wrong.code == 2
    assert one_sentence(wrong.err)
    assert "it has manual, acceptEdits, plan" in wrong.err
    assert cli(*start_one, "acceptEdits", "fake: say Done.").code == 0
    assert cli("show", "typos", "--json").json["mode"] == "acceptEdits"
    assert "mode        acceptEdits" in cli("show", "typos").out
