"""Reads what peek shows, in a thread: the ends of logs only, so that their size costs nothing."""

from contextlib import suppress
from dataclasses import replace

from agent_board.agents.base import Job
from agent_board.agents.registry import agent as agent_named
from agent_board.board.checkout import branch_of
from agent_board.board.model.exchange import (
    Block,
    Kind,
    Logged,
    blocks_of,
    changed_files,
    decoded,
    ended,
    without_question,
)
from agent_board.board.model.markdown import tail_of
from agent_board.board.model.outside import Outside
from agent_board.board.model.peeked import LONGEST_ANSWER, Peeked, duration, fate_of, usage_words
from agent_board.board.widgets.task_line import short_path
from agent_board.errors import BoardError
from agent_board.runs.claim import run_ids
from agent_board.runs.followups import listed
from agent_board.runs.reply import load_draft
from agent_board.runs.status import job_of, session_of, transcript_size
from agent_board.states.explain import meaning
from agent_board.states.view import Shown, shown
from agent_board.store.files import Missing, Unreadable, now_ms
from agent_board.store.load import load_request, load_status, load_view
from agent_board.store.logs import tail
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Meta, ProcessState, RunRequest, RunStatus, SemanticState, State
from agent_board.text import clean_block, clean_line, printed

TAIL_BYTES = 64 << 10
OUTPUT_BYTES = 4 << 10
_ENOUGH_BLOCKS = 10
_MOST_RUNS = 4
_PROMPT_BYTES = 4 << 10
_MOST_CHARS = 8 << 10
_MOST_BLOCKS = 120
"""More of a conversation than these is not laid out: it would take longer than a key may, and nobody reads it here."""


def read_peek(paths: StorePaths, view_id: str) -> Peeked | None:
    """Everything that peek shows of a view; None when there is no such view."""
    record = load_view(paths, view_id)
    if isinstance(record, Missing):
        return None
    meta, state, view = record.meta, record.state, paths.view(view_id)
    if isinstance(meta, Unreadable) or isinstance(state, Unreadable):
        return Peeked(
            view_id, problem=f"This task's files can't be read: {record.unreadable}.", draft=load_draft(paths, view_id)
        )
    known = state if isinstance(state, State) else None
    seen = shown(meta, known)
    runs = run_ids(view)
    current = known.current_run_id if known is not None and known.current_run_id else (runs[-1] if runs else None)
    status = _status(view, current)
    blocks, earlier = _recent(view, meta, runs, status)
    shown_blocks, left_out = _latest(blocks)
    waiting = tuple(listed(view))
    request, permission = _asked(meta, seen, status)
    return Peeked(
        view_id,
        blocks=tuple(_ending(shown_blocks, seen)),
        earlier=earlier or left_out,
        why=_why(seen, known, meta),
        facts=_facts(meta, known, status, view),
        question=clean_block(seen.question or "").strip(),
        choices=tuple(clean_line(choice) for choice in seen.choices),
        request=request,
        permission=permission,
        changed=tuple(changed_files(blocks, meta.worktree_path or meta.cwd)),
        waiting=waiting,
        draft=load_draft(paths, view_id),
        fate=fate_of(
            lives=seen.alive or not seen.state.settled,
            asks=seen.state is SemanticState.NEEDS_INPUT,
            orphan=known is not None and known.reason == "orphan",
            held=len(waiting),
        ),
    )


def read_outside(view_id: str, outside: Outside) -> Peeked:
    """What is known of a session outside the board: its process, its file, and the last exchange in it."""
    session = outside.session
    job = Job(cwd=session.cwd, session_file=session.session_file, session_id=session.session_id)
    blocks: list[Block] = []
    if session.session_file:
        with suppress(OSError, BoardError):
            size = transcript_size(session.agent, job)
            blocks = _transcript(session.agent, job, size, size)
    shown_blocks, left_out = _latest(blocks)
    files = [f"session {short_path(session.session_file)}"] if session.session_file else []
    files += [f"may have {short_path(path)}" for path in session.may_have]
    pid = f"pid {session.pid}" if outside.ended_at is None else f"was pid {session.pid}"
    facts = ((outside.agent_title, pid, f"in {short_path(session.cwd)}"), *((file,) for file in files))
    why = "Runs outside the board; adopt it when it has ended."
    if outside.ended_at is not None:
        why = "Ended outside the board; enter adopts it, a reply continues it then."
    cleaned = tuple(tuple(map(clean_line, group)) for group in facts)
    return Peeked(view_id, blocks=tuple(shown_blocks), earlier=left_out, why=why, facts=cleaned)


