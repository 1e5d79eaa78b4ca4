"""A view's whole conversation, read backwards piece by piece, so that the end of any log is there at once."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from agent_board.agents.base import Job
from agent_board.agents.registry import agent as agent_named
from agent_board.board.model.exchange import Block, Kind, Logged, Standing, blocks_of, decoded, ended, joined
from agent_board.errors import BoardError
from agent_board.runs.claim import run_ids
from agent_board.runs.status import job_of, session_of, transcript_size
from agent_board.store import plain
from agent_board.store.logs import segments
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import Meta, RunRequest, RunStatus
from agent_board.text import clean_block

PIECE_BYTES = 256 << 10
FIRST_BYTES = 16 << 10
"""The first piece is small, so that it is there at once; each one is twice as large as the one after it."""
_PROMPT_BYTES = 1 << 20
_TRANSCRIPT_BYTES = 1 << 20


class Piece(NamedTuple):
    """Some of a conversation, oldest first, and how many bytes of logs it stands for."""

    blocks: list[Block]
    size: int


class History:
    """Hands out the pieces of a conversation, the latest first. Reads files: for threads, one at a time."""

    def __init__(self, paths: StorePaths, view_id: str) -> None:
        self._view = paths.view(view_id)
        self._pieces = self._backwards()
        self._newest: tuple[str, int] = ("", 0)

    def before(self) -> Piece | None:
        """The piece before those that were handed out; None when that was all."""
        return next(self._pieces, None)

    def changed(self) -> bool:
        """Whether the conversation has gone on since this was last asked, or since the beginning."""
        before, self._newest = self._newest, self._end()
        return before != self._newest

    def _end(self) -> tuple[str, int]:
        runs = run_ids(self._view)
        if not runs:
            return ("", 0)
        size = sum(_size(path) for path in segments(self._view.run(runs[-1]).events)[-1:])
        return (f"{runs[-1]}:{len(segments(self._view.run(runs[-1]).events))}", size)

    def _backwards(self) -> Iterator[Piece]:
        self._newest = self._end()
        runs = run_ids(self._view)
        after: int | None = None
        for run_id in reversed(runs):
            run = self._view.run(run_id)
            request, status = plain.read_or_none(RunRequest, run.request), plain.read_or_none(RunStatus, run.status)
            mark = status.transcript_mark if status is not None else None
            if request is not None and request.kind == "attach":
                yield from _attached(request, mark, after)
            else:
                yield from _of_run(run, status)
            after = mark if mark is not None else after
        meta = plain.read_or_none(Meta, self._view.meta)
        if meta is not None and (after or not runs):
            yield from _adopted(meta, after)


def _size(path: str) -> int:
    with suppress(OSError):
        return os.stat(path).st_size
    return 0


def _of_run(run: RunPaths, status: RunStatus | None) -> Iterator[Piece]:
    """One run from its log; its prompt from its own file when the log does not hold it."""
    ends: dict[str, Block] = {}
    over = status is None or status.ended_at is not None or status.evidence.exited
    prompted = False
    for data, gap in _pieces_of(run.events):
        blocks = joined(blocks_of(decoded(data)), ends)
        prompted = prompted or any(block.kind is Kind.PROMPT for block in blocks)
        if gap:
            blocks.insert(0, Block(Kind.NOTICE, "Here a part of the log was dropped: it had grown too long."))
        yield Piece(ended(blocks) if over else blocks, len(data))
    if ends:
        yield Piece(list(ends.values()), 0)
    if not prompted:
        yield Piece([Block(Kind.PROMPT, _prompt(run.prompt), standing=Standing.DONE)], 0)


def _pieces_of(path: str) -> Iterator[tuple[bytes, bool]]:
    """The log from its end: pieces of whole lines, and whether something is missing before each."""
    files, most = segments(path), FIRST_BYTES
    for number in range(len(files) - 1, -1, -1):
        dropped = number == 1 and files[0] == path and not files[1].endswith(".1")
        rest = b""
        with suppress(OSError), open(files[number], "rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end > 0:
                start = max(0, end - most)
                most = min(2 * most, PIECE_BYTES)
                file.seek(start)
                data = file.read(end - start) + rest
                end = start
                cut = data.find(b"\n") + 1 if start else 0
                if start and not cut:  # a line longer than a piece
                    rest = data
                    continue
                rest = data[:cut]
                if data[cut:]:
                    yield data[cut:], dropped and start == 0


def _prompt(path: str) -> str:
    with suppress(OSError), open(path, "rb") as file:
        return clean_block(file.read(_PROMPT_BYTES).decode("utf-8", "replace")).strip("\n")
    return ""


def _attached(request: RunRequest, mark: int | None, after: int | None) -> Iterator[Piece]:
    if mark is not None:
        yield from _transcript(request.agent, job_of(request), mark, after)


def _adopted(meta: Meta, until: int | None) -> Iterator[Piece]:
    """What the session held before the board's first run: its end first, then all the rest."""
    job = session_of(meta)
    end = transcript_size(meta.agent, job) if until is None else until
    middle = max(0, end - _TRANSCRIPT_BYTES)
    yield from _transcript(meta.agent, job, middle, until)
    if middle:
        yield from _transcript(meta.agent, job, 0, middle)


def _transcript(agent: str, job: Job, start: int, until: int | None) -> Iterator[Piece]:
    """A session's entries from one byte to another (None: to its end)."""
    with suppress(OSError, BoardError):
        adapter, size = agent_named(agent), transcript_size(agent, job)
        events = adapter.transcript_events(job, start)
        later = adapter.transcript_events(job, until) if until is not None and until < size else []
        blocks = ended(blocks_of(Logged(event) for event in events[: len(events) - len(later)]))
        if blocks:
            yield Piece(blocks, (size if until is None else until) - start)
