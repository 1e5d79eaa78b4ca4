"""Names: made from a prompt's first words, or checked as given."""

import re

from agent_board.errors import UsageError
from agent_board.text import cells, clean_line

LONGEST_NAME = 40
_LONGEST_GIVEN = 100
_FALLBACK = "task"


def name_from(prompt: str, taken: set[str]) -> str:
    """Lower-case words of the prompt joined by `-`, at most 40 cells, with `-2` and so on if taken."""
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", clean_line(prompt[:400]).lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else _head(word, LONGEST_NAME)
        if cells(longer) > LONGEST_NAME:
            break
        name = longer
    return free_name(name or _FALLBACK, taken)


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the first of `name-2`, `name-3` … that isn't taken, never longer than 40 cells if `name` isn't."""
    candidate, number = name, 2
    while candidate in taken:
        suffix = f"-{number}"
        candidate = _head(name, max(LONGEST_NAME, cells(name)) - len(suffix)) + suffix
        number += 1
    return candidate


def checked_name(name: str, taken: set[str]) -> str:
    """A name that the user gave, as it will be kept. Raises UsageError with what is wrong with it."""
    cleaned = clean_line(name)
    if not cleaned:
        raise UsageError("The name is empty; give at least one letter.")
    if cleaned != " ".join(name.split()):
        raise UsageError("The name holds control characters; use plain letters on one line.")
    if cells(cleaned) > _LONGEST_GIVEN:
        raise UsageError(f"The name is too long ({cells(cleaned)} cells); use at most {_LONGEST_GIVEN}.")
    if cleaned in taken:
        raise UsageError(f"There is a task named “{cleaned}” already; choose another name.")
    return cleaned


def _head(text: str, width: int) -> str:
    kept, used = [], 0
    for char in text:
        used += cells(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip("-")
