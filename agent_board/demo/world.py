"""The demo's world: a throwaway directory with git repositories, a real store and real tasks of the scripted agent.

Nothing in it is pretended: tasks go through `dispatch`, run under real shims and are stopped by `stop`. Only the age
of settled rows is set back, so that they look like a working day. When the world ends, whatever the reason, all that
was started in it is ended and the directory is removed; what a `kill -9` leaves behind ends by itself, and its
directory goes when the next demo starts.
"""

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from agent_board.demo import leaving
from agent_board.demo.repositories import make_repository
from agent_board.demo.script import SCRIPTS, WORLD
from agent_board.demo.seeds import GO, IDLE, READY, REPOSITORIES, SEEDS, Seed
from agent_board.errors import BoardError
from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.stop import stop
from agent_board.store import locks, plain
from agent_board.store.files import Raw, now_ms, read_json, write_json
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import VERSION, Meta, ProcessState, SemanticState, State
from agent_board.store.views import change_meta, create_view, new_id, open_store

START = "api"
"""The repository that the board is opened in."""
AGENT = "demo"
QUEUED_FOR_S = 20.0
"""How long the queued row stays so; it is seen beside all others well within that."""
_POLL_S = 0.05
_SETTLES_WITHIN_S = 30.0


@contextmanager
def demo_world() -> Iterator[StorePaths]:
    """Make the world, fill it in the background, and remove it at the end.

    While it lasts, this process's environment names it, so whatever is started from here belongs to it. In the main
    thread, TERM and HUP end it by SystemExit. Raises BoardError when there is no git or no place.
    """
    signals = leaving.Signals()
    try:
        with _directory(signals) as root, _environment({WORLD: root, "AGENT_BOARD_HOME": _store(root)}):
            yield from _lasting(root)
    finally:
        signals.restore()


@contextmanager
def _directory(signals: leaving.Signals) -> Iterator[str]:
    """A directory that this process owns; at the end all that was born in it is ended, then it is removed."""
    try:
        root = os.path.realpath(tempfile.mkdtemp(prefix=leaving.PREFIX))
        owner = leaving.own(root)
    except OSError as error:
        raise BoardError(f"The demo can't make its directory: {error.strerror}.") from error
    try:
        try:
            yield root
        finally:
            signals.ignore()
    finally:
        leaving.end_all(root)
        leaving.remove(root)
        os.close(owner)


def start_directory(paths: StorePaths) -> str:
    """Where the demo's board is opened."""
    return os.path.join(_repositories(os.path.dirname(paths.root)), START)


def _lasting(root: str) -> Iterator[StorePaths]:
    paths = open_store(_store(root))
    with open(os.path.join(root, SCRIPTS), "w", encoding="utf-8") as file:
        json.dump({seed.prompt: f"demo: {seed.script}" for seed in SEEDS}, file)
    make_repository(start_directory(paths), REPOSITORIES[START])
    filler = Filler(paths)
    filler.start()
    try:
        yield paths
    finally:
        filler.end()


def _store(root: str) -> str:
    return os.path.join(root, "board")


def _repositories(root: str) -> str:
    return os.path.join(root, "src")


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


