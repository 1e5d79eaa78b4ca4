"""A scripted model that answers what a test wrote down: OpenAI's chat completions or Responses API, or Gemini's.

It lets a real coding agent run from end to end without a network. It listens on loopback only, serves each request in
its own thread, gives out at most `most` answers and ends with its `with` block (or after `seconds`, whichever is
first), so a forgotten test leaves nothing behind.

    with ModelServer(say("hello")) as server:
        server.script(use("bash", command="ls"), say("done"), when="list the files")
        ...
        assert server.prompts == ["list the files"]
"""

import json
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support import anthropic_api, gemini_api, responses_api

MODEL = "scripted"
Message = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One answer. Everything is optional; `say`, `use`, `report`, `refuse`, `cut` and `silent` make the usual ones."""

    text: str = ""
    thinking: str = ""
    tools: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    """Name and arguments of each call; arguments given as a string are sent as they are, so that they can be broken."""
    finish: str | None = None
    """Why the answer ends; by default `tool_calls` or `stop`."""
    status: int | None = None
    """Answer with this HTTP status and an error body instead of a stream."""
    message: str | None = None
    """The error body's message."""
    cut_after: int | None = None
    """Drop the connection after that many deltas."""
    hold: threading.Event | None = None
    """Say nothing until the test sets it: before the headers, or after `hold_at` deltas."""
    hold_at: int | None = None
    delay: float = 0.0
    """Seconds between deltas."""
    chunk: int = 16
    """Characters of a delta."""
    usage: tuple[int, int, int] | None = (100, 20, 0)
    """Prompt, completion and cached tokens; None sends none."""


def say(text: str, **more: Any) -> Step:
    """A plain answer."""
    return Step(text=text, **more)


def use(name: str, text: str = "", **arguments: Any) -> Step:
    """One tool call, with a sentence before it if there is `text`."""
    return Step(text=text, tools=((name, arguments),))


def report(status: str, summary: str, question: str | None = None) -> Step:
    """A call of the report tool that our extension brings."""
    arguments = {"status": status, "summary": summary} | ({} if question is None else {"question": question})
    return Step(tools=(("report", arguments),))


def refuse(status: int, message: str | None = None) -> Step:
    """An HTTP error."""
    return Step(status=status, message=message or f"the scripted model says {status}")


def cut(text: str, after: int = 2) -> Step:
    """An answer whose connection is dropped in the middle."""
    return Step(text=text, cut_after=after)


def silent() -> Step:
    """Accepts the request and says nothing, until the server ends."""
    return Step(hold=threading.Event())


def held(step: Step, event: threading.Event, at: int | None = None) -> Step:
    """The same answer, but not before the test sets the event; with `at`, after that many deltas."""
    return replace(step, hold=event, hold_at=at)


@dataclass(frozen=True)
class Request:
    """One request that the server received."""

    number: int
    at: float
    """On the monotonic clock."""
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Message]:
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @property
    def last_user(self) -> str:
        """The last user message as plain text."""
        return next((_plain(m) for m in reversed(self.messages) if m.get("role") == "user"), "")

    @property
    def is_prompt(self) -> bool:
        """Whether the conversation ends with the user's word (else with a tool's result)."""
        return bool(self.messages) and self.messages[-1].get("role") == "user"

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model may call."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]


