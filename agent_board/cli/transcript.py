"""The events of a run as lines for people."""

import time
from collections.abc import Callable
from typing import Any

from agent_board.text import clean_block, clean_line

Fields = dict[str, Any]
_INDENT = " " * 10


def entry(event: Fields) -> str | None:
    """The lines of one event, or None when it says nothing to people. Whatever the fields hold, nothing is raised."""
    write = _LINES.get(str(event.get("type")))
    text = clean_block(write(event)).strip("\n") if write else ""
    if not text:
        return None
    first, *rest = text.split("\n")
    return "\n".join([f"{_clock(event.get('at')):<{len(_INDENT)}}{first}", *(_INDENT + line for line in rest)])


def _clock(at: Any) -> str:
    try:
        return time.strftime("%H:%M:%S", time.localtime(at / 1000))
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _text(event: Fields, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _prompt(event: Fields) -> str:
    return "\n".join(f"> {line}" for line in _text(event, "text").split("\n"))


def _answer(event: Fields) -> str:
    error, stop = _text(event, "error"), _text(event, "stop")
    if error:
        return f"{_text(event, 'text')}\nerror: {error}".lstrip("\n")
    return f"{_text(event, 'text')}\n(cut: {stop})" if stop in ("length", "aborted") else _text(event, "text")


def _tool(event: Fields) -> str:
    return f"* {clean_line(_text(event, 'name'))} {clean_line(_text(event, 'target'))}"


def _tool_end(event: Fields) -> str:
    result = clean_line(_text(event, "result"))
    return f"  failed: {result}" if event.get("isError") else f"  {result}".rstrip()


def _request(event: Fields) -> str:
    choices = event.get("choices")
    offered = [f"  {number}. {choice}" for number, choice in enumerate(choices, 1)] if isinstance(choices, list) else []
    return "\n".join([f"? {_text(event, 'text')}", *offered])


def _report(event: Fields) -> str:
    said = [_text(event, "summary"), _text(event, "question")]
    return f"= {_text(event, 'status')}: {' '.join(part for part in said if part)}"


def _retry(event: Fields) -> str:
    return f"retrying {event.get('attempt')}/{event.get('most')}: {_text(event, 'error')}"


_LINES: dict[str, Callable[[Fields], str]] = {
    "PromptAccepted": _prompt,
    "AssistantMessage": _answer,
    "ToolStarted": _tool,
    "ToolEnded": _tool_end,
    "RequestOpened": _request,
    "RequestClosed": lambda event: "denied" if event.get("denied") else "answered",
    "Reported": _report,
    "RetryStarted": _retry,
    "RetryEnded": lambda event: "" if event.get("ok") else f"gave up: {_text(event, 'error')}",
    "Noticed": lambda event: f"- {_text(event, 'text')}",
    "Settled": lambda event: "aborted" if event.get("aborted") else "",
    "Stderr": lambda event: f"stderr: {_text(event, 'text')}",
}