class Filler(threading.Thread):
    """Fills the world while the board is already shown: dispatches the tasks and waits for what becomes of them."""

    def __init__(self, paths: StorePaths) -> None:
        super().__init__(name="demo-world", daemon=True)
        self._paths = paths
        self._src = _repositories(os.path.dirname(paths.root))
        self._closing = threading.Event()
        self._begun = time.monotonic()

    def end(self) -> None:
        """Start nothing more; returns when that is sure."""
        self._closing.set()
        self.join()

    def run(self) -> None:
        """All of it. A refusal (a full disk, say) ends the filling, not the demo: the board shows what there is."""
        with suppress(BoardError, OSError):
            leaving.sweep()
            for name, files in REPOSITORIES.items():
                if name != START and not self._closing.is_set():
                    make_repository(os.path.join(self._src, name), files)
            self._adopt(IDLE)
            started = {seed: view_id for seed in SEEDS if (view_id := self._dispatch(seed))}
            for seed, view_id in started.items():
                self._finish(seed, self._paths.view(view_id))
            self._note(READY)
            # After a while the queued task begins, too.
            if not self._closing.wait(max(0.0, self._begun + QUEUED_FOR_S - time.monotonic())):
                self._note(GO)

    def _dispatch(self, seed: Seed) -> str | None:
        if self._closing.is_set():
            return None
        cwd = os.path.join(self._src, seed.project)
        order = Order(prompt=seed.prompt.encode(), cwd=cwd, agent=AGENT, name=seed.name)
        view_id = dispatch(self._paths, order).view_id
        created = now_ms() - seed.age * 1000

        def edit(raw: Raw) -> None:
            raw["pinned"] = seed.pinned
            raw["createdAt"] = min(raw["createdAt"], created)

        change_meta(self._paths, view_id, edit)
        return view_id

    def _finish(self, seed: Seed, view: ViewPaths) -> None:
        """Wait until a task stands as it should, and let it look as old as it should."""
        if seed.ends is SemanticState.STOPPED and self._wait(view, lambda state: state is SemanticState.WORKING):
            stop(self._paths, view.view_id)
        if seed.ends.settled and self._wait(view, lambda state: state.settled):
            self._age(seed, view)

    def _wait(self, view: ViewPaths, fits: Callable[[SemanticState], bool]) -> bool:
        deadline = time.monotonic() + _SETTLES_WITHIN_S
        while not self._closing.wait(_POLL_S) and time.monotonic() < deadline:
            state = plain.read_or_none(State, view.state)
            if state is not None and fits(state.semantic_state):
                return True
        return False

    def _age(self, seed: Seed, view: ViewPaths) -> None:
        """Set a settled row back in time, as the holder of its lock, and mark it as seen if the user has seen it."""
        with locks.held(view.lock, patience=5.0, what="the task"):
            raw = read_json(view.state)
            if not isinstance(raw, dict):
                return
            then = now_ms() - seed.age * 1000
            write_json(view.state, {**raw, "stateSince": then, "lastActivityAt": then, "updatedAt": then})
        if seed.seen:
            change_meta(self._paths, view.view_id, lambda meta: meta.update(seenSeq=raw["changeSeq"]))

    def _adopt(self, seed: Seed) -> None:
        """A view of a session that was begun elsewhere: open-ended, so idle; no run of ours."""
        view_id, then = new_id(), now_ms() - seed.age * 1000
        cwd = os.path.join(self._src, seed.project)
        session = self._paths.session(view_id)
        lines: list[Raw] = [
            {"type": "session", "version": 1, "id": "f0f0f0f0", "cwd": cwd, "at": then},
            {"type": "prompt", "text": seed.prompt, "at": then},
            {"type": "answer", "text": seed.script, "stop": "stop", "at": then},
        ]
        with open(os.open(session, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        meta = Meta(VERSION, view_id, seed.name, cwd, then, then, session_file=session, kind=AGENT, agent=AGENT)
        state = State(
            version=VERSION,
            view_id=view_id,
            semantic_state=SemanticState.IDLE,
            process_state=ProcessState.EXITED,
            updated_at=then,
            state_since=then,
            last_activity_at=then,
            summary=seed.script.partition(".")[0] + ".",
            latest_assistant_preview=seed.script,
            reason="idle",
        )

        def fill(view: ViewPaths, _: set[str]) -> None:
            os.close(os.open(view.lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            plain.write(view.meta, meta, sync=True)
            plain.write(view.state, state, sync=True)

        create_view(self._paths, view_id, fill)

    def _note(self, name: str) -> None:
        """Leave a file in the world's directory, for the agents and for whoever waits."""
        with open(os.path.join(os.path.dirname(self._paths.root), name), "w", encoding="utf-8"):
            pass
