"""The one door to git: a clean environment, a time limit, and one sentence when it fails.

Nothing of the caller's git environment is inherited but his settings and his name, for a GIT_DIR left by a hook would
send every command to another repository. No prompt, no pager, no editor can open; hooks run only where asked for.
"""

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from agent_board.errors import BoardError
from agent_board.text import clean_line, cut

READ_S = 60.0
"""How long a reading call may take, in seconds: `status` in a huge, cold checkout needs many."""
_KEPT = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
_SET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",
}
# A user's setting must not change what is read here, start a daemon inside a worktree, or reach into submodules.
_SETTINGS = (
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "color.ui=false",
    "log.showSignature=false",
    "core.quotePath=false",
)
_LFS = ("filter.lfs.smudge=", "filter.lfs.clean=", "filter.lfs.process=", "filter.lfs.required=false")
NO_LFS = tuple(word for setting in _LFS for word in ("-c", setting))
"""Take files kept by Git LFS for what they are in git: pointers."""
_PROGRESS = re.compile(r"\d%")
_HALF_MADE = re.compile(r"failed to read .*/worktrees/[^/]+/commondir")
"""What git says when another git is just writing that file of a new worktree."""
_TRIES, _TRY_AGAIN_S = 10, 0.03
_NOISE = ("hint:", "Not committing merge")
_TICK_S = 0.1
_DRAIN_S = 0.3
_GRACE_S = 2.0


class GitError(BoardError):
    """Git refused; `said` is its own last word without prefix, `code` its exit code."""

    def __init__(self, sentence: str, said: str = "", code: int = 1) -> None:
        super().__init__(sentence)
        self.said = said
        self.code = code


class CancelledError(BoardError):
    """The user called it off."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a call ended."""

    code: int
    out: bytes
    err: str
    cut: bool = False
    """More than `limit` bytes came; the rest was not read."""

    @property
    def text(self) -> str:
        """What it printed, paths undamaged, without the last newline."""
        return os.fsdecode(self.out).removesuffix("\n")

    @property
    def lines(self) -> list[str]:
        """What it printed, by lines."""
        return self.text.split("\n") if self.out.strip() else []

    @property
    def fields(self) -> list[str]:
        """What it printed with -z."""
        return [os.fsdecode(part) for part in self.out.split(b"\0") if part]


def git(
    cwd: str,
    *arguments: str,
    ok: Sequence[int] = (0,),
    reads: bool = True,
    hooks: bool = False,
    given: bytes | None = None,
    environ: Mapping[str, str] | None = None,
    timeout: float = READ_S,
    limit: int | None = None,
    keep: Sequence[int] = (),
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Ran:
    """Run git in `cwd`. Raises GitError for an exit code not in `ok` and after `timeout` seconds, CancelledError.

    `reads`: takes no lock that could disturb the user's own git. `keep`: descriptors that git holds, too, so that a
    lock lasts as long as it works. `progress` gets git's own progress lines.
    """
    settings = [*_SETTINGS, *([] if hooks else ["core.hooksPath=/dev/null"])]
    if reads and not _is_on_path("git-lfs"):  # else a look at one changed file ends in “the remote end hung up”
        settings += _LFS
    line = ["git", *(word for setting in settings for word in ("-c", setting)), *arguments]
    env = _environment(reads) | dict(environ or {})
    verb = next((word for word in arguments if not word.startswith("-") and "=" not in word), "git")
    for left in range(_TRIES, -1, -1):
        ran = run(
            line, cwd, env, f"git {verb}", given, timeout=timeout, limit=limit, keep=keep, stop=cancelled, told=progress
        )
        if not left or ran.code == 0 or not _HALF_MADE.search(ran.err):
            break
        time.sleep(_TRY_AGAIN_S)
    if ran.code not in ok and not ran.cut:
        said = last_word(ran.err) if ran.code > 0 else f"ended by signal {-ran.code}"
        raise GitError(f"git {verb} failed in {cwd}: {said or f'exit code {ran.code}'}.", said, ran.code)
    return ran


def run(
    line: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    what: str,
    given: bytes | None = None,
    *,
    timeout: float,
    limit: int | None = None,
    keep: Sequence[int] = (),
    stop: Callable[[], bool] | None = None,
    told: Callable[[str], None] | None = None,
) -> Ran:
    """Run a program in a session of its own, so that it and its children can be ended together.

    Raises GitError when it can't be started or takes longer than `timeout` seconds, CancelledError when `stop` says so.
    """
    with _source(given) as source:
        try:
            process = subprocess.Popen(
                line,
                cwd=cwd,
                env=env,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=tuple(keep),
            )
        except FileNotFoundError:
            if not os.path.isdir(cwd):
                raise GitError(f"The directory {cwd} does not exist.") from None
            raise GitError(f"{line[0]} is not on PATH; install it.") from None
        except OSError as error:
            raise GitError(f"{what} can't be started in {cwd}: {error.strerror}.") from None
    deadline = time.monotonic() + timeout
    watch = _Watch(process, (what, cwd), deadline=deadline, limit=limit, stop=stop, told=told)
    try:
        return watch.to_the_end()
    finally:
        _end(process)


@contextmanager
def _source(given: bytes | None) -> Iterator[IO[bytes]]:
    """What a process reads: a file, which can't fill up as a pipe can."""
    if given is None:
        with open(os.devnull, "rb") as nothing:
            yield nothing
        return
    import tempfile  # 6 ms that the runner need not pay

    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        yield source


def _is_on_path(program: str) -> bool:
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in os.get_exec_path())


