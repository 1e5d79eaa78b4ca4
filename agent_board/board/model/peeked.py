"""What peek shows of one view, read and decided; drawing it needs no file any more."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_board.board.model import words
from agent_board.board.model.exchange import Block
from agent_board.runs.followups import WaitingPrompt
from agent_board.store.records import Usage

LONGEST_ANSWER = 4 << 10
"""So many characters of an answer's end are shown; the transcript has all of it."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a reply that is sent now."""

    sentence: str
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Peeked:
    """One view as peek shows it."""

    view_id: str
    blocks: tuple[Block, ...] = ()
    earlier: bool = False
    """There is more before the first block."""
    why: str = ""
    facts: tuple[tuple[str, ...], ...] = ()
    """What is known beside the conversation: groups that begin a line each."""
    question: str = ""
    choices: tuple[str, ...] = ()
    request: str = ""
    """The id of the question when a living agent waits for its answer; empty: it is answered by a reply."""
    permission: bool = False
    """That request asks for leave to do something."""
    changed: tuple[str, ...] = ()
    waiting: tuple[WaitingPrompt, ...] = ()
    draft: str = ""
    fate: Fate = Fate("")
    problem: str = ""
    """Why nothing can be shown."""


def fate_of(*, lives: bool, asks: bool, orphan: bool, held: int, problem: str = "") -> Fate:
    """What the input says beforehand. `asks`: it waits, alive, for an answer of another kind."""
    if problem:
        return Fate(problem)
    if lives and orphan:
        return Fate("waits: it runs on without its runner", waits=True)
    if lives and asks:
        return Fate("held: it asks you something first", waits=True)
    if lives:
        return Fate("waits until the run has ended", waits=True)
    if held:
        return Fate(f"sends at once; {words.count(held, 'reply stays', 'replies stay')} held")
    return Fate("sends at once")


def usage_words(usage: Usage) -> list[str]:
    """Tokens and cost, as far as the agent reports them."""
    parts = [part for part in (usage.input, usage.output, usage.cache_read, usage.cache_write) if part is not None]
    said = [f"{words.tokens(sum(parts))} tokens"] if parts else []
    return said + ([words.money(usage.cost_usd)] if usage.cost_usd is not None else [])


def duration(ms: int) -> str:
    """How long a run took: `0.4s`, `12s`, `3m 5s`, `2h 10m`."""
    seconds = max(0, ms) / 1000
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"


def listed(files: Sequence[str], most: int = 12) -> str:
    """Names in one sentence, the rest counted."""
    shown = ", ".join(files[:most])
    return f"{shown} and {len(files) - most} more" if len(files) > most else shown
