"""Making a worktree: step by step, so that a death at any step leaves nothing, or something that says what it is.

1. git registers the worktree without files, detached and locked; the lock's reason says "being created".
2. Our marker; from now on it is known for whom and from what.
3. The files, with git's own progress.
4. The branch, made exclusively, and its recorded base.
5. The post-checkout hook, ignored files, submodules, the user's set-up: what fails here is a warning.
6. The marker says ready, the lock goes.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from agent_board.errors import BoardError
from agent_board.git.admin import (
    Marker,
    Phase,
    admin_names,
    admin_of,
    advance,
    canonical,
    creating_reason,
    drop_admin,
    drop_stillborn,
    is_unfinished,
    locked_reason,
    read_marker,
    registering,
    sweep_stillborn,
    unlock_admin,
    working_on,
    write_marker,
)
from agent_board.git.call import NO_LFS, CancelledError, GitError, git, last_word, run
from agent_board.git.erase import erase
from agent_board.git.ignored import remember_ignored
from agent_board.git.include import copy_included
from agent_board.git.listing import checked_out_at, drop_empty_root
from agent_board.git.repository import Place, home_of
from agent_board.git.submodules import fill_submodules
from agent_board.store.files import disk_errors, now_ms, write_bytes
from agent_board.text import clean_line

CREATE_S = 3600.0
_ZERO = "0" * 40
_CONFIG_TRIES = 20


@dataclass(frozen=True, slots=True)
class _Job:
    """One creation: what is asked for and how it is watched."""

    place: Place
    home: str
    path: str
    branch: str
    base: str
    new_branch: bool
    view: str | None
    cancelled: Callable[[], bool]
    progress: Callable[[str], None]
    lock: int

    def check(self) -> None:
        if self.cancelled():
            raise CancelledError(f"Making the worktree {self.path} was called off; nothing of it is left.")


def create(
    place: Place,
    *,
    path: str,
    branch: str,
    base: str,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda _: None,
    setup: list[str] | None = None,
    view: str | None = None,
    new_branch: bool = True,
    base_name: str | None = None,
) -> list[str]:
    """Make the worktree `path` with the branch `branch` at the commit `base` (a full id); returns warnings.

    `setup` is the user's own command, run in the new worktree. Without `new_branch` the branch is there already and
    `base` is only recorded. `base_name` is what the user called the base. `view` is the view that it is for.
    Raises BoardError with one sentence and CancelledError; nothing is left then.
    """
    home = home_of(place)
    with disk_errors(f"make the worktree {path}"):
        _prepare_root(place, os.path.abspath(path))
        path = canonical(path)
        with working_on(home, path) as lock:
            job = _Job(place, home, path, branch, base, new_branch, view, cancelled, progress, lock)
            try:
                _clear_unfinished(job)
                _refuse_taken(job)
            except BoardError:
                drop_empty_root(path)
                raise
            try:
                return _make(job, setup, base_name)
            except BaseException:
                _undo(job)
                raise


def _make(job: _Job, setup: list[str] | None, base_name: str | None) -> list[str]:
    job.check()
    job.progress("registering the worktree")
    admin = _register(job)
    marker = Marker(job.path, job.base, Phase.CREATING, job.branch, job.new_branch, job.view, now_ms())
    write_marker(admin, marker)
    job.check()
    job.progress("checking the files out")
    warnings = _check_out(job)
    job.check()
    _put_on_branch(job)
    known_as = base_name or (job.place.branch if job.new_branch and job.place.head == job.base else None)
    record_base(job.home, job.branch, job.base, known_as)
    warnings += _run_hook(job)
    job.check()
    copied: list[str] = []
    source = job.place.top or job.place.main
    if source is not None:
        copied, more = copy_included(source, job.path, job.cancelled)
        warnings += more
    warnings += fill_submodules(job.path, job.home, job.lock, job.cancelled, job.progress)
    warnings += _set_up(job, setup)
    job.check()
    remember_ignored(job.path, admin, copied)
    advance(admin, marker, Phase.READY)
    unlock_admin(admin)
    return warnings


def _prepare_root(place: Place, path: str) -> None:
    """The directory for worktrees: no link, made if it isn't there, and out of the user's `git status`."""
    root = os.path.dirname(path)
    if os.path.islink(root):
        raise BoardError(f"{root} is a symbolic link, and a worktree must not end up elsewhere; remove the link first.")
    os.makedirs(root, exist_ok=True)
    if not stat.S_ISDIR(os.lstat(root).st_mode):
        raise BoardError(f"{root} is not a directory.")
    if place.main is not None and os.path.commonpath([place.main, root]) == place.main and root != place.main:
        keep_out_of_status(place, root)


def keep_out_of_status(place: Place, root: str) -> None:
    """Have git ignore the worktrees' directory in the main checkout, by info/exclude, once."""
    if place.main is None or place.common_dir is None:
        return
    relative = os.path.relpath(root, place.main)
    if git(place.main, "check-ignore", "-q", "--no-index", f"{relative}/", ok=(0, 1, 128)).code == 0:
        return
    exclude = os.path.realpath(f"{place.common_dir}/info/exclude")
    os.makedirs(os.path.dirname(exclude), exist_ok=True)
    mode, before = 0o644, b""
    with suppress(FileNotFoundError), open(exclude, "rb") as file:
        mode, before = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read()
    line = os.fsencode(f"/{_escaped(relative)}/\n")
    if line in before.splitlines(keepends=True):
        return
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    write_bytes(exclude, before + gap + line)
    os.chmod(exclude, mode)


