"""Making worktrees: from the right commit, with what the user has, off his checkout, and nothing left of half a one."""

import os
import stat
import threading
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git import create as creating
from agent_board.git.call import CancelledError
from agent_board.git.changes import changes
from agent_board.git.create import create, recorded_base
from agent_board.git.merge import merge, plan_merge
from agent_board.git.repository import identify
from agent_board.git.worktrees import is_ready, list_worktrees, worktree_root
from tests.git.repo import add_worktree, branches, commit, git, kinds, make_repo, planned, write


def make(repo: Path, name: str = "task", **options) -> list[str]:
    place = identify(str(repo))
    assert place.head is not None
    base = options.pop("base", place.head)
    path = options.pop("path", os.path.join(worktree_root(place), name))
    return create(place, path=path, branch=name, base=base, **options)


def nothing_left(repo: Path, name: str = "task") -> None:
    assert not (repo / ".worktrees" / name).exists()
    assert name not in branches(repo)
    assert len(list_worktrees(identify(str(repo)))) == 1
    assert not (repo / ".git" / "worktrees").exists()
    assert f"branch.{name}" not in (repo / ".git" / "config").read_text()


def test_it_starts_from_the_commit_it_is_told_on_a_branch_of_its_own(repo: Path):
    """FIELD-FAULTS 15, 19, 25: the base is recorded, and the user's status shows nothing new."""
    first = git(repo, "rev-parse", "HEAD")
    worktree = add_worktree(repo)
    assert git(worktree, "rev-parse", "HEAD") == first
    assert git(worktree, "branch", "--show-current") == "task"
    assert git(worktree, "status", "--porcelain") == ""
    assert recorded_base(str(repo / ".git"), "task") == (first, "main")
    assert git(repo, "config", "branch.task.base") == first
    assert is_ready(str(worktree))


