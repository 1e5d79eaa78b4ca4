"""The grammar: where options may stand, and what wrong usage gets: one sentence and exit code 2."""

import pytest

from agent_board import __version__
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view
from tests.support import command

COMMANDS = [
    *("dispatch", "list", "show", "wait", "logs", "stop", "explain", "doctor", "demo", "completion"),
    *("reply", "followups", "retry", "attach", "rename", "pin", "unpin", "done", "reopen", "archive", "restore"),
    *("delete", "undo", "adopt"),
]


def one_sentence(text: str) -> bool:
    return text.startswith("agent-board: ") and text.count("\n") == 1 and len(text) > 30


def test_version(cli: Cli):
    assert cli("--version").out == f"agent-board {__version__}\n"


def test_help_names_every_command(cli: Cli):
    done = cli("--help")
    assert done.code == 0
    assert all(f"    {name}" in done.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_a_help_text(cli: Cli, name: str, option: str):
    done = cli(name, option)
    assert done.code == 0
    assert done.out.startswith(f"usage: agent-board {name}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["list", "--colour"],
        ["list", "--state", "done"],
        ["list", "--js"],
        ["show"],
        ["show", "a", "b"],
        ["wait"],
        ["wait", "a", "--timeout", "soon"],
        ["wait", "a", "--timeout", "-1"],
        ["wait", "a", "--timeout", "nan"],
        ["wait", "a", "--state", "done"],
        ["completion", "cmd.exe"],
        ["dispatch", "--timeout", "3", "x"],
        ["dispatch", "two", "words"],
        ["dispatch", "before", "--", "after"],
        ["dispatch", "--cwd", "", "x"],
        ["reply"],
        ["reply", "a"],
        ["reply", "a", "two", "words"],
        ["reply", "a", "before", "--", "after"],
        ["reply", "a", "-fix"],
        ["followups", "a", "--send", "1", "--drop", "2"],
        ["rename", "a"],
        ["undo", "a"],
        ["adopt"],
        ["logs", "a", "--raw", "--json"],
        ["demo", "--home", "x"],
        ["list", "--home"],
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(cli: Cli, arguments: list[str]):
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert one_sentence(done.err)


@pytest.mark.parametrize("arguments", [["dispatch", "-fix"], ["reply", "a", "-fix"], ["reply", "a", "x", "-fix"]])
def test_an_unknown_option_before_a_prompt_names_the_way_out(cli: Cli, arguments: list[str]):
    done = cli(*arguments)
    assert done.code == 2
    assert "write -- before" in done.err


@pytest.mark.parametrize("place", ["before", "after", "joined"])
def test_home_may_stand_before_and_after_the_command(cli: Cli, store: StorePaths, place: str, monkeypatch):
    make_view(store, "aa11")
    monkeypatch.setenv("AGENT_BOARD_HOME", "/nonexistent/elsewhere")
    arguments = {
        "before": ["--home", store.root, "list", "--json"],
        "after": ["list", "--json", "--home", store.root],
        "joined": [f"--home={store.root}", "list", "--json"],
    }
    assert [view["id"] for view in cli(*arguments[place]).json] == ["aa11"]


def test_the_option_counts_more_than_the_environment(cli: Cli, store: StorePaths, tmp_path):
    make_view(store, "aa11")
    assert cli("list", "--json", "--home", str(tmp_path / "other")).json == []


@pytest.mark.parametrize("arguments", [[], ["demo"]])
def test_the_board_needs_a_terminal(arguments: list[str]):
    """AB-064: without one a sentence says so, and what to use instead."""
    done = command.run(*arguments)
    assert done.code == 1
    assert one_sentence(done.err)
    assert "terminal" in done.err


def test_module_and_command_are_the_same():
    assert command.ok("--version").out == f"agent-board {__version__}\n"
