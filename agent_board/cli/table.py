"""Plain output for people: columns cut by cells to the terminal's width, clean text, colour only where welcome."""

import shutil
import time
from collections.abc import Sequence

from agent_board.cli.objects import Object
from agent_board.cli.output import coloured, on_terminal
from agent_board.text import cells, clean_line, cut

ORDER = ("needs_input", "failed", "working", "queued", "completed", "idle", "stopped")
_COLOURS = {"needs_input": "33", "failed": "31", "working": "36", "completed": "32", "unreadable": "31"}
_STATE_CELLS, _NAME_CELLS, _PROJECT_CELLS, _LEAST_CELLS = 11, 40, 20, 8
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def width() -> int | None:
    """Columns of the terminal, or None when the output goes elsewhere and nothing needs to be cut."""
    return shutil.get_terminal_size().columns if on_terminal() else None


def sort_key(found: Object) -> tuple[object, ...]:
    """The board's order: the state's group, pinned, creation, id."""
    state = found["semanticState"]
    group = ORDER.index(state) if state in ORDER else -1
    return (group, not found["pinned"], found["createdAt"] or 0, found["id"])


def table(views: Sequence[Object], columns: int | None) -> list[str]:
    """A line for each view: state, name (or id, where the name can't be read), project, age, summary."""
    rows = [_row(found) for found in views]
    most = [_STATE_CELLS, _NAME_CELLS, _PROJECT_CELLS, _STATE_CELLS]
    if columns is not None:  # the summary gets what is left, a third or so
        most[1] = min(_NAME_CELLS, max(_LEAST_CELLS, columns * 3 // 10))
        most[2] = min(_PROJECT_CELLS, max(_LEAST_CELLS, columns * 3 // 20))
    widths = [min(limit, max((cells(row[at]) for row in rows), default=0)) for at, limit in enumerate(most)]
    return [_line(row, widths, columns) for row in rows]


def _row(found: Object) -> list[str]:
    summary = found["unreadable"] or found["question"] or found["summary"] or ""
    return [
        found["semanticState"] or "unreadable",
        clean_line(found["name"] or found["id"]),
        project(found),
        age(found["stateSince"] or found["createdAt"]),
        clean_line(summary),
    ]


def project(found: Object) -> str:
    """The last part of the directory that the task belongs to."""
    folder = found["repoRoot"] or found["cwd"] or ""
    return clean_line(folder.rstrip("/").rpartition("/")[2] or folder)


def age(since_ms: int | None, now_ms: int | None = None) -> str:
    """Time since then in one short word; never negative, whatever the clocks say."""
    if since_ms is None:
        return ""
    seconds = max(0, (now_ms if now_ms is not None else time.time_ns() // 1_000_000) - since_ms) // 1000
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _line(row: list[str], widths: list[int], columns: int | None) -> str:
    shown = [cut(text, width) for text, width in zip(row, widths, strict=False)]
    padded = [text + " " * (width - cells(text)) for text, width in zip(shown, widths, strict=True)]
    line = "  ".join([*padded, row[-1]]).rstrip()
    return paint(line if columns is None else cut(line, columns), row[0])


def paint(line: str, state: str) -> str:
    """The line with its state's word at the beginning in the state's colour, where colour is welcome."""
    colour = _COLOURS.get(state)
    if colour is None or not coloured() or not line.startswith(state):
        return line
    return f"\x1b[{colour}m{state}\x1b[0m{line[len(state) :]}"
