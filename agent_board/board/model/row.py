"""One view as the list draws it: everything cleaned, nothing looked up later."""

import os
from typing import TYPE_CHECKING, NamedTuple

from agent_board.board.model.groups import ELSEWHERE, SPARE_STATES, UNREADABLE, Order, Standing
from agent_board.states.view import shown
from agent_board.store.files import Unreadable
from agent_board.store.load import ViewRecord
from agent_board.store.records import Meta, SemanticState, State, Usage
from agent_board.text import clean_line

if TYPE_CHECKING:
    from agent_board.board.model.outside import Outside

_LONGEST = 400


class Row(NamedTuple):
    """What is drawn of one view. Texts hold no control characters."""

    id: str
    name: str
    project: str
    project_path: str
    cwd: str
    agent: str
    state: SemanticState
    alive: bool
    summary: str
    since: int
    """When the present state began, epoch milliseconds."""
    created_at: int
    pinned: bool = False
    unread: bool = False
    worktree: bool = False
    attached: bool = False
    silent_since: int | None = None
    """Stalled: when it was last heard, epoch milliseconds."""
    held: int = 0
    tokens: int | None = None
    cost: float | None = None
    run_id: str | None = None
    change_seq: int = 0
    unreadable: bool = False
    """The summary says which file can't be understood and why."""
    archived_at: int | None = None
    """Set in the archived list only: there the last one archived comes first, whatever else it is."""
    haystack: str = ""
    """Lower-case text that the filter's words are looked for in."""
    outside: "Outside | None" = None
    """It is no task of the board: a session that the user runs himself."""

    @property
    def standing(self) -> Standing:
        """The group that the row is in when rows are grouped by state."""
        if self.outside is not None:
            return ELSEWHERE
        return UNREADABLE if self.unreadable else self.state

    @property
    def order(self) -> Order:
        """Where the row stands in its group."""
        if self.archived_at is not None:
            return (False, -self.archived_at, self.id)
        return (not self.pinned, self.created_at, self.id)

    @property
    def stalled(self) -> bool:
        """Whether it has been silent for too long."""
        return self.silent_since is not None

    @property
    def spare(self) -> bool:
        """Whether a long group may fold this row away."""
        finished = self.state in SPARE_STATES and self.archived_at is None
        return finished and not (self.unread or self.pinned or self.unreadable or self.outside)

    @property
    def claims_process(self) -> bool:
        """Whether the row says that something runs: what reconcile looks after."""
        return not (self.unreadable or self.outside) and (self.alive or not self.state.settled)

    @property
    def place(self) -> tuple[Standing, str, Order, bool, bool]:
        """All that decides where the row stands and what its group counts; the same place, the same lines."""
        return (self.standing, self.project_path, self.order, self.spare, self.unread)


def row_of(record: ViewRecord) -> Row | None:
    """The row of a view; None for an archived one, which is counted and not listed."""
    meta = record.meta
    if isinstance(meta, Unreadable):
        return _unreadable_row(record)
    return None if meta.archived_at is not None else _row(meta, record)


def archived_row_of(record: ViewRecord) -> Row:
    """The row of a view in the archived list; its age counts from when it was archived."""
    meta = record.meta
    if isinstance(meta, Unreadable):
        return _unreadable_row(record)._replace(archived_at=0)
    when = meta.archived_at or 0
    return _row(meta, record)._replace(archived_at=when, since=when)


def _row(meta: Meta, record: ViewRecord) -> Row:
    state = record.state
    known = state if isinstance(state, State) else None
    seen = shown(meta, known)
    path = meta.repo_root or meta.cwd
    project = clean_line(os.path.basename(path.rstrip("/")) or path)
    name = _short(meta.name) or meta.id
    broken = record.unreadable
    summary = _short(broken or seen.summary)
    return Row(
        id=meta.id,
        name=name,
        project=project,
        project_path=path,
        cwd=meta.cwd,
        agent=clean_line(meta.agent),
        state=seen.state,
        alive=seen.alive,
        summary=summary,
        since=seen.since,
        created_at=meta.created_at,
        pinned=meta.pinned,
        unread=seen.unread,
        worktree=meta.worktree_path is not None,
        attached=seen.attached,
        silent_since=seen.silent_since,
        held=seen.held_prompts,
        tokens=_tokens(known.usage) if known else None,
        cost=known.usage.cost_usd if known else None,
        run_id=known.current_run_id if known else None,
        change_seq=known.change_seq if known else 0,
        unreadable=broken is not None,
        haystack=_haystack(meta, known, name, project, summary),
    )


def _unreadable_row(record: ViewRecord) -> Row:
    return Row(
        id=record.id,
        name=record.id,
        project="",
        project_path="",
        cwd="",
        agent="",
        state=SemanticState.FAILED,
        alive=False,
        summary=_short(record.unreadable or ""),
        since=0,
        created_at=0,
        unreadable=True,
        haystack=record.id,
    )


def _short(text: str) -> str:
    return clean_line(text[:_LONGEST])


def _tokens(usage: Usage) -> int | None:
    parts = [part for part in (usage.input, usage.output, usage.cache_read, usage.cache_write) if part is not None]
    return sum(parts) if parts else None


def _haystack(meta: Meta, state: State | None, name: str, project: str, summary: str) -> str:
    prompt = state.prompt_preview if state else ""
    return "\n".join((name, project, summary, prompt, meta.branch or "", meta.id)).casefold()
