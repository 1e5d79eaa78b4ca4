"""`python -m tests.benchmarks [--quick] [--only WORD]`: measures and prints a table beside the aims.

`python -m tests.benchmarks chaos [--minutes N]`: a long storm of deaths over replies and follow-ups; ends with 1 if a
prompt was lost or doubled, or a row lied.
"""

import argparse
import os
import platform
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import agents, chaos, commands, peek, screen
from tests.benchmarks.report import Report
from tests.support import processes

SIZES = (10, 1_000, 10_000)


def main() -> None:
    """Everything in a throwaway home; whatever is still running at the end is ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("all", "chaos"), default="all")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long the chaos lasts")
    parser.add_argument("--seed", type=int, help="of the chaos (default: a new one, printed)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and not the largest size")
    parser.add_argument("--only", metavar="WORD", default="", help="agents, board, list, peek or runner")
    options = parser.parse_args()
    mark = f"benchmark-{secrets.token_hex(4)}:"
    report = Report()
    with tempfile.TemporaryDirectory(prefix="agent-board-benchmarks-") as folder:
        _isolate(folder, mark)
        try:
            if options.what == "chaos":
                raise SystemExit(chaos.run(Path(folder), options.minutes, options.seed))
            for number, (word, part) in enumerate(_parts(report, options.quick)):
                if options.only in word:
                    place = Path(folder) / str(number)
                    place.mkdir()
                    part(place)
        finally:
            processes.end(processes.marked(mark))
    print(f"\n{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(report.table())


def _parts(report: Report, quick: bool) -> list[tuple[str, Callable[[Path], None]]]:
    times = 5 if quick else 20
    parts: list[tuple[str, Callable[[Path], None]]] = [
        ("list", lambda folder: commands.listing(report, folder, 1_000, times)),
        ("runner", lambda folder: commands.runner(report, folder, times)),
        ("agents", lambda folder: agents.measure(report, folder, 3 if quick else 10)),
        ("peek", lambda folder: peek.measure(report, folder, quick)),
        ("board", lambda _: screen.floor(report, 3 if quick else 11)),
    ]
    for views in SIZES[:2] if quick else SIZES:
        parts.append(("board", lambda folder, views=views: screen.measure(report, folder, views, quick)))  # type: ignore[misc]
    return parts


def _isolate(folder: str, mark: str) -> None:
    for name in [name for name in os.environ if name.startswith(("AGENT_BOARD", "XDG_", "PI_"))]:
        del os.environ[name]
    os.environ |= {"HOME": folder, processes.MARK: mark}


if __name__ == "__main__":
    main()
