"""What Codex says, as events: lines of `exec --json`, and entries of a thread's rollout file. As of 0.171."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from agent_board.agents.base import Reader
from agent_board.agents.codex_errors import plain_error
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    AssistantStarted,
    Event,
    Noticed,
    PromptAccepted,
    RequestClosed,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.agents.raw import Raw, count_of, dict_of, list_of, object_of, text_of
from agent_board.store.records import Usage
from agent_board.text import preview

_RETRY = re.compile(r"^Reconnecting\.\.\.\s*(?:(?P<n>\d+)/(?P<most>\d+))?\s*(?P<why>.*)$", re.DOTALL)


class CodexReader(Reader):
    """Reads one run's stdout.

    Nothing tells a last message from one before a tool, so each is held back (shown as it comes, though) until the
    next line says which it was.
    """

    def __init__(self, before: Usage | None = None) -> None:
        """`before`: what the thread had used before this run; Codex counts on."""
        self._before = before or Usage()
        self._said: str | None = None
        self._waits = 0

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        raw = object_of(line)
        match raw.get("type"):
            case "thread.started":
                return [SessionStarted(text_of(raw.get("thread_id")) or None)]
            case "turn.started":
                return [PromptAccepted()]
            case "item.started":
                return list(self._begun(dict_of(raw.get("item"))))
            case "item.completed":
                return list(self._item(dict_of(raw.get("item"))))
            case "error":
                return list(self._error(text_of(raw.get("message"))))
            case "turn.completed":
                return list(self._completed(raw))
            case "turn.failed":
                return list(self._failed(text_of(dict_of(raw.get("error")).get("message"))))
        return []

    def close(self) -> list[Event]:
        """See `Reader.close`: a message that nothing followed was not the last one."""
        return self._told()

    def _told(self) -> list[Event]:
        said, self._said = self._said, None
        return [AssistantMessage(said, stop="tool")] if said else []

    def _begun(self, item: Raw) -> Iterator[Event]:
        if item.get("type") in _TOOLS:
            yield from self._told()
            yield tool_started(item)

    def _item(self, item: Raw) -> Iterator[Event]:
        match item.get("type"):
            case "agent_message":
                yield from self._told()
                self._said = text_of(item.get("text"))
                yield AssistantStarted()
                yield AssistantDelta(self._said)
            case "reasoning":
                yield AssistantStarted()
            case "error":
                yield Noticed(preview(text_of(item.get("message"))))
            case str(kind) if kind in _TOOLS:
                yield from self._told()
                yield from tool_ended(item)

    def _error(self, message: str) -> Iterator[Event]:
        """A try that another follows; the last error comes again with the turn's end."""
        found = _RETRY.match(message)
        if found:
            self._waits += 1
            attempt, most = int(found["n"] or self._waits), int(found["most"] or 0)
            why = found["why"].strip()
            error = plain_error(why[1:-1] if why.startswith("(") else why)
            yield RetryStarted(attempt, max(attempt, most), error.rstrip("."))

    def _completed(self, raw: Raw) -> Iterator[Event]:
        said, self._said = self._said, None
        yield AssistantMessage(said or "", stop="stop", usage=less(usage_of(raw.get("usage")), self._before))
        yield Settled()

    def _failed(self, message: str) -> Iterator[Event]:
        yield from self._told()
        yield AssistantMessage(stop="error", error=plain_error(message))
        yield Settled()


def usage_of(raw: Any) -> Usage | None:
    """A count of tokens; what came from or went into the cache is no other input."""
    if not isinstance(raw, dict):
        return None
    names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
    counts = [count_of(raw.get(name)) for name in names]
    fresh, output, read, written = counts
    if not any(counts):
        return None
    return Usage(input=max(0, fresh - read - written), output=output, cache_read=read, cache_write=written)


def less(total: Usage | None, before: Usage) -> Usage | None:
    """What has come to a running total. A turn that was cut may be missing from it, but nothing was given back."""
    if total is None:
        return None

    def rest(now: int | None, then: int | None) -> int | None:
        return None if now is None else max(0, now - (then or 0))

    return Usage(
        input=rest(total.input, before.input),
        output=rest(total.output, before.output),
        cache_read=rest(total.cache_read, before.cache_read),
        cache_write=rest(total.cache_write, before.cache_write),
    )


