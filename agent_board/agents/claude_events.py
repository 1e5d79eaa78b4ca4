"""What Claude Code says, as events: lines of its stream-json, and entries of its transcript. 2.1.197 to 2.1.332."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent_board.agents.base import Answer, Reader
from agent_board.agents.claude_errors import plain_error, retry_error
from agent_board.agents.claude_requests import Requests
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    AssistantStarted,
    Event,
    Noticed,
    PromptAccepted,
    RequestClosed,
    RetryEnded,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.store.records import Usage
from agent_board.text import preview

Raw = dict[str, Any]

_TARGETS = ("file_path", "notebook_path", "path", "command", "pattern", "url", "query", "description", "plan")
_SYNTHETIC = "<synthetic>"
# Between a background task's end and the turn that tells of it; nothing else says that none will come.
_NO_MORE_TURNS_S = 10.0
_LIMITS = {
    "error_max_turns": "Claude reached its limit of turns; a reply goes on.",
    "error_max_budget_usd": "Claude reached its budget for one run; a reply goes on with a new one.",
}


class ClaudeReader(Reader):
    """Reads one run's stdout.

    An answer's text is told when the line behind it shows whether the answer ends with it, live as a piece before.
    """

    def __init__(self) -> None:
        self._requests = Requests()
        self._said: list[tuple[str, str | None]] = []
        self._accepted = False
        self._turns = 0
        self._in_turn = False
        self._turns_may_follow = False
        self._tasks = 0
        self._retrying = False
        self._cost = 0.0
        self._names: dict[str, str] = {}
        self._denied: set[str] = set()
        self._lines: dict[str, Callable[[Raw], Iterator[Event]]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "control_request": self._control_request,
            "control_cancel_request": self._cancelled,
            "result": self._result,
        }

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        raw = parsed(line)
        if raw is None:
            return []
        if raw.get("parent_tool_use_id"):
            return []  # a subagent's own talk
        told = self._lines.get(text_in(raw.get("type")))
        return list(told(raw)) if told is not None else []

    def close(self) -> list[Event]:
        """See `Reader.close`."""
        self._requests.open.clear()
        return list(self._tell("tool"))

    def answer(self, request_id: str, answer: Answer) -> tuple[bytes, list[Event]]:
        """See `Reader.answer`. A denial is counted here, for only the result tells of it again."""
        line, told = self._requests.answer(request_id, answer)
        self._denied |= self._requests.denied
        return line, told

    def may_hang_up(self, silent_s: float) -> bool:
        """With a background task running, or just ended, another turn may come and ask something."""
        quiet = not self._turns_may_follow or silent_s > _NO_MORE_TURNS_S
        return self._tasks == 0 and not self._requests.open and quiet

    # The kinds of lines

    def _system(self, raw: Raw) -> Iterator[Event]:
        match raw.get("subtype"):
            case "init":
                yield SessionStarted(text_in(raw.get("session_id")) or None, text_in(raw.get("cwd")) or None)
                if self._turns:
                    yield AssistantStarted()  # its own turn, on what a background task brought
                self._turns += 1
                self._in_turn = True
                self._turns_may_follow = False
            case "api_retry":
                yield from self._taken()
                self._retrying = True
                status = raw.get("error_status")
                why = retry_error(status if isinstance(status, int) else None, text_in(raw.get("error")))
                yield RetryStarted(_count(raw.get("attempt")), _count(raw.get("max_retries")), why, _delay(raw))
            case "permission_denied":
                yield from self._denial(text_in(raw.get("tool_use_id")))
            case "background_tasks_changed":
                tasks = raw.get("tasks")
                self._tasks = len(tasks) if isinstance(tasks, list) else 0
                if self._tasks == 0 and not self._in_turn:
                    self._turns_may_follow = True
            case "task_notification":
                yield Noticed(preview(text_in(raw.get("summary"))) or "A background task has ended.")
            case "compact_boundary":
                yield Noticed("The conversation was compacted.")

    def _assistant(self, raw: Raw) -> Iterator[Event]:
        message = _dict(raw.get("message"))
        if raw.get("error") or raw.get("is_api_error_message") or message.get("model") == _SYNTHETIC:
            return  # the result tells it
        yield from self._taken()
        if self._retrying:
            self._retrying = False
            yield RetryEnded(ok=True)
        for block in _blocks(message):
            yield from self._tell("tool")
            match block.get("type"):
                case "text":
                    text = text_in(block.get("text"))
                    self._said.append((text, text_in(message.get("model")) or None))
                    yield from self._active()
                    yield AssistantDelta(text)
                case "tool_use":
                    yield from self._tool(block)
                case "thinking":
                    yield from self._active()

    def _active(self) -> Iterator[Event]:
        """The model speaks. What other calls of the same message wait for stays open."""
        if not self._requests.open:
            yield AssistantStarted()

    def _taken(self) -> Iterator[Event]:
        """The model was asked, so the prompt is there, echoed or not."""
        if not self._accepted:
            self._accepted = True
            yield PromptAccepted()

    def _tool(self, block: Raw) -> Iterator[Event]:
        tool_id, name = text_in(block.get("id")), text_in(block.get("name"))
        self._names[tool_id] = name
        target = target_of(block.get("input"))
        if target is not None:
            self._requests.targets[tool_id] = target
        yield ToolStarted(tool_id, name, target)

    def _tell(self, stop: str) -> Iterator[Event]:
        """The texts that are known to be whole; while something is asked of the user they wait, for they'd close it."""
        if stop == "tool" and self._requests.open:
            return
        said, self._said = self._said, []
        for number, (text, model) in enumerate(said, 1):
            yield AssistantMessage(text, stop if number == len(said) else "tool", model=model)

    def _user(self, raw: Raw) -> Iterator[Event]:
        message = _dict(raw.get("message"))
        if raw.get("isReplay") is True and not self._accepted:
            self._accepted = True
            yield PromptAccepted(_text_of(message))
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                yield from self._tell("tool")
                tool_id = text_in(block.get("tool_use_id"))
                for request_id in self._requests.of_tool(tool_id):
                    yield RequestClosed(request_id)
                self._requests.targets.pop(tool_id, None)
                said = preview(_text_of(block).strip())
                yield ToolEnded(tool_id, self._names.pop(tool_id, ""), block.get("is_error") is True, said)

    def _control_request(self, raw: Raw) -> Iterator[Event]:
        yield from self._tell("tool")
        yield from self._requests.opened(raw, target_of)

    def _cancelled(self, raw: Raw) -> Iterator[Event]:
        yield from self._requests.cancelled(text_in(raw.get("request_id")))

    def _denial(self, tool_id: str) -> Iterator[Event]:
        if tool_id and tool_id not in self._denied:
            self._denied.add(tool_id)
            yield RequestClosed(tool_id, denied=True)

    def _result(self, raw: Raw) -> Iterator[Event]:
        """The end of a turn. More may follow, so only the last one and the exit are the run's end."""
        self._in_turn = False
        denials = raw.get("permission_denials")
        for denial in denials if isinstance(denials, list) else []:
            yield from self._denial(text_in(_dict(denial).get("tool_use_id")))
        yield UsageReported(self._usage(raw))
        subtype, why = text_in(raw.get("subtype")), text_in(raw.get("terminal_reason"))
        aborted = why.startswith("aborted")
        if aborted:
            yield from self._tell("tool")
            yield AssistantMessage(stop="aborted")
        elif raw.get("is_error") is True or subtype.startswith("error"):
            yield from self._failed(raw, subtype)
        elif not self._said:
            yield AssistantMessage(text_in(raw.get("result")) if raw.get("num_turns") == 0 else "", _stop(raw))
        else:
            yield from self._tell(_stop(raw))
        self._retrying = False
        if self._tasks == 0 and not self._requests.open:
            yield Settled(aborted)

    def _failed(self, raw: Raw, subtype: str) -> Iterator[Event]:
        yield from self._tell("tool")
        errors = raw.get("errors")
        said = text_in(raw.get("result")) or " ".join(
            text_in(error) for error in errors or [] if isinstance(errors, list)
        )
        status = raw.get("api_error_status")
        error = _LIMITS.get(subtype) or plain_error(said, status if isinstance(status, int) else None)
        yield AssistantMessage(stop="error", error=error)
        if self._retrying:
            yield RetryEnded(ok=False, error=error)

    def _usage(self, raw: Raw) -> Usage:
        """What the turn used. The cost counts the whole session (before 2.1.3 the process): the new part is taken."""
        usage, since = _dict(raw.get("usage")), raw.get("model_usage_since_last_result")
        if isinstance(since, dict):
            cost = sum(_number(_dict(model).get("costUSD")) for model in since.values())
        else:
            total = _number(raw.get("total_cost_usd"))
            cost, self._cost = max(0.0, total - self._cost), total
        spent = round(cost, 9) or None
        told = Usage(
            input=_count(usage.get("input_tokens")),
            output=_count(usage.get("output_tokens")),
            cache_read=_count(usage.get("cache_read_input_tokens")),
            cache_write=_count(usage.get("cache_creation_input_tokens")),
            cost_usd=spent,
        )
        counted = told.input or told.output or told.cache_read or told.cache_write
        return told if counted else Usage(cost_usd=spent)  # zeros where nothing was counted


