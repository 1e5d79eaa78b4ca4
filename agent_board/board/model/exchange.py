"""The conversation of a run from its log: prompts, answers, tools, retries, reports, questions, in order."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from agent_board.agents import events as ev
from agent_board.store.exact import exact
from agent_board.text import clean_block, clean_line, preview

_LONGEST_LINE = 400
_REPORT = "report"
_EDITS = frozenset({"edit", "write", "multiedit", "apply_patch", "create", "str_replace", "patch"})


class Kind(Enum):
    """What a block is."""

    PROMPT = "prompt"
    ANSWER = "answer"
    TOOL = "tool"
    RETRY = "retry"
    REPORT = "report"
    REQUEST = "request"
    NOTICE = "notice"
    ERROR = "error"


class Standing(Enum):
    """How a tool call, a retry or a request stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    """The run ended and nobody said what came of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One step of a conversation. Texts hold no control characters; those of prompts and answers have lines."""

    kind: Kind
    text: str = ""
    """What was said; a tool's target."""
    name: str = ""
    """A tool's name, a report's status."""
    result: str = ""
    """What came out of a tool, on one line."""
    standing: Standing = Standing.DONE
    choices: tuple[str, ...] = ()
    key: str = ""
    """The id by which the end of a call or of a request names it."""
    at: int | None = None
    """When it began, epoch milliseconds."""
    live: bool = False
    """An answer that is still coming; only its last words are known."""
    headless: bool = False
    """The end of a tool call whose beginning lies before the piece of log that was read."""


@dataclass(frozen=True, slots=True)
class Logged:
    """An event and when it was seen, epoch milliseconds."""

    event: ev.Event
    at: int | None = None


def decoded(data: bytes, *, torn: bool = False) -> list[Logged]:
    """The events of a piece of events.jsonl; odd lines are none. `torn`: it begins in the middle of a line."""
    lines = data.split(b"\n")
    found = (_decoded_line(line) for line in (lines[1:] if torn else lines) if line)
    return [logged for logged in found if logged is not None]


def _decoded_line(line: bytes) -> Logged | None:
    try:
        raw = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    name = raw.get("type")
    kind = ev.EVENTS.get(name) if isinstance(name, str) else None
    event = _request(raw) if kind is ev.RequestOpened else exact(kind, raw) if kind is not None else None
    if event is None:
        return None
    at = raw.get("at")
    return Logged(event, at if type(at) is int else None)


def _request(raw: dict[str, Any]) -> ev.RequestOpened | None:
    """Built by hand: a tuple is no type that records have."""
    key, kind, text, choices = (raw.get(name) for name in ("id", "kind", "text", "choices"))
    if not (isinstance(key, str) and isinstance(kind, str) and isinstance(text, str)):
        return None
    listed = choices if isinstance(choices, list) else []
    return ev.RequestOpened(key, kind, text, tuple(choice for choice in listed if isinstance(choice, str)))


def blocks_of(logged: Iterable[Logged]) -> list[Block]:
    """The blocks of one run's events."""
    folded: list[Block] = []
    for item in logged:
        fold = _FOLDS.get(type(item.event))
        if fold is not None:
            fold(folded, item.event, item.at)
    return folded


