"""`agent-board worktree …`: the command's words, JSON and exit codes (WT-001 … WT-019, WT-026 … WT-028)."""

import os
import shutil
from pathlib import Path

import pytest

from agent_board.config import config_path
from tests.cli.conftest import Cli
from tests.git.repo import branches, commit, dirty, git, make_repo, snapshot, write


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = make_repo(tmp_path / "api")
    monkeypatch.chdir(path)
    return path


def create(cli: Cli, *arguments: str) -> dict[str, object]:
    done = cli("worktree", "create", "--json", *arguments)
    assert done.code == 0, done.err
    found = done.json
    assert isinstance(found, dict)
    return found


def test_create_says_what_it_made(cli: Cli, repo: Path):
    """WT-001, WT-005, WT-006: no agent is started, the base is the full id."""
    found = create(cli, "fix.it")
    path = repo / ".worktrees" / "fix.it"
    assert found == {
        "status": "created",
        "path": str(path),
        "branch": "fix.it",
        "dirty": False,
        "base": git(repo, "rev-parse", "HEAD"),
    }
    assert git(path, "branch", "--show-current") == "fix.it"
    assert git(repo, "status", "--porcelain") == ""
    assert not os.path.exists(os.environ["AGENT_BOARD_HOME"])
    assert "on the new branch other" in cli("worktree", "create", "other").out


def test_create_twice_changes_nothing(cli: Cli, repo: Path):
    """WT-004, WT-007, WT-012."""
    first = create(cli, "fix")
    path = Path(str(first["path"]))
    write(path, {"README.md": "work"})
    before = snapshot(path)
    assert create(cli, "fix") == {**first, "status": "reused", "dirty": True}
    assert snapshot(path) == before
    assert "uncommitted" in cli("worktree", "create", "fix").out


def test_create_attaches_a_branch_that_is_there(cli: Cli, repo: Path):
    """WT-008: its base is where it left the default branch."""
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "switch", "-q", "-c", "old")
    tip = commit(repo, {"x": "x"})
    git(repo, "switch", "-q", "main")
    commit(repo, {"y": "y"})
    found = create(cli, "old")
    assert (found["status"], found["base"]) == ("attached", base)
    assert git(Path(str(found["path"])), "rev-parse", "HEAD") == tip


def test_the_base_can_be_named(cli: Cli, repo: Path):
    """WT-002, WT-003: the current branch, or --base; what doesn't exist is refused."""
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "v1")
    second = commit(repo, {"x": "x"})
    assert create(cli, "a", "--base", "v1")["base"] == first
    assert create(cli, "b")["base"] == second
    git(repo, "switch", "-q", "--detach", first)
    assert create(cli, "c")["base"] == first
    for name in ("a", "b", "c"):
        recorded = git(repo, "config", f"branch.{name}.base")
        assert recorded == {"a": first, "b": second, "c": first}[name]
    assert git(repo, "config", "branch.a.baseRef") == "v1"
    for wrong in ("nope", "--all", ""):
        assert cli("worktree", "create", "d", f"--base={wrong}").code == 1
    assert branches(repo) == {"main", "a", "b", "c"}


@pytest.mark.parametrize("name", ["a/b", "..", "a..b", "x.lock", "HEAD", "a b", ""])
def test_an_illegal_name_fails(cli: Cli, repo: Path, name: str):
    """WT-010."""
    done = cli("worktree", "create", name)
    assert done.code == 1
    assert "can't be" in done.err
    assert branches(repo) == {"main"}


def test_a_name_that_looks_like_an_option_fails(cli: Cli, repo: Path):
    assert cli("worktree", "create", "-x").code == 2
    assert cli("worktree", "create", "--", "-x").code == 1
    assert branches(repo) == {"main"}


