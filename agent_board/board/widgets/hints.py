"""The bottom line: the keys that work here and now."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

Hint = tuple[str, str, str]
"""Key as written, what it does, and the action that a click runs (or none)."""


def hints_line(hints: Sequence[Hint], width: int) -> list[Hint]:
    """Those hints that fit, the last one (all keys) always among them."""
    kept: list[Hint] = []
    if not hints:
        return kept
    room = width - 1 - _cells(hints[-1])
    for hint in hints[:-1]:
        room -= _cells(hint)
        if room < 0:
            break
        kept.append(hint)
    return [*kept, hints[-1]]


def _cells(hint: Hint) -> int:
    return cell_len(hint[0]) + 1 + cell_len(hint[1]) + 2


class Hints(Widget):
    """One line of keys; a click does what the key does."""

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._hints: tuple[Hint, ...] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Say these."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """The line for the present width."""
        parts: list[tuple[str, str]] = [(" ", "")]
        for key, words, _ in hints_line(self._hints, self.size.width):
            parts.extend([(key, "bold $foreground"), (f" {words}", "$foreground-muted"), ("  ", "")])
        return Content.assemble(*parts)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does."""
        event.stop()
        left = event.x - 1
        for hint in hints_line(self._hints, self.size.width):
            if 0 <= left < _cells(hint) - 2 and hint[2]:
                await self.run_action(hint[2])
                break
            left -= _cells(hint)
