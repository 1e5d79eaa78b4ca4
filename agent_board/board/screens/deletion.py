"""The question before data is deleted: exactly what goes and what stays, and what would exist nowhere else any more."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.screen import ModalScreen

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.screens.confirm import Confirm
from agent_board.board.screens.confirm_name import ConfirmName
from agent_board.board.widgets.task_line import short_path
from agent_board.text import clean_line

if TYPE_CHECKING:
    from agent_board.runs.delete import DeletePlan

_ITEMS = 8
"""So many lost files or commits of a kind are named."""


class Choice(NamedTuple):
    """What can be deleted at once, and why the rest can't."""

    plans: "tuple[DeletePlan, ...]"
    reasons: tuple[str, ...] = ()

    @property
    def discards(self) -> bool:
        """Work would be lost: that is asked of one task alone."""
        return len(self.plans) == 1 and bool(self.plans[0].loses)


def choose(plans: "Sequence[DeletePlan]", failures: Sequence[str] = ()) -> Choice:
    """Leave out what can't be removed now, and of several what would lose work.

    `failures`: why there is no plan for some.
    """
    alone = len(plans) + len(failures) == 1
    kept, reasons = [], list(failures)
    for plan in plans:
        if plan.obstacle:
            reasons.append(plan.obstacle)
        elif plan.loses and not alone:
            reasons.append(f"deleting {plan.name} would lose {', '.join(plan.loses)}; delete it by itself.")
        else:
            kept.append(plan)
    return Choice(tuple(kept), tuple(reasons))


def question_for(choice: Choice, root: str, glyphs: Glyphs) -> ModalScreen[bool]:
    """The question for these plans in the store at `root`; lost work needs the name typed instead of a `y`."""
    one = len(choice.plans) == 1
    what = choice.plans[0].name if one else words.count(len(choice.plans), "task")
    question = f"Delete {what} for good?"
    detail = _detail(choice, root, glyphs)
    if choice.discards:
        return ConfirmName(question, choice.plans[0].name, detail)
    return Confirm(question, "delete it" if one else "delete them", "keep it" if one else "keep them", detail=detail)


def _detail(choice: Choice, root: str, glyphs: Glyphs) -> Content:
    plain: list[str] = []
    lost: list[str] = []
    removal = choice.plans[0].worktree
    if choice.discards and removal is not None:
        lost.append("This work is lost, it is nowhere else:")
        for loss in (*removal.lost, *removal.lost_with_branch):
            lost += [f"  {loss.what}", *(f"    {clean_line(item)}" for item in loss.items[:_ITEMS])]
            lost += [f"    and {loss.count - _ITEMS} more"] if loss.count > _ITEMS else []
    size = _size(sum(plan.bytes for plan in choice.plans))
    plain.append(f"This goes from {short_path(root)}, {size}, and can't be undone:")
    for plan in choice.plans:
        plain += [f"  {plan.name}"] if len(choice.plans) > 1 else []
        plain += [f"  {_what(path, root)}  {_short(path, root)}" for path in plan.goes]
    going_branch = removal.branch if choice.discards and removal is not None else None
    plain += [f"  {'branch'.ljust(13)}  {clean_line(going_branch)}"] if going_branch else []
    stays = [path for plan in choice.plans for path in plan.stays]
    if stays:
        plain.append("This stays, the board did not make it:")
        plain += [f"  {_what(path, root)}  {_short(path, root)}" for path in stays]
    notes = [note for plan in choice.plans for note in plan.notes]
    plain += [clean_line(note) for note in notes if not (going_branch and note.startswith("The branch "))]
    if choice.reasons:
        first, *others = map(clean_line, choice.reasons)
        plain.append(f"{words.count(len(choice.reasons), 'marked task')} left out: {first}")
        plain += [f"  {reason}" for reason in others]
    return Content.assemble(
        *((glyphs.text(line) + "\n", "$error") for line in lost), "\n".join(glyphs.text(line) for line in plain)
    )


def _what(path: str, root: str) -> str:
    if os.path.dirname(path) == os.path.join(root, "views"):
        return "runs and logs"
    return ("conversation" if path.endswith(".jsonl") else "worktree").ljust(13)


def _short(path: str, root: str) -> str:
    path = clean_line(path)
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else short_path(path)


def _size(count: int) -> str:
    for divisor, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}"
    return words.count(count, "byte")
