"""Leaving the list for a moment: attach, programs opened in a row's directory, and what is copied from a row."""

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual import work
from textual.message import Message

from agent_board.board.bell import Bell
from agent_board.board.model.attention import sentence, worth_telling
from agent_board.board.model.row import Row
from agent_board.board.row_acts import Item, Place, how_ended
from agent_board.board.screens.rows import RowScreen
from agent_board.board.screens.tasks import Parts
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.screens.waiting import Waiting
    from agent_board.board.terminal import Returned
    from agent_board.config import OpenCommand

INTERRUPTING = "interrupting"


class Program(NamedTuple):
    """Something that is started in a row's directory."""

    title: str
    command: list[str]
    beside: bool = False
    """It has a window of its own: the board does not give it the terminal and does not wait."""
    own: bool = False
    """From the user's settings, with placeholders."""
    words: str = ""
    """Printed before it starts."""


class ElsewhereScreen(RowScreen):
    """The part of the board's screen that gives the terminal, or a text, to something else."""

    class MayAttach(Message):
        """A thread found nothing that speaks against attaching. `runs`: the view's runs until now."""

        def __init__(self, view_id: str, runs: int) -> None:
            super().__init__()
            self.view_id = view_id
            self.runs = runs

    class Refused(Message):
        """A thread found out why something can't be done."""

        def __init__(self, sentence: str) -> None:
            super().__init__()
            self.sentence = sentence

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.ringer = Bell(parts.acts.paths, parts.acts.settings.bell, self._write_to_terminal)

    def _write_to_terminal(self, sequence: str) -> None:
        self.app.write(sequence)  # type: ignore[attr-defined]

    def ring(self, changes: Mapping[str, Row | None]) -> None:
        """Call the user for what these changes mean, unless it is in view and looked at."""
        told = worth_telling(changes, self.listing.rows)
        if told and self.is_current and self.app.looks():  # type: ignore[attr-defined]
            seen = self.list.visible_rows()
            told = [row for row in told if row.id not in seen]
        if told:
            self.ringer.ring(sentence(told))

    def on_unmount(self) -> None:
        """Another board may ring."""
        self.ringer.rest()

    # -- attach

    def do_attach(self) -> None:
        """Look beside the screen whether it can be done, then do it."""
        if (row := self.listing.selected_row()) is not None:
            self._check_attach(row.id)

    @work(thread=True, exit_on_error=False, exclusive=True, group="attach-check")
    def _check_attach(self, view_id: str) -> None:
        try:
            self.row_acts.check_attach(view_id)
            found: Message = self.MayAttach(view_id, len(self.row_acts.runs(view_id)))
        except (BoardError, OSError) as error:
            found = self.Refused(str(error))
        self.post_message(found)

    def on_elsewhere_screen_refused(self, event: Refused) -> None:
        """Say why not."""
        self.say(event.sentence, wrong=True)

    def on_elsewhere_screen_may_attach(self, event: MayAttach) -> None:
        """Attach, after a question if it runs; not if the user has gone on to something else meanwhile."""
        row = self.listing.rows.get(event.view_id)
        typing = self.focused is not None and self.focused.check_consume_key("a", "a")
        if row is None or typing or len(self.app.screen_stack) > 1:
            return
        if row.claims_process:
            self._interrupt(row, event.runs)
        else:
            self._attach_now(row, event.runs, interrupt=False)

    @work(exclusive=True, group="attach")
    async def _interrupt(self, row: Row, runs: int) -> None:
        from agent_board.board.screens.confirm import Confirm
        from agent_board.board.screens.waiting import Waiting

        question = Confirm(
            f"{row.name} is running. Interrupt and attach?", "interrupt and attach", "let it run", detail=row.summary
        )
        if not await self.app.push_screen_wait(question):
            return
        self.list.busy[row.id] = INTERRUPTING
        self.list.sync()
        waiting = Waiting(f"Stopping {row.name} before attaching{self.glyphs.ellipsis}", "don't attach")
        self._end_first(row.id, waiting)
        ended = await self.app.push_screen_wait(waiting)
        self.list.busy.pop(row.id, None)
        self.list.sync()
        if ended:
            self._attach_now(row, runs, interrupt=True)
        elif ended is False:
            self.say(f"{row.name} is stopped and not attached.")

    @work(thread=True, exit_on_error=False, group="attach-end")
    def _end_first(self, view_id: str, waiting: "Waiting") -> None:
        ended: bool | None = True
        try:
            self.row_acts.interrupt(view_id)
        except (BoardError, OSError) as error:
            self.post_message(self.Refused(str(error)))
            ended = None
        self.app.call_from_thread(waiting.over, ended)

    def _attach_now(self, row: Row, runs: int, *, interrupt: bool) -> None:
        """The screen stands still from here until the program ends."""
        command = self.row_acts.attach_command(row.id, interrupt=interrupt)
        returned = self.give_terminal(command, title=row.name)
        self._after_attach(row, runs, returned)

    @work(thread=True, exit_on_error=False, group="attach-after")
    def _after_attach(self, row: Row, runs: int, returned: "Returned") -> None:
        """Read everything again, and say what went wrong if something did."""
        self.feed.read_again()
        why = returned.problem
        if not why and returned.exit_code:
            why = self.row_acts.why_attach_failed(row, runs, returned.exit_code)
        if why:
            self.post_message(self.Refused(why))

    def give_terminal(
        self, command: list[str], *, cwd: str | None = None, words: str = "", title: str = ""
    ) -> "Returned":
        """Run a program on the board's terminal; another board may ring meanwhile."""
        from agent_board.board.terminal import run_in_terminal

        self.ringer.rest()
        returned = run_in_terminal(self.app, command, cwd=cwd, words=words, title=title)
        self.app.retitle()  # type: ignore[attr-defined]
        return returned

    # -- open

    def do_open(self) -> None:
        """Offer what can be opened in the row's directory."""
        if (row := self.listing.selected_row()) is not None:
            self._find_place(row)

    @work(thread=True, exit_on_error=False, exclusive=True, group="open")
    def _find_place(self, row: Row) -> None:
        try:
            place = self.row_acts.place(row)
        except (BoardError, OSError) as error:
            self.post_message(self.Refused(str(error)))
        else:
            self.app.call_from_thread(self._offer_programs, row, place)

    @work(group="ask")
    async def _offer_programs(self, row: Row, place: Place) -> None:
        from agent_board.board.screens.menu import Menu, Option
        from agent_board.board.widgets.task_line import short_path

        programs = self._programs(row, place)
        options = [Option(key, program.title, " ".join(program.command)) for key, program in programs.items()]
        title = f"Open {short_path(place.path)}"
        key = await self.app.push_screen_wait(Menu(title, options, self.glyphs))
        if key is not None:
            self._open(programs[key], place)

    def _programs(self, row: Row, place: Place) -> dict[str, Program]:
        from agent_board.board.terminal import editor

        words = f"A shell in {place.path}; exit comes back to the board."
        found = {"s": Program("a shell", [os.environ.get("SHELL") or "/bin/sh"], words=words)}
        if edit := editor():
            found["e"] = Program("the editor", [*edit, "."])
        if os.environ.get("TMUX") and not row.claims_process:
            attach = self.row_acts.attach_command(row.id)
            window = ["tmux", "new-window", "-n", row.name, "-c", place.path, *attach]
            found["t"] = Program("attach in a new tmux window", window, beside=True)
        own: Mapping[str, OpenCommand] = self.acts.settings.commands_to_open()
        for number, (name, command) in enumerate(own.items(), 1):
            if number < 10:
                found[str(number)] = Program(name, command.command, command.beside, own=True)
        return found

    def _open(self, program: Program, place: Place) -> None:
        try:
            command = place.fill(program.command) if program.own else program.command
        except BoardError as error:
            self.say(str(error), wrong=True)
            return
        if program.beside:
            work = (command, place.path)
            threading.Thread(target=self._start_beside, args=work, daemon=True, name="open").start()
            return
        returned = self.give_terminal(command, cwd=place.path, words=program.words, title=place.name)
        if returned.problem:
            self.say(returned.problem, wrong=True)
        elif returned.exit_code and not program.words:  # a shell's code is that of the last command in it
            self.say(f"{command[0]} ended with {how_ended(returned.exit_code)}.", wrong=True)

    def _start_beside(self, command: list[str], cwd: str) -> None:
        """A program with a window of its own, in a thread that nobody waits for; it says if it fails."""
        import subprocess

        null = subprocess.DEVNULL
        try:
            started = subprocess.Popen(command, cwd=cwd, stdin=null, stdout=null, stderr=null, start_new_session=True)
        except OSError as error:
            self.post_message(self.Refused(f"{command[0]} could not be started ({error.strerror or error})."))
            return
        code = started.wait()
        if code:
            self.post_message(self.Refused(f"{command[0]} ended with {how_ended(code)}."))

    # -- copy

    def do_copy(self) -> None:
        """Offer what can be copied from the row."""
        if (row := self.listing.selected_row()) is not None:
            self._find_items(row)

    @work(thread=True, exit_on_error=False, exclusive=True, group="copy")
    def _find_items(self, row: Row) -> None:
        try:
            items = self.row_acts.items(row)
        except (BoardError, OSError) as error:
            self.post_message(self.Refused(str(error)))
        else:
            self.app.call_from_thread(self._offer_items, row, items)

    @work(group="ask")
    async def _offer_items(self, row: Row, items: list[Item]) -> None:
        from agent_board.board.clipboard import copy
        from agent_board.board.screens.menu import Menu, Option
        from agent_board.text import preview

        options = [Option(item.key, item.title, preview(item.text)) for item in items]
        key = await self.app.push_screen_wait(Menu(f"Copy from {row.name}", options, self.glyphs))
        chosen = next((item for item in items if item.key == key), None)
        if chosen is not None:
            copy(self.app, chosen.text)
            self.say(f"Copied the {chosen.title.removeprefix('the ')}.")