# Tools, in the words of the stream

_TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search"})


def tool_started(item: Raw) -> ToolStarted:
    """The beginning of a tool call."""
    return ToolStarted(text_of(item.get("id")), *_name_and_target(item))


def tool_ended(item: Raw) -> Iterator[Event]:
    """The end of a tool call; one that was refused is counted as a denial."""
    key, (name, _) = text_of(item.get("id")), _name_and_target(item)
    status, code = item.get("status"), item.get("exit_code")
    is_error = status in ("failed", "declined") or (type(code) is int and code != 0)
    yield ToolEnded(key, name, is_error, preview(text_of(item.get("aggregated_output")).strip()))
    if status == "declined":
        yield RequestClosed(key, denied=True)


def _name_and_target(item: Raw) -> tuple[str, str | None]:
    match item.get("type"):
        case "command_execution":
            return "bash", _inner(item.get("command"))
        case "file_change":
            paths = [text_of(dict_of(change).get("path")) for change in list_of(item.get("changes"))]
            return "edit", next(filter(None, paths), None)
        case "web_search":
            return "websearch", text_of(item.get("query")) or None
    return text_of(item.get("tool")) or text_of(item.get("type")) or "tool", text_of(item.get("server")) or None


def _inner(command: Any) -> str | None:
    """A command without the shell that Codex puts around it."""
    words = [text_of(word) for word in list_of(command)]
    if isinstance(command, str):
        with suppress(ValueError):
            words = shlex.split(command)
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return command if isinstance(command, str) else " ".join(words) or None


# The rollout file


def transcript(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of rollout entries; torn lines and unknown entries are passed over."""
    reader = CodexReader()
    counted: Usage | None = None
    for line in lines:
        entry = object_of(line)
        payload = dict_of(entry.get("payload"))
        if entry.get("type") == "session_meta":
            yield SessionStarted(text_of(payload.get("id")) or None, text_of(payload.get("cwd")) or None)
        if entry.get("type") != "event_msg":
            continue
        match payload.get("type"):
            case "item_completed":
                yield from _entry(reader, dict_of(payload.get("item")))
            case "token_count":
                info = dict_of(payload.get("info"))
                total, last = usage_of(info.get("total_token_usage")), usage_of(info.get("last_token_usage"))
                added = last if counted is None else less(total, counted)
                counted = total or counted
                if added is not None:
                    yield UsageReported(added)
            case "task_complete":
                yield from reader.feed(b'{"type":"turn.completed"}')
            case "turn_aborted":
                yield from reader.close()
                yield Settled(aborted=True)
            case "error":
                error = {"type": "turn.failed", "error": {"message": text_of(payload.get("message"))}}
                yield from reader.feed(json.dumps(error).encode())
    yield from reader.close()


def _entry(reader: CodexReader, item: Raw) -> Iterator[Event]:
    """An item as the rollout keeps it, told as the stream tells it."""
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": _content(item)}}
    match item.get("type"):
        case "UserMessage":
            yield PromptAccepted(_content(item))
        case "AgentMessage":
            yield from reader.feed(json.dumps(said).encode())
        case "CommandExecution":
            yield from _both(reader, {**item, "type": "command_execution"})
        case "FileChange":
            changes = [{"path": path} for path in dict_of(item.get("changes"))]
            told = {"type": "file_change", "id": item.get("id"), "status": item.get("status"), "changes": changes}
            yield from _both(reader, told)


def _both(reader: CodexReader, item: Raw) -> Iterator[Event]:
    for kind in ("item.started", "item.completed"):
        yield from reader.feed(json.dumps({"type": kind, "item": item}).encode())


def _content(item: Raw) -> str:
    return "".join(text_of(dict_of(part).get("text")) for part in list_of(item.get("content")))


def last_total(lines: Iterable[bytes]) -> Usage | None:
    """What the thread had used by its last count."""
    total = None
    for line in lines:
        if b'"token_count"' in line:
            info = dict_of(dict_of(object_of(line).get("payload")).get("info"))
            total = usage_of(info.get("total_token_usage")) or total
    return total
