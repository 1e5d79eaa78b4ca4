"""A program in a real pseudo-terminal, its screen kept by a terminal emulator.

with Terminal([...], size=(120, 36)) as terminal:
    terminal.wait_for("WORKING 1")
    terminal.send("q")
    assert terminal.wait_exit() == 0
"""

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyte
from wcwidth import wcwidth

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "ctrl+c": "\x03",
    "ctrl+d": "\x04",
    "ctrl+j": "\n",
    "ctrl+p": "\x10",
    "ctrl+u": "\x15",
    "ctrl+z": "\x1a",
}

# What the emulator would print instead of obeying: keyboard protocol, mode queries, device and application strings.
_NOT_FOR_PYTE = re.compile(
    rb"\x1b\[[<=>][0-9;:?]*[ -/]*[@-~]|\x1b\[\??[0-9;]*\$[@-~]|\x1b\[\?[0-9;]*[mn]|\x1b[P_^][^\x1b]*\x1b\\"
)
_FRAME_BEGINS, _FRAME_ENDS = b"\x1b[?2026h", b"\x1b[?2026l"
_HAS_FRAMES = re.compile(rb"\x1b\[\?2026\$p")
_UNFINISHED = re.compile(rb"\x1b(\[[0-9;:<=>?$ ]*|[P_^\]][^\x1b\x07]*\x1b?)?\Z")


# A session's first process gets a terminal of its own by opening it; exec keeps the process id.
_ON_TERMINAL = ("/bin/sh", "-c", 'tty=$1; shift; exec "$@" <"$tty" >"$tty" 2>&1', "sh")


class Filter:
    """Takes out of a stream of pieces what the emulator doesn't know."""

    def __init__(self) -> None:
        self._rest = b""

    def __call__(self, data: bytes) -> bytes:
        """The next piece, without a sequence that its end cuts: that comes with the following one."""
        data = self._rest + data
        unfinished = _UNFINISHED.search(data)
        cut = unfinished.start() if unfinished else len(data)
        data, self._rest = data[:cut], data[cut:]
        return _NOT_FOR_PYTE.sub(b"", data)


class Cells(pyte.Screen):
    """A screen that can also be read while half of a wide character is overwritten."""

    @property
    def display(self) -> list[str]:
        """Its lines; what is left of such a character is a blank, as on a terminal."""
        return [self._text(self.buffer[y]) for y in range(self.lines)]

    def is_bold(self, text: str) -> bool:
        """Whether the text is there and begins in bold; no wide character may stand before it."""
        for row, line in enumerate(self.display):
            if text in line:
                return bool(self.buffer[row][line.index(text)].bold)
        return False

    def _text(self, line: Any) -> str:
        cells, x = [], 0
        while x < self.columns:
            cells.append(line[x].data or " ")
            x += 2 if wcwidth(cells[-1][0]) == 2 else 1
        return "".join(cells)


