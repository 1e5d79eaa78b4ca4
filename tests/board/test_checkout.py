"""Which checkout a directory lies in."""

from pathlib import Path

from agent_board.board.checkout import branch_of, project_of


def test_the_branch_is_read_from_gits_own_files(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    assert branch_of(str(tmp_path / "repo" / "src")) == "feature/x"
    (tmp_path / "repo" / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert branch_of(str(tmp_path / "repo")) == "at 01234567"
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {tmp_path}/repo/.git\n")
    assert branch_of(str(linked)) == "at 01234567"
    assert branch_of(str(tmp_path / "gone" / "away")) == ""


def test_the_project_is_the_work_tree_around_a_directory(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "repo" / "src").mkdir()
    assert project_of(str(tmp_path / "repo" / "src")) == str(tmp_path / "repo")
    assert project_of(str(tmp_path / "gone")) == ""


def test_an_empty_git_directory_makes_no_project(tmp_path: Path) -> None:
    """Codex leaves one in each directory that its sandbox keeps a repository out of, such as the temporary one."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    assert project_of(str(tmp_path / "src")) == str(tmp_path / "src")
    assert branch_of(str(tmp_path / "src")) == ""
