"""What Pi says, as events: lines of its JSON mode, and entries of its session file. 0.73 to 1.6."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent_board.agents.base import Reader
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    AssistantStarted,
    Event,
    Noticed,
    PromptAccepted,
    Reported,
    RetryEnded,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.agents.pi_errors import plain_error
from agent_board.store.records import Usage
from agent_board.text import preview

REPORT = "report"
_STATUSES = frozenset({"completed", "blocked", "failed"})
_STOPS = {"stop": "stop", "toolUse": "tool", "length": "length", "error": "error", "aborted": "aborted"}
_TARGETS = {
    "bash": ("command",),
    "powershell": ("command",),
    "grep": ("pattern",),
    "find": ("pattern",),
    "read": ("path", "file_path"),
    "edit": ("path", "file_path"),
    "write": ("path", "file_path"),
    "ls": ("path",),
}
# The longest lines tell nothing that others don't: a growing output, and at the end every message once more.
_SKIPPED = re.compile(rb'^\{"type":"(?:tool_execution_update|turn_end|turn_start|agent_start|queue_update)"')

Raw = dict[str, Any]


class PiReader(Reader):
    """Reads one run's stdout. Remembers only whether the run's last word may have been spoken."""

    def __init__(self) -> None:
        self._may_be_over = False

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        if _SKIPPED.match(line):
            self._may_be_over = False
            return []
        raw = _object(line)
        if raw is None:
            return []
        kind = raw.get("type")
        # Before 0.80 nothing says that a run has settled: it has when no more follows its end.
        if kind != "auto_retry_end":
            self._may_be_over = kind == "agent_end" and not raw.get("willRetry")
        told = _LINES.get(kind) if isinstance(kind, str) else None
        return list(told(raw)) if told is not None else []

    def close(self) -> list[Event]:
        """See `Reader.close`."""
        over, self._may_be_over = self._may_be_over, False
        return [Settled()] if over else []


def transcript(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of session entries. Torn lines and unknown entries are passed over."""
    for line in lines:
        raw = _object(line)
        if raw is None:
            continue
        match raw.get("type"):
            case "message":
                yield from _entry(_dict(raw.get("message")))
            case "session":
                yield from _session(raw)
            case "compaction":
                yield from _usage_of(raw)
            case "custom_message":
                yield from _custom(raw)