def _environment(reads: bool) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    kept.pop("LANGUAGE", None)
    return kept | _SET | ({"GIT_OPTIONAL_LOCKS": "0"} if reads else {})


class _Watch:
    """Reads both outputs of a process until it has ended, its time is over, or nobody wants it any more."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        where: tuple[str, str],
        *,
        deadline: float,
        limit: int | None,
        stop: Callable[[], bool] | None,
        told: Callable[[str], None] | None,
    ) -> None:
        self._process, self._deadline = process, deadline
        self._what, self._cwd = where
        self._limit, self._stop, self._told = limit, stop, told
        self._out, self._err, self._shown = bytearray(), bytearray(), 0

    def to_the_end(self) -> Ran:
        with selectors.DefaultSelector() as selector:
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                selector.register(stream, selectors.EVENT_READ)
            cut_off = self._read(selector)
        code = self._process.poll() if cut_off else self._process.wait(max(0.1, self._deadline - time.monotonic()))
        return Ran(code or 0, bytes(self._out), self._err.decode("utf-8", "replace"), cut_off)

    def _read(self, selector: selectors.BaseSelector) -> bool:
        ended_at: float | None = None
        while selector.get_map():
            self._check()
            ready = selector.select(_TICK_S)
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is self._process.stdout:
                    self._out += data
                    if self._limit is not None and len(self._out) > self._limit:
                        del self._out[self._limit :]
                        return True
                else:
                    self._err += data
                    self._tell()
            if self._process.poll() is not None and not ready:
                # Something that a hook left running holds the pipes; git itself has said all.
                ended_at = ended_at or time.monotonic()
                if time.monotonic() - ended_at > _DRAIN_S:
                    break
        return False

    def _check(self) -> None:
        if self._stop is not None and self._stop():
            raise CancelledError(f"{self._what} was called off.")
        if time.monotonic() > self._deadline:
            raise GitError(f"{self._what} in {self._cwd} took too long and was ended; try it there by hand.")

    def _tell(self) -> None:
        if self._told is None:
            return
        whole = self._err.replace(b"\r", b"\n").rfind(b"\n")
        if whole > self._shown:
            piece = bytes(self._err[self._shown : whole]).replace(b"\r", b"\n").decode("utf-8", "replace")
            self._shown = whole
            lines = [said for said in map(clean_line, piece.split("\n")) if _PROGRESS.search(said)]
            if lines:
                self._told(cut(lines[-1], 120))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process's whole session if it still runs, and reap it."""
    if process.poll() is None:
        for number, patience in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
                break
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def last_word(err: str) -> str:
    """The line of git's complaint that says what is wrong, without its prefix and full stop.

    Behind one that ends with a colon stand the files that it is about, indented.
    """
    files = [clean_line(line) for line in err.replace("\r", "\n").split("\n") if line.startswith("\t")]
    lines = [clean_line(line) for line in err.replace("\r", "\n").split("\n") if line.strip()]
    lines = [line for line in lines if not line.startswith(_NOISE)]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
    said = (telling or lines or [""])[0 if telling else -1]
    for prefix in ("fatal: ", "error: "):
        said = said.removeprefix(prefix)
    if said.endswith(":") and files:
        said = f"{said} {', '.join(files)}"
    return cut(said, 300).rstrip(".")
