"""Whether a branch's work has arrived elsewhere, also when it came as one squashed commit or was rebased."""

import os
import tempfile

from agent_board.git.call import git
from agent_board.git.repository import Place, default_branch, home_of

_MOST_COMMITS = 500
_PATCH_BYTES = 64 << 20
_PATCH = ("diff-tree", "-p", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv")
_BINARY = b"\nBinary files "
"""Git before 2.39 takes any two changes of a binary file for the same patch."""


def is_merged(place: Place, branch: str, *, into: list[str] | None = None) -> bool:
    """Whether `branch` adds nothing to one of the branches `into` (else: to the default branch, here or at a remote).

    True when its commits are there, when merging it would change no file, or when its whole change is one of their
    commits. Commits whose changes take each other back are work, too, and are nowhere else. Reads only: what git has
    to compute goes to a temporary directory.
    """
    home = home_of(place)
    tip = _commit(home, f"refs/heads/{branch}")
    if tip is None:
        return False
    targets = into if into is not None else _usual_targets(place, branch)
    return any(_is_in(home, tip, target) for name in targets if (target := _commit(home, name)) is not None)


def _usual_targets(place: Place, branch: str) -> list[str]:
    default = default_branch(place)
    if default is None or default == branch:
        return []
    listed = git(home_of(place), "for-each-ref", "--format=%(refname)", f"refs/remotes/*/{default}").lines
    return [default, *listed]


def _commit(home: str, name: str) -> str | None:
    said = git(home, "rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
    return said.text if said.code == 0 else None


def _is_in(home: str, tip: str, target: str) -> bool:
    if git(home, "merge-base", "--is-ancestor", tip, target, ok=(0, 1)).code == 0:
        return True
    base = git(home, "merge-base", tip, target, ok=(0, 1)).text.split("\n")[0]
    if not base or git(home, "diff-tree", "--quiet", base, tip, ok=(0, 1)).code == 0:
        return False
    return _changes_nothing(home, tip, target) or _is_one_commit(home, base, tip, target)


def _changes_nothing(home: str, tip: str, target: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="agent-board-") as scratch:
        environ = {
            "GIT_OBJECT_DIRECTORY": scratch,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(home, "objects"),
        }
        said = git(home, "merge-tree", "--write-tree", target, tip, ok=(0, 1, 128, 129), environ=environ)
    if said.code != 0:
        return False
    return said.text.split("\n")[0] == git(home, "rev-parse", f"{target}^{{tree}}").text


def _is_one_commit(home: str, base: str, tip: str, target: str) -> bool:
    # Both by plumbing and with the same words: a setting for `git log` would make one change look like two.
    whole = git(home, *_PATCH, base, tip, limit=_PATCH_BYTES)
    commits = git(home, "rev-list", "--no-merges", f"--max-count={_MOST_COMMITS}", f"{base}..{target}").out
    listed = git(home, *_PATCH, "--stdin", given=commits, limit=_PATCH_BYTES)
    if whole.cut or listed.cut or not whole.out or _BINARY in whole.out:
        return False
    wanted = git(home, "patch-id", "--stable", given=whole.out).text.split(" ")[0]
    return any(line.startswith(f"{wanted} ") for line in git(home, "patch-id", "--stable", given=listed.out).lines)
