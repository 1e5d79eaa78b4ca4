"""Lines of JSON of which nothing is certain, read without a complaint."""

import json
from typing import Any

Raw = dict[str, Any]


def object_of(text: bytes | str) -> Raw:
    """The JSON object in a text; an empty one where there is none."""
    if text[:1] not in (b"{", "{"):
        return {}
    try:
        return dict_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def dict_of(value: Any) -> Raw:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """The value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """The value if it is a whole number, else 0."""
    return value if type(value) is int else 0


def first_text(value: Any, keys: tuple[str, ...]) -> str | None:
    """The first of these entries of an object that is text with something in it: what a tool works on, mostly."""
    given = dict_of(value)
    return next((given[key] for key in keys if text_of(given.get(key)).strip()), None)
