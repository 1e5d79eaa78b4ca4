"""The board in a real terminal: first frame, repaint, keys, cost of a change, memory."""

import contextlib
import re
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyte

from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.benchmarks.report import Line, Report
from tests.benchmarks.world import change, make_world
from tests.support.command import AGENT_BOARD
from tests.support.terminal import Filter, Terminal

SIZE = (120, 36)
QUIET_SECONDS = 0.5


@contextlib.contextmanager
def open_board(paths: StorePaths) -> Iterator[Terminal]:
    """The board on that store, ready and quiet."""
    with Terminal([*AGENT_BOARD, "--home", paths.root], size=SIZE) as terminal:
        terminal.wait_for("task-", timeout=60)
        terminal.wait_quiet(QUIET_SECONDS)
        yield terminal


def first_frame(terminal: Terminal) -> float:
    """Milliseconds from the process's start until the screen showed what it shows once it is quiet.

    One line may still differ: the new-task bar names the default agent when it has been looked for.
    """
    final = _still(terminal.lines)
    screen = pyte.Screen(terminal.columns, terminal.rows)
    stream = pyte.ByteStream(screen)
    known = Filter()
    for at, data in terminal.log:
        stream.feed(known(data))
        if sum(now != then for now, then in zip(_still(screen.display), final, strict=True)) <= 1:
            return (at - terminal.started_at) * 1000
    return float("nan")


SMALLEST_APP = """
from textual.app import App
from textual.widgets import Static
class Smallest(App):
    def compose(self):
        yield Static("task-0")
Smallest().run()
"""


def floor(report: Report, times: int) -> None:
    """The least that a Textual program needs until its first frame, on this machine."""
    frames = []
    for _ in range(times):
        with Terminal([sys.executable, "-c", SMALLEST_APP], size=SIZE) as terminal:
            terminal.wait_for("task-0")
            terminal.wait_quiet(QUIET_SECONDS)
            frames.append(first_frame(terminal))
    report.add(Line("start to first frame, the smallest Textual app", frames, "ms", "(floor)"))


def _still(lines: list[str]) -> list[str]:
    """The lines without what changes by itself: ages and clocks."""
    return [re.sub(r"\d+[smhd]\b", "", line).rstrip() for line in lines]


def repaint(terminal: Terminal, paths: StorePaths, number: int) -> float:
    """Milliseconds from the replacement of a visible row's state file until its new text came out."""
    word = f"z{secrets.token_hex(3)}"
    before = time.monotonic()
    change(paths, number, f"{word} is what came of it", SemanticState.NEEDS_INPUT)
    terminal.wait_for(word)
    wanted = word.encode()
    return next((at - before) * 1000 for at, data in reversed(terminal.log) if wanted in data or at < before)


def key(terminal: Terminal, name: str) -> float:
    """Milliseconds from a key until the first output after it."""
    seen = len(terminal.log)
    before = time.monotonic()
    terminal.send(name)
    deadline = before + 5
    while len(terminal.log) == seen and time.monotonic() < deadline:
        time.sleep(0.0005)
    return (terminal.log[seen][0] - before) * 1000 if len(terminal.log) > seen else float("nan")


def change_cost(terminal: Terminal, paths: StorePaths, number: int, times: int) -> tuple[float, float]:
    """CPU milliseconds of the board and bytes to the terminal for each change of a visible row."""

    def spend(act: bool) -> tuple[float, float]:
        cpu, sent = cpu_ms(terminal.pid), terminal.received
        for turn in range(times):
            if act:
                change(paths, number, f"turn {turn} {secrets.token_hex(3)}", SemanticState.NEEDS_INPUT)
            time.sleep(0.05)
        time.sleep(0.2)
        return cpu_ms(terminal.pid) - cpu, float(terminal.received - sent)

    idle, busy = spend(False), spend(True)
    return max(0.0, busy[0] - idle[0]) / times, (busy[1] - idle[1]) / times


def cpu_ms(pid: int) -> float:
    """Processor time that a process has used: in nanoseconds where Linux tells, else in ticks of 10 ms."""
    try:
        threads = [(task / "schedstat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return sum(psutil.Process(pid).cpu_times()[:2]) * 1000
    return sum(int(text.split()[0]) for text in threads) / 1e6


def memory_mb(pid: int) -> tuple[float, float]:
    """Resident and proportional memory in MB; the latter is NaN where the system doesn't tell."""
    process = psutil.Process(pid)
    resident = process.memory_info().rss / 1e6
    with contextlib.suppress(psutil.Error, AttributeError, NotImplementedError):
        return resident, process.memory_full_info().pss / 1e6
    return resident, float("nan")


VISIBLE = 6
"""A view that asks stands in the first group, so its row is on the screen."""


def measure(report: Report, folder: Path, views: int, quick: bool) -> None:
    """All measurements of the board at one size."""
    paths = make_world(folder / "store", views)
    frames, resident, proportional = [], [], []
    for _ in range(3 if quick else 11):
        with open_board(paths) as terminal:
            frames.append(first_frame(terminal))
            rss, pss = memory_mb(terminal.pid)
            resident.append(rss)
            proportional.append(pss)
    aimed = views == 1_000
    aim, limit = ("350", 350.0) if aimed else ("", None)
    report.add(Line(f"start to first full frame, {views:,} views", frames, "ms", aim, limit))
    aim, limit = ("70", 70.0) if aimed else ("", None)
    report.add(Line(f"resident memory, {views:,} views", resident, "MB", aim, limit))
    report.add(Line(f"proportional memory, {views:,} views", proportional, "MB"))
    with open_board(paths) as terminal:
        turns = 10 if quick else 60
        repaints = []
        for _ in range(turns):
            repaints.append(repaint(terminal, paths, VISIBLE))
            time.sleep(0.03)
        report.add(Line(f"file replaced to row repainted, {views:,} views", repaints, "ms", "p95 40", 40.0, "p95"))
        terminal.wait_quiet(QUIET_SECONDS)
        keys = []
        for turn in range(turns):
            keys.append(key(terminal, "down" if turn // 5 % 2 == 0 else "up"))
            terminal.wait_quiet(0.05)
        report.add(Line(f"key to painted, {views:,} views", keys, "ms", "p95 20", 20.0, "p95"))
        costs = [change_cost(terminal, paths, VISIBLE, 20) for _ in range(2 if quick else 5)]
        report.add(Line(f"CPU of one change, {views:,} views", [cpu for cpu, _ in costs], "ms", "equal at all sizes"))
        report.add(
            Line(f"bytes of one change, {views:,} views", [sent for _, sent in costs], "B", "equal at all sizes")
        )
