"""Sessions that run outside the board as rows of the list: never taken for tasks of its own."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from agent_board.agents.running import Doing, RunningSession
from agent_board.board.model.row import Row
from agent_board.runs.elsewhere import Found
from agent_board.store.records import SemanticState
from agent_board.text import clean_line

_LONGEST = 400


class Around(NamedTuple):
    """One look around, with what else it takes to draw it."""

    found: Found
    projects: Mapping[str, str]
    """By directory, the project that it belongs to."""
    titles: Mapping[str, str]
    """By agent, how people call it."""


class Outside(NamedTuple):
    """A session outside the board."""

    session: RunningSession
    agent_title: str
    ended_at: int | None = None
    """When it was first found gone, epoch milliseconds."""

    @property
    def files(self) -> tuple[str, ...]:
        """What can be adopted: its session, or those that it may have had."""
        file = self.session.session_file
        return (file,) if file else self.session.may_have

    def why_not_adopt(self, name: str) -> str | None:
        """Why it can't be adopted now."""
        if self.ended_at is None:
            return f"{name} runs outside the board (pid {self.session.pid}); adopt it when it has ended."
        return None

    def why_not(self, name: str) -> str:
        """Why no other act can be taken on it."""
        return self.why_not_adopt(name) or f"{name} is not on the board; adopt it first (enter)."

    @property
    def summary(self) -> str:
        """Whose it is and what it is at."""
        session = self.session
        if self.ended_at is not None:
            return f"{self.agent_title}: ended, adoptable"
        said = f"{self.agent_title}: {session.doing}"
        if session.detail:
            said += f" ({session.detail})"
        if not session.session_file and session.doing is Doing.UNKNOWN:
            said += ", which session is not known"
        return said


class Outsiders:
    """Those that were seen while this board is open: what has ended stays, to be adopted by a key."""

    def __init__(self) -> None:
        self._seen: dict[str, Outside] = {}
        self._projects: dict[str, str] = {}

    def look(self, around: Around, now_ms: int) -> None:
        """Take over what was found. Of an agent that did not answer, nothing is known to have ended."""
        found = around.found
        self._projects.update(around.projects)
        running = {f"elsewhere-{one.agent}-{one.pid}": one for one in found.sessions}
        open_files = {one.session_file for one in found.sessions if one.session_file}
        for row_id, outside in list(self._seen.items()):
            gone = row_id not in running and outside.session.agent not in found.problems
            files = set(outside.files)
            if gone and (found.is_ours(outside.session) or not files or files & open_files):
                del self._seen[row_id]
            elif gone and outside.ended_at is None:
                self._seen[row_id] = outside._replace(ended_at=now_ms)
        for row_id, session in running.items():
            title = around.titles.get(session.agent, session.agent)
            self._seen[row_id] = Outside(_continued(session, self._seen.get(row_id)), title)

    def adopted(self, row_id: str) -> None:
        """It is a task now."""
        self._seen.pop(row_id, None)

    def rows(self) -> dict[str, Row]:
        """All of them by id."""
        return {row_id: self._row(row_id, outside) for row_id, outside in self._seen.items()}

    def _row(self, row_id: str, outside: Outside) -> Row:
        session, summary = outside.session, clean_line(outside.summary)
        path = self._projects.get(session.cwd) or session.cwd
        project = clean_line(os.path.basename(path.rstrip("/")) or path)
        name = clean_line(session.title[:_LONGEST]) or project
        return Row(
            id=row_id,
            name=name,
            project=project,
            project_path=path,
            cwd=session.cwd,
            agent=session.agent,
            state=SemanticState.IDLE,
            alive=outside.ended_at is None,
            summary=summary,
            since=session.started_at if outside.ended_at is None else outside.ended_at,
            created_at=session.started_at,
            haystack="\n".join((name, project, summary, session.session_id or "")).casefold(),
            outside=outside,
        )


def _continued(session: RunningSession, before: Outside | None) -> RunningSession:
    """Nothing moves: it keeps when it began, and what was once proven of it while nothing else is."""
    if before is None or before.ended_at is not None:
        return session
    old = before.session
    session = replace(session, started_at=old.started_at)
    if session.session_file or not old.session_file:
        return session
    return replace(session, session_file=old.session_file, session_id=old.session_id, title=old.title, may_have=())