def _object(line: bytes) -> Raw | None:
    if not line.startswith(b"{"):
        return None
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _dict(value: Any) -> Raw:
    return value if isinstance(value, dict) else {}


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text_of(message: Raw) -> str:
    """The text blocks of a message; thinking, images and tool calls are none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = [_dict(block) for block in content] if isinstance(content, list) else []
    return "\n\n".join(_str(block.get("text")) for block in blocks if block.get("type") == "text")


def _usage(raw: Any) -> Usage | None:
    """Pi writes zeros where its provider told nothing, and a cost of zero where it knows no price."""
    if not isinstance(raw, dict):
        return None
    tokens = {key: _count(raw.get(key)) for key in ("input", "output", "cacheRead", "cacheWrite")}
    if not any(tokens.values()):
        return None
    cost = _dict(raw.get("cost")).get("total")
    return Usage(
        input=tokens["input"],
        output=tokens["output"],
        cache_read=tokens["cacheRead"],
        cache_write=tokens["cacheWrite"],
        cost_usd=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
    )


# Lines of stdout


def _session(raw: Raw) -> Iterator[Event]:
    yield SessionStarted(_str(raw.get("id")) or None, _str(raw.get("cwd")) or None)


def _message_start(raw: Raw) -> Iterator[Event]:
    if _dict(raw.get("message")).get("role") == "assistant":
        yield AssistantStarted()


def _message_update(raw: Raw) -> Iterator[Event]:
    piece = _dict(raw.get("assistantMessageEvent"))
    if piece.get("type") == "text_delta" and (text := _str(piece.get("delta"))):
        yield AssistantDelta(text)


def _message_end(raw: Raw) -> Iterator[Event]:
    message = _dict(raw.get("message"))
    match message.get("role"):
        case "user":
            yield PromptAccepted(_text_of(message))
        case "assistant":
            yield _assistant(message)


def _assistant(message: Raw) -> AssistantMessage:
    stop = _STOPS.get(_str(message.get("stopReason")), "stop")
    error = _str(message.get("errorMessage"))
    return AssistantMessage(
        text=_text_of(message),
        stop=stop,
        error=plain_error(error) if error or stop == "error" else None,
        model=_str(message.get("model")) or None,
        usage=_usage(message.get("usage")),
    )


def _target(name: str, arguments: Any) -> str | None:
    """What a call works on: its path, command or pattern, else its first string."""
    given = _dict(arguments)
    for key in _TARGETS.get(name, ()):
        if found := _str(given.get(key)):
            return found
    return next((value for value in given.values() if isinstance(value, str) and value.strip()), None)


def _tool_start(raw: Raw) -> Iterator[Event]:
    name = _str(raw.get("toolName"))
    yield ToolStarted(_str(raw.get("toolCallId")), name, None if name == REPORT else _target(name, raw.get("args")))


def _tool_end(raw: Raw) -> Iterator[Event]:
    result = _dict(raw.get("result"))
    yield from _ended(raw, result, is_error=raw.get("isError") is True)


def _ended(call: Raw, result: Raw, *, is_error: bool) -> Iterator[Event]:
    name = _str(call.get("toolName"))
    yield ToolEnded(_str(call.get("toolCallId")), name, is_error, preview(_text_of(result).strip()))
    details = _dict(result.get("details"))
    if name == REPORT and not is_error and details.get("status") in _STATUSES:
        question = _str(details.get("question")).strip() or None
        yield Reported(_str(details["status"]), _str(details.get("summary")), question)


def _retry_start(raw: Raw) -> Iterator[Event]:
    error = plain_error(_str(raw.get("errorMessage")))
    yield RetryStarted(_count(raw.get("attempt")), _count(raw.get("maxAttempts")), error, _count(raw.get("delayMs")))


def _retry_end(raw: Raw) -> Iterator[Event]:
    final = _str(raw.get("finalError"))
    yield RetryEnded(raw.get("success") is True, plain_error(final) if final else None)


def _usage_of(raw: Raw) -> Iterator[Event]:
    usage = _usage(raw.get("usage"))
    if usage is not None:
        yield UsageReported(usage)


def _compaction_start(raw: Raw) -> Iterator[Event]:
    yield Noticed(f"Compacting the conversation ({_str(raw.get('reason')) or 'no reason given'}).")


def _compaction_end(raw: Raw) -> Iterator[Event]:
    yield from _usage_of(_dict(raw.get("result")))
    if error := _str(raw.get("errorMessage")):
        yield Noticed(f"The conversation could not be compacted: {plain_error(error)}")


def _custom(raw: Raw) -> Iterator[Event]:
    said = preview(_text_of(raw))
    if raw.get("display") is not False and said:
        yield Noticed(said)


def _appended(raw: Raw) -> Iterator[Event]:
    entry = _dict(raw.get("entry"))
    if entry.get("type") == "custom_message":
        yield from _custom(entry)


def _extension_error(raw: Raw) -> Iterator[Event]:
    yield Noticed(f"An extension failed: {preview(_str(raw.get('error')))}")


def _settled(raw: Raw) -> Iterator[Event]:
    yield Settled(raw.get("aborted") is True)


_LINES: dict[str, Callable[[Raw], Iterator[Event]]] = {
    "session": _session,
    "message_start": _message_start,
    "message_update": _message_update,
    "message_end": _message_end,
    "tool_execution_start": _tool_start,
    "tool_execution_end": _tool_end,
    "auto_retry_start": _retry_start,
    "auto_retry_end": _retry_end,
    "compaction_start": _compaction_start,
    "compaction_end": _compaction_end,
    "entry_appended": _appended,
    "extension_error": _extension_error,
    "agent_settled": _settled,
}


# Entries of the session file


def _entry(message: Raw) -> Iterator[Event]:
    match message.get("role"):
        case "user":
            yield PromptAccepted(_text_of(message))
        case "assistant":
            yield _assistant(message)
            content = message.get("content")
            for call in content if isinstance(content, list) else []:
                if _dict(call).get("type") == "toolCall":
                    given = {"toolName": call.get("name"), "toolCallId": call.get("id"), "args": call.get("arguments")}
                    yield from _tool_start(given)
        case "toolResult":
            yield from _ended(message, message, is_error=message.get("isError") is True)