def transcript(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a transcript's entries. Torn lines, subagents' and unknown entries are passed over."""
    names: dict[str, str] = {}
    for line in lines:
        raw = parsed(line)
        if raw is None or raw.get("isSidechain") is True or raw.get("isMeta") is True:
            continue
        message = _dict(raw.get("message"))
        if raw.get("type") == "assistant" and message.get("model") != _SYNTHETIC:
            yield from _entry(message, names)
        elif raw.get("type") == "assistant" and raw.get("isApiErrorMessage") is True:
            yield AssistantMessage(stop="error", error=plain_error(_text_of(message)))
        elif raw.get("type") == "user":
            results = [block for block in _blocks(message) if block.get("type") == "tool_result"]
            for block in results:
                tool_id = text_in(block.get("tool_use_id"))
                said = preview(_text_of(block).strip())
                yield ToolEnded(tool_id, names.pop(tool_id, ""), block.get("is_error") is True, said)
            text = _text_of(message)
            if text.startswith("[Request interrupted"):
                yield AssistantMessage(stop="aborted")
            elif not results and text:
                yield PromptAccepted(text)


def _entry(message: Raw, names: dict[str, str]) -> Iterator[Event]:
    stops = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
    for block in _blocks(message):
        if block.get("type") == "text":
            stop = stops.get(text_in(message.get("stop_reason")), "tool")
            yield AssistantMessage(text_in(block.get("text")), stop, model=text_in(message.get("model")) or None)
        elif block.get("type") == "tool_use":
            names[text_in(block.get("id"))] = text_in(block.get("name"))
            yield ToolStarted(text_in(block.get("id")), text_in(block.get("name")), target_of(block.get("input")))


# Reading JSON that may hold anything


def parsed(line: bytes) -> Raw | None:
    """The object of a line; None when it is none."""
    if not line.startswith(b"{"):
        return None
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def text_in(value: Any) -> str:
    """A string, or an empty one."""
    return value if isinstance(value, str) else ""


def target_of(given: Any) -> str | None:
    """What a tool call works on: its path, command or pattern, else its first string."""
    values = _dict(given)
    for key in _TARGETS:
        if found := text_in(values.get(key)).strip():
            return found
    return next((value for value in values.values() if isinstance(value, str) and value.strip()), None)


def _dict(value: Any) -> Raw:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _delay(raw: Raw) -> int | None:
    return round(_number(raw.get("retry_delay_ms"))) or None


def _stop(raw: Raw) -> str:
    return "length" if raw.get("stop_reason") == "max_tokens" else "stop"


def _blocks(message: Raw) -> list[Raw]:
    content = message.get("content")
    return [_dict(block) for block in content] if isinstance(content, list) else []


def _text_of(holder: Raw) -> str:
    """The text of a message or of a tool's result."""
    content = holder.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text_in(block.get("text")) for block in _blocks(holder) if block.get("type") == "text")
