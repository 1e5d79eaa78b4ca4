"""Peek and transcript: from the key until the last words of the log are on the screen, whatever the log's size."""

import json
import os
import secrets
import time
from pathlib import Path

from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, RunRequest, RunStatus, encode
from tests.benchmarks.report import Line, Report
from tests.benchmarks.screen import QUIET_SECONDS, SIZE, VISIBLE
from tests.benchmarks.world import make_world, view_id
from tests.support.command import AGENT_BOARD
from tests.support.terminal import Terminal

SIZES_MB = (0.01, 3, 10)


def make_log(paths: StorePaths, megabytes: float) -> Path:
    """One run of the first task of the list, with so much of a log."""
    run = paths.view(view_id(VISIBLE)).run("r1")
    os.makedirs(run.dir, exist_ok=True)
    request = RunRequest(VERSION, "r1", view_id(VISIBLE), "p1", 1, 0, "pi", str(paths.root))
    Path(run.request).write_text(json.dumps(encode(request)))
    Path(run.status).write_text(json.dumps(encode(RunStatus(VERSION, "r1", view_id(VISIBLE), 0, ended_at=1))))
    Path(run.prompt).write_text("Do it.")
    answer = "Looked at a **file** and changed what `was` asked for.\n\n- one\n- two\n"
    line = json.dumps({"type": "AssistantMessage", "text": answer * 6}) + "\n"
    Path(run.events).write_text(line * max(1, round(megabytes * 1e6 / len(line))))
    return Path(run.events)


def say(log: Path) -> str:
    """Add last words to the log; returns them."""
    word = f"z{secrets.token_hex(4)}"
    with log.open("a") as file:
        file.write(json.dumps({"type": "AssistantMessage", "text": f"All done, {word}."}) + "\n")
    return word


class Unread(Terminal):
    """A terminal whose screen is not kept: keeping it takes longer than drawing it."""

    def _show(self, data: bytes) -> None:
        """Nothing: `log` has it."""


def opened(terminal: Terminal, key: str, word: str) -> float:
    """Milliseconds from the key until these words came out; NaN when they never do."""
    seen, wanted = len(terminal.log), word.encode()
    before = time.monotonic()
    terminal.send(key)
    while time.monotonic() < before + 10:
        pieces = terminal.log[max(0, seen - 1) :]
        if wanted in b"".join(data for _, data in pieces):
            return next(
                ((at - before) * 1000 for at, data in pieces if wanted in data), (pieces[-1][0] - before) * 1000
            )
        time.sleep(0.001)
    return float("nan")


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Both screens at each size of log, in a store of 1,000 views."""
    paths = make_world(folder / "store", 1_000)
    for megabytes in SIZES_MB:
        log = make_log(paths, megabytes)
        with Unread([*AGENT_BOARD, "--home", paths.root], size=SIZE) as terminal:
            while b"task-" not in b"".join(data for _, data in terminal.log):
                time.sleep(0.01)
            terminal.wait_quiet(QUIET_SECONDS)
            terminal.send("g")
            terminal.wait_quiet(QUIET_SECONDS)
            times: dict[str, list[float]] = {"space": [], "v": []}
            closing = {"space": "left", "v": "v"}
            for _ in range(5 if quick else 30):
                for key, values in times.items():
                    values.append(opened(terminal, key, say(log)))
                    terminal.send(closing[key])
                    terminal.wait_quiet(0.1)
        report.add(Line(f"key to peek painted, log of {megabytes:g} MB", times["space"], "ms", "p95 50", 50.0, "p95"))
        report.add(
            Line(f"key to transcript painted, log of {megabytes:g} MB", times["v"], "ms", "p95 100", 100.0, "p95")
        )