def _escaped(path: str) -> str:
    return "".join(f"\\{char}" if char in "*?[\\" else char for char in path)


def _clear_unfinished(job: _Job) -> None:
    """Begin anew where an earlier making for the same view was interrupted; its maker is gone, for we hold the lock."""
    admin = admin_of(job.home, job.path)
    if admin is None:
        return
    marker = read_marker(admin)
    same = marker.view == job.view if marker is not None else locked_reason(admin) == creating_reason(job.view)
    if same and is_unfinished(admin, marker):
        branch = job.branch if job.new_branch else None
        discard_unfinished(job.home, job.path, branch, marker.base if marker is not None else job.base)
        os.makedirs(os.path.dirname(job.path), exist_ok=True)


def _refuse_taken(job: _Job) -> None:
    if admin_of(job.home, job.path) is not None:
        raise BoardError(f"git knows a worktree at {job.path} already; remove it, or run: agent-board worktree prune")
    if os.path.lexists(job.path) and (os.path.islink(job.path) or not os.path.isdir(job.path) or os.listdir(job.path)):
        raise BoardError(f"{job.path} is there already and is not a worktree of this repository; choose another name.")
    exists = git(job.home, "rev-parse", "-q", "--verify", f"refs/heads/{job.branch}", ok=(0, 1)).code == 0
    if exists and job.new_branch:
        raise BoardError(f"The branch {job.branch} exists already, and it is left as it is; choose another name.")
    if not exists and not job.new_branch:
        raise BoardError(f"The branch {job.branch} does not exist.")
    where = None if job.new_branch else checked_out_at(job.home, job.branch)
    if where is not None:
        raise BoardError(f"The branch {job.branch} is checked out in {where}; switch that to another one first.")


def _register(job: _Job) -> str:
    """A worktree without files; returns git's own directory of it."""
    where = job.place.top or job.home
    start = job.base if job.new_branch else f"refs/heads/{job.branch}"
    flags = ("--detach", "--no-checkout", "--lock", "--reason", creating_reason(job.view))
    with registering(job.home) as turn:
        before = admin_names(job.home)
        try:
            git(where, "worktree", "add", *flags, "--", job.path, start, reads=False, keep=(job.lock, turn))
        except GitError:
            drop_stillborn(job.home, admin_names(job.home) - before)
            raise
    admin = admin_of(job.home, job.path)
    if admin is None:
        raise BoardError(f"git made no worktree at {job.path}, though it said so.")
    return admin


def _check_out(job: _Job) -> list[str]:
    arguments = ("checkout", "--force", "--detach", "--progress")
    try:
        _watched(job, *arguments)
        return []
    except GitError as error:
        if not _has_lfs(job):
            raise
        said = error.said
    _watched(job, *NO_LFS, *arguments)
    return [f"Files kept by Git LFS are only pointers in {job.path} ({said}); run there: git lfs pull"]


def _has_lfs(job: _Job) -> bool:
    """Whether Git LFS is set up. What git says when its program is missing tells nothing of it."""
    return git(job.path, "config", "--get-regexp", r"^filter\.lfs\.", ok=(0, 1)).code == 0


def _watched(job: _Job, *arguments: str) -> None:
    git(
        job.path,
        *arguments,
        reads=False,
        keep=(job.lock,),
        timeout=CREATE_S,
        cancelled=job.cancelled,
        progress=job.progress,
    )


