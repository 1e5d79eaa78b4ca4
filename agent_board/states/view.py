"""A view's state from its run's status, and what of it the user sees. Rows, counts, lists and `explain` use these."""

from dataclasses import dataclass, field

from agent_board.store.records import VERSION, Meta, ProcessState, RunStatus, SemanticState, State


def project(
    previous: State | None,
    status: RunStatus,
    *,
    now_ms: int,
    attached: bool = False,
    held_prompts: int = 0,
    stalled_since: int | None = None,
) -> State:
    """state.json from the current run's (derived) status; `previous` is what it said so far, None at first."""
    same = (
        previous is not None
        and previous.current_run_id == status.run_id
        and previous.semantic_state is status.semantic_state
    )
    return State(
        version=VERSION,
        view_id=status.view_id,
        semantic_state=status.semantic_state,
        process_state=status.process_state,
        updated_at=now_ms,
        state_since=_since(previous, status, now_ms=now_ms, same=same),
        current_run_id=status.run_id,
        summary=status.summary,
        last_activity_at=status.last_activity_at,
        needs_input=status.semantic_state is SemanticState.NEEDS_INPUT,
        has_error=status.semantic_state is SemanticState.FAILED,
        latest_assistant_preview=status.latest_assistant_preview,
        latest_tool=status.latest_tool,
        question=status.question,
        choices=list(status.choices),
        error=status.error,
        reason=status.reason,
        queue_reason=status.queue_reason,
        stalled_since=stalled_since if status.process_state is ProcessState.ALIVE else None,
        attached=attached,
        held_prompts=held_prompts,
        prompt_preview=status.prompt_preview,
        change_seq=(previous.change_seq if previous else 0) + (not same and _is_news(status.semantic_state)),
        usage=status.usage,
    )


def _is_news(state: SemanticState) -> bool:
    """Worth the unread mark: it settled or asks. A stop is the user's own doing."""
    return state.settled and state is not SemanticState.STOPPED


def _since(previous: State | None, status: RunStatus, *, now_ms: int, same: bool) -> int:
    """Work counts from the run's beginning, every other state from when it was entered."""
    if status.semantic_state is SemanticState.WORKING:
        return status.started_at
    return previous.state_since if previous is not None and same else now_ms


@dataclass(frozen=True, slots=True)
class Shown:
    """What a row says, glyph-free: the state with the user's verdict applied, and the marks."""

    state: SemanticState
    alive: bool
    summary: str
    since: int
    """Wall time at which the shown state began."""
    question: str | None = None
    choices: list[str] = field(default_factory=list)
    error: str | None = None
    unread: bool = False
    verdict: bool = False
    """The state is the user's own word."""
    silent_since: int | None = None
    """Stalled: nothing has been heard from it since this wall time."""
    attached: bool = False
    held_prompts: int = 0

    @property
    def stalled(self) -> bool:
        """Whether it has been silent for longer than the settings allow."""
        return self.silent_since is not None


def shown(meta: Meta, state: State | None) -> Shown:
    """What the user sees of a view. Without a state (it has none yet) the view waits for its first run."""
    if state is None:
        return Shown(SemanticState.QUEUED, alive=False, summary="Queued", since=meta.created_at)
    alive = state.process_state is ProcessState.ALIVE
    verdict = meta.verdict
    if verdict is not None and (alive or verdict.run_id != state.current_run_id):
        verdict = None
    effective = verdict.state if verdict is not None else state.semantic_state
    asks, failed = effective is SemanticState.NEEDS_INPUT, effective is SemanticState.FAILED
    return Shown(
        state=effective,
        alive=alive,
        summary=state.summary,
        since=verdict.at if verdict is not None else state.state_since,
        question=state.question if asks else None,
        choices=list(state.choices) if asks else [],
        error=state.error if failed else None,
        unread=state.change_seq > meta.seen_seq,
        verdict=verdict is not None,
        silent_since=None if state.stalled_since is None else state.last_activity_at or state.state_since,
        attached=state.attached,
        held_prompts=state.held_prompts,
    )
