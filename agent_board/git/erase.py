"""Removing directories for good: never through a symbolic link, and also where somebody took write permission away."""

import os
import stat
from typing import Any


def erase(path: str) -> None:
    """Remove a directory and all in it. A link in it is removed, not followed; a link at `path` is refused.

    Nothing happens if it is not there. Raises OSError.
    """
    if not os.path.lexists(path):
        return
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise NotADirectoryError(20, "not a directory", path)
    _retried(path)


def _retried(path: str) -> None:
    import shutil  # 5 ms that the runner pays only when it has something to erase

    opened: set[str] = set()

    def open_up(_: Any, failed: str, info: Any) -> None:
        """A directory that can't be read or changed (a module cache) is opened up once, then tried again."""
        error = info[1]
        if isinstance(error, FileNotFoundError):
            return
        for folder in (failed, os.path.dirname(failed)):
            if _is_ours_to_open(folder, path) and folder not in opened:
                opened.add(folder)
                os.chmod(folder, 0o700)

    known = -1
    while os.path.lexists(path) and len(opened) > known:
        known = len(opened)
        shutil.rmtree(path, onerror=open_up)
    if os.path.lexists(path):
        shutil.rmtree(path)


def _is_ours_to_open(folder: str, root: str) -> bool:
    inside = folder == root or folder.startswith(f"{root}/")
    return inside and os.path.isdir(folder) and not os.path.islink(folder)
