"""Adopt: a session that was started elsewhere becomes an idle row, once; a reply continues it."""

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass

from agent_board.agents.base import Agent, ForeignSession
from agent_board.agents.registry import ORDER
from agent_board.agents.registry import agent as agent_named
from agent_board.agents.running import NoListingError, RunningSession
from agent_board.errors import BoardError
from agent_board.git.repository import checkout_path, identify
from agent_board.runs.live import live_processes
from agent_board.runs.naming import name_from
from agent_board.store import plain
from agent_board.store.files import now_ms
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import VERSION, Meta, ProcessState, SemanticState, State
from agent_board.store.views import create_view, new_id, view_ids

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


@dataclass(frozen=True, slots=True)
class Adopted:
    """The row of a session; `new` is False when it had one already."""

    view_id: str
    name: str
    new: bool


class _AdoptedMeanwhile(Exception):
    """Somebody else was faster."""

    def __init__(self, adopted: Adopted) -> None:
        self.adopted = adopted


def adopt(paths: StorePaths, session: str) -> Adopted:
    """Put a session, by its file or its id, on the board.

    Raises BoardError when there is none, or a process has it open: two writers would spoil it (invariant 1).
    """
    path = _path_of(session)
    known = _known(paths, path)
    if known is not None:
        return known
    agent, found = _recognised(path)
    _refuse_while_open(path)
    _refuse_while_it_runs(agent, path)
    checkout, repo_root = _home_of(found.cwd)
    view_id = new_id()
    made: list[str] = []

    def fill(view: ViewPaths, taken: set[str]) -> None:
        meanwhile = _known(paths, path)  # under the store lock: two at once make one row
        if meanwhile is not None:
            raise _AdoptedMeanwhile(meanwhile)
        made.append(name_from(found.title or os.path.basename(path).rpartition(".")[0], taken))
        now = now_ms()
        meta = Meta(
            version=VERSION,
            id=view_id,
            name=made[0],
            cwd=found.cwd,
            created_at=now,
            updated_at=now,
            session_file=path,
            kind=agent.kind,
            agent=agent.name,
            session_id=found.session_id,
            checkout=checkout,
            repo_root=repo_root,
        )
        plain.write(view.meta, meta, sync=True)
        idle = State(VERSION, view_id, SemanticState.IDLE, ProcessState.EXITED, now, now)
        idle.summary, idle.reason, idle.last_activity_at = "Adopted session", "adopted", now
        plain.write(view.state, idle, sync=True)

    try:
        create_view(paths, view_id, fill)
    except _AdoptedMeanwhile as other:
        return other.adopted
    return Adopted(view_id, made[0], new=True)


def _home_of(cwd: str) -> tuple[str, str | None]:
    """The work tree whose lease a reply needs, as any other writer's does, and the main checkout of its repository."""
    with suppress(BoardError):
        place = identify(cwd)
        return checkout_path(place), place.main or place.top
    return os.path.realpath(cwd), None


def _known(paths: StorePaths, path: str) -> Adopted | None:
    for view_id in view_ids(paths):
        meta = plain.read_or_none(Meta, paths.view(view_id).meta)
        if meta is not None and meta.session_file and os.path.realpath(meta.session_file) == path:
            return Adopted(view_id, meta.name, new=False)
    return None


def _path_of(session: str) -> str:
    path = os.path.realpath(os.path.expanduser(session))
    if os.path.isfile(path):
        return path
    if not _ID.fullmatch(session):
        raise BoardError(f"There is no session file {path}.")
    named = (agent_named(name).session_named(session) for name in ORDER)
    known = next((os.path.realpath(path) for path in named if path), None)
    if known is None:
        raise BoardError(f"There is no session file {path}, and no agent here keeps a session of that id.")
    return known


def _refuse_while_open(path: str) -> None:
    holder = _holder(path)
    if holder is not None:
        raise BoardError(f"Process {holder} has {path} open; end that session first, then adopt it.")


def _refuse_while_it_runs(agent: Agent, path: str, forgiven: type[BoardError] = NoListingError) -> None:
    """Most agents open their file for each write only: what they say themselves, or their processes do, counts too.

    `forgiven`: an agent that can't tell must not make adopting impossible.
    """
    running_now: list[RunningSession] = []
    with suppress(forgiven):
        running_now = agent.running_sessions(live_processes())
    for running in running_now:
        if running.has(path):
            has = "has" if path == running.session_file else "may have"
            raise BoardError(f"{agent.title} (pid {running.pid}) {has} {path} open; end it first, then adopt it.")


def _recognised(path: str) -> tuple[Agent, ForeignSession]:
    for name in ORDER:
        session = agent_named(name).foreign_session(path)
        if session is not None:
            return agent_named(name), session
    for name in ORDER:  # so new that it doesn't tell yet whose it is?
        _refuse_while_it_runs(agent_named(name), path, forgiven=BoardError)
    raise BoardError(f"{path} is not a session file of an agent that is known here.")


def _holder(path: str) -> int | None:
    """A process, not this one, that has the file open; None when there is none that can be seen."""
    if sys.platform == "darwin":  # pragma: no cover
        from agent_board.runs import darwin

        return darwin.holder(path)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as descriptors:
            for descriptor in descriptors:
                with suppress(OSError):
                    if os.readlink(descriptor.path) == path:
                        return int(pid)
    return None