def test_what_is_in_the_way_fails(cli: Cli, repo: Path, tmp_path: Path):
    """WT-009, WT-011: a stale registration, another branch, other things at the path; nothing is touched."""
    create(cli, "stale")
    shutil.rmtree(repo / ".worktrees" / "stale")
    create(cli, "moved")
    git(repo / ".worktrees" / "moved", "switch", "-q", "-c", "elsewhere")
    git(repo, "worktree", "add", "-q", "-b", "mounted", str(tmp_path / "mounted"))
    write(repo, {".worktrees/plain/mine": "mine", ".worktrees/file": "mine"})
    make_repo(repo / ".worktrees" / "foreign")
    (repo / ".worktrees" / "link").symlink_to(tmp_path)
    for name, said in {
        "stale": "worktree prune",
        "moved": "is on elsewhere",
        "mounted": "checked out",
        "plain": "there already",
        "file": "there already",
        "foreign": "there already",
        "link": "symbolic link",
        "main": "checked out",
    }.items():
        done = cli("worktree", "create", name)
        assert done.code == 1
        assert said in done.err, name
    assert (repo / ".worktrees" / "plain" / "mine").read_text() == "mine"
    assert branches(repo) == {"main", "stale", "moved", "elsewhere", "mounted"}


def test_inside_a_worktree(cli: Cli, repo: Path, monkeypatch: pytest.MonkeyPatch):
    """WT-026, WT-016: its own name is active, another is refused, and `out` leads back."""
    found = create(cli, "fix")
    (repo / ".worktrees" / "fix" / "src").mkdir(exist_ok=True)
    monkeypatch.chdir(repo / ".worktrees" / "fix" / "src")
    assert create(cli, "fix") == {**found, "status": "already-active"}
    done = cli("worktree", "create", "other")
    assert done.code == 1
    assert "worktree out" in done.err
    assert cli("worktree", "out").out == f"{repo}\n"
    assert cli("worktree", "info", "fix").code == 0


def test_from_a_subdirectory_all_is_the_same(cli: Cli, repo: Path, monkeypatch: pytest.MonkeyPatch):
    """WT-028."""
    monkeypatch.chdir(repo / "src")
    assert create(cli, "fix")["path"] == str(repo / ".worktrees" / "fix")
    assert cli("worktree", "info", "fix").code == 0
    assert cli("worktree", "out").out == f"{repo}\n"
    assert cli("worktree", "remove", "fix").code == 0
    assert not (repo / ".worktrees").exists()


def test_list_marks_what_is_what(cli: Cli, repo: Path, tmp_path: Path):
    """WT-014."""
    create(cli, "fix")
    create(cli, "gone")
    shutil.rmtree(repo / ".worktrees" / "gone")
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "theirs"))
    listed = {tree["name"]: tree for tree in cli("worktree", "list", "--json").json}
    assert {name: (tree["kind"], tree["condition"], tree["madeHere"]) for name, tree in listed.items()} == {
        "api": ("main", "ok", False),
        "fix": ("linked", "ok", True),
        "gone": ("linked", "missing", True),
        "theirs": ("linked", "ok", False),
    }
    assert [name for name, tree in listed.items() if tree["stale"]] == ["gone"]
    assert [name for name, tree in listed.items() if tree["current"]] == ["api"]
    lines = cli("worktree", "list").out.splitlines()
    assert lines[0].startswith("* (main)")
    assert any("worktree prune" in line for line in lines)


def test_info_says_how_it_stands(cli: Cli, repo: Path):
    """WT-015."""
    path = Path(str(create(cli, "fix")["path"]))
    base = git(repo, "rev-parse", "HEAD")
    for number in range(7):
        commit(path, {"x": str(number)}, f"Step {number}")
    commit(repo, {"y": "y"})
    write(path, {f"new{number}": "x" for number in range(12)})
    info = cli("worktree", "info", "fix", "--json").json
    assert (info["branch"], info["base"], info["ahead"], info["behind"], info["dirty"]) == ("fix", base, 7, 1, True)
    assert [entry["subject"] for entry in info["commits"]] == [f"Step {number}" for number in (6, 5, 4, 3, 2)]
    assert len(info["changes"]) == 10
    assert info["changes"][0] == "?? new0"
    said = cli("worktree", "info", "fix").out
    assert "state: dirty" in said
    assert cli("worktree", "info", "nope").code == 1


