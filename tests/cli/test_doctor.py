"""`doctor`: what is broken, what could be better, each with its fix."""

import os
from pathlib import Path

import pytest

from agent_board.agents import registry
from agent_board.agents.base import Installation
from agent_board.cli import checks_system, doctor
from agent_board.cli.checks import Check, Health
from agent_board.cli.checks_store import file_system_of, is_remote, store_checks
from agent_board.runs import logout
from agent_board.store.files import write_json
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view, tear

SUBJECTS = {"store", "disk", "file system", "runner", "settings", "git", "agent pi", "agent demo", "logout"}


def checks(cli: Cli, *arguments: str):
    done = cli("doctor", "--json", *arguments)
    assert done.json["ok"] == (done.code == 0)
    return {check["name"]: check for check in done.json["checks"]}


def test_it_looks_at_everything(cli: Cli, store: StorePaths):
    found = checks(cli)
    assert set(found) >= SUBJECTS | {"permissions", "locks", "watching", "terminal"}
    assert all(check["fix"] for check in found.values() if check["status"] != "ok")


def test_a_terminal_gets_every_check_beside_its_name():
    for name in ("git", "agent opencode"):
        lines = doctor.lines_of(
            Check(name, Health.WARNING, "in the way of `git clean -ffdx` " * 4, "Move it " * 12), 60
        )
        assert all(len(line) <= 60 for line in lines)
        assert f"{name}  " in lines[0]
        assert {line[:18] for line in lines[1:]} == {" " * 18}
        assert sum("fix: " in line for line in lines) == 1
        assert len(doctor.lines_of(Check(name, Health.OK, "fine " * 60, ""), None)) == 1


def test_before_the_first_task_nothing_is_broken_and_nothing_made(cli: Cli, no_agents: Path):
    done = cli("doctor")
    assert done.code == 0
    assert "will be made by the first task" in done.out
    assert "agent-board demo" in done.out
    assert not os.path.exists(os.environ["AGENT_BOARD_HOME"])


def test_a_foreign_directory_is_broken(cli: Cli, tmp_path: Path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    done = cli("doctor", "--home", str(tmp_path / "photos"))
    assert done.code == 1
    assert "XX store" in done.out


@pytest.mark.parametrize("place", ["file", "file/below", "missing/../file/x"])
def test_a_file_in_the_way_is_broken(cli: Cli, tmp_path: Path, place: str):
    (tmp_path / "file").touch()
    assert checks(cli, "--home", str(tmp_path / place))["store"]["status"] == "broken"


def test_a_newer_store_is_broken(cli: Cli, store: StorePaths):
    write_json(store.roster, {"version": 99})
    assert checks(cli)["store"]["status"] == "broken"


def test_open_permissions_are_found(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    os.chmod(store.view("aa11").meta, 0o644)
    found = checks(cli)["permissions"]
    assert found["status"] == "warning"
    assert store.view("aa11").meta in found["found"]
    assert "chmod" in found["fix"]


def test_unreadable_files_are_found(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    tear(store.view("aa11").state)
    tear(store.roster)
    found = checks(cli)
    assert (found["records"]["status"], found["roster"]["status"]) == ("warning", "warning")


def test_a_disk_without_room_is_broken(store: StorePaths, monkeypatch):
    real = os.statvfs(store.root)
    full = os.statvfs_result((real.f_bsize, real.f_frsize, real.f_blocks, 0, 0, *tuple(real)[5:]))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    disk = next(check for check in store_checks(store) if check.name == "disk")
    assert disk.health is Health.BROKEN


def test_network_file_systems_are_told_by_their_mount():
    mounts = [("/", "ext4"), ("/home", "nfs4"), ("/home/me/local", "xfs")]
    assert file_system_of("/home/me/x", mounts) == "nfs4"
    assert file_system_of("/home/me/local/x", mounts) == "xfs"
    assert file_system_of("/homes", mounts) == "ext4"
    assert file_system_of("/x", []) is None
    assert [kind for kind in ("nfs4", "cifs", "fuse.sshfs", "9p", "ext4", "tmpfs", "overlay") if is_remote(kind)] == [
        "nfs4",
        "cifs",
        "fuse.sshfs",
        "9p",
    ]


def test_wrong_settings_are_broken(cli: Cli, home: Path):
    path = home / ".config/agent-board/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("colour = 1")
    assert checks(cli)["settings"]["status"] == "broken"


def test_an_agent_that_can_not_run_is_broken(cli: Cli, monkeypatch):
    agent = registry.agent("demo")
    monkeypatch.setattr(type(agent), "find", lambda _: Installation("/bin/demo", "1", "It needs Node 22.19 or later."))
    found = checks(cli)["agent demo"]
    assert (found["status"], found["found"]) == ("broken", "It needs Node 22.19 or later.")


def test_lingering_is_asked_for_where_logout_kills(cli: Cli, monkeypatch):
    policy = logout.LogoutPolicy(systemd=True, kills=True, lingers=False)
    monkeypatch.setattr(logout, "logout_policy", lambda: policy)
    found = checks(cli)["logout"]
    assert (found["status"], found["fix"]) == ("warning", "loginctl enable-linger")


def test_no_git_is_a_warning(cli: Cli, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks(cli)["git"]["status"] == "warning"


def test_in_a_terminal_its_abilities_are_told(board):
    terminal = board("doctor", size=(100, 50))
    terminal.wait_for("xterm-256color, 100x50, ")


def test_a_slow_escape_key_in_tmux_is_found(monkeypatch):
    monkeypatch.setattr(checks_system, "_output", lambda command: "tmux 3.3a" if command[1] == "-V" else "500")
    (found,) = checks_system._connection({"TMUX": "x"})
    assert found.health is Health.WARNING
    assert "escape-time" in (found.fix or "")


def test_who_has_logged_in_is_not_told_how_to(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as files tell: nobody is asked, nothing is started."""
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    codex = registry.agent("codex")
    assert next(checks_system.agent_checks([codex])).found.endswith("log in with `codex login`")
    (home / ".codex").mkdir()
    (home / ".codex" / "auth.json").write_text("{}")
    assert next(checks_system.agent_checks([codex])).found.endswith("; logged in")
