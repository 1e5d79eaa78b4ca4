"""The Gemini API for the scripted model: requests in, one server-sent chunk for each answer out."""

from typing import Any

Raw = dict[str, Any]


def as_chat(body: Raw, path: str) -> Raw:
    """A request in the words of chat completions, as far as scripts look at it."""
    messages = [_message(content) for content in body.get("contents") or []]
    named = [tool for group in body.get("tools") or [] for tool in group.get("functionDeclarations") or []]
    tools = [{"function": {"name": tool.get("name", "")}} for tool in named]
    model = path.rpartition("/")[2].partition(":")[0]
    return {"model": model, "messages": messages, "tools": tools, "raw": body}


def _message(content: Raw) -> Raw:
    parts = content.get("parts") or []
    role = "tool" if any("functionResponse" in part for part in parts) else str(content.get("role", "user"))
    return {"role": role, "content": [{"text": part.get("text", "")} for part in parts]}


def answer(text: str, tools: tuple[tuple[str, Raw | str], ...], usage: tuple[int, int, int]) -> Raw:
    """One answer."""
    calls = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in tools]
    parts = [*([{"text": text}] if text else []), *calls]
    prompt, completion, cached = usage
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": completion,
            "cachedContentTokenCount": cached,
            "totalTokenCount": prompt + completion,
        },
    }
