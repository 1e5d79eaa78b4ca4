"""Which checkout a directory lies in, read from git's own files: a few stats, no process."""

import os
from contextlib import suppress


def project_of(cwd: str) -> str:
    """The project a directory belongs to: the work tree around it, else itself; empty when it is gone."""
    if not os.path.isdir(cwd):
        return ""
    folder = os.path.abspath(cwd)
    for above in _upwards(folder):
        if _git_dir(above):
            return above
    return folder


def branch_of(folder: str) -> str:
    """The branch that is checked out where a directory is, or `at <commit>`; empty without a repository."""
    for above in _upwards(folder):
        with suppress(OSError):
            if place := _git_dir(above):
                with open(f"{place}/HEAD", encoding="utf-8", errors="replace") as file:
                    head = file.read(1024).strip()
                return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else f"at {head[:8]}"
    return ""


def _upwards(folder: str) -> list[str]:
    found = []
    while folder and folder != os.path.dirname(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def _git_dir(folder: str) -> str:
    """Git's directory of a work tree; empty when there is none.

    An empty `.git` is none: sandboxes of agents leave one behind where they forbade writing to it.
    """
    place = os.path.join(folder, ".git")
    with suppress(OSError):
        if os.path.isfile(place):
            with open(place, encoding="utf-8", errors="replace") as file:
                place = os.path.join(folder, file.read(4096).strip().removeprefix("gitdir: "))
        if os.path.isfile(os.path.join(place, "HEAD")):
            return place
    return ""