def ended(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a run that is over: what still seemed to run has been lost."""
    return [replace(block, standing=Standing.LOST) if block.standing is Standing.RUNNING else block for block in blocks]


def joined(blocks: Sequence[Block], ends: dict[str, Block]) -> list[Block]:
    """The blocks with the ends of their tool calls that were found in a later piece; those are taken out of `ends`.

    Ends without a beginning in these blocks go into `ends` instead, for the piece before.
    """
    whole: list[Block] = []
    for block in blocks:
        if block.headless:
            ends[block.key] = block
        elif block.kind is Kind.TOOL and block.standing is Standing.RUNNING and block.key in ends:
            end = ends.pop(block.key)
            whole.append(replace(block, standing=end.standing, result=end.result))
        else:
            whole.append(block)
    return whole


def changed_files(blocks: Iterable[Block], cwd: str = "") -> list[str]:
    """The files that editing tools worked on well, each once, the latest first; below `cwd` without it."""
    prefix = cwd.rstrip("/") + "/" if cwd else ""
    found = [
        block.text.removeprefix(prefix)
        for block in blocks
        if block.kind is Kind.TOOL and block.standing is Standing.DONE and block.name.lower() in _EDITS and block.text
    ]
    return list(dict.fromkeys(reversed(found)))


def without_question(answer: str, question: str) -> str:
    """An answer without the question that it ends with, which is shown by itself."""
    words = [re.escape(word) for word in question.split()[:400]]
    if not words:
        return answer
    found = re.search(r"[\s*_>#-]*" + r"[\s*_>#]+".join(words) + r"[\s*_]*$", answer[-6000:])
    return answer[: max(0, len(answer) - 6000) + found.start()].rstrip() if found else answer


# How each event changes the blocks so far


def _prompted(folded: list[Block], event: ev.PromptAccepted, at: int | None) -> None:
    folded.append(Block(Kind.PROMPT, clean_block(event.text).strip("\n"), at=at))


def _answered(folded: list[Block], event: ev.AssistantMessage, at: int | None) -> None:
    if event.text.strip():
        folded.append(Block(Kind.ANSWER, clean_block(event.text).strip(), at=at))
    if event.stop == "error":
        _error(folded, event.error or "The answer ended in an error.", at)
    elif event.stop == "length":
        folded.append(Block(Kind.NOTICE, "The answer was cut at the model's output limit.", at=at))
    elif event.stop == "aborted":
        folded.append(Block(Kind.NOTICE, "The answer was interrupted.", at=at))


def _error(folded: list[Block], text: str, at: int | None) -> None:
    text = clean_block(text).strip()
    if not (folded and folded[-1].kind is Kind.ERROR and folded[-1].text == text):
        folded.append(Block(Kind.ERROR, text, at=at))


def _tool_started(folded: list[Block], event: ev.ToolStarted, at: int | None) -> None:
    target = _line(event.target or "")
    folded.append(Block(Kind.TOOL, target, name=_line(event.name), standing=Standing.RUNNING, key=event.id, at=at))


def _tool_ended(folded: list[Block], event: ev.ToolEnded, at: int | None) -> None:
    standing = Standing.FAILED if event.is_error else Standing.DONE
    started = _find(folded, Kind.TOOL, event.id)
    if started is not None:
        folded[started] = replace(folded[started], standing=standing, result=_line(event.result))
    elif not (event.name == _REPORT and not event.is_error):
        name, result = _line(event.name), _line(event.result)
        block = Block(Kind.TOOL, "", name=name, result=result, standing=standing, key=event.id, at=at, headless=True)
        folded.append(block)


def _reported(folded: list[Block], event: ev.Reported, at: int | None) -> None:
    call = next(
        (n for n in range(len(folded) - 1, -1, -1) if folded[n].kind is Kind.TOOL and folded[n].name == _REPORT), None
    )
    if call is not None and folded[call].standing is Standing.RUNNING:
        del folded[call]
    text = clean_block(event.summary).strip()
    folded.append(
        Block(Kind.REPORT, text, name=_line(event.status), result=clean_block(event.question or "").strip(), at=at)
    )


def _retrying(folded: list[Block], event: ev.RetryStarted, at: int | None) -> None:
    text = f"try {event.attempt} of {event.most} after: {_line(event.error)}"
    block = Block(Kind.RETRY, text, standing=Standing.RUNNING, at=at)
    if folded and folded[-1].kind is Kind.RETRY and folded[-1].standing is Standing.RUNNING:
        folded[-1] = block
    else:
        folded.append(block)


def _retried(folded: list[Block], event: ev.RetryEnded, at: int | None) -> None:
    standing = Standing.DONE if event.ok else Standing.FAILED
    if folded and folded[-1].kind is Kind.RETRY:
        folded[-1] = replace(folded[-1], standing=standing)
    if not event.ok and event.error:
        _error(folded, event.error, at)


def _asked(folded: list[Block], event: ev.RequestOpened, at: int | None) -> None:
    choices = tuple(line for line in (_line(choice) for choice in event.choices) if line)
    text, name = clean_block(event.text).strip(), _line(event.kind)
    folded.append(Block(Kind.REQUEST, text, name=name, choices=choices, standing=Standing.RUNNING, key=event.id, at=at))


def _closed(folded: list[Block], event: ev.RequestClosed, at: int | None) -> None:
    opened = _find(folded, Kind.REQUEST, event.id)
    if opened is not None:
        standing = Standing.FAILED if event.denied else Standing.DONE
        folded[opened] = replace(folded[opened], standing=standing)


def _noticed(folded: list[Block], event: ev.Noticed, at: int | None) -> None:
    folded.append(Block(Kind.NOTICE, _line(event.text), at=at))


def _find(folded: Sequence[Block], kind: Kind, key: str) -> int | None:
    for number in range(len(folded) - 1, -1, -1):
        block = folded[number]
        if block.kind is kind and block.key == key and block.standing is Standing.RUNNING:
            return number
    return None


def _line(text: str) -> str:
    return preview(text, _LONGEST_LINE) if len(text) > _LONGEST_LINE else clean_line(text)


_FOLDS: dict[type, Callable[[list[Block], Any, int | None], None]] = {
    ev.PromptAccepted: _prompted,
    ev.AssistantMessage: _answered,
    ev.ToolStarted: _tool_started,
    ev.ToolEnded: _tool_ended,
    ev.Reported: _reported,
    ev.RetryStarted: _retrying,
    ev.RetryEnded: _retried,
    ev.RequestOpened: _asked,
    ev.RequestClosed: _closed,
    ev.Noticed: _noticed,
}
