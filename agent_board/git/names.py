"""Names for worktrees and their branches: valid for git, free, and free on file systems that fold case."""

import os
import re
import unicodedata
from collections.abc import Iterable

from agent_board.errors import BoardError, UsageError
from agent_board.git.call import git
from agent_board.git.listing import worktree_root
from agent_board.git.repository import Place, home_of
from agent_board.text import clean_line

_LONGEST_BYTES = 80
_RESERVED = frozenset({"head", "fetch_head", "orig_head", "merge_head", "cherry_pick_head", "refs", "stash", ".git"})
_LOOKS_LIKE_ID = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_MOST_TRIES = 10_000


def free_names(
    place: Place, wanted: str, taken_paths: Iterable[str], taken_branches: Iterable[str], *, root: str | None = None
) -> tuple[str, str]:
    """A path and a branch for a task of that name; neither exists, neither is spoken for, and git takes both.

    `root` is where worktrees go, if not where `worktree_root` says. Nothing is made: whoever makes them finds out
    whether somebody else was faster.
    """
    root = root or worktree_root(place)
    branches = {_folded(name) for name in (*_branches(place), *taken_branches)}
    above = {part for name in branches for part in _parents(name)}
    paths = {_folded(path) for path in taken_paths} | {_folded(os.path.join(root, name)) for name in _entries(root)}
    stem = slug(wanted)
    for number in range(1, _MOST_TRIES):
        name = stem if number == 1 else f"{_cut(stem, _LONGEST_BYTES - 6)}-{number}"
        path = os.path.join(root, name)
        folded = _folded(name)
        if folded not in branches and folded not in above and _folded(path) not in paths:
            return path, name
    raise UsageError(f"There are too many branches called {stem}; give the task another name.")


def slug(wanted: str) -> str:
    """A name as a branch and as a directory: its own letters, whatever the script, and dashes for the rest."""
    text = unicodedata.normalize("NFC", clean_line(wanted))
    text = re.sub(r"[^\w.+-]", "-", text)
    text = re.sub(r"\.{2,}", ".", text)
    text = re.sub(r"-{2,}", "-", text).strip("-.+_")
    while text.casefold().endswith(".lock"):
        text = text[:-5].rstrip("-.")
    text = _cut(text, _LONGEST_BYTES).rstrip("-.")
    if not text or text.casefold() in _RESERVED or _LOOKS_LIKE_ID.fullmatch(text):
        text = f"task-{text}".rstrip("-")
    return text


def check_name(place: Place, name: str) -> None:
    """Raises BoardError for a name that can't be both a branch and a directory."""
    shown = clean_line(name)
    if "/" in name or name in ("", ".", ".."):
        raise BoardError(f"“{shown}” can't be a worktree's name: leave out slashes, it is a directory's name, too.")
    wrong = name.startswith("-") or clean_line(name) != name or name.casefold() in _RESERVED
    if wrong or git(home_of(place), "check-ref-format", "--branch", name, ok=(0, 1, 128)).code:
        raise BoardError(f"“{shown}” can't be a branch's name; use letters, digits, dots and dashes.")


def _branches(place: Place) -> list[str]:
    """Names that are taken; a tag's, too, for git would take it for the branch."""
    listed = git(home_of(place), "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").lines
    return [name.removeprefix("refs/heads/").removeprefix("refs/tags/") for name in listed]


def _entries(root: str) -> list[str]:
    try:
        return os.listdir(root)
    except OSError:
        return []


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "surrogatepass")[:most].decode("utf-8", "ignore")
