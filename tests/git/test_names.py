"""Names for worktrees and branches: git takes them, nothing has them, and no file system mixes them up."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_board.errors import BoardError
from agent_board.git.names import check_name, free_names, slug
from agent_board.git.repository import identify
from agent_board.text import cells
from tests.git.repo import add_worktree, branches, git

_MEAN = [
    "Fix the thing",
    "feature/login",
    "a..b",
    "a.lock",
    "a.lock.lock",
    "-x",
    "--force",
    ".hidden",
    "ends.",
    "HEAD",
    "@",
    "@{u}",
    "refs",
    "a b~1^2:3?4*5[6",
    "back\\slash",
    "tab\tnewline\n",
    "deadbeef",
    "0123456789abcdef0123456789abcdef01234567",
    "修复登录",
    "café",
    "👩‍👩‍👧",
    "x" * 300,
    "界" * 200,
    "",
    "///",
    "...",
    "$(rm -rf ~)",
    "\u202eevil",
]


@pytest.mark.parametrize("wanted", _MEAN)
def test_whatever_a_task_is_called_git_takes_the_branch(repo: Path, wanted: str):
    place = identify(str(repo))
    path, branch = free_names(place, wanted, (), ())
    assert git(repo, "check-ref-format", "--branch", branch) == branch
    assert path == os.path.join(str(repo), ".worktrees", branch)
    assert "/" not in branch
    assert len(branch.encode()) <= 80


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_any_text_makes_a_harmless_name(wanted: str):
    name = slug(wanted)
    assert name == name.strip()
    assert not name.startswith(("-", "."))
    assert not name.endswith((".", ".lock", "/"))
    assert not set(name) & set(" ~^:?*[\\/\x7f")
    assert ".." not in name
    assert "@{" not in name
    assert name.isprintable()
    assert 0 < len(name.encode()) <= 86
    assert cells(name) > 0


def test_an_existing_branch_is_never_taken(repo: Path):
    """FIELD-FAULTS 16: not even by another case, a parent or a child of it."""
    for name in ("fix", "login/form", "Done"):
        git(repo, "branch", name)
    place = identify(str(repo))
    assert free_names(place, "fix", (), ())[1] == "fix-2"
    assert free_names(place, "FIX", (), ())[1] == "FIX-2"
    assert free_names(place, "done", (), ())[1] == "done-2"
    assert free_names(place, "login", (), ())[1] == "login-2"


def test_what_others_have_spoken_for_is_not_free(repo: Path):
    place = identify(str(repo))
    root = str(repo / ".worktrees")
    assert free_names(place, "fix", [f"{root}/Fix"], ["fix-2"])[1] == "fix-3"
    (repo / ".worktrees" / "fix-3").mkdir(parents=True)
    assert free_names(place, "fix", [f"{root}/Fix"], ["fix-2"])[1] == "fix-4"


def test_a_name_taken_while_we_looked_is_refused_and_left_alone(repo: Path):
    git(repo, "branch", "fix", "HEAD")
    before = git(repo, "rev-parse", "fix")
    with pytest.raises(BoardError, match="exists already"):
        add_worktree(repo, "fix")
    assert git(repo, "rev-parse", "fix") == before
    assert not (repo / ".worktrees").exists()


@pytest.mark.parametrize(
    "name", ["a/b", "-x", "--force", ".", "..", "HEAD", "@{u}", "a..b", "x.lock", "a b", "", "a\n"]
)
def test_an_illegal_name_is_refused(repo: Path, name: str):
    """WT-010."""
    with pytest.raises(BoardError, match="can't be"):
        check_name(identify(str(repo)), name)


@pytest.mark.parametrize("name", ["fix", "修复", "v1.2", "a+b", "A_b"])
def test_a_legal_name_stays_as_it_is(repo: Path, name: str):
    check_name(identify(str(repo)), name)
    assert add_worktree(repo, name).name == name
    assert name in branches(repo)


def test_a_tag_s_name_is_taken(clean_repo: Path):
    """Git would take the tag for the branch."""
    git(clean_repo, "tag", "v2")
    assert free_names(identify(str(clean_repo)), "v2", [], [])[1] == "v2-2"