def _plain(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


@dataclass
class _Script:
    """Answers in order, for the requests that it fits."""

    steps: list[Step]
    when: str | None
    model: str | None
    forever: bool
    used: int = field(default=0)

    def fits(self, request: Request) -> bool:
        return (self.when is None or self.when in request.last_user) and (self.model in (None, request.model))

    def next(self) -> Step | None:
        if self.used < len(self.steps):
            self.used += 1
            return self.steps[self.used - 1]
        return self.steps[-1] if self.forever and self.steps else None


class ModelServer:
    """The server; see the module's text. All methods may be called from any thread."""

    def __init__(self, *steps: Step, forever: bool = False, most: int = 300, seconds: float = 300.0) -> None:
        self.requests: list[Request] = []
        self._scripts: list[_Script] = []
        self._changed = threading.Condition()
        self._most = most
        self._end = time.monotonic() + seconds
        self.ended = threading.Event()
        self._http = _Server(self)
        self.port: int = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        if steps:
            self.script(*steps, forever=forever)

    def script(
        self, *steps: Step, when: str | None = None, model: str | None = None, forever: bool = False
    ) -> "ModelServer":
        """Add answers for requests whose last user message contains `when` and that name `model`.

        The first script that fits and has an answer left gives it; those with `when` or `model` come before those
        without. With `forever` the last answer is repeated.
        """
        with self._changed:
            self._scripts.append(_Script(list(steps), when, model, forever))
            self._scripts.sort(key=lambda s: (s.when is None, s.model is None))
        return self

    @property
    def prompts(self) -> list[str]:
        """The user's words of each request that ends with them, in order; a retried one stands there again."""
        with self._changed:
            return [request.last_user for request in self.requests if request.is_prompt]

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> list[Request]:
        """Wait until so many requests have come. Raises AssertionError when they don't."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, timeout):
                raise AssertionError(f"{len(self.requests)} of {count} requests came within {timeout:g} s")
            return list(self.requests)

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Request, Step]:
        """Record a request and choose its answer."""
        with self._changed:
            request = Request(len(self.requests) + 1, time.monotonic(), body, headers)
            self.requests.append(request)
            self._changed.notify_all()
            if request.number > self._most:
                return request, refuse(400, "the scripted model has answered enough")
            fitting = (script.next() for script in self._scripts if script.fits(request))
            return request, next((s for s in fitting if s is not None), refuse(400, "no answer is written down"))

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the server's end."""
        self.ended.wait(min(seconds, max(0.0, self._end - time.monotonic())))

    def wait_on(self, event: threading.Event) -> None:
        """Wait for a test's event, but not beyond the server's end."""
        while not event.wait(0.05) and not self.ended.is_set():
            if time.monotonic() > self._end:
                self.ended.set()

    def __enter__(self) -> "ModelServer":
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True, name="model-server").start()
        timer = threading.Timer(max(0.0, self._end - time.monotonic()), self.close)
        timer.daemon = True
        timer.start()
        self._timer = timer
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.close()

    def close(self) -> None:
        """End: held answers are dropped, the port is closed. Calling it twice is fine."""
        if not self.ended.is_set():
            self.ended.set()
            self._http.shutdown()
            self._http.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, owner: ModelServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about: nothing is printed."""


class _Cut(Exception):
    """The script says that the connection breaks here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """The list of models, for agents that ask."""
        self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """One completion."""
        try:
            body = json.loads(self._body())
        except ValueError:
            self._json(400, {"error": {"message": "not JSON"}})
            return
        if self._speaks_responses:
            body = responses_api.as_chat(body)
        elif self._speaks_gemini:
            body = gemini_api.as_chat(body, self.path)
        elif self._speaks_anthropic:
            body = anthropic_api.as_chat(body)
            if not body["tools"]:  # titles and the like are no part of the script
                self._answer_anthropic(Request(0, 0.0, body, {}), say("Scripted title"))
                return
        request, step = self.server.owner.take(body, dict(self.headers))
        if step.hold is not None and step.hold_at is None:
            self.server.owner.wait_on(step.hold)
        if self.server.owner.ended.is_set():
            self.close_connection = True
        elif step.status is not None:
            error = {"message": step.message, "type": "scripted_error", "code": step.status}
            said = anthropic_api.error(step.status, step.message) if self._speaks_anthropic else {"error": error}
            self._json(step.status, said)
        elif self._speaks_anthropic:
            self._answer_anthropic(request, step)
        elif self._speaks_responses:
            self._stream_responses(request, step)
        elif self._speaks_gemini:
            self._begin_stream()
            self._event(gemini_api.answer(step.text, step.tools, step.usage or (0, 0, 0)))
        elif body.get("stream"):
            self._stream(request, step)
        else:
            self._json(200, _whole(request, step))

    def _answer_anthropic(self, request: Request, step: Step) -> None:
        """The same answer in the Messages API; its pieces are events."""
        content = anthropic_api.blocks(request.number, step.text, step.tools)
        answer = (request.number, request.model, content, step.usage or (0, 0, 0))
        if not request.body.get("stream"):
            self._json(200, anthropic_api.whole(*answer))
            return
        self._begin_stream()
        try:
            for number, event in enumerate(anthropic_api.stream(*answer)):
                self._point(step, number)
                self.wfile.write(f"event: {event['type']}\n".encode())
                self._event(event)
        except _Cut:
            return

    @property
    def _speaks_anthropic(self) -> bool:
        return self.path.partition("?")[0].endswith("/messages")

    @property
    def _speaks_gemini(self) -> bool:
        return ":" in self.path and "enerateContent" in self.path

    @property
    def _speaks_responses(self) -> bool:
        return self.path.endswith("/responses")

    def _body(self) -> bytes:
        length = int(self.headers.get("Content-Length") or 0)
        if length or "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
            return self.rfile.read(length)
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _begin_stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _stream_responses(self, request: Request, step: Step) -> None:
        """The same answer in the Responses API; its pieces are events."""
        self._begin_stream()
        usage = responses_api.usage_of(*(step.usage or (0, 0, 0)))
        events = responses_api.stream(request.number, request.model, step.text, step.tools, usage)
        try:
            for number, event in enumerate(events):
                self._point(step, number)
                self.wfile.write(f"event: {event['type']}\n".encode())
                self._event(event)
        except _Cut:
            return

    def _stream(self, request: Request, step: Step) -> None:
        self._begin_stream()
        base = {"id": f"answer-{request.number}", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        deltas = _deltas(request, step)
        try:
            for number, delta in enumerate(deltas):
                self._point(step, number)
                self._event(base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            if max(step.cut_after or 0, step.hold_at or 0) >= len(deltas):
                self._point(replace(step, hold_at=len(deltas)), len(deltas))
        except _Cut:
            return
        finish = step.finish or ("tool_calls" if step.tools else "stop")
        self._event(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if step.usage is not None:
            self._event(base | {"choices": [], "usage": _usage(*step.usage)})
        self.wfile.write(b"data: [DONE]\n\n")

    def _point(self, step: Step, number: int) -> None:
        """What the script wants to happen before delta `number`."""
        if step.cut_after is not None and number >= step.cut_after:
            raise _Cut
        if step.hold is not None and step.hold_at == number:
            self.server.owner.wait_on(step.hold)
        if step.delay:
            self.server.owner.pause(step.delay)
        if self.server.owner.ended.is_set():
            raise _Cut

    def _event(self, value: Any) -> None:
        self.wfile.write(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")
        self.wfile.flush()


def _whole(request: Request, step: Step) -> dict[str, Any]:
    """An answer for a client that wants no stream."""
    calls = [
        {
            "id": f"call_{request.number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for index, (name, given) in enumerate(step.tools)
    ]
    message = {"role": "assistant", "content": step.text} | ({"tool_calls": calls} if calls else {})
    finish = step.finish or ("tool_calls" if calls else "stop")
    return {
        "id": f"answer-{request.number}",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(*(step.usage or (0, 0, 0))),
    }


def _usage(prompt: int, completion: int, cached: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _deltas(request: Request, step: Step) -> list[dict[str, Any]]:
    """The pieces of an answer in the order in which a model sends them."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in _pieces(step.thinking, step.chunk)]
    deltas += [{"content": piece} for piece in _pieces(step.text, step.chunk)]
    for index, (name, arguments) in enumerate(step.tools):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"id": f"call_{request.number}_{index}", "type": "function"}
        deltas.append({"tool_calls": [{"index": index, **call, "function": {"name": name, "arguments": ""}}]})
        for piece in _pieces(text, 64 * step.chunk):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