def _asked(meta: Meta, seen: Shown, status: RunStatus | None) -> tuple[str, bool]:
    """The id of the painted question when its agent lives and takes an answer, and whether it is a permission."""
    if status is None or not seen.alive or status.evidence.orphan or not agent_named(meta.agent).channel:
        return "", False
    for request_id, request in status.evidence.open_requests.items():
        if clean_block(request.text).strip() == clean_block(seen.question or "").strip():
            return request_id, request.kind == "permission"
    return "", False


def last_prompt(paths: StorePaths, view_id: str) -> str:
    """The last prompt in full, for trying again. Raises BoardError when there was none."""
    view = paths.view(view_id)
    for run_id in reversed(run_ids(view)):
        request = load_request(view, run_id)
        if isinstance(request, RunRequest) and request.kind != "attach":
            with suppress(OSError), open(view.run(run_id).prompt, encoding="utf-8", newline="") as file:
                return file.read()
    raise BoardError("This task has had no prompt yet; write a reply instead.")


def _status(view: ViewPaths, run_id: str | None) -> RunStatus | None:
    status = load_status(view, run_id) if run_id else None
    return status if isinstance(status, RunStatus) else None


# -- the last exchange


def _recent(view: ViewPaths, meta: Meta, runs: list[str], status: RunStatus | None) -> tuple[list[Block], bool]:
    """The blocks of the last run, and of earlier ones while they are few; and whether there are more before."""
    found: list[Block] = []
    earlier = False
    for number, run_id in enumerate(reversed(runs[-_MOST_RUNS:])):
        of_run = status if status is not None and status.run_id == run_id else _status(view, run_id)
        blocks, torn = _of_run(view, run_id, of_run)
        found = blocks + found
        earlier = torn or number + 1 < len(runs)
        if torn or len(found) >= _ENOUGH_BLOCKS:
            return found, earlier
    if not earlier:
        job = session_of(meta)
        size = transcript_size(meta.agent, job)
        first = _status(view, runs[0]) if runs else None
        mark = size if not runs else (first.transcript_mark or 0) if first is not None else 0
        if mark:  # an adopted session: it was used before it came on the board
            found = _transcript(meta.agent, job, mark, size) + found
            earlier = mark > TAIL_BYTES
    return found, earlier


def _latest(blocks: list[Block]) -> tuple[list[Block], bool]:
    """The last prompt and the last blocks behind it, and whether there were more."""
    room, kept = _MOST_CHARS, len(blocks)
    while kept > 0 and len(blocks) - kept < _MOST_BLOCKS:
        room -= len(blocks[kept - 1].text)
        if room < 0 and kept < len(blocks):
            break
        kept -= 1
    if any(block.kind is Kind.PROMPT for block in blocks[kept:]):
        return blocks[kept:], kept > 0
    prompt = next((block for block in reversed(blocks[:kept]) if block.kind is Kind.PROMPT), None)
    return ([prompt] if prompt is not None else []) + blocks[kept:], kept > 0


def _of_run(view: ViewPaths, run_id: str, status: RunStatus | None) -> tuple[list[Block], bool]:
    run = view.run(run_id)
    request = load_request(view, run_id)
    data = tail(run.events, TAIL_BYTES)
    torn = len(data) >= TAIL_BYTES
    if not data and isinstance(request, RunRequest) and request.kind == "attach":
        grew = status is not None and (status.evidence.activity or status.process_state is ProcessState.ALIVE)
        return (_attached(request, status) if grew else []), False
    blocks = blocks_of(decoded(data, torn=torn))
    if status is not None:
        blocks = _completed(blocks, status)
    if not any(block.kind is Kind.PROMPT for block in blocks):
        blocks.insert(0, Block(Kind.PROMPT, _prompt_of(run.prompt)))
    if isinstance(request, RunRequest) and agent_named(request.agent).terminal:
        return _with_output(blocks, run.stdout), False
    return [_shortened(block) for block in blocks], torn


def _with_output(blocks: list[Block], log: str) -> list[Block]:
    """The command of a shell job, and the end of what it printed as it was printed."""
    output = printed(tail(log, OUTPUT_BYTES)).strip("\n")
    said = [Block(Kind.ANSWER, f"```\n{output.replace('```', '` ` `')}\n```")] if output else []
    return [*(block for block in blocks if block.kind is Kind.PROMPT), *said]


def _completed(blocks: list[Block], status: RunStatus) -> list[Block]:
    """What only the status knows: that the run is over, an answer still coming, an answer too long for the tail."""
    evidence = status.evidence
    if status.ended_at is not None or evidence.exited:
        blocks = ended(blocks)
    elif evidence.streaming and status.latest_assistant_preview:
        blocks = [*blocks, Block(Kind.ANSWER, clean_line(status.latest_assistant_preview), live=True)]
    if not blocks and evidence.last_text.strip():
        blocks = [Block(Kind.ANSWER, clean_block(evidence.last_text).strip())]
    return blocks


