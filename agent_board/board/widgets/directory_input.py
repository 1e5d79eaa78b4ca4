"""The directory field: completes paths, and walks through the directories used lately."""

import asyncio
import os
from collections.abc import Sequence

from textual import events
from textual.suggester import Suggester
from textual.widgets import Input

from agent_board.board.widgets.task_line import short_path


def completed(text: str, recent: Sequence[str]) -> str | None:
    """The text completed to a recent directory or one on disk; None when nothing fits. Reads the disk."""
    if not text:
        return None
    for path in recent:
        for written in (short_path(path), path):
            if written.startswith(text) and written != text:
                return written
    folder, part = os.path.split(text)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(part) and entry.is_dir())
    except OSError:
        return None
    fitting = [name for name in names if part.startswith(".") or not name.startswith(".")]
    return os.path.join(folder, fitting[0]) + "/" if fitting and part else None


class _Directories(Suggester):
    """Looks on the disk in a thread."""

    def __init__(self, recent: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._recent = recent

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(completed, value, self._recent)


class DirectoryInput(Input):
    """Tab or → takes the completion, ↑ ↓ walk through recent directories."""

    def __init__(self, path: str, recent: Sequence[str]) -> None:
        super().__init__(
            short_path(path), id="directory", compact=True, suggester=_Directories(recent), select_on_focus=False
        )
        self._recent = [short_path(folder) for folder in recent]

    @property
    def path(self) -> str:
        """The directory as an absolute path; empty stays empty."""
        text = self.value.strip()
        return os.path.abspath(os.path.expanduser(text)) if text else ""

    def on_key(self, event: events.Key) -> None:
        """Completion and recent directories; every other key is the input's."""
        if event.key == "tab" and self._suggestion and self._suggestion != self.value:
            event.stop()
            event.prevent_default()
            self.action_cursor_right()
        elif event.key in ("up", "down") and self._recent:
            event.stop()
            event.prevent_default()
            self._walk(1 if event.key == "down" else -1)

    def _walk(self, step: int) -> None:
        value = self.value.rstrip("/")
        at = self._recent.index(value) if value in self._recent else (-1 if step > 0 else 0)
        self.value = self._recent[(at + step) % len(self._recent)]
        self.cursor_position = len(self.value)
