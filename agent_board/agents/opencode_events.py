"""What OpenCode says, as events: lines of `run --format json`, and the parts that its store keeps. As of 1.18."""

from collections.abc import Iterable, Iterator

from agent_board.agents.base import Reader
from agent_board.agents.events import (
    REFUSED,
    AssistantDelta,
    AssistantMessage,
    AssistantStarted,
    Event,
    PromptAccepted,
    RequestOpened,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.agents.provider_errors import sentence
from agent_board.agents.raw import Raw, count_of, dict_of, first_text, object_of
from agent_board.store.records import Usage
from agent_board.text import preview

LOG_IN = "run `opencode auth login`"
_REFUSED = "The user rejected permission"
_STOPS = {"stop": "stop", "tool-calls": "tool", "length": "length"}
_TARGETS = ("filePath", "path", "command", "pattern", "url", "query", "description")
_ABORTED = "MessageAbortedError"
_UNSAID = "Unexpected server error"


class OpenCodeReader(Reader):
    """Reads one run's stdout. Parts come when they are whole; what a step was for is said at its end."""

    def __init__(self) -> None:
        self._begun = False
        self._parts = Parts()

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        raw = object_of(line)
        kind, part = raw.get("type"), dict_of(raw.get("part"))
        if not isinstance(kind, str) or not isinstance(raw.get("sessionID"), str):
            return []
        told: list[Event] = [] if self._begun else [SessionStarted(raw["sessionID"]), PromptAccepted()]
        self._begun = True
        if kind == "error":
            return [*told, *self._parts.failed(dict_of(raw.get("error")))]
        return [*told, *self._parts.of(kind.replace("_", "-"), part)]

    def close(self) -> list[Event]:
        """See `Reader.close`."""
        return self._parts.cut_off()


class Parts:
    """The parts of a conversation, one after the other: text is held back until it is known what it was said for."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._asked = False

    def of(self, kind: str, part: Raw) -> Iterator[Event]:
        """The events of one part."""
        match kind:
            case "step-start":
                self._asked = False
                yield AssistantStarted()
            case "text":
                text = str(part.get("text") or "")
                self._texts.append(text)
                yield AssistantDelta(text)
            case "tool-use" | "tool":
                yield from self.cut_off()
                yield from self._tool(part)
            case "step-finish":
                yield from self._step(part)

    def cut_off(self) -> list[Event]:
        """What was said before something else came."""
        text, self._texts = "\n\n".join(self._texts), []
        return [AssistantMessage(text, stop="tool")] if text else []

    def failed(self, error: Raw) -> Iterator[Event]:
        """The error that ends a turn."""
        yield from self.cut_off()
        aborted = error.get("name") == _ABORTED
        yield AssistantMessage(stop="aborted") if aborted else AssistantMessage(stop="error", error=_error(error))
        yield Settled(aborted=aborted)

    def _tool(self, part: Raw) -> Iterator[Event]:
        state = dict_of(part.get("state"))
        key, name = str(part.get("callID") or ""), str(part.get("tool") or "tool")
        target = first_text(state.get("input"), _TARGETS)
        yield ToolStarted(key, name, target)
        if state.get("status") not in ("completed", "error"):
            return
        code = dict_of(state.get("metadata")).get("exit")
        error = str(state.get("error") or "")
        is_error = state.get("status") == "error" or name == "invalid" or (type(code) is int and code != 0)
        yield ToolEnded(key, name, is_error, preview(str(error or state.get("output") or "").strip()))
        if error.startswith(_REFUSED):
            self._asked = True
            yield RequestOpened(f"{key}:permission", REFUSED, _question(name, target))

    def _step(self, part: Raw) -> Iterator[Event]:
        stop = _STOPS.get(str(part.get("reason")), "stop")
        text, self._texts = "\n\n".join(self._texts), []
        usage = usage_of(part)
        if text or stop != "tool":
            yield AssistantMessage(text, stop=stop, usage=usage)
        elif usage is not None:
            yield UsageReported(usage)
        if stop == "stop":
            yield Settled()


def _question(tool: str, target: str | None) -> str:
    what = f"{tool}: {preview(target)}" if target else tool
    return f"May it do this? {what} (OpenCode refused it, having nobody to ask; attach to allow it)"


def _error(error: Raw) -> str:
    data = dict_of(error.get("data"))
    status, said = data.get("statusCode"), str(data.get("message") or error.get("name") or "")
    if said.startswith(_UNSAID):
        return (
            "OpenCode failed without saying why; mostly the model is unknown: `opencode models` names those there are."
        )
    return sentence(status if type(status) is int else None, said, LOG_IN)


def usage_of(part: Raw) -> Usage | None:
    """What one step used; reasoning counts as output."""
    tokens = dict_of(part.get("tokens"))
    cache = dict_of(tokens.get("cache"))
    read, written = count_of(cache.get("read")), count_of(cache.get("write"))
    fresh, output = count_of(tokens.get("input")), count_of(tokens.get("output")) + count_of(tokens.get("reasoning"))
    if not any((fresh, output, read, written)):
        return None
    cost = part.get("cost")
    priced = float(cost) if isinstance(cost, int | float) and cost > 0 else None
    return Usage(input=fresh, output=output, cache_read=read, cache_write=written, cost_usd=priced)


def conversation(messages: Iterable[tuple[str, list[str]]]) -> Iterator[Event]:
    """The events of stored messages with their parts, each as the JSON that the store keeps."""
    parts = Parts()
    for data, kept in messages:
        message = object_of(data)
        found = [object_of(part) for part in kept]
        if message.get("role") == "user":
            yield from parts.cut_off()
            typed = [part for part in found if part.get("type") == "text" and not part.get("synthetic")]
            yield PromptAccepted("".join(str(part.get("text") or "") for part in typed))
            continue
        for part in found:
            yield from parts.of(str(part.get("type")), part)
        if message.get("error"):
            yield from parts.failed(dict_of(message["error"]))
    yield from parts.cut_off()
