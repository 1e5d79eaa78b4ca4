"""The board, and the demo's."""

import argparse
import asyncio
import dataclasses
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agent_board.cli.output import warn
from agent_board.cli.stores import here
from agent_board.errors import BoardError, UsageError
from agent_board.store.paths import StorePaths, home_from

_PATIENCE_S = 1.5
"""So long a board that was told to end may take to give the terminal back."""


def board(args: argparse.Namespace) -> int:
    """Open the board on the user's store."""
    _need_terminal("agent-board list prints the tasks without one.")
    from agent_board.store.views import open_store

    return _open(open_store(home_from(args.home)), here() or os.path.expanduser("~"))


def demo(args: argparse.Namespace) -> int:
    """Open the board on a throwaway world, in one of its repositories; nothing of it is left behind."""
    if args.home is not None:
        raise UsageError("The demo makes its own store in a temporary place; leave --home out.")
    _need_terminal("The demo is the board itself.")
    from agent_board.demo.world import AGENT, demo_world, start_directory

    with demo_world() as paths:
        return _open(paths, start_directory(paths), agent=AGENT, throwaway=True)


def _open(paths: StorePaths, cwd: str, *, agent: str | None = None, throwaway: bool = False) -> int:
    from agent_board.board.app import BoardApp
    from agent_board.config import Settings, load_settings

    try:
        settings = load_settings()
    except UsageError as error:
        warn(f"{error} The board goes by the defaults.")
        settings = Settings()
    if agent is not None:
        settings = dataclasses.replace(settings, agent=agent)
    app = BoardApp(paths, settings, cwd, throwaway=throwaway)
    # Textual would print the traceback with the values of its variables, prompts among them.
    app._fatal_error = app._close_messages_no_wait  # type: ignore[method-assign]
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        with _told_to_end(lambda code: loop.call_soon_threadsafe(app.exit, None, code)):
            app.run(mouse=settings.mouse, loop=loop)
    if app._exception is not None:
        raise app._exception
    _forget_lost_terminal()
    return app.return_code or 0


def _forget_lost_terminal() -> None:
    """What can't be written any more must not change the exit code when Python flushes it at the end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


@contextmanager
def _told_to_end(leave: Callable[[int], object]) -> Iterator[None]:
    """TERM and HUP close the board as `q` does, once, so that the terminal is given back; `leave` gets 128 + number.

    A lost terminal sends HUP and then CONT, and for CONT Textual would start to draw again: it would wait for ever
    for a terminal that is gone. Such a terminal can hold the last write for ever, too: the board doesn't wait for it.
    """
    ends = (signal.SIGTERM, signal.SIGHUP)
    told, left = threading.Event(), threading.Event()
    code = 0

    def give_up() -> None:
        told.wait()
        if not left.wait(_PATIENCE_S):
            os._exit(code)

    def handler(number: int, _: object) -> None:
        nonlocal code
        for each in (*ends, signal.SIGCONT, signal.SIGTSTP):
            signal.signal(each, signal.SIG_IGN)
        code = 128 + number
        told.set()
        leave(code)

    # Started here: a handler that starts a thread can come in the middle of the start of another, and wait for ever.
    threading.Thread(target=give_up, name="last-resort", daemon=True).start()

    before = {number: signal.signal(number, handler) for number in ends}
    try:
        yield
    finally:
        left.set()
        told.set()
        for number, old in before.items():
            signal.signal(number, old)


def _need_terminal(instead: str) -> None:
    # The screen is drawn on stderr, so that one counts, too.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise BoardError(f"The board needs a terminal for its input and output. {instead}")
