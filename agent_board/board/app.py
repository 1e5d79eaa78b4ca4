"""The board: puts feed, acts, memory and screen together. Holds no truth; kill it and the same screen comes back."""

import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.filter import Monochrome, NoColor
from textual.screen import Screen
from textual.scrollbar import ScrollBar

from agent_board.board.acts import Acts
from agent_board.board.checkout import project_of
from agent_board.board.feed import Feed, read_in_background
from agent_board.board.journal import Journal
from agent_board.board.keys import app_bindings
from agent_board.board.memory import recall, remember
from agent_board.board.model import words
from agent_board.board.model.attention import looks
from agent_board.board.model.glyphs import glyphs_for
from agent_board.board.screens.board import BoardScreen
from agent_board.board.screens.tasks import Parts
from agent_board.board.themes import DARK, LIGHT, THEMES, variable_defaults
from agent_board.board.widgets.plain_scrollbar import PlainScrollBar
from agent_board.resources import STYLES
from agent_board.store.files import now_ms
from agent_board.store.paths import StorePaths

if TYPE_CHECKING:
    from agent_board.config import Settings

_TWICE_S = 2.0
_ANSI = "ansi-dark"


class BoardApp(App[int], inherit_bindings=False):
    """`BoardApp(paths, settings, cwd).run(mouse=settings.mouse)`."""

    TITLE = "agent-board"
    CSS_PATH: ClassVar[list[str]] = [f"{STYLES}/{name}.tcss" for name in ("base", "board", "peek", "dialogs")]  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = [*app_bindings()]
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    PAUSE_GC_ON_SCROLL = True

    def __init__(
        self,
        paths: StorePaths,
        settings: "Settings",
        cwd: str,
        *,
        acts: Acts | None = None,
        clock: Callable[[], int] = now_ms,
        watching: bool = True,
        throwaway: bool = False,
    ) -> None:
        """`throwaway`: what runs ends with the board.

        `acts`, `clock` and `watching` are for tests; the clock gives epoch milliseconds.
        """
        super().__init__()
        ScrollBar.renderer = PlainScrollBar
        self._paths = paths
        self._settings = settings
        self._cwd = cwd
        self._clock = clock
        self._throwaway = throwaway
        self._journal = Journal(paths)
        self._acts = acts or Acts(paths, settings)
        self.feed = Feed(paths, self._acts, self._journal, watching=watching)
        read_in_background(self.feed)
        self._memory = recall(paths)
        self._title = ""
        self._interrupted_at = float("-inf")
        self._heard_at = float("-inf")
        self._tells_focus = False
        self._glyphs = glyphs_for(settings.glyphs, _encoding())
        self._dress()

    def _dress(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        if self._glyphs.only_ascii:
            from agent_board.board.only_ascii import OnlyAscii

            self._filters.append(OnlyAscii(self._glyphs))
        if self.no_color:
            # Textual's own answer is shades of grey; NO_COLOR asks for none at all.
            self.theme = _ANSI
            self._filters = [NoColor() if isinstance(kept, Monochrome) else kept for kept in self._filters]
            return
        wished = self._memory.theme or self._settings.theme or DARK.name
        self.theme = wished if wished in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colour names for themes that don't have them."""
        return variable_defaults(ansi=self.current_theme.ansi)

    def get_default_screen(self) -> Screen[None]:
        """The board itself; there is nothing under it."""
        return BoardScreen(
            Parts(
                feed=self.feed,
                acts=self._acts,
                memory=self._memory,
                journal=self._journal,
                glyphs=self._glyphs,
                clock=self._clock,
                cwd=self._cwd,
                here=project_of(self._cwd),
                spinner=self._settings.spinner,
            )
        )

    @property
    def board(self) -> BoardScreen:
        """The board's screen, whatever lies over it."""
        screen = self.screen_stack[0]
        assert isinstance(screen, BoardScreen)
        return screen

    def on_mount(self) -> None:
        """Look after the terminal; `agent_board.cli.board` has what is done about the signals."""
        if not self.is_headless:
            from agent_board.board.terminal import take_up_again

            self.set_interval(1.0, self._look_for_terminal)
            take_up_again(self)
            self.app_resume_signal.subscribe(self, self._draw_again)

    def _draw_again(self, _: object) -> None:
        self.screen.refresh(layout=True)
        self.retitle()

    def put_aside(self) -> None:
        """Stop until the shell's `fg`; what runs goes on."""
        from agent_board.board.terminal import can_be_put_aside, put_aside

        if can_be_put_aside():
            put_aside()
        else:
            self.board.say("No shell is here that could bring the board back; q leaves it, and what runs goes on.")

    def _look_for_terminal(self) -> None:
        """Not everything that takes the terminal away says so; without one, reading it would go round and round."""
        if sys.__stdin__ is not None and hung_up(sys.__stdin__.fileno()):
            signal.raise_signal(signal.SIGHUP)

    def _fatal_error(self) -> None:
        """One sentence instead of a page of Python, which might show a prompt; the page is in the log."""
        self.bell()
        for line in traceback.format_exc().splitlines():
            self._journal.write(line)
        said = f"The board failed unexpectedly; {self._journal.path} says where. What runs goes on."
        self._exit_renderables.append(Text(said))
        self._close_messages_no_wait()

    # -- what the keys of every screen do

    async def action_interrupt(self) -> None:
        """Ctrl+c: empties an input or closes what lies over the board; twice it leaves."""
        if len(self.screen_stack) > 1:
            self.screen.dismiss()
            return
        if self.board.interrupt():
            return
        now = time.monotonic()
        if now - self._interrupted_at <= _TWICE_S:
            self.leave()
            return
        self._interrupted_at = now
        self.board.say("Once more leaves the board; what runs goes on.")

    def action_palette(self) -> None:
        """All acts by name."""
        from textual.command import CommandPalette

        from agent_board.board.commands import Commands

        if len(self.screen_stack) == 1:
            self.push_screen(CommandPalette([Commands], placeholder="Find an act"))

    def toggle_theme(self) -> None:
        """Light or dark, and remember it."""
        if not self.no_color:
            self.theme = LIGHT.name if self.current_theme.dark else DARK.name
            self._memory.theme = self.theme
            self._remember()

    def leave(self) -> None:
        """Close the board and say what goes on; of a throwaway world nothing does."""
        runs = 0 if self._throwaway else self.board.listing.working()
        message = f"{words.count(runs, 'run goes on', 'runs go on')}." if runs else None
        self.exit(0, message=message)

    # -- what outlives the board

    def on_task_screen_remember(self) -> None:
        """Grouping, scope or draft changed."""
        self._remember()

    def _remember(self) -> None:
        threading.Thread(target=self._write_memory, daemon=True).start()

    def _write_memory(self) -> None:
        try:
            remember(self._paths, self._memory)
        except OSError as error:
            self._journal.write(f"board.json: {error}")

    def show_title(self, needing: int) -> None:
        """The terminal's own title says how many tasks need the user."""
        title = f"({needing}) agent-board" if needing else "agent-board"
        if title != self._title and self._driver is not None:
            if not self._title:
                self._driver.write("\x1b[22;0t")
            self._title = title
            self._driver.write(f"\x1b]0;{title}\x07")

    def retitle(self) -> None:
        """Say the title again: another program had the terminal."""
        if self._title:
            self.write(f"\x1b]0;{self._title}\x07")

    def write(self, sequence: str) -> None:
        """Tell the terminal something that is not a picture."""
        if self._driver is not None:
            self._driver.write(sequence)

    def forget_words(self) -> None:
        """Take away toasts that say how something went well: the next one takes their place."""
        for note in list(self._notifications):
            if note.severity == "information":
                self._unnotify(note, refresh=False)

    def looks(self) -> bool:
        """Whether the user is taken to look at the board just now."""
        since = time.monotonic() - self._heard_at
        return looks(focused=self.app_focus, tells=self._tells_focus, since_key_s=since)

    def on_app_focus(self) -> None:
        """The terminal tells whether it has the focus."""
        self._tells_focus = True
        if self.screen_stack:
            self.board.look_now()

    def on_app_blur(self) -> None:
        """As above."""
        self._tells_focus = True

    async def on_event(self, event: events.Event) -> None:
        """A key or the mouse: somebody is there."""
        if isinstance(event, events.InputEvent):
            self._heard_at = event.time
        await super().on_event(event)

    def on_unmount(self) -> None:
        """Give the terminal its title back."""
        if self._title and self._driver is not None:
            self._driver.write("\x1b]0;\x07\x1b[23;0t")


def _encoding() -> str:
    """What the terminal understands: what the locale says, unless our way out (stderr) can do less."""
    import locale

    ours = getattr(sys.__stderr__, "encoding", None) or ""
    said = locale.getencoding()
    return said if ours.lower().startswith("utf") else ours or said


def hung_up(fd: int) -> bool:
    """Whether the other end of a terminal is gone."""
    poll = select.poll()
    poll.register(fd, 0)
    return any(found & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, found in poll.poll(0))
