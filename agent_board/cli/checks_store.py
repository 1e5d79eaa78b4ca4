"""Doctor's look at the store: is it ours, private, writable, with room, on a file system that can lock and watch."""

import errno
import os
import stat
from collections.abc import Iterator

from agent_board.cli.checks import Check, broken, ok, warning
from agent_board.errors import BoardError, BusyError
from agent_board.store import locks
from agent_board.store.files import DIR_MODE, FILE_MODE, Unreadable, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.views import newer_store, view_ids

_LITTLE, _TOO_LITTLE = 512 << 20, 8 << 20
_REMOTE = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ceph",
    "gluster",
    "lustre",
    "beegfs",
    "gpfs",
    "fuse.sshfs",
    "davfs",
    "webdav",
)
_INOTIFY = "/proc/sys/fs/inotify/max_user_watches"
_ELSEWHERE = "Set AGENT_BOARD_HOME, or give --home, to a directory of your own on a local disk."


def store_checks(paths: StorePaths) -> Iterator[Check]:
    """All checks of the store. Nothing is created; what isn't there yet is judged by the directory above it."""
    yield _place(paths)
    if os.path.isdir(paths.views):
        yield _permissions(paths)
        yield _locking(paths)
        yield from _unreadable(paths)
        yield _watching(paths)
    above = _existing(paths.root)
    yield _space(above)
    yield _file_system(above)


def _place(paths: StorePaths) -> Check:
    from agent_board.cli.stores import refuse_foreign

    try:
        refuse_foreign(paths)
    except BoardError as error:
        return broken("store", str(error), _ELSEWHERE)
    newer = newer_store(paths)
    if newer:
        return broken("store", f"{paths.roster} {newer}, so it is shown and not written", "Update agent-board.")
    above = _existing(paths.root)
    if not os.path.isdir(above):
        return broken("store", f"{paths.root} can't be made, {above} is not a directory", _ELSEWHERE)
    if not _writable(above):
        return broken("store", f"{above} can't be written", f"Make it writable: chmod u+rwx {above}")
    if not os.path.isdir(paths.views):
        return ok("store", f"{paths.root} will be made by the first task")
    count = len(view_ids(paths))
    return ok("store", f"{paths.root} with {count} {'task' if count == 1 else 'tasks'}")


def _writable(folder: str) -> bool:
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_RDONLY


def _existing(path: str) -> str:
    """The path itself or the nearest one above it that is there."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _permissions(paths: StorePaths) -> Check:
    open_ones = [path for path in _ours(paths) if _mode(path) & 0o077]
    if open_ones:
        more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        found = f"others can get at {open_ones[0]}{more}"
        return warning("permissions", found, f"Close it: chmod -R go-rwx {paths.root}")
    return ok("permissions", f"only you can read the store (directories {DIR_MODE:04o}, files {FILE_MODE:04o})")


def _ours(paths: StorePaths) -> Iterator[str]:
    """Directories and files whose modes are ours; the transcripts' are the agents'."""
    yield from (paths.root, paths.views, paths.sessions, paths.locks, paths.log, paths.roster)
    for view_id in view_ids(paths):
        view = paths.view(view_id)
        yield from (view.dir, view.meta, view.state, view.runs)


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0


def _locking(paths: StorePaths) -> Check:
    try:
        locks.release(locks.acquire(paths.store_lock))
    except BusyError:
        return warning("locks", "the store's lock is held for long", "Look for a stopped agent-board and end it.")
    except OSError as error:
        hint = " (this file system can't lock)" if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP) else ""
        return broken("locks", f"{paths.store_lock}: {error.strerror}{hint}", _ELSEWHERE)
    return ok("locks", "files can be locked")


def _unreadable(paths: StorePaths) -> Iterator[Check]:
    roster = read_json(paths.roster)
    if isinstance(roster, Unreadable) and not roster.newer:
        yield warning(
            "roster", f"{paths.roster} {roster.why}", "Nothing: the next task rebuilds it and keeps the bytes."
        )
    files = (path for view_id in view_ids(paths) for path in (paths.view(view_id).meta, paths.view(view_id).state))
    torn = [(path, found.why) for path in files if isinstance(found := read_json(path), Unreadable)]
    if torn:
        more = f" and {len(torn) - 1} more" if len(torn) > 1 else ""
        fix = "Its row says so; mend the file, or delete the row."
        yield warning("records", f"{torn[0][0]} {torn[0][1]}{more}", fix)


def _space(folder: str) -> Check:
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return broken("disk", f"{folder}: {error.strerror}", _ELSEWHERE)
    free = disk.f_bavail * disk.f_frsize
    found = f"{_size(free)} free at {folder}"
    if free < _TOO_LITTLE or (disk.f_files and not disk.f_favail):
        return broken("disk", f"{found}, too little to start a task", "Free some space, inodes too.")
    return warning("disk", found, "Free some space soon.") if free < _LITTLE else ok("disk", found)


def _size(number: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number >> 10} KB"


def file_system_of(path: str, mounts: list[tuple[str, str]]) -> str | None:
    """The type of the file system that a path is on, from (mount point, type) pairs."""
    real = os.path.realpath(path)
    fitting = [(point, kind) for point, kind in mounts if os.path.commonpath([real, point]) == point]
    return max(fitting, key=lambda mount: len(mount[0]))[1] if fitting else None


def is_remote(kind: str) -> bool:
    """Whether locks and watching on such a file system reach over a network."""
    return kind.lower().startswith(_REMOTE)


def _file_system(folder: str) -> Check:
    import psutil

    try:
        mounts = [(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]
    except (OSError, psutil.Error):
        mounts = []
    kind = file_system_of(folder, mounts)
    if kind is None:
        return ok("file system", "its type could not be told")
    if is_remote(kind):
        found = f"{folder} is on {kind}, a network file system: locks and watching are not reliable there"
        return warning("file system", found, _ELSEWHERE)
    return ok("file system", f"{kind}, local")


def _watching(paths: StorePaths) -> Check:
    """Each row on the board is a watch, each live one two; when they run out the board polls."""
    try:
        with open(_INOTIFY, encoding="ascii") as file:
            limit = int(file.read())
    except (OSError, ValueError):
        return ok("watching", "no limit of the system is known")
    needed = 2 * len(view_ids(paths)) + 2
    found = f"{limit} watches allowed to all your programs, {needed} needed at most"
    if needed > limit // 2:
        return warning("watching", found, f"sudo sysctl fs.inotify.max_user_watches={max(524_288, 4 * needed)}")
    return ok("watching", found)
