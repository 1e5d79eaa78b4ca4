"""Boards for tests: the real app on a store of fake views, with a still clock and acts that start no process."""

import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandList, CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from agent_board.board.acts import Acts, AgentHere, Begun, NewTask
from agent_board.board.app import BoardApp
from agent_board.board.screens.board import BoardScreen
from agent_board.config import Settings
from agent_board.errors import BoardError
from agent_board.store.load import ViewRecord
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.support.fakestore import NOW_MS, make_view

PI = AgentHere("pi", "Pi", "npm install -g pi", found=True)
DEMO = AgentHere("demo", "Demo", "agent-board demo", found=True)
SHELL = AgentHere("shell", "Shell", "", found=True)


@dataclass
class FakeActs(Acts):
    """Notes what it is asked for; a started task becomes a queued view on disk, as dispatch would leave it."""

    started: list[NewTask] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    refusal: str = ""
    here: list[AgentHere] = field(default_factory=lambda: [PI, DEMO])
    left: int = 0
    warnings: tuple[str, ...] = ()
    slow: threading.Event | None = None
    """A start takes until this is set."""

    def start(self, task: NewTask) -> Begun:
        if self.slow is not None:
            assert self.slow.wait(20)
        if self.refusal:
            raise BoardError(self.refusal)
        self.started.append(task)
        view_id = f"new{len(self.started):07d}"
        make_view(self.paths, view_id, name="started", state=SemanticState.QUEUED, summary="Queued", age_ms=0)
        return Begun(view_id, self.warnings)

    def stop(self, view_id: str) -> str:
        if self.refusal:
            raise BoardError(self.refusal)
        self.stopped.append(view_id)
        return "Stopping."

    def leftovers(self, view_id: str, run_id: str) -> int:
        return self.left

    def reconcile(self, records: Iterable[ViewRecord]) -> list[str]:
        return []

    def agents(self) -> list[AgentHere]:
        return self.here


@dataclass
class Running:
    """A board under test."""

    app: BoardApp
    pilot: Pilot[int]
    acts: FakeActs

    @property
    def screen(self) -> BoardScreen:
        return self.app.board

    @property
    def selected(self) -> str | None:
        return self.screen.listing.selection.row_id

    def lines(self) -> list[str]:
        """The whole screen as text."""
        width, _ = self.app.size
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).ljust(width) for strip in strips]

    def text(self) -> str:
        return "\n".join(self.lines())

    def toasts(self) -> list[str]:
        return [note.message for note in self.app._notifications]

    async def until(self, condition: Callable[[], object], what: str = "the condition", timeout: float = 10.0) -> None:
        """Let the board work until something holds."""
        rounds = int(timeout / 0.02)
        for _ in range(rounds):
            if condition():
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"{what} did not come:\n{self.text()}")

    async def sees(self, words: str) -> None:
        """Wait until it stands on the screen."""
        await self.until(lambda: words in self.text(), words)

    async def by_palette(self, words: str) -> None:
        """Take the first act that the palette finds for these words."""
        await self.pilot.press("ctrl+p")
        await self.until(lambda: isinstance(self.app.screen, CommandPalette), "the palette")
        palette = self.app.screen
        await self.pilot.press(*words)

        def found() -> bool:
            searching = any(worker.node is palette and not worker.is_finished for worker in self.app.workers)
            return not searching and palette.query_one(CommandList).highlighted is not None

        await self.until(lambda: palette.query_one(Input).value == words and found(), "what it finds")
        await self.pilot.press("enter")
        await self.until(lambda: self.app.screen is not palette, "the act's turn")


@pytest.fixture
def here(tmp_path: Path) -> str:
    """The directory that boards are opened in."""
    folder = tmp_path / "src" / "api"
    folder.mkdir(parents=True)
    return str(folder)


class Starter:
    """Opens boards on one store."""

    def __init__(self, paths: StorePaths, cwd: str) -> None:
        self.paths = paths
        self.cwd = cwd

    def app(self, *, watching: bool = True, **settings: Any) -> tuple[BoardApp, FakeActs]:
        """A board that is not running yet."""
        chosen = Settings(**{"spinner": False, **settings})
        acts = FakeActs(self.paths, chosen)
        return BoardApp(self.paths, chosen, self.cwd, acts=acts, clock=lambda: NOW_MS, watching=watching), acts

    @asynccontextmanager
    async def __call__(
        self, size: tuple[int, int] = (100, 30), *, watching: bool = True, **settings: Any
    ) -> AsyncIterator[Running]:
        app, acts = self.app(watching=watching, **settings)
        async with app.run_test(size=size, notifications=True) as pilot:
            running = Running(app, pilot, acts)
            await running.until(lambda: running.screen.news.loaded and running.screen.agents, "the first frame")
            yield running


@pytest.fixture
def start(store: StorePaths, here: str) -> Starter:
    """`async with start() as board:`; the store is `start.paths`."""
    return Starter(store, here)
