"""The question before data is deleted: exactly what goes and what stays, and `y` alone says yes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.screens.confirm import Confirm
from agent_board.board.widgets.task_line import short_path

if TYPE_CHECKING:
    from agent_board.runs.delete import DeletePlan


def question_for(plans: "Sequence[DeletePlan]", glyphs: Glyphs) -> Confirm:
    """The question for these plans. Work that exists nowhere else would need more than a `y`; plans hold none yet."""
    one = len(plans) == 1
    what = plans[0].name if one else words.count(len(plans), "task")
    size = _size(sum(plan.bytes for plan in plans))
    return Confirm(
        f"Delete {what} for good?",
        "delete it" if one else "delete them",
        "keep it" if one else "keep them",
        detail=_detail(plans, size, glyphs),
    )


def _detail(plans: "Sequence[DeletePlan]", size: str, glyphs: Glyphs) -> str:
    lines = [f"This goes, {size}, and can't be undone:"]
    lines += [f"  {short_path(path)}" for plan in plans for path in plan.goes]
    stays = [path for plan in plans for path in plan.stays]
    if stays:
        lines.append("This stays, the board did not make it:")
        lines += [f"  {short_path(path)}" for path in stays]
    return "\n".join(lines)


def _size(count: int) -> str:
    for divisor, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}"
    return words.count(count, "byte")
