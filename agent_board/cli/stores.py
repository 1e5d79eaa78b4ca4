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
    if os.path.isdir(paths.views):
        newer = newer_store(paths)
        if newer:
            warn(f"{paths.roster} {newer}; showing what can be understood.")
    elif os.path.lexists(paths.root) and not _empty_or_ours(paths.root):
        raise BoardError(f"{paths.root} is not an agent-board store; name another place with --home.")
    return paths


def to_write(args: argparse.Namespace) -> StorePaths:
    """The store to change, made if it isn't there. Raises BoardError when it can't be or must not be written."""
    paths = open_store(home_from(args.home))
    newer = newer_store(paths)
    if newer:
        raise BoardError(f"{paths.roster} {newer}; nothing was done. Update agent-board, or name another --home.")
    return paths


def _empty_or_ours(root: str) -> bool:
    if not os.path.isdir(root):
        return False
    visible = {name for name in os.listdir(root) if not name.startswith(".")}
    return not visible or bool(visible & {"roster.json", "locks"})


def here() -> str | None:
    """The directory the command was called in; None when it has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
