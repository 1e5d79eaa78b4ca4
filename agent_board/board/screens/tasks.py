"""Starting and stopping tasks from the board: bar, question, thread, and what is said when it fails."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from agent_board.board.acts import Acts, AgentHere, NewTask
from agent_board.board.feed import Feed
from agent_board.board.journal import Journal
from agent_board.board.memory import Memory
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.listing import Listing
from agent_board.board.model.row import Row
from agent_board.board.widgets.hints import Hints
from agent_board.board.widgets.session_list import SessionList
from agent_board.board.widgets.task_line import TaskLine, short_path
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.widgets.new_task import NewTaskBar

STOPPING = "stopping"
AWAITED_S = 0.6
"""A new row that is not in the list after so long is one that the filter or the scope leaves out."""
DRAFT_S = 1.0
"""A draft is kept on disk this long after the last key."""


class Parts(NamedTuple):
    """What the app puts together for its screen."""

    feed: Feed
    acts: Acts
    memory: Memory
    journal: Journal
    glyphs: Glyphs
    clock: Callable[[], int]
    """Wall time in epoch milliseconds, for ages."""
    cwd: str
    """Where the board was opened."""
    here: str
    """The project there; empty when the directory is gone."""
    spinner: bool


class TaskScreen(Screen[None]):
    """The part of the board's screen that starts and stops tasks. What is slow runs in a thread."""

    listing: Listing
    list: SessionList
    hints: Hints
    task_line: TaskLine

    class Remember(Message):
        """Something worth keeping until the next start has changed."""

    class Started(Message):
        """A thread has started a task, or could not."""

        def __init__(self, task: NewTask, view_id: str, failure: str = "", warnings: Sequence[str] = ()) -> None:
            super().__init__()
            self.task = task
            self.view_id = view_id
            self.failure = failure
            self.warnings = warnings

    class Stopped(Message):
        """A thread has asked a run to stop, or could not."""

        def __init__(self, view_id: str, sentence: str, *, failed: bool) -> None:
            super().__init__()
            self.view_id = view_id
            self.sentence = sentence
            self.failed = failed

    class AgentsFound(Message):
        """A thread has looked which agents are here."""

        def __init__(self, agents: Sequence[AgentHere], default: str | None) -> None:
            super().__init__()
            self.agents = agents
            self.default = default

    def __init__(self, parts: Parts) -> None:
        super().__init__(id="board")
        self.acts = parts.acts
        self.memory = parts.memory
        self.journal = parts.journal
        self.glyphs = parts.glyphs
        self.cwd = parts.cwd
        self.agents: Sequence[AgentHere] = []
        self.default_agent: str | None = None
        self._bar: NewTaskBar | None = None
        self._on_their_way: list[NewTask] = []
        """The starts that a thread is at, the oldest first."""
        self._awaited, self._awaited_since = "", 0.0
        """The new row that is to be selected as soon as it is in the list, and since when (monotonic seconds)."""

    def tell(self) -> None:
        """Bring everything beside the list up to date."""
        raise NotImplementedError

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """A toast that stays long enough to read; what went wrong is in the log too, and no other word covers it."""
        if wrong:
            self.journal.write(sentence)
        else:
            self.app.forget_words()  # type: ignore[attr-defined]
        seconds = max(4.0, 1.5 + len(sentence) / 14)
        self.notify(sentence, severity="error" if wrong else "information", timeout=seconds, markup=False)

    def warn(self, sentence: str) -> None:
        """A toast about something that went well and has a catch: no other word covers it."""
        self.journal.write(sentence)
        self.notify(sentence, severity="warning", timeout=max(8.0, 1.5 + len(sentence) / 14), markup=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A thread that failed in a way nobody foresaw is not silent either."""
        if event.state is WorkerState.ERROR:
            sentence = f"That failed unexpectedly: {event.worker.error!r}."
            self.list.busy.clear()
            self.list.sync()
            if event.worker.group == "start" and self._on_their_way:
                self.post_message(self.Started(self._on_their_way[0], "", sentence))
            else:
                self.say(sentence, wrong=True)

    # -- agents

    @work(thread=True, exit_on_error=False, group="agents")
    def look_for_agents(self) -> None:
        """Find out in a thread which agents are here."""
        self.post_message(self.AgentsFound(self.acts.agents(), self.acts.default_agent()))

    def on_task_screen_agents_found(self, event: AgentsFound) -> None:
        """Now the bar can offer them and the empty screen name what is missing."""
        self.agents, self.default_agent = event.agents, event.default
        if event.default and event.default != self.memory.agent:
            self.memory.agent = event.default
            self.post_message(self.Remember())
        if self._bar is not None:
            self._bar.offer_agents(self.agents, self.default_agent)
        self.tell()

    # -- starting

    @property
    def bar_is_open(self) -> bool:
        """Whether the new-task bar has the keyboard."""
        return self._bar is not None

    @property
    def starts_one(self) -> bool:
        """Whether a new task is on its way: what is pressed now is not meant for the row that is still selected."""
        return bool(self._on_their_way or (self._awaited and time.monotonic() - self._awaited_since < AWAITED_S))

    def start_directory(self) -> str:
        """Where a new task starts: where the board was opened, else the most recently used directory."""
        if os.path.isdir(self.cwd):
            return self.cwd
        return next((folder for folder in self.listing.recent_directories() if os.path.isdir(folder)), self.cwd)

    def open_bar(self, text: str = "") -> None:
        """Open the new-task bar on the draft; pasted text is added to it."""
        if self._bar is None:
            self.list.expect_input()
        self._open_bar(text)

    @work(group="bar")
    async def _open_bar(self, text: str) -> None:
        from agent_board.board.widgets.new_task import NewTaskBar

        if self._bar is None:
            draft = NewTask() if self._on_their_way else self.memory.draft
            draft = replace(draft, cwd=draft.cwd or self.start_directory())
            recent = self.listing.recent_directories([self.cwd])
            self._bar = bar = NewTaskBar(draft, recent, self.glyphs.ellipsis)
            self.task_line.display = False
            self.list.can_focus = False
            self.set_class(True, "-writing")
            await self.mount(bar, before=self.hints)
            bar.offer_agents(self.agents, self.default_agent)
            self.tell()
        if text:
            self._bar.paste(text)

    async def _close_bar(self) -> None:
        if self._bar is not None:
            bar, self._bar = self._bar, None
            self.list.can_focus = True
            self.set_focus(self.list)  # at once: the next key is the list's
            await bar.remove()
            self.task_line.display = True
            self.set_class(False, "-writing")
            self.tell()

    async def on_new_task_bar_closed(self) -> None:
        """Esc: the draft stays for later."""
        await self.leave_bar()

    async def leave_bar(self) -> None:
        """Close the bar, if it is open, and keep what stands in it."""
        if self._bar is not None:
            self._keep(self._bar.order)
            await self._close_bar()

    def on_new_task_bar_edited(self) -> None:
        """Keep what is being typed, soon."""
        self._keep_soon()

    @work(exclusive=True, group="draft")
    async def _keep_soon(self) -> None:
        await asyncio.sleep(DRAFT_S)
        if self._bar is not None and not self._on_their_way:
            self._keep(self._bar.order)

    def _keep(self, draft: NewTask) -> None:
        if draft.cwd == self.start_directory():
            draft.cwd = ""
        self.memory.draft = draft
        self.post_message(self.Remember())

    async def on_new_task_bar_started(self, event: "NewTaskBar.Started") -> None:
        """Start it beside the screen; it stays the draft on disk until it is accepted, whatever dies."""
        self._on_their_way.append(event.task)
        self._keep(replace(event.task))
        self._start(event.task)
        await self._close_bar()

    @work(thread=True, exit_on_error=False, group="start")
    def _start(self, task: NewTask) -> None:
        try:
            begun = self.acts.start(task)
            started = self.Started(task, begun.view_id, warnings=begun.warnings)
        except (BoardError, OSError) as error:
            started = self.Started(task, "", str(error))
        self.post_message(started)

    async def on_task_screen_started(self, event: Started) -> None:
        """Select the new row, or give the text back and say why there is none."""
        self._on_their_way.remove(event.task)
        if event.failure:
            await self._give_back(event.task, event.failure)
            return
        if not self._on_their_way:
            self._keep(self._bar.order if self._bar is not None else NewTask())
        self._awaited, self._awaited_since = event.view_id, time.monotonic()
        self._select_awaited()
        self.tell()
        for warning in event.warnings:
            self.warn(warning)

    async def _give_back(self, task: NewTask, failure: str) -> None:
        """A refused task is the bar's text again: at once where the keyboard is free, else when the bar is opened."""
        self.journal.write(failure)
        if self._bar is not None:
            self._bar.give_back(task.prompt)
            self._keep(self._bar.order)
        else:
            self._keep(replace(task))
        if self._bar is None and self.app.screen is self and self.focused is self.list:
            await self._open_bar("").wait()
        if self._bar is not None:
            self._bar.say(failure, wrong=True)
        else:
            self.say(failure, wrong=True)
        self.tell()

    def _select_awaited(self) -> None:
        if self._awaited and self.listing.select_row(self._awaited):
            self._awaited = ""
            self.list.show_selection()

    # -- stopping

    def why_not_stop(self, row: Row | None) -> str | None:
        """Why the selected row can't be stopped."""
        if row is None:
            return "Select a task first."
        if row.unreadable:
            return f"What {row.name} runs is not known: its files can't be read."
        if self.list.busy.get(row.id) == STOPPING:
            return f"{row.name} is stopping already."
        if not row.claims_process and row.run_id is None:
            return f"{row.name} has not run yet."
        return None

    def ask_to_stop(self) -> None:
        """Ask whether the selected run is to be stopped; an ended one only if it left something running."""
        row = self.listing.selected_row()
        if row is not None and row.claims_process:
            self._ask(row, f"Stop {row.name}?", row.summary)
        elif row is not None:
            self._look_for_leftovers(row)

    @work(thread=True, exit_on_error=False, group="leftovers")
    def _look_for_leftovers(self, row: Row) -> None:
        left = self.acts.leftovers(row.id, row.run_id or "")
        if left:
            what = "a process" if left == 1 else f"{left} processes"
            self.app.call_from_thread(self._ask, row, f"{row.name} has ended. Stop {what} that it left running?", "")
        else:
            self.app.call_from_thread(self.say, f"{row.name} has ended; nothing of it runs.")

    @work(group="ask")
    async def _ask(self, row: Row, question: str, detail: str) -> None:
        from agent_board.board.screens.confirm import Confirm

        if await self.app.push_screen_wait(Confirm(question, "stop it", "let it run", detail=detail)):
            self.list.busy[row.id] = STOPPING
            self.list.sync()
            self._stop(row.id)

    @work(thread=True, exit_on_error=False, group="stop")
    def _stop(self, view_id: str) -> None:
        try:
            said = self.Stopped(view_id, self.acts.stop(view_id), failed=False)
        except (BoardError, OSError) as error:
            said = self.Stopped(view_id, str(error), failed=True)
        self.post_message(said)

    def on_task_screen_stopped(self, event: Stopped) -> None:
        """The row goes on saying “stopping” until its state says more; a refusal is said at once."""
        row = self.listing.rows.get(event.view_id)
        if event.failed or row is None or not row.claims_process:
            self.list.busy.pop(event.view_id, None)
            self.say(event.sentence, wrong=event.failed)
        self.list.sync()

    # -- what the list's news mean here

    def settle(self, rows: Mapping[str, Row | None]) -> None:
        """A row that has settled is no longer on its way; a row that was waited for is selected."""
        for view_id, row in rows.items():
            if row is None or not row.claims_process:
                self.list.busy.pop(view_id, None)
        self._select_awaited()

    def tell_task_line(self) -> None:
        """What the resting bar says."""
        draft = self.memory.draft
        first = draft.prompt.strip().partition("\n")[0]
        if self._on_their_way:
            first, draft = f"starting: {first}", NewTask()
        agent = draft.agent or self.default_agent or self.memory.agent
        where = f"in {short_path(draft.cwd or self.cwd)}"
        parts = (where, agent, draft.mode, f"worktree {draft.worktree}")
        self.task_line.show(first, f" {self.glyphs.dot} ".join(part for part in parts if part))

    def clear_input(self) -> bool:
        """Empty the field that has the focus; False when there was nothing to empty."""
        return self._bar is not None and self._bar.clear()
