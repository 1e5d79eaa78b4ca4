"""Whose checkout a directory is: told by git itself, once, and frozen.

A repository is its common git directory, a checkout its real work-tree path. Never a remote's name and never the text
of a path: linked worktrees, symbolic links and submodules would be told apart wrongly by either.
"""

import os
from dataclasses import dataclass
from enum import StrEnum

from agent_board.errors import BoardError
from agent_board.git.call import GitError, Ran, git, last_word


class Kind(StrEnum):
    """What a directory is to git."""

    PLAIN = "plain"
    MAIN = "main"
    LINKED = "linked"
    SUBMODULE = "submodule"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class Place:
    """A directory and the repository that it belongs to. All paths but `path` are real ones."""

    path: str
    """As asked for, absolute."""
    kind: Kind
    top: str | None = None
    """The work tree's root; None in a plain directory and in a bare repository."""
    main: str | None = None
    """The main checkout's root; None when there is none."""
    common_dir: str | None = None
    """The git directory that all worktrees share: the repository's identity."""
    git_dir: str | None = None
    head: str | None = None
    """The full id of the commit that is checked out; None before the first commit."""
    branch: str | None = None
    """Short name; None when HEAD is detached."""
    subdirectory: str = ""
    """`path` below `top`, without slashes at its ends."""

    @property
    def is_git(self) -> bool:
        """Whether there is a repository at all."""
        return self.common_dir is not None


_ASK = (
    "--path-format=absolute",
    "--is-bare-repository",
    "--is-inside-git-dir",
    "--git-common-dir",
    "--git-dir",
    "--show-prefix",
)
_TREE = ("--show-toplevel", "--show-superproject-working-tree")
_HEAD = ("HEAD", "--symbolic-full-name", "HEAD")


def identify(path: str) -> Place:
    """Tell what `path` is, in at most two calls of git (three before the first commit of a linked worktree).

    Raises BoardError with one sentence for a directory that isn't there, a damaged repository, and one that git
    refuses because somebody else owns it.
    """
    path = os.path.abspath(path)
    if not os.path.isdir(path):
        raise BoardError(f"{path} is not a directory." if os.path.lexists(path) else f"{path} does not exist.")
    said = git(path, "rev-parse", *_ASK, *_HEAD, *_TREE, ok=(0, 128))
    lines = said.text.split("\n")
    if len(lines) < 5:
        return _without_repository(path, said)
    bare, inside = lines[0] == "true", lines[1] == "true"
    common_dir, git_dir, prefix = os.path.realpath(lines[2]), os.path.realpath(lines[3]), lines[4].rstrip("/")
    if inside and not bare:
        raise BoardError(f"{path} is inside a repository's own data; go to its checkout.")
    head, branch, tree = _head(path, lines[5:], bare)
    if bare:
        return Place(path, Kind.BARE, common_dir=common_dir, git_dir=git_dir, head=head, branch=branch)
    top = os.path.realpath(tree[0])
    if git_dir != common_dir:
        kind, main = Kind.LINKED, _main_of(common_dir)
    else:
        kind, main = (Kind.SUBMODULE if len(tree) > 1 else Kind.MAIN), top
    return Place(path, kind, top, main, common_dir, git_dir, head, branch, prefix)


def _head(path: str, rest: list[str], bare: bool) -> tuple[str | None, str | None, list[str]]:
    """The commit, the branch, and the lines about the work tree."""
    if len(rest) >= 2 and _is_id(rest[0]):
        branch = rest[1].removeprefix("refs/heads/") if rest[1].startswith("refs/heads/") else None
        head, tree = rest[0], rest[2:]
    else:
        head = None
        named = git(path, "symbolic-ref", "-q", "HEAD", ok=(0, 1, 128))
        branch = named.text.removeprefix("refs/heads/") or None if named.code == 0 else None
        if named.code == 128:
            raise _damaged(path, named.err)
        tree = [] if bare else git(path, "rev-parse", "--path-format=absolute", *_TREE).lines
    if not tree and not bare:
        raise BoardError(f"The git repository at {path} has no work tree there; check core.worktree in its config.")
    return head, branch, tree


def _is_id(word: str) -> bool:
    return len(word) in (40, 64) and all(char in "0123456789abcdef" for char in word)


