"""Each way in which removing a worktree could lose work (FIELD-FAULTS 13): made here, and looked for afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.git.repo import commit, git, make_repo, write

CANARY = "the only copy"


@dataclass(frozen=True)
class Way:
    """How to put work at risk, in which ways the plan must see it, and whether it can still be found."""

    put: Callable[[Path], None]
    seen: frozenset[str]
    safe: Callable[[Path, Path], bool]
    """Of (repository, worktree): whether the work is reachable by a path or a reference."""
    kept_by_git: bool = False
    """The branch or the stash list keeps it, so removal needs nobody's consent."""
    in_index: bool = False
    """It survives the loss of the directory, in git's own."""


def _in_file(name: str) -> Callable[[Path, Path], bool]:
    return lambda repo, worktree: (worktree / name).is_file() and CANARY in (worktree / name).read_text()


def _reachable(repo: Path, worktree: Path) -> bool:
    """Whether a commit with the canary hangs on a reference of the repository, or on a worktree that it still has."""
    heads = [
        line.removeprefix("HEAD ")
        for line in git(repo, "worktree", "list", "--porcelain").split("\n")
        if line.startswith("HEAD ")
    ]
    found = git(repo, "log", "--format=%B", "--glob=refs/*", *heads)
    return CANARY in found


def _logged(repo: Path, worktree: Path) -> bool:
    return CANARY in git(worktree, "reflog", "--format=%gs")


def _unpushed(worktree: Path) -> None:
    commit(worktree, {"new.py": "x"}, CANARY)


def _staged(worktree: Path) -> None:
    write(worktree, {"new.py": CANARY})
    git(worktree, "add", "new.py")


def _stash(worktree: Path) -> None:
    write(worktree, {"README.md": CANARY})
    git(worktree, "stash", "push", "-q", "-m", CANARY)


def _detached(worktree: Path) -> None:
    git(worktree, "switch", "-q", "--detach")
    commit(worktree, {"new.py": "x"}, CANARY)


def _left_behind(worktree: Path) -> None:
    _detached(worktree)
    git(worktree, "switch", "-q", "task")


def _mid_rebase(worktree: Path) -> None:
    start = git(worktree, "rev-parse", "HEAD")
    commit(worktree, {"README.md": "mine\n"}, CANARY)
    git(worktree, "switch", "-q", "-c", "other", start)
    commit(worktree, {"README.md": "theirs\n"}, "Theirs")
    git(worktree, "switch", "-q", "task")
    git(worktree, "rebase", "-q", "other", ok=(1,))


def _mid_merge(worktree: Path) -> None:
    start = git(worktree, "rev-parse", "HEAD")
    commit(worktree, {"README.md": "mine\n"}, CANARY)
    git(worktree, "branch", "other", start)
    git(worktree, "switch", "-q", "other")
    commit(worktree, {"README.md": "theirs\n"}, "Theirs")
    git(worktree, "switch", "-q", "task")
    git(worktree, "merge", "-q", "other", ok=(1,))


def _bisect(worktree: Path) -> None:
    commit(worktree, {"a": "a"}, CANARY)
    git(worktree, "bisect", "start", "HEAD", "HEAD~1")


def _hidden(worktree: Path) -> None:
    write(worktree, {"README.md": CANARY})
    git(worktree, "update-index", "--assume-unchanged", "README.md")


def _skipped(worktree: Path) -> None:
    git(worktree, "update-index", "--skip-worktree", "README.md")
    write(worktree, {"README.md": CANARY})


def _nested(worktree: Path) -> None:
    commit(make_repo(worktree / "inner"), {"new.py": CANARY}, CANARY)


def _nested_ignored(worktree: Path) -> None:
    commit(make_repo(worktree / "build" / "inner"), {"new.py": CANARY}, CANARY)


def _write(**files: str) -> Callable[[Path], None]:
    return lambda worktree: write(worktree, {name.replace("_", "."): text for name, text in files.items()})


def _renamed(worktree: Path) -> None:
    git(worktree, "mv", "README.md", "LIES.md")
    write(worktree, {"LIES.md": CANARY})


WAYS = {
    "modified": Way(_write(README_md=CANARY), frozenset({"modified"}), _in_file("README.md")),
    "staged": Way(_staged, frozenset({"staged"}), _in_file("new.py"), in_index=True),
    "renamed": Way(_renamed, frozenset({"staged", "modified"}), _in_file("LIES.md"), in_index=True),
    "assume-unchanged": Way(_hidden, frozenset({"modified"}), _in_file("README.md")),
    "skip-worktree": Way(_skipped, frozenset({"modified"}), _in_file("README.md")),
    "untracked": Way(_write(new_txt=CANARY), frozenset({"untracked"}), _in_file("new.txt")),
    "ignored only": Way(_write(run_log=CANARY), frozenset({"ignored"}), _in_file("run.log")),
    "changed copy": Way(_write(_env=CANARY), frozenset({"ignored"}), _in_file(".env")),
    "nested repository": Way(_nested, frozenset({"untracked"}), _in_file("inner/new.py")),
    "nested ignored repository": Way(_nested_ignored, frozenset({"ignored"}), _in_file("build/inner/new.py")),
    "stash": Way(
        _stash, frozenset(), lambda repo, _: CANARY in git(repo, "stash", "list"), kept_by_git=True, in_index=True
    ),
    "unpushed commit": Way(
        _unpushed,
        frozenset(),
        _reachable,
        kept_by_git=True,
        in_index=True,
    ),
    "detached commit": Way(_detached, frozenset({"commits"}), _reachable, in_index=True),
    "commit left behind": Way(_left_behind, frozenset({"commits"}), _logged, in_index=True),
    "mid-rebase": Way(_mid_rebase, frozenset({"operation"}), _reachable, in_index=True),
    "mid-merge": Way(_mid_merge, frozenset({"operation"}), _reachable, in_index=True),
    "bisect": Way(_bisect, frozenset({"operation"}), _reachable, in_index=True),
}
