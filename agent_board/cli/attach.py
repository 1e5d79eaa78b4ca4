"""`agent-board attach`: the agent's own program on a task's session, on this terminal."""

import argparse

from agent_board.cli.asking import agreed, can_ask
from agent_board.cli.output import warn
from agent_board.cli.views import name_of, view_to_change
from agent_board.errors import BoardError
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import State


def run(args: argparse.Namespace) -> int:
    """Attach, and leave when the program has ended: 0 if it ended well or the user ended it."""
    from agent_board.runs.attach import attach

    paths, view_id = view_to_change(args)
    interrupt = args.interrupt or (_runs(paths, view_id) and can_ask() and _wants_to_interrupt(paths, view_id))
    left = attach(paths, view_id, interrupt=interrupt)
    if left.well:
        return 0
    warn(f"The agent's program ended with {left.ending}.")
    return 1


def _runs(paths: StorePaths, view_id: str) -> bool:
    from agent_board.runs.reconcile import claims_a_process

    state = plain.read(State, paths.view(view_id).state)
    return claims_a_process(state) and not (isinstance(state, State) and state.attached)


def _wants_to_interrupt(paths: StorePaths, view_id: str) -> bool:
    name = name_of(paths, view_id)
    if not agreed(f"{name} is running. Interrupt and attach?"):
        raise BoardError(f"{name} goes on; nothing was attached.")
    return True
