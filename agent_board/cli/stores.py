"""The store as a command may use it: reading never makes one and only warns of a newer one; writing refuses that."""

import argparse
import os

from agent_board.cli.output import warn
from agent_board.errors import BoardError
from agent_board.store.paths import StorePaths, home_from
from agent_board.store.views import newer_store, open_store


def to_read(args: argparse.Namespace) -> StorePaths:
    """The store to read, which need not be there yet. Raises BoardError when the place holds something else."""
    paths = StorePaths(home_from(args.home))
    refuse_foreign(paths)
    newer = newer_store(paths)
    if newer:
        warn(f"{paths.roster} {newer}; showing what can be understood.")
    return paths


def refuse_foreign(paths: StorePaths) -> None:
    """Raises BoardError when something else than a store is at its place."""
    if os.path.isdir(paths.views) or not os.path.lexists(paths.root):
        return
    if not os.path.isdir(paths.root):
        raise BoardError(f"{paths.root} is not a directory; name another place with --home.")
    visible = {name for name in os.listdir(paths.root) if not name.startswith(".")}
    if visible and not visible & {"roster.json", "locks"}:
        raise BoardError(f"{paths.root} is not an agent-board store; name another place with --home.")


def to_change(args: argparse.Namespace) -> StorePaths:
    """The store whose tasks are changed; it isn't made. Raises BoardError when it must not be written."""
    paths = StorePaths(home_from(args.home))
    refuse_foreign(paths)
    _refuse_newer(paths)
    return paths


def to_write(args: argparse.Namespace) -> StorePaths:
    """The store to put a task into, made if it isn't there. Raises BoardError when it can't or must not be written."""
    paths = open_store(home_from(args.home))
    _refuse_newer(paths)
    return paths


def _refuse_newer(paths: StorePaths) -> None:
    newer = newer_store(paths)
    if newer:
        raise BoardError(f"{paths.roster} {newer}; nothing was done. Update agent-board, or name another --home.")


def here() -> str | None:
    """The directory the command was called in; None when it has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
