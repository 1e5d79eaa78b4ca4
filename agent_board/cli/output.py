"""What a command prints: JSON for scripts, clean lines for people, sentences on stderr."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from agent_board.text import clean_line


def print_object(value: dict[str, Any]) -> None:
    """One JSON object on a line. All but printable ASCII is escaped, so no control byte reaches a terminal."""
    print(json.dumps(value), flush=True)


def print_array(values: Iterable[dict[str, Any]]) -> None:
    """One JSON array with an object a line."""
    body = ",\n".join(map(json.dumps, values))
    print(f"[\n{body}\n]" if body else "[]")


def say(sentence: str) -> None:
    """One clean line on stdout, at once."""
    print(clean_line(sentence), flush=True)


def warn(sentence: str) -> None:
    """One clean line on stderr."""
    if sys.stderr is not None:
        print(f"agent-board: {clean_line(sentence)}", file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def coloured() -> bool:
    """Whether colour is welcome: on a terminal that has it, and NO_COLOR not set."""
    return on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