def _attached(request: RunRequest, status: RunStatus | None) -> list[Block]:
    size = transcript_size(request.agent, job_of(request))
    mark = status.transcript_mark if status is not None and status.transcript_mark is not None else size
    with suppress(OSError, BoardError):
        events = agent_named(request.agent).transcript_events(job_of(request), max(mark, size - TAIL_BYTES))
        return [_shortened(block) for block in ended(blocks_of(Logged(event) for event in events))]
    return []


def _transcript(agent: str, job: Job, until: int, size: int) -> list[Block]:
    """What a session held before the board's first run in it."""
    with suppress(OSError, BoardError):
        adapter = agent_named(agent)
        start = max(0, until - TAIL_BYTES)
        before = adapter.transcript_events(job, start)
        after = adapter.transcript_events(job, until) if until < size else []
        events = before[: len(before) - len(after)]
        return [_shortened(block) for block in ended(blocks_of(Logged(event) for event in events))]
    return []


def _prompt_of(path: str) -> str:
    with suppress(OSError), open(path, "rb") as file:
        data = file.read(_PROMPT_BYTES)
        more = "…" if len(data) == _PROMPT_BYTES else ""
        return clean_block(data.decode("utf-8", "ignore") + more).strip("\n")
    return ""


def _shortened(block: Block) -> Block:
    """Of long words the end, which is what one reads; of a long prompt the beginning."""
    if block.kind is Kind.PROMPT and len(block.text) > LONGEST_ANSWER:
        return replace(block, text=block.text[:LONGEST_ANSWER] + "…")
    if block.kind is Kind.ANSWER and not block.live:
        text, cut = tail_of(block.text, LONGEST_ANSWER)
        return replace(block, text=f"…\n\n{text}") if cut else block
    return block


def _ending(blocks: list[Block], seen: Shown) -> list[Block]:
    """The blocks without the question, which stands by itself; and with the error as the last of them."""
    blocks = [block for block in blocks if block.text or block.kind is Kind.TOOL]
    if seen.question:
        last = next((n for n in range(len(blocks) - 1, -1, -1) if blocks[n].kind is Kind.ANSWER), None)
        if last is not None:
            rest = without_question(blocks[last].text, seen.question)
            blocks[last : last + 1] = [replace(blocks[last], text=rest)] if rest.strip() else []
        asked = " ".join(seen.question.split())
        blocks = [
            _unasked(block, asked) for block in blocks if not (block.kind is Kind.REQUEST and _same(block.text, asked))
        ]
    if seen.error:
        if blocks and blocks[-1].kind is Kind.ERROR and _same(blocks[-1].text[:80], seen.error[:80]):
            blocks.pop()
        blocks.append(Block(Kind.ERROR, clean_block(seen.error).strip()))
    return blocks


def _unasked(block: Block, asked: str) -> Block:
    """A report without the question that is shown by itself."""
    return replace(block, result="") if block.kind is Kind.REPORT and _same(block.result, asked) else block


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())


# -- facts


def _why(seen: Shown, state: State | None, meta: Meta) -> str:
    if seen.verdict:
        return "You marked it so."
    if state is None:
        return "Its first run has not begun."
    if state.queue_reason and seen.state is SemanticState.QUEUED:
        return f"It waits: {clean_line(state.queue_reason)}."
    if seen.stalled:
        return "Nothing has been heard from it for a while."
    return meaning(state.reason or "")


def _facts(meta: Meta, state: State | None, status: RunStatus | None, view: ViewPaths) -> tuple[tuple[str, ...], ...]:
    model = (status.model if status is not None else None) or meta.default_model
    session = (status.session_id if status is not None else None) or meta.session_id
    run = [meta.agent, model or "", *(usage_words(state.usage) if state is not None else []), _took(status)]
    where = _where(meta)
    access = "reads only" if meta.read_only else f"mode {meta.mode}" if meta.mode else ""
    ids = [access, f"session {session[:8]}" if session else "", f"task {view.view_id}"]
    groups = (tuple(clean_line(part) for part in group if part) for group in (run, where, ids))
    return tuple(group for group in groups if group)


def _where(meta: Meta) -> list[str]:
    branch = meta.branch or branch_of(meta.worktree_path or meta.cwd)
    if not meta.worktree_path:
        return [short_path(meta.cwd), branch]
    base = f"from {meta.base_ref[:8]}" if meta.base_ref else ""
    return [f"worktree {short_path(meta.worktree_path)}", f"branch {branch}" if branch else "", base]


def _took(status: RunStatus | None) -> str:
    if status is None:
        return ""
    if "run" in status.durations:
        return f"took {duration(status.durations['run'])}"
    if status.ended_at is None and status.process_state is ProcessState.ALIVE:
        return f"for {duration(now_ms() - status.started_at)}"
    return ""