def test_a_stale_remote_is_never_the_base(clean_repo: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", str(clean_repo), "clone")
    clone = tmp_path / "clone"
    local = commit(clone, {"new.txt": "local"})
    worktree = add_worktree(clone)
    assert git(worktree, "rev-parse", "HEAD") == local
    assert git(worktree, "config", "--get", "branch.task.remote", ok=(1,)) == ""


def test_the_directory_for_worktrees_is_ignored_once(repo: Path):
    """WT-027: in info/exclude, what stands there kept; the user's .gitignore is his."""
    exclude = repo / ".git" / "info" / "exclude"
    exclude.write_text("*.mine")
    for name in ("a", "b"):
        add_worktree(repo, name)
    assert exclude.read_text() == "*.mine\n/.worktrees/\n"


def test_where_the_user_ignores_it_himself_nothing_is_written(clean_repo: Path):
    commit(clean_repo, {".gitignore": ".worktrees/\n"})
    add_worktree(clean_repo)
    assert not (clean_repo / ".git" / "info" / "exclude").exists()


@pytest.mark.parametrize("what", ["link", "file", "target link", "target file", "full directory", "other repository"])
def test_what_is_in_the_way_is_refused_and_left(clean_repo: Path, tmp_path: Path, what: str):
    """WT-011: nothing is followed, nothing overwritten."""
    root, outside = clean_repo / ".worktrees", tmp_path / "outside"
    outside.mkdir()
    if what == "link":
        root.symlink_to(outside)
    elif what == "file":
        root.touch()
    elif what == "target link":
        root.mkdir()
        (root / "task").symlink_to(outside)
    elif what == "target file":
        write(clean_repo, {".worktrees/task": "mine"})
    elif what == "full directory":
        write(clean_repo, {".worktrees/task/mine": "mine"})
    else:
        make_repo(root / "task")
    with pytest.raises(BoardError):
        make(clean_repo)
    assert list(outside.iterdir()) == []
    assert os.path.lexists(root)
    assert branches(clean_repo) == {"main"}


def test_an_empty_directory_is_no_obstacle(repo: Path):
    (repo / ".worktrees" / "task").mkdir(parents=True)
    add_worktree(repo)


def test_it_works_from_a_subdirectory_and_from_another_worktree(repo: Path):
    """WT-028, FIELD-FAULTS 21: never a worktree below a worktree."""
    one = add_worktree(repo, "one")
    two = add_worktree(repo / "src", "two")
    mine = commit(one, {"one.txt": "1"})
    three = add_worktree(one, "three")
    assert {one.parent, two.parent, three.parent} == {repo / ".worktrees"}
    assert git(three, "rev-parse", "HEAD") == mine


def test_two_detached_ones_share_no_name(repo: Path):
    git(repo, "worktree", "add", "-q", "--detach", str(repo / ".worktrees" / "x"))
    git(repo, "worktree", "add", "-q", "--detach", str(repo / ".worktrees" / "y"))
    for name in ("from-x", "from-y"):
        add_worktree(repo / ".worktrees" / name[-1], name)
    assert {"from-x", "from-y"} < branches(repo)


def test_ignored_files_are_copied_as_the_repository_says(clean_repo: Path, tmp_path: Path):
    """FIELD-FAULTS 23: only ignored ones, none overwritten, modes kept, no nested repository, no link outwards."""
    (tmp_path / "secret").write_text("outside")
    commit(
        clean_repo,
        {".gitignore": ".env*\nconf/\ndeps/\n", ".worktreeinclude": ".env*\n!.env.old\nconf/\nsrc/\nnew.txt\n"},
    )
    write(clean_repo, {".env": "A=1", ".env.old": "0", "conf/a/key": "k", "deps/x": "x", "new.txt": "not ignored"})
    os.chmod(clean_repo / "conf/a/key", 0o640)
    os.chmod(clean_repo / ".env", 0o400)
    make_repo(clean_repo / "conf" / "nested")
    (clean_repo / ".env.out").symlink_to(tmp_path / "secret")
    (clean_repo / "conf" / "in").symlink_to("a/key")
    warnings = make(clean_repo)
    worktree = clean_repo / ".worktrees" / "task"
    assert [".env.out" in warning for warning in warnings] == [True]
    assert (worktree / ".env").read_text() == "A=1"
    assert stat.S_IMODE((worktree / ".env").stat().st_mode) == 0o400
    assert stat.S_IMODE((worktree / "conf/a/key").stat().st_mode) == 0o640
    assert (worktree / "conf" / "in").readlink() == Path("a/key")
    for name in (".env.old", ".env.out", "deps", "new.txt", "conf/nested"):
        assert not os.path.lexists(worktree / name), name
    assert git(worktree, "status", "--porcelain") == ""


def test_a_copy_never_goes_through_a_link_of_the_branch(clean_repo: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    commit(clean_repo, {".gitignore": ".env\n", ".worktreeinclude": ".env\n"})
    base = git(clean_repo, "rev-parse", "HEAD")
    (clean_repo / "conf").symlink_to(outside)
    git(clean_repo, "add", "-A")
    git(clean_repo, "commit", "-qm", "link")
    with_link = git(clean_repo, "rev-parse", "HEAD")
    git(clean_repo, "reset", "-q", "--hard", base)
    write(clean_repo, {"conf/.env": "A=1"})
    warnings = make(clean_repo, base=with_link)
    assert len(warnings) == 1
    assert list(outside.iterdir()) == []


def test_the_set_up_command_runs_in_it_and_its_failure_is_a_warning(repo: Path):
    script = 'pwd > where.log; echo "$AGENT_BOARD_MAIN" >> where.log; echo broken >&2; exit 3'
    warnings = make(repo, setup=["/bin/sh", "-c", script])
    worktree = repo / ".worktrees" / "task"
    assert (worktree / "where.log").read_text().splitlines() == [str(worktree), str(repo)]
    assert len(warnings) == 1
    assert "ended with 3" in warnings[0]
    assert "broken" in warnings[0]
    assert planned(worktree).lost == ()


def test_a_missing_set_up_program_is_a_warning(repo: Path):
    assert "not on PATH" in make(repo, setup=["no-such-program-anywhere"])[0]


def hook(repo: Path, body: str, name: str = "post-checkout") -> None:
    path = repo / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_a_failing_hook_is_a_warning_and_sees_what_git_would_tell_it(repo: Path):
    """FIELD-FAULTS 22."""
    hook(repo, 'echo "$*" > hook.log; echo no luck >&2; exit 1')
    warnings = make(repo)
    assert len(warnings) == 1
    assert "no luck" in warnings[0]
    said = (repo / ".worktrees" / "task" / "hook.log").read_text().split()
    assert said == ["0" * 40, git(repo, "rev-parse", "HEAD"), "1"]
    assert is_ready(str(repo / ".worktrees" / "task"))


def test_no_other_hook_of_the_user_s_runs(repo: Path):
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-commit"):
        hook(repo, f"touch {repo / '.git' / 'ran'}; exit 1", name)
    assert make(repo) == []
    assert not (repo / ".git" / "ran").exists()
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-commit"):
        (repo / ".git" / "hooks" / name).unlink()


def test_submodules_come_from_what_is_there(clean_repo: Path, tmp_path: Path):
    """FIELD-FAULTS 22: nested ones, too; never from the network; removed without more ado."""
    inner = make_repo(tmp_path / "inner")
    outer = make_repo(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(inner), "inner")
    git(outer, "commit", "-qm", "inner")
    git(clean_repo, "submodule", "--quiet", "add", str(outer), "vendor/outer")
    git(clean_repo, "submodule", "--quiet", "update", "--init", "--recursive")
    git(clean_repo, "commit", "-qm", "outer")
    for gone in (inner, outer):
        gone.rename(f"{gone}-gone")
    config = (clean_repo / ".git" / "config").read_text()
    worktree = add_worktree(clean_repo)
    assert (worktree / "vendor" / "outer" / "inner" / "README.md").read_text() == "one\n"
    assert git(worktree, "status", "--porcelain") == ""
    assert git(worktree / "vendor" / "outer", "remote", "get-url", "origin") == str(outer)
    assert config in (clean_repo / ".git" / "config").read_text()
    assert planned(worktree).lost == ()


def test_a_submodule_that_is_not_here_is_a_warning(clean_repo: Path, tmp_path: Path):
    lib = make_repo(tmp_path / "lib")
    git(clean_repo, "submodule", "--quiet", "add", str(lib), "lib")
    git(clean_repo, "commit", "-qm", "lib")
    newer = commit(lib, {"x": "x"})
    git(clean_repo, "update-index", "--cacheinfo", f"160000,{newer},lib")
    git(clean_repo, "commit", "-qm", "newer")
    warnings = make(clean_repo)
    assert len(warnings) == 1
    assert "submodule update --init lib" in warnings[0]


def test_a_sparse_checkout_is_inherited(clean_repo: Path):
    commit(clean_repo, {"big/data.bin": "x", "small/x": "x"})
    git(clean_repo, "sparse-checkout", "set", "--cone", "small")
    worktree = add_worktree(clean_repo)
    assert (worktree / "small" / "x").exists()
    assert not (worktree / "big").exists()
    assert planned(worktree).lost == ()


def test_a_missing_lfs_leaves_pointers_and_says_so(clean_repo: Path):
    for key, value in {"smudge": "no-such-git-lfs smudge %f", "clean": "cat", "required": "true"}.items():
        git(clean_repo, "config", f"filter.lfs.{key}", value)
    commit(clean_repo, {".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n"})
    warnings = make(clean_repo)
    assert len(warnings) == 1
    assert "git lfs pull" in warnings[0]
    assert (clean_repo / ".worktrees" / "task" / "a.bin").read_text() == "pointer\n"


def test_without_the_lfs_program_work_is_seen_but_never_committed_as_it_is(clean_repo: Path):
    """As `git lfs install` sets it up, on a machine or a PATH that lacks git-lfs."""
    commit(clean_repo, {".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n", "b.bin": "pointer\n"})
    base = git(clean_repo, "rev-parse", "HEAD")
    git(clean_repo, "config", "filter.lfs.required", "true")
    for key, value in {"process": "filter-process", "smudge": "smudge -- %f", "clean": "clean -- %f"}.items():
        git(clean_repo, "config", f"filter.lfs.{key}", f"no-such-git-lfs {value}")
    warnings = make(clean_repo)
    assert "git lfs pull" in warnings[0]
    worktree = clean_repo / ".worktrees" / "task"
    assert planned(worktree).lost == ()
    write(worktree, {"a.bin": "the content\n", "new.txt": "1\n"})
    assert kinds(planned(worktree)) == {"modified", "untracked"}
    assert [file.path for file in changes(str(worktree), base).files] == ["a.bin", "new.txt"]
    with pytest.raises(BoardError, match="could not be committed"):
        merge(plan_merge(str(worktree), identify(str(clean_repo))))
    assert git(worktree, "rev-parse", "HEAD") == base


def test_progress_is_told(repo: Path):
    told: list[str] = []
    make(repo, progress=told.append)
    assert told[:2] == ["registering the worktree", "checking the files out"]


@pytest.mark.parametrize("step", range(7))
def test_it_can_be_called_off_at_any_step_and_leaves_nothing(repo: Path, step: int):
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > step * 3

    try:
        make(repo, cancelled=cancelled, setup=["true"])
    except CancelledError:
        nothing_left(repo)
    else:
        assert is_ready(str(repo / ".worktrees" / "task"))


def test_a_running_set_up_is_ended_with_all_its_children(repo: Path, tmp_path: Path):
    started = tmp_path / "started"
    called_off = threading.Event()
    script = f"(sleep 1000 & echo $! > {tmp_path / 'pid'}; touch {started}; wait)"

    def cancelled() -> bool:
        return started.exists() or called_off.is_set()

    with pytest.raises(CancelledError):
        make(repo, setup=["/bin/sh", "-c", script], cancelled=cancelled)
    nothing_left(repo)
    child = int((tmp_path / "pid").read_text())
    assert not os.path.exists(f"/proc/{child}") or "Z" in Path(f"/proc/{child}/stat").read_text().rsplit(")")[-1]


def test_git_that_hangs_is_ended(repo: Path, tmp_path: Path):
    """A slow filter stands for a huge repository: creation is called off while git works."""
    started = tmp_path / "started"
    git(repo, "config", "filter.slow.smudge", f"sh -c 'touch {started}; sleep 1000'")
    (repo / ".git" / "info" / "attributes").write_text("*.md filter=slow\n")
    with pytest.raises(CancelledError):
        make(repo, cancelled=started.exists)
    nothing_left(repo)
    (repo / ".git" / "info" / "attributes").unlink()
    git(repo, "config", "--remove-section", "filter.slow")


def test_a_failure_is_one_sentence_and_leaves_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(creating, "remember_ignored", full)
    with pytest.raises(BoardError, match="No space left on device"):
        make(repo)
    nothing_left(repo)


def test_two_at_once_never_share_a_branch_or_a_directory(repo: Path):
    go = threading.Barrier(4)
    ended: list[object] = []

    def try_it() -> None:
        go.wait()
        try:
            ended.append(make(repo))
        except BoardError as error:
            ended.append(error)

    threads = [threading.Thread(target=try_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome for outcome in ended if outcome == []] == [[]]
    assert is_ready(str(repo / ".worktrees" / "task"))
    assert len(list_worktrees(identify(str(repo)))) == 2


def test_many_at_once_all_succeed(repo: Path):
    place = identify(str(repo))
    root = worktree_root(place)
    failed: list[BoardError] = []

    def one(name: str) -> None:
        try:
            create(place, path=f"{root}/{name}", branch=name, base=str(place.head))
        except BoardError as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(f"t{number}",)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert branches(repo) == {"main", *(f"t{number}" for number in range(10))}


@pytest.mark.parametrize("configured", ["~/trees", "/absolute", "inside/it"])
def test_worktrees_can_go_elsewhere(repo: Path, tmp_path: Path, home: Path, configured: str):
    configured = configured.replace("/absolute", str(tmp_path / "absolute"))
    root = worktree_root(identify(str(repo)), configured)
    make(repo, path=f"{root}/task")
    assert is_ready(f"{root}/task")
    assert root.startswith(configured.replace("~", str(home)) if configured != "inside/it" else str(repo))


def test_before_the_first_commit_it_is_said(tmp_path: Path):
    git(tmp_path, "init", "-q", "new")
    with pytest.raises(BoardError):
        create(identify(str(tmp_path / "new")), path=str(tmp_path / "new/.worktrees/x"), branch="x", base="HEAD")