class Terminal:
    """A started program and its screen. Reading goes on in a thread, so the program never waits for the test."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        size: tuple[int, int] = (120, 36),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        self.columns, self.rows = size
        self._screen = Cells(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = threading.Condition()
        self._leaving = threading.Event()
        self._filter = Filter()
        self._frame = b""
        self.received = 0
        """Bytes that the program has written."""
        self._found_empty = 0
        self.log: list[tuple[float, bytes]] = []
        """What it wrote, each piece with the monotonic time of its arrival."""
        self.started_at = time.monotonic()
        self._master, slave = os.openpty()
        self._set_size()
        environment = dict(os.environ if env is None else env)
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment.setdefault("LANG", "C.UTF-8")
        environment.pop("NO_COLOR", None)
        try:
            self.process = subprocess.Popen(
                [*_ON_TERMINAL, os.ttyname(slave), *command],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True, name="terminal")
        self._reader.start()

    def _set_size(self) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))

    def _read(self) -> None:
        while not self._leaving.is_set():
            if not select.select([self._master], [], [], 0.1)[0]:
                self._found_empty += 1
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the last program on this terminal has ended
                data = b""
            if _HAS_FRAMES.search(data):
                self.write(b"\x1b[?2026;2$y")
            now = time.monotonic()
            with self._changed:
                if data:
                    self.received += len(data)
                    self.log.append((now, data))
                    self._show(data)
                self._changed.notify_all()
            if not data:
                return

    def _show(self, data: bytes) -> None:
        """A frame that has begun is shown when it is whole, as terminals do that say they can (mode 2026)."""
        data = self._frame + self._filter(data)
        begun = data.rfind(_FRAME_BEGINS)
        cut = begun if begun > data.rfind(_FRAME_ENDS) else len(data)
        self._stream.feed(data[:cut])
        self._frame = data[cut:]

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self.process.pid

    @property
    def written(self) -> bytes:
        """All that the program has written, whatever the screen shows of it now."""
        with self._changed:
            return b"".join(data for _, data in self.log)

    @property
    def lines(self) -> list[str]:
        """The screen's lines, without blanks at their ends."""
        with self._changed:
            return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor, from 0."""
        with self._changed:
            return self._screen.cursor.x, self._screen.cursor.y

    @property
    def title(self) -> str:
        """The terminal's title as the program set it."""
        with self._changed:
            return str(self._screen.title)

    def cell(self, column: int, row: int) -> Any:
        """One cell with its colours and attributes (data, fg, bg, bold, reverse …)."""
        with self._changed:
            return self._screen.buffer[row][column]

    def line_with(self, text: str) -> str:
        """The first line that holds the text, or an empty one."""
        return next((line for line in self.lines if text in line), "")

    def is_bold(self, text: str) -> bool:
        """Whether the screen holds the text and it begins in bold."""
        with self._changed:
            return self._screen.is_bold(text)

    def wait_for(self, what: str | Callable[[str], object], timeout: float = 20.0) -> str:
        """Wait until the screen holds the text or the predicate is true of it; returns the screen.

        Raises AssertionError with the screen in it when that doesn't come, or the program ends before.
        """
        fits = (lambda screen: what in screen) if isinstance(what, str) else what
        deadline = time.monotonic() + timeout
        while True:
            reading = self._reader.is_alive()
            with self._changed:
                seen = self.received
                screen = "\n".join(line.rstrip() for line in self._screen.display)
            if fits(screen):
                return screen
            left = deadline - time.monotonic()
            if left <= 0 or not reading:
                ended = "" if self.process.poll() is None else f" (ended with {self.process.returncode})"
                raise AssertionError(f"the screen never showed {what!r}{ended}:\n{screen}")
            self._wait_for_more(seen, min(left, 0.25))

    def wait_gone(self, text: str, timeout: float = 20.0) -> str:
        """Wait until the screen no longer holds the text; returns the screen."""
        return self.wait_for(lambda screen: text not in screen, timeout)

    def wait_quiet(self, seconds: float = 0.3, timeout: float = 20.0) -> None:
        """Wait until nothing has been written for so long."""
        deadline = time.monotonic() + timeout
        while self._wait_for_more(self.received, seconds):
            if time.monotonic() > deadline:
                raise AssertionError(f"the program never stopped writing for {seconds:g} s")

    def _wait_for_more(self, seen: int, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.received != seen or not self._reader.is_alive(), seconds)

    def send(self, *keys: str) -> None:
        """Type: names of keys as in KEYS, anything else as it stands."""
        self.write("".join(KEYS.get(key, key) for key in keys).encode())

    def press_until(self, key: str, done: Callable[[], bool], timeout: float = 60.0, moment: float = 3.0) -> None:
        """Press a key, give the program a moment, and press it again while it is not done: one too early may be lost.

        Raises AssertionError with the screen when it is never done.
        """
        deadline = time.monotonic() + timeout
        while not done():
            assert time.monotonic() < deadline, f"{key} never did it:\n{self.text}"
            with contextlib.suppress(OSError):  # nobody is at the other end any more
                self.send(key)
            with contextlib.suppress(AssertionError):
                self.wait_for(lambda _: done(), moment)

    def leave(self, key: str, timeout: float = 60.0, moment: float = 3.0) -> int:
        """Press a key until the program has ended; returns its exit code."""
        self.press_until(key, lambda: self.process.poll() is not None, timeout, moment)
        return self.wait_exit()

    def paste(self, text: str) -> None:
        """Paste as a terminal with bracketed paste does."""
        self.write(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def write(self, data: bytes) -> None:
        """Bytes as if they came from the keyboard."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._master, view) :]

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size; the program is told."""
        with self._changed:
            self.columns, self.rows = columns, rows
            self._screen.resize(rows, columns)
        self._set_size()

    def wait_exit(self, timeout: float = 20.0) -> int:
        """Wait for its end and its last words; returns its exit code. Raises AssertionError with the screen."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the program goes on after {timeout:g} s:\n{self.text}") from None
        # To the end, or, where another program has the terminal too, until a look that began after this finds nothing.
        enough = self._found_empty + 2
        while self._reader.is_alive() and self._found_empty < enough:
            self._reader.join(0.01)
        return code

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the program alone, as `kill -9` in another terminal does, and reap it."""
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(20)

    def hang_up(self) -> None:
        """Close the terminal itself, as a lost SSH line does."""
        if not self._leaving.is_set():
            self._leaving.set()
            self._reader.join()
            os.close(self._master)

    def close(self) -> None:
        """End the program if it still runs, and close the terminal. Calling it twice is fine."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
            self.kill()
        self.hang_up()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
