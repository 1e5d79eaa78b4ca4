"""Sessions that run on this machine outside the board: found, never touched."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent_board.agents.registry import agent as agent_named
from agent_board.agents.registry import names
from agent_board.agents.running import RunningSession
from agent_board.errors import BoardError
from agent_board.runs.live import live_processes
from agent_board.runs.processes import marker_of
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta
from agent_board.store.views import view_ids


@dataclass(frozen=True, slots=True)
class Found:
    """One look around."""

    sessions: tuple[RunningSession, ...] = ()
    """The oldest first."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """By agent, why nothing is known of its sessions this time: none of them has ended by that."""
    ours: frozenset[str] = frozenset()
    """Ids and files of the sessions that are on the board, archived ones too."""

    def is_ours(self, session: RunningSession) -> bool:
        """Whether a session is on the board."""
        return session.session_id in self.ours or session.session_file in self.ours


class Elsewhere:
    """Looks for them, again and again at little cost: a view's record is read once for each change of it."""

    def __init__(self, paths: StorePaths) -> None:
        self._paths = paths
        self._known: dict[str, tuple[int, frozenset[str]]] = {}

    def look(self) -> Found:
        """What runs now, one agent's failure beside the others' sessions. Takes a second where Claude Code is here."""
        processes = live_processes()
        sessions: list[RunningSession] = []
        problems = {}
        for name in names():
            try:
                sessions += agent_named(name).running_sessions(processes)
            except (BoardError, OSError, ValueError) as error:
                problems[name] = str(error)
        ours = self._ours()
        found = Found((), problems, ours)
        # Claude's listing knows nothing of marks: what our runs started is known by its environment.
        foreign = [one for one in sessions if not found.is_ours(one) and marker_of(one.pid) is None]
        left = [_without(one, ours) for one in foreign]
        return replace(found, sessions=tuple(sorted(left, key=lambda one: (one.started_at, one.agent, one.pid))))

    def _ours(self) -> frozenset[str]:
        known = {}
        for view_id in view_ids(self._paths):
            path = self._paths.view(view_id).meta
            with suppress(OSError):
                at = os.stat(path).st_mtime_ns
                kept = self._known.get(view_id)
                known[view_id] = kept if kept is not None and kept[0] == at else (at, _marks(path))
        self._known = known
        return frozenset().union(*(marks for _, marks in known.values()))


def _marks(path: str) -> frozenset[str]:
    meta = plain.read_or_none(Meta, path)
    if meta is None:
        return frozenset()
    files = [os.path.realpath(meta.session_file)] if meta.session_file else []
    return frozenset([*files, *([meta.session_id] if meta.session_id else [])])


def _without(session: RunningSession, ours: frozenset[str]) -> RunningSession:
    """The same, without files that are on the board among those it may have."""
    return replace(session, may_have=tuple(path for path in session.may_have if path not in ours))
