"""The question before data is deleted: exactly what goes and what stays, and `y` alone says yes."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.screens.confirm import Confirm
from agent_board.board.widgets.task_line import short_path

if TYPE_CHECKING:
    from agent_board.runs.delete import DeletePlan


def question_for(plans: "Sequence[DeletePlan]", root: str, glyphs: Glyphs) -> Confirm:
    """The question for these plans in the store at `root`.

    Work that exists nowhere else would need its name typed instead of a `y`; no plan holds any yet.
    """
    one = len(plans) == 1
    what = plans[0].name if one else words.count(len(plans), "task")
    size = _size(sum(plan.bytes for plan in plans))
    return Confirm(
        f"Delete {what} for good?",
        "delete it" if one else "delete them",
        "keep it" if one else "keep them",
        detail="\n".join(glyphs.text(line) for line in _lines(plans, root, size)),
    )


def _lines(plans: "Sequence[DeletePlan]", root: str, size: str) -> list[str]:
    lines = [f"This goes from {short_path(root)}, {size}, and can't be undone:"]
    for plan in plans:
        lines += [f"  {plan.name}"] if len(plans) > 1 else []
        lines += [f"  {_what(path)}  {_short(path, root)}" for path in plan.goes]
    stays = [path for plan in plans for path in plan.stays]
    if stays:
        lines.append("This stays, the board did not make it:")
        lines += [f"  {_what(path)}  {_short(path, root)}" for path in stays]
    return lines


def _what(path: str) -> str:
    return ("runs and logs" if os.path.basename(os.path.dirname(path)) == "views" else "conversation").ljust(13)


def _short(path: str, root: str) -> str:
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else short_path(path)


def _size(count: int) -> str:
    for divisor, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}"
    return words.count(count, "byte")
