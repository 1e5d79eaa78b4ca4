"""`agent-board completion SHELL`: the shell's completion script, which asks us for ids and names."""

import argparse
import re

from agent_board.cli.resolve import names_of
from agent_board.cli.stores import to_read
from agent_board.errors import BoardError
from agent_board.store.views import view_ids

_ASK = "agent-board completion views 2>/dev/null"
_PREAMBLE = {
    "bash": f'_agent_board_views() {{\n  compgen -W "$({_ASK})" -- "$1"\n}}',
    "zsh": f'_agent_board_views() {{\n  local -a views\n  views=(${{(f)"$({_ASK})"}})\n  compadd -a views\n}}',
}
_VIEWS = {"bash": "_agent_board_views", "zsh": "_agent_board_views", "fish": f"({_ASK})", "tcsh": f"`{_ASK}`"}
# A shell expands what it is offered, so a name is offered only when no shell can read anything into it.
_HARMLESS = re.compile(r"[\w.][\w.+-]*", re.ASCII)


def run(args: argparse.Namespace) -> int:
    """Print the script, or, for the script's own use, what VIEW can be."""
    if args.shell == "views":
        _print_views(args)
        return 0
    import shtab

    from agent_board.cli.parser import build

    if args.shell not in shtab.SUPPORTED_SHELLS:
        raise BoardError(f"The installed shtab can't complete for {args.shell}; update it.")
    parser = build()
    _describe(parser)
    print(shtab.complete(parser, shell=args.shell, preamble=_PREAMBLE.get(args.shell, "")))
    return 0


def _print_views(args: argparse.Namespace) -> None:
    paths = to_read(args)
    ids = view_ids(paths)
    for word in sorted({*ids, *filter(_HARMLESS.fullmatch, names_of(paths, ids).values())}):
        print(word)


def _describe(parser: argparse.ArgumentParser) -> None:
    """Tell shtab what an argument can be, for every command."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _describe(command)
        elif action.dest in ("view", "views"):
            action.complete = _VIEWS  # type: ignore[attr-defined]
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar == "SESSION_FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]
