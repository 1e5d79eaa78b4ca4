"""The Anthropic Messages API for the scripted model, which Claude Code speaks: requests in, server-sent events out."""

import json
from collections.abc import Iterator
from typing import Any

Raw = dict[str, Any]


def as_chat(body: Raw) -> Raw:
    """A request in the words of chat completions, as far as scripts look at it."""
    messages = [_message(message) for message in body.get("messages") or [] if isinstance(message, dict)]
    tools = [{"function": {"name": tool.get("name", "")}} for tool in body.get("tools") or []]
    messages = [message for message in messages if message["role"] != "system" and message["content"] != []]
    return {**{key: body.get(key) for key in ("model", "stream")}, "messages": messages, "tools": tools, "raw": body}


def _message(message: Raw) -> Raw:
    """A message with tool results is the tool's; what Claude adds as reminders is nobody's."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    role = "tool" if any(block.get("type") == "tool_result" for block in blocks) else message.get("role")
    said = [block for block in blocks if block.get("type") == "text" and not _is_reminder(str(block.get("text", "")))]
    return {"role": role, "content": str(content) if role == "tool" else said}


def _is_reminder(text: str) -> bool:
    return text.lstrip().startswith("<system-reminder>")


def blocks(number: int, text: str, tools: tuple[tuple[str, Raw | str], ...]) -> list[Raw]:
    """The content of one answer."""
    said: list[Raw] = [{"type": "text", "text": text}] if text else []
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": given}
        for index, (name, given) in enumerate(tools)
    ]
    return [*said, *calls]


def whole(number: int, model: str, content: list[Raw], usage: tuple[int, int, int]) -> Raw:
    """The answer in one piece."""
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn",
        "stop_sequence": None,
        "usage": _usage(*usage),
    }


def stream(number: int, model: str, content: list[Raw], usage: tuple[int, int, int]) -> Iterator[Raw]:
    """The events of one answer."""
    answer = whole(number, model, content, usage)
    begun = answer | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(content):
        if block["type"] == "text":
            empty, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        else:
            empty, deltas = block | {"input": {}}, [_input(block["input"])]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage[1]}}
    yield {"type": "message_stop"}


def _input(given: Any) -> Raw:
    return {"type": "input_json_delta", "partial_json": given if isinstance(given, str) else json.dumps(given)}


def error(status: int, message: str | None) -> Raw:
    """An error's body."""
    kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}


def _usage(prompt: int, completion: int, cached: int) -> Raw:
    return {
        "input_tokens": prompt - cached,
        "output_tokens": completion,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }
