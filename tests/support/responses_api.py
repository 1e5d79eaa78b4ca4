"""The OpenAI Responses API for the scripted model, which Codex speaks: requests in, server-sent events out."""

import json
from collections.abc import Iterator
from typing import Any

Raw = dict[str, Any]


def as_chat(body: Raw) -> Raw:
    """A request in the words of chat completions, as far as scripts look at it."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    messages = [_message(item) for item in items if isinstance(item, dict)]
    tools = [{"function": {"name": tool.get("name", tool.get("type", ""))}} for tool in body.get("tools") or []]
    return {"model": body.get("model"), "messages": [m for m in messages if m], "tools": tools, "raw": body}


def _message(item: Raw) -> Raw:
    kind = str(item.get("type", "message"))
    if kind == "message":
        return {"role": item.get("role", "user"), "content": item.get("content")}
    return {"role": "tool", "content": str(item.get("output"))} if kind.endswith("_output") else {}


def stream(number: int, model: str, text: str, tools: tuple[tuple[str, Raw | str], ...], usage: Raw) -> Iterator[Raw]:
    """The events of one answer. Arguments given as text are those of a free-form tool."""
    items: list[Raw] = []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for index, (name, arguments) in enumerate(tools):
        call = {"call_id": f"call_{number}_{index}", "name": name}
        if isinstance(arguments, str):
            items.append({"type": "custom_tool_call", "id": f"ctc_{number}_{index}", "input": arguments} | call)
        else:
            given = {"arguments": json.dumps(arguments)}
            items.append({"type": "function_call", "id": f"fc_{number}_{index}"} | call | given)
    response: Raw = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": model, "output": []}
    yield {"type": "response.created", "response": response | {"status": "in_progress"}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item | {"status": "in_progress"}}
        yield from _pieces(index, item)
        yield {"type": "response.output_item.done", "output_index": index, "item": item | {"status": "completed"}}
    done = response | {"status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": done}


def _pieces(index: int, item: Raw, size: int = 16) -> Iterator[Raw]:
    if item["type"] != "message":
        return
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    text = item["content"][0]["text"]
    yield {"type": "response.content_part.added", "part": {"type": "output_text", "text": "", "annotations": []}} | at
    for start in range(0, len(text), size):
        yield {"type": "response.output_text.delta", "delta": text[start : start + size]} | at
    yield {"type": "response.output_text.done", "text": text} | at
    yield {"type": "response.content_part.done", "part": item["content"][0]} | at


def usage_of(prompt: int, completion: int, cached: int) -> Raw:
    """What an answer cost."""
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
