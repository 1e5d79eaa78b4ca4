"""Whose checkout a directory is: each layout, told by git and not by the text of a path (AB-086, AB-097)."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_board.errors import BoardError
from agent_board.git import repository
from agent_board.git.call import Ran
from agent_board.git.call import git as git_itself
from agent_board.git.repository import Kind, checkout_path, default_branch, identify, repositories_below
from agent_board.git.worktrees import worktree_root
from tests.git.repo import add_worktree, commit, git, make_repo, write


def test_a_main_checkout_and_a_directory_in_it(repo: Path):
    place = identify(str(repo / "src"))
    assert (place.kind, place.top, place.main, place.subdirectory) == (Kind.MAIN, str(repo), str(repo), "src")
    assert place.common_dir == place.git_dir == str(repo / ".git")
    assert place.branch == "main"
    assert place.head == git(repo, "rev-parse", "HEAD")
    assert checkout_path(place) == str(repo)
    assert worktree_root(place) == str(repo / ".worktrees")


def test_two_calls_of_git_are_enough(repo: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[tuple[str, ...]] = []

    def counted(*words: str, **rest: Any) -> Ran:
        calls.append(words)
        return git_itself(*words, **rest)

    monkeypatch.setattr(repository, "git", counted)
    worktree = add_worktree(repo)
    for path in (repo, repo / "src", worktree, worktree / "src"):
        calls.clear()
        identify(str(path))
        assert len(calls) <= 2


def test_a_linked_worktree_is_the_same_repository_and_another_checkout(repo: Path):
    worktree = add_worktree(repo)
    place, main = identify(str(worktree / "src")), identify(str(repo))
    assert (place.kind, place.top, place.main) == (Kind.LINKED, str(worktree), str(repo))
    assert place.common_dir == main.common_dir
    assert checkout_path(place) != checkout_path(main)
    assert (place.branch, place.subdirectory) == ("task", "src")
    assert worktree_root(place) == str(repo / ".worktrees")


def test_a_symbolic_link_leads_to_the_same_checkout(repo: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(repo / "src")
    place = identify(str(tmp_path / "link"))
    assert place.path == str(tmp_path / "link")
    assert checkout_path(place) == str(repo)
    assert place.subdirectory == "src"


def test_a_submodule_is_a_repository_of_its_own(clean_repo: Path, tmp_path: Path):
    lib = make_repo(tmp_path / "lib")
    git(clean_repo, "submodule", "--quiet", "add", str(lib), "vendor/lib")
    place = identify(str(clean_repo / "vendor" / "lib" / "src"))
    assert (place.kind, place.top) == (Kind.SUBMODULE, str(clean_repo / "vendor" / "lib"))
    assert place.main == place.top
    assert place.common_dir == str(clean_repo / ".git" / "modules" / "vendor" / "lib")


@pytest.mark.parametrize("name", ["api.git", "project/.git", "project/.bare"])
def test_a_bare_repository_with_worktrees(clean_repo: Path, tmp_path: Path, name: str):
    bare = tmp_path / "store" / name
    bare.parent.mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(clean_repo), str(bare))
    place = identify(str(bare))
    assert (place.kind, place.top, place.main, place.branch) == (Kind.BARE, None, None, "main")
    assert place.head == git(clean_repo, "rev-parse", "HEAD")
    assert checkout_path(place) == str(bare)
    assert worktree_root(place) == str(bare.parent / ".worktrees")
    worktree = add_worktree(bare)
    assert worktree == bare.parent / ".worktrees" / "task"
    linked = identify(str(worktree))
    assert (linked.kind, linked.main, linked.common_dir) == (Kind.LINKED, None, str(bare))
    assert worktree_root(linked) == str(bare.parent / ".worktrees")


def test_a_nested_repository_is_not_the_one_around_it(clean_repo: Path):
    inner = make_repo(clean_repo / "build" / "inner")
    assert identify(str(inner / "src")).top == str(inner)
    assert identify(str(clean_repo / "build")).top == str(clean_repo)


def test_a_plain_directory_and_the_repositories_in_it(tmp_path: Path):
    for name in ("b", "a"):
        make_repo(tmp_path / "many" / name)
    (tmp_path / "many" / "c").mkdir()
    place = identify(str(tmp_path / "many"))
    assert (place.kind, place.is_git, place.top, place.common_dir) == (Kind.PLAIN, False, None, None)
    assert checkout_path(place) == str(tmp_path / "many")
    assert [os.path.basename(path) for path in repositories_below(str(tmp_path / "many"))] == ["a", "b"]


def test_before_the_first_commit(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "trunk", "new")
    place = identify(str(tmp_path / "new"))
    assert (place.kind, place.head, place.branch, place.top) == (Kind.MAIN, None, "trunk", str(tmp_path / "new"))


def test_a_detached_head(repo: Path, tmp_path: Path):
    path = tmp_path / "elsewhere"
    git(repo, "worktree", "add", "-q", "--detach", str(path))
    place = identify(str(path))
    assert (place.kind, place.branch, place.head) == (Kind.LINKED, None, git(repo, "rev-parse", "HEAD"))


def test_a_git_directory_elsewhere(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "main", f"--separate-git-dir={tmp_path / 'data'}", "work")
    commit(tmp_path / "work", {"a": "a"})
    place = identify(str(tmp_path / "work"))
    assert (place.kind, place.main, place.common_dir) == (Kind.MAIN, str(tmp_path / "work"), str(tmp_path / "data"))
    worktree = add_worktree(tmp_path / "work")
    assert identify(str(worktree)).kind is Kind.LINKED
    assert identify(str(worktree)).common_dir == str(tmp_path / "data")


def test_a_hook_s_environment_does_not_lead_astray(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = make_repo(tmp_path / "other")
    for name, value in {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / "i"}.items():
        monkeypatch.setenv(name, str(value))
    place = identify(str(repo))
    monkeypatch.undo()
    assert (place.top, place.common_dir) == (str(repo), str(repo / ".git"))


def _say(path: Path) -> str:
    with pytest.raises(BoardError) as failed:
        identify(str(path))
    sentence = str(failed.value)
    assert "\n" not in sentence
    assert str(path) in sentence or str(path.parent) in sentence
    return sentence


def test_what_is_no_directory_is_said(tmp_path: Path):
    (tmp_path / "file").touch()
    assert "does not exist" in _say(tmp_path / "nowhere")
    assert "is not a directory" in _say(tmp_path / "file")


def test_a_damaged_repository_is_not_taken_for_none(clean_repo: Path, tmp_path: Path):
    worktree = add_worktree(clean_repo)
    (clean_repo / ".git" / "HEAD").write_text("rubbish")
    assert "damaged" in _say(clean_repo)
    for path in (clean_repo / ".git").iterdir():
        subprocess.run(["rm", "-rf", str(path)], check=True)
    assert "damaged" in _say(worktree)


def test_a_repository_of_somebody_else_is_said_with_the_way_out(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):

    def as_another_user(*words: str, **rest: Any) -> Ran:
        return git_itself(*words, **rest, environ={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})

    monkeypatch.setattr(repository, "git", as_another_user)
    assert "safe.directory" in _say(clean_repo)


def test_inside_git_s_own_data_there_is_no_checkout(clean_repo: Path):
    assert "own data" in _say(clean_repo / ".git" / "refs")


def test_the_default_branch_is_found(clean_repo: Path, tmp_path: Path):
    """WT: never assumed to be `main`, never a stale remote's."""
    assert default_branch(identify(str(clean_repo))) == "main"
    git(clean_repo, "branch", "-m", "main", "trunk")
    assert default_branch(identify(str(clean_repo))) == "trunk"
    git(clean_repo, "switch", "-q", "-c", "feature")
    assert default_branch(identify(str(clean_repo))) == "trunk"
    git(clean_repo, "switch", "-q", "trunk")
    git(tmp_path, "clone", "-q", str(clean_repo), "clone")
    clone = tmp_path / "clone"
    git(clone, "switch", "-q", "-c", "main")
    assert default_branch(identify(str(clone))) == "trunk"
    git(clone, "branch", "-q", "-D", "trunk")
    assert default_branch(identify(str(clone))) == "origin/trunk"


def test_a_name_s_own_letters_and_blanks_in_paths(tmp_path: Path):
    repo = make_repo(tmp_path / "mein Projekt ü")
    assert identify(str(repo)).top == str(repo)
    worktree = add_worktree(repo, "任务-ä")
    assert identify(str(worktree)).branch == "任务-ä"
    write(worktree, {"新.txt": "x"})
    assert identify(str(worktree)).main == str(repo)
