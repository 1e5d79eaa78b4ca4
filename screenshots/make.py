"""Draws the pictures in this directory: the real board on the demo's world, at real sizes.

    python screenshots/make.py [--out DIR] [NAME…]

Fonts: DejaVu Sans Mono, and for Chinese one of those named in svg.py (on Debian: fonts-dejavu-core, fonts-wqy-zenhei).
Ages and spinners differ by a hair from run to run; everything else is the same.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from agent_board.board.app import BoardApp
from agent_board.config import Settings
from agent_board.demo.seeds import READY
from agent_board.demo.world import demo_world, start_directory
from agent_board.store.paths import StorePaths
from agent_board.store.views import open_store
from screenshots.svg import png, portable

HERE = os.path.dirname(os.path.abspath(__file__))
PIXELS_A_CELL = 10
_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its size in cells, and the keys that lead to it."""

    name: str
    size: tuple[int, int] = (120, 36)
    keys: tuple[str, ...] = ()
    theme: str | None = None
    empty: bool = False


PICTURES = (
    Picture("demo-120x36"),
    Picture("demo-80x24", (80, 24)),
    Picture("demo-light-120x36", theme="agent-board-light"),
    Picture("peek-120x36", keys=("space",)),
    Picture("peek-80x24", (80, 24), keys=("space",)),
    Picture("changes-120x36", keys=("/", *"cursor", "enter", "f")),
    Picture("new-task-120x36", keys=("n", *"Add rate limits to the login")),
    Picture("help-120x36", keys=("question_mark",)),
    Picture("empty-80x24", (80, 24), empty=True),
)


async def draw(picture: Picture, paths: StorePaths, cwd: str) -> str:
    """The picture as SVG."""
    app = BoardApp(paths, Settings(agent="demo", theme=picture.theme), cwd)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause(0.5)
        for key in picture.keys:
            await pilot.press("space" if key == " " else key)
        await pilot.pause(0.5)
        return portable(app.export_screenshot(title="agent-board"))


def make(pictures: tuple[Picture, ...], out: str) -> None:
    """Draw them all into a directory."""
    for empty, place in ((False, _full_world), (True, _empty_world)):
        wanted = [picture for picture in pictures if picture.empty is empty]
        if wanted:
            with place() as (paths, cwd):
                for picture in wanted:
                    svg = asyncio.run(draw(picture, paths, cwd))
                    png(svg, os.path.join(out, f"{picture.name}.png"), picture.size[0] * PIXELS_A_CELL)
                    print(f"{picture.name}.png")


@contextmanager
def _full_world() -> Iterator[tuple[StorePaths, str]]:
    with demo_world() as paths:
        _wait_until(lambda: os.path.exists(os.path.join(os.path.dirname(paths.root), READY)))
        yield paths, start_directory(paths)


@contextmanager
def _empty_world() -> Iterator[tuple[StorePaths, str]]:
    place = tempfile.mkdtemp()
    try:
        yield open_store(os.path.join(place, "board")), os.path.expanduser("~")
    finally:
        shutil.rmtree(place)


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("The demo's world never came to stand as it should.")
        time.sleep(0.05)


def main(arguments: list[str]) -> int:
    """Draw all pictures, or those named."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the README.")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(picture.name for picture in PICTURES))
    options = parser.parse_args(arguments)
    chosen = tuple(picture for picture in PICTURES if not options.names or picture.name in options.names)
    if len(chosen) < len(options.names):
        parser.error(f"known are {', '.join(picture.name for picture in PICTURES)}")
    make(chosen, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