def test_remove_goes_only_with_what_is_elsewhere(cli: Cli, repo: Path):
    """WT-017: a merged branch goes, an unmerged one stays, work is refused unless told to discard it."""
    dirty(repo)
    before = snapshot(repo)
    path = Path(str(create(cli, "fix")["path"]))
    write(path, {"new.txt": "work"})
    refused = cli("worktree", "remove", "fix")
    assert (refused.code, refused.out) == (1, "")
    assert "new.txt" in refused.err
    assert "--discard-work" in refused.err
    assert (path / "new.txt").exists()
    done = cli("worktree", "remove", "fix", "--discard-work", "--json")
    assert done.json["lost"] == [{"kind": "untracked", "count": 1, "items": ["new.txt"]}]
    assert not path.exists()
    assert branches(repo) == {"main"}
    commit(Path(str(create(cli, "open")["path"])), {"x": "x"})
    assert cli("worktree", "remove", "open").code == 0
    assert branches(repo) == {"main", "open"}
    assert snapshot(repo) == before


def test_remove_finds_it_by_branch_and_path_and_refuses_the_main_checkout(cli: Cli, repo: Path):
    path = Path(str(create(cli, "fix")["path"]))
    git(path, "branch", "-m", "fix", "renamed")
    assert cli("worktree", "remove", "renamed").code == 0
    create(cli, "other")
    assert cli("worktree", "remove", ".worktrees/other").code == 0
    for name in ("api", str(repo), "main", "nope", "."):
        assert cli("worktree", "remove", name).code == 1


def test_prune_drops_what_is_stale(cli: Cli, repo: Path):
    """WT-018."""
    create(cli, "gone")
    shutil.rmtree(repo / ".worktrees")
    assert "gone" in cli("worktree", "prune").out
    assert cli("worktree", "prune").out == "Nothing was stale.\n"
    assert create(cli, "gone")["status"] == "attached"


def test_words_of_another_time_fail_and_say_what_to_do(cli: Cli, repo: Path):
    """WT-013, WT-019."""
    for word in ("start", "prepare"):
        done = cli("worktree", word, "x")
        assert done.code == 2
        assert "worktree create" in done.err
    assert cli("worktree").code == 2
    assert cli("worktree", "nonsense").code == 2
    for words in (("--help",), ("create", "--help"), ("-h",)):
        done = cli("worktree", *words)
        assert done.code == 0
        assert "usage: agent-board worktree" in done.out


def test_where_there_is_no_repository_it_says_which_are_near(
    cli: Cli, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for words in (("create", "x"), ("list",), ("out",), ("prune",), ("info", "x"), ("remove", "x")):
        done = cli("worktree", *words)
        assert done.code == 1
        assert "not in a git repository" in done.err
        assert "api" in done.err


def test_a_bare_repository(cli: Cli, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    git(tmp_path, "clone", "-q", "--bare", str(repo), "api.git")
    monkeypatch.chdir(tmp_path / "api.git")
    assert create(cli, "fix")["path"] == str(tmp_path / ".worktrees" / "fix")
    assert "bare" in cli("worktree", "out").err
    assert [tree["kind"] for tree in cli("worktree", "list", "--json").json] == ["bare", "linked"]
    assert cli("worktree", "remove", "fix").code == 0


def test_settings_say_where_and_how(cli: Cli, repo: Path, tmp_path: Path):
    file = Path(config_path())
    file.parent.mkdir(parents=True)
    file.write_text(f'[worktrees]\nroot = "{tmp_path / "trees"}"\nsetup = "echo ready > set-up.log"\n')
    path = Path(str(create(cli, "fix")["path"]))
    assert path.is_relative_to(tmp_path / "trees")
    assert (path / "set-up.log").read_text() == "ready\n"
    assert cli("worktree", "info", "fix").code == 0
    assert str(tmp_path / "trees") in cli("doctor").out
    file.write_text('[worktrees]\nsetup = ["sh", "-c", "exit 7"]\n')
    done = cli("worktree", "create", "other", "--json")
    assert done.code == 0
    assert "ended with 7" in done.err


def test_doctor_says_what_git_clean_does(cli: Cli, repo: Path):
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert "git clean -ffdx" in checks["worktrees"]["found"]
    assert "worktrees.root" in checks["worktrees"]["found"]