def _without_repository(path: str, said: Ran) -> Place:
    """A plain directory, or the sentence for a repository that can't be used."""
    if "dubious ownership" in said.err:
        owner = _git_above(path) or path
        raise BoardError(
            f"The repository at {os.path.dirname(owner) if owner.endswith('.git') else owner} belongs to another user, "
            f"so git refuses it; if you trust it: git config --global --add safe.directory {path}"
        )
    if "not a git repository" in said.err and not _is_damaged(path):
        return Place(path, Kind.PLAIN)
    raise _damaged(path, said.err)


def _damaged(path: str, err: str) -> BoardError:
    return BoardError(f"The git repository at {path} is damaged ({last_word(err)}); mend it with git first.")


def _is_damaged(path: str) -> bool:
    """Whether something above was meant to be a repository though git doesn't take it for one."""
    found = _git_above(path)
    if found is None:
        return False
    return os.path.isfile(found) or os.path.isdir(os.path.join(found, "objects"))


def _git_above(path: str) -> str | None:
    path = os.path.realpath(path)
    while True:
        candidate = os.path.join(path, ".git")
        if os.path.lexists(candidate):
            return candidate
        if os.path.dirname(path) == path:
            return None
        path = os.path.dirname(path)


def _main_of(common_dir: str) -> str | None:
    """The main checkout of a repository that was reached by a linked worktree; None when it has none."""
    said = git(common_dir, "rev-parse", "--is-bare-repository", "--git-dir", ok=(0, 128))
    if said.code or said.lines[0] == "true":
        return None
    if os.path.basename(common_dir) == ".git":
        return os.path.dirname(common_dir)
    tree = git(common_dir, "config", "--get", "core.worktree", ok=(0, 1)).text
    return os.path.realpath(os.path.join(common_dir, tree)) if tree else None


def checkout_path(place: Place) -> str:
    """The real path by which a checkout is one and the same for everybody who writes in it."""
    return place.top or place.common_dir or os.path.realpath(place.path)


def home_of(place: Place) -> str:
    """Where to call git for the repository as a whole: it outlives every linked worktree.

    Raises BoardError for a plain directory.
    """
    if place.common_dir is None:
        raise BoardError(f"{place.path} is not in a git repository.")
    return place.common_dir


def default_branch(place: Place) -> str | None:
    """The branch that others start from: what a remote's HEAD names, else what the repository's own shape says.

    A short name that git understands (`main`, or `origin/main` where there is no local one); None when there is none.
    """
    home = home_of(place)
    listed = git(home, "for-each-ref", "--format=%(refname)%00%(symref)", "refs/heads", "refs/remotes/*/HEAD").lines
    refs = dict(line.split("\0") for line in listed)
    branches = {name.removeprefix("refs/heads/") for name in refs if name.startswith("refs/heads/")}
    remotes = sorted((name for name, target in refs.items() if target and name.endswith("/HEAD")), key=_remote_order)
    for name in remotes:
        remote = name.removesuffix("HEAD")
        short = refs[name].removeprefix(remote)
        return short if short in branches else refs[name].removeprefix("refs/remotes/")
    configured = git(home, "config", "--get", "init.defaultBranch", ok=(0, 1)).text
    main_head = git(home, "symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1)).text
    wanted = [name for name in (configured, "main", "master", "trunk", "develop", main_head) if name in branches]
    if wanted:
        return wanted[0]
    return next(iter(branches)) if len(branches) == 1 else None


def _remote_order(name: str) -> tuple[int, str]:
    remote = name.removeprefix("refs/remotes/").removesuffix("/HEAD")
    return ({"origin": 0, "upstream": 1}.get(remote, 2), remote)


def repositories_below(path: str, most: int = 8) -> list[str]:
    """Repositories directly in a plain directory, for saying which one could be meant; at most `most`."""
    found = []
    try:
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir() and os.path.lexists(os.path.join(entry.path, ".git")):
                    found.append(entry.path)
                if len(found) >= most:
                    break
    except OSError:
        return found
    return found


def resolve_commit(place: Place, name: str) -> str:
    """The full id of the commit that a name means where `place` is. Raises BoardError when it means none."""
    if not name or name.startswith("-"):
        raise BoardError(f"“{name}” is no commit, branch or tag.")
    where = place.top or home_of(place)
    try:
        return git(where, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").text
    except GitError:
        raise BoardError(f"There is no commit, branch or tag “{name}” in {place.main or where}.") from None
