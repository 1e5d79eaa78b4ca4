"""The one door to git: what it inherits, how long it waits, what it says."""

import os
import sys
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git.call import CancelledError, GitError, git, run
from tests.git.repo import make_repo


def test_nothing_of_a_hook_s_or_user_s_environment_interferes(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    strange = {
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_PAGER": "false",
        "GIT_TRACE": "1",
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
    }
    for name, value in strange.items():
        monkeypatch.setenv(name, value)
    said = git(str(clean_repo), "rev-parse", "--git-dir")
    assert (said.text, said.err) == (".git", "")
    with pytest.raises(GitError, match=r"^git rev-parse failed in .*: Needed a single revision\.$"):
        git(str(clean_repo), "rev-parse", "--verify", "nope")


def test_it_never_asks(clean_repo: Path):
    """A remote that wants a password fails at once."""
    env = git(str(clean_repo), "-c", "alias.env=!env", "env").text.split("\n")
    assert {"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=:", "LC_ALL=C"} <= set(env)
    env = git(str(clean_repo), "-c", "alias.env=!env", "env", reads=False).text.split("\n")
    assert "GIT_OPTIONAL_LOCKS=0" not in env


def test_the_user_s_own_settings_and_name_stay(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Somebody Else")
    assert git(str(clean_repo), "var", "GIT_AUTHOR_IDENT").text.startswith("Somebody <")
    assert git(str(clean_repo), "config", "user.name").text == "Somebody Else"


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path):
    script = f"sleep 1000 & echo $! > {tmp_path / 'pid'}; wait"
    with pytest.raises(GitError, match="took too long"):
        run(["/bin/sh", "-c", script], str(tmp_path), dict(os.environ), "It", timeout=0.3)
    stat = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    assert not stat.exists() or " Z " in stat.read_text()


def test_something_left_running_by_a_hook_does_not_hold_us_up(tmp_path: Path):
    script = "sleep 5 & echo $!"
    ran = run(["/bin/sh", "-c", script], str(tmp_path), dict(os.environ), "It", timeout=60)
    pid = int(ran.text)
    os.kill(pid, 9)
    assert ran.code == 0


def test_too_much_is_cut_and_the_rest_not_waited_for(tmp_path: Path):
    ran = run(["yes"], str(tmp_path), dict(os.environ), "It", timeout=60, limit=1000)
    assert (len(ran.out), ran.cut) == (1000, True)


def test_it_is_called_off(tmp_path: Path):
    with pytest.raises(CancelledError):
        run(["sleep", "1000"], str(tmp_path), dict(os.environ), "It", timeout=60, stop=lambda: True)


def test_much_to_read_and_to_write_at_once(tmp_path: Path):
    given = b"x" * 3_000_000
    echo = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d); sys.stderr.buffer.write(d)"
    ran = run([sys.executable, "-c", echo], str(tmp_path), dict(os.environ), "It", given, timeout=60)
    assert (ran.out == given, len(ran.err)) == (True, len(given))


def test_no_git_and_no_directory_are_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(BoardError, match="does not exist"):
        git(str(tmp_path / "nowhere"), "status")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BoardError, match="git is not on PATH"):
        git(str(tmp_path), "status")


def test_a_repository_s_own_fsmonitor_starts_no_daemon(tmp_path: Path):
    repo = make_repo(tmp_path / "api")
    git(str(repo), "config", "core.fsmonitor", f"touch {tmp_path / 'ran'}", reads=False)
    git(str(repo), "status")
    assert not (tmp_path / "ran").exists()
