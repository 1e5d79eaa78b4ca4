"""Ignored files: how they were when the worktree was made, and which were written since and exist nowhere else."""

import os
from collections.abc import Iterator

from agent_board.git.call import git
from agent_board.store.files import read_json, write_json
from agent_board.store.records import VERSION

_FILE = "agent-board-ignored.json"
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
"""What a directory's CACHEDIR.TAG begins with: its program says of it that it can be made again."""
_CHUNK = 1 << 16


def ignored_files(top: str) -> list[str]:
    """Every ignored file of a checkout, relative; a repository of its own as its directory with a slash."""
    return git(top, "ls-files", "--others", "--ignored", "--exclude-standard", "-z").fields


def remember_ignored(top: str, admin: str, copied: list[str]) -> None:
    """Note how the ignored files are now that the worktree is ready."""
    files = {name: stamp for name in ignored_files(top) if (stamp := _stamp(os.path.join(top, name))) is not None}
    write_json(f"{admin}/{_FILE}", {"version": VERSION, "files": files, "copied": copied})


def written_since(top: str, admin: str, main: str | None) -> list[str]:
    """Ignored files that removal would lose: written since the worktree was made, and not the same in `main`.

    What a program marked as its cache, and compiled Python, is no work. An untouched copy from the main checkout is
    lost only if its original is gone.
    """
    raw = read_json(f"{admin}/{_FILE}")
    known = raw if isinstance(raw, dict) else {}
    files, copied = known.get("files") or {}, set(known.get("copied") or ())
    lost = []
    for name in _without_caches(top, ignored_files(top)):
        path = os.path.join(top, name)
        origin = os.path.join(main, name) if main is not None else None
        unchanged = files.get(name) == _stamp(path)
        if unchanged and (name not in copied or (origin is not None and os.path.lexists(origin))):
            continue
        if origin is not None and _same(path, origin):
            continue
        lost.append(name)
    return lost


def _stamp(path: str) -> list[int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _without_caches(top: str, names: list[str]) -> Iterator[str]:
    caches: dict[str, bool] = {"": False}

    def in_cache(folder: str) -> bool:
        if folder not in caches:
            caches[folder] = in_cache(os.path.dirname(folder)) or _is_cache(os.path.join(top, folder))
        return caches[folder]

    for name in names:
        compiled = name.endswith((".pyc", ".pyo")) and os.path.basename(os.path.dirname(name)) == "__pycache__"
        if not compiled and not in_cache(os.path.dirname(name)):
            yield name


def _is_cache(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "CACHEDIR.TAG"), "rb") as file:
            return file.read(len(_TAG)) == _TAG
    except OSError:
        return False


def _same(one: str, other: str) -> bool:
    """Whether both are the same link, or regular files with the same bytes."""
    try:
        if os.path.islink(one) or os.path.islink(other):
            return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
        if not os.path.isfile(one) or not os.path.isfile(other) or os.path.getsize(one) != os.path.getsize(other):
            return False
        with open(one, "rb") as first, open(other, "rb") as second:
            while True:
                left, right = first.read(_CHUNK), second.read(_CHUNK)
                if left != right:
                    return False
                if not left:
                    return True
    except OSError:
        return False
