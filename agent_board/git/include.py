"""`.worktreeinclude`: which ignored files (`.env` and the like) a new worktree gets a copy of.

Its syntax is gitignore's, so git itself says what fits. Only files that git ignores are copied; nothing is overwritten,
modes are kept, repositories inside are not entered, and a link that leads out of the checkout is refused.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from agent_board.git.call import CancelledError, git

INCLUDE = ".worktreeinclude"
_CHUNK = 1 << 20


def copy_included(source: str, target: str, cancelled: Callable[[], bool]) -> tuple[list[str], list[str]]:
    """Copy what `source`'s .worktreeinclude names; returns the relative paths that were copied, and warnings."""
    rules = os.path.join(source, INCLUDE)
    if not os.path.isfile(rules):
        return [], []
    copied, warnings = [], []
    for name in _wanted(source, rules):
        if cancelled():
            raise CancelledError(f"Copying ignored files to {target} was called off.")
        problem = _copy(source, target, name)
        if problem is None:
            copied.append(name)
        elif problem:
            warnings.append(f"{name} was not copied to {target}: {problem}.")
    return copied, warnings


def _wanted(source: str, rules: str) -> list[str]:
    others = ("ls-files", "--others", "--ignored", "-z")
    ignored = set(git(source, *others, "--exclude-standard").fields)
    return [name for name in git(source, *others, f"--exclude-from={rules}").fields if name in ignored]


def _copy(source: str, target: str, name: str) -> str | None:
    """Copy one file; None when done, the reason why not, or "" when there is nothing to say about it."""
    origin, copy = os.path.join(source, name), os.path.join(target, name)
    if name.endswith("/"):
        return ""  # a repository of its own
    folder = os.path.dirname(copy)
    nearest = folder
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if os.path.realpath(nearest) != nearest or not os.path.isdir(nearest):
        return f"{nearest} is not a directory of the worktree"
    try:
        os.makedirs(folder, exist_ok=True)
        found = os.lstat(origin)
        if stat.S_ISLNK(found.st_mode):
            return _copy_link(source, origin, copy)
        if not stat.S_ISREG(found.st_mode):
            return "it is no regular file"
        _copy_file(origin, copy, stat.S_IMODE(found.st_mode))
    except FileExistsError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return None


def _copy_link(source: str, origin: str, copy: str) -> str | None:
    leads_to = os.readlink(origin)
    real = os.path.realpath(origin)
    if os.path.isabs(leads_to) or os.path.commonpath([real, os.path.realpath(source)]) != os.path.realpath(source):
        return "it is a link that leads out of the repository"
    os.symlink(leads_to, copy)
    return None


def _copy_file(origin: str, copy: str, mode: int) -> None:
    import shutil  # 5 ms that the runner pays only when it has something to copy

    with open(os.open(origin, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as reading:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(copy, flags, 0o600), "wb") as writing:
            try:
                shutil.copyfileobj(reading, writing, _CHUNK)
                os.fchmod(writing.fileno(), mode)
            except BaseException:
                with suppress(OSError):
                    os.unlink(copy)
                raise