def _put_on_branch(job: _Job) -> None:
    reference = f"refs/heads/{job.branch}"
    if job.new_branch:
        # With the zero id git makes it only if there is none: two at once can't share a branch.
        flags = ("--create-reflog", "-m", _made_for(job.path))
        git(job.home, "update-ref", *flags, reference, job.base, _ZERO, reads=False)
    git(job.path, "symbolic-ref", "-m", "agent-board: on its branch", "HEAD", reference, reads=False)


def record_base(home: str, branch: str, base: str, name: str | None) -> None:
    """Note in the repository's config what a branch was made from; another's lock on the file is waited for."""
    wanted = [("base", base)] + ([("baseRef", name)] if name else [])
    for key, value in wanted:
        set_config(home, f"branch.{branch}.{key}", value)


def set_config(home: str, key: str, value: str) -> None:
    """Set one value in the repository's config."""
    import time

    for left in range(_CONFIG_TRIES, -1, -1):
        try:
            git(home, "config", key, value, reads=False)
            return
        except GitError as error:
            if "lock" not in error.said or not left:
                raise
            time.sleep(0.05)


def recorded_base(home: str, branch: str) -> tuple[str | None, str | None]:
    """What a branch was made from: the commit's id and what the user called it."""
    listed = git(home, "config", "-z", "--get-regexp", r"^branch\..*\.base(ref)?$", ok=(0, 1)).fields
    values = dict(entry.split("\n", 1) for entry in listed if "\n" in entry)
    return values.get(f"branch.{branch}.base"), values.get(f"branch.{branch}.baseref")


def _run_hook(job: _Job) -> list[str]:
    """Git's post-checkout hook, as `git worktree add` would run it."""
    arguments = ("hook", "run", "--ignore-missing", "post-checkout", "--", _ZERO, job.base, "1")
    try:
        git(job.path, *arguments, reads=False, hooks=True, keep=(job.lock,), timeout=CREATE_S, cancelled=job.cancelled)
    except GitError as error:
        return [f"The repository's post-checkout hook failed in {job.path} ({error.said or f'exit {error.code}'})."]
    return []


def _set_up(job: _Job, setup: list[str] | None) -> list[str]:
    if not setup:
        return []
    job.progress(f"running {setup[0]}")
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    env["AGENT_BOARD_WORKTREE"] = job.path
    env["AGENT_BOARD_MAIN"] = job.place.main or job.home
    try:
        ran = run(setup, job.path, env, "The set-up command", timeout=CREATE_S, keep=(job.lock,), stop=job.cancelled)
    except GitError as error:
        return [str(error)]
    if ran.code == 0:
        return []
    return [f"The set-up command {setup[0]} ended with {ran.code} in {job.path}: {last_word(ran.err) or 'no message'}."]


def _undo(job: _Job) -> None:
    """Take everything back that this creation made; what can't be taken back stays listed as interrupted."""
    with suppress(BoardError, OSError):
        discard_unfinished(job.home, job.path, job.branch if job.new_branch else None, job.base)
    with suppress(OSError):
        os.rmdir(job.path)  # empty: git makes it before it makes the worktree known
        drop_empty_root(job.path)


def discard_unfinished(home: str, path: str, new_branch: str | None, base: str | None) -> None:
    """Remove a worktree whose making was not finished, and its branch if that is still where it was made."""
    admin = admin_of(home, path)
    if admin is None:
        sweep_stillborn(home)
    else:
        on_branch = git(home, "--git-dir", admin, "symbolic-ref", "-q", "HEAD", ok=(0, 1, 128)).text
        if os.path.isdir(path) and not os.path.islink(path):
            erase(path)
        if new_branch and base and on_branch in ("", f"refs/heads/{new_branch}"):
            _drop_branch(home, path, new_branch, base)
        drop_admin(home, admin)
    drop_empty_root(path)


def _made_for(path: str) -> str:
    """What the first entry of our branch's log says: the proof that this creation made it, and no other."""
    return f"branch: Created by agent-board for {clean_line(path)}"


def was_made_for(home: str, path: str, branch: str) -> bool:
    """Whether this branch was made with the worktree at `path`, as far as its log reaches back."""
    said = git(home, "reflog", "show", "--format=%gs", f"refs/heads/{branch}", "--", ok=(0, 128)).lines
    return bool(said) and said[-1] == _made_for(path)


def _drop_branch(home: str, path: str, branch: str, base: str) -> None:
    if not was_made_for(home, path, branch):
        return
    with suppress(GitError):
        git(home, "update-ref", "-d", f"refs/heads/{branch}", base, reads=False)
        git(home, "config", "--remove-section", f"branch.{branch}", reads=False, ok=(0, 1, 128))
