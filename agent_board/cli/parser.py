"""The command line's grammar: every command, option and help text in one place."""

import argparse
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from agent_board import __version__
from agent_board.errors import UsageError

_STATES = ("queued", "working", "needs_input", "idle", "completed", "failed", "stopped")
SHELLS = ("bash", "zsh", "fish", "tcsh")
_PROMPTING = ("dispatch", "reply")
_VIEW_HELP = "id, name, or the beginning of an id that no other has"
_LIFE = {
    "pin": "Put a task first in its group.",
    "unpin": "Take a pin away.",
    "done": "Your verdict: completed, until the next run.",
    "reopen": "Take completed back.",
    "archive": "Hide a task and keep everything.",
    "restore": "Bring an archived task back.",
}
_EPILOG = f"""\
States: {", ".join(_STATES)}.
VIEW is an id, a name, or the beginning of an id that no other task has.
Exit codes: 0 done, 1 failed (one sentence on stderr), 2 wrong usage; wait and dispatch --wait: 3 timed out,
4 settled but not all completed.
"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, **options)
        self.add_argument("--help", action="help", help="show this text and leave")

    def error(self, message: str) -> NoReturn:
        """Wrong usage is one sentence, like every other failure."""
        wrong = re.fullmatch(r"argument (.+?): invalid choice: (.+) \(choose from (.+)\)", message, re.DOTALL)
        if wrong:
            what, value, choices = wrong.groups()
            message = f"{what}: there is no {value}, choose from {choices.replace(chr(39), '')}"
        if message.endswith(": TEXT"):
            message += " (write -- before one that begins with a dash)"
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command and its options. Raises UsageError; help and version print and raise SystemExit.

    `words` holds what stands behind `--` for a command that takes such words, else None.
    """
    before, words = _split(list(arguments))
    args, unknown = build().parse_known_args(["--help" if word == "-h" else word for word in before])
    args.command = args.command or "board"
    if unknown:
        hint = "write -- before a prompt that begins with a dash" if args.command in _PROMPTING else "see --help"
        raise UsageError(f"{args.command} does not take {unknown[0]}; {hint}.")
    if args.command == "reply" and words is not None:
        args.prompt.pop()  # what stood in for the words
    args.words = words
    return args


def _split(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Cut at the first `--` of a command that takes words there: argparse versions differ in what they make of it."""
    command = _command_in(arguments)
    if command not in _PROMPTING or "--" not in arguments:
        return arguments, None
    at = arguments.index("--")
    # The words stand for a prompt that `reply`, which has a VIEW before it, can't do without.
    return [*arguments[:at], *(["-"] if command == "reply" else [])], arguments[at + 1 :]


def _command_in(arguments: list[str]) -> str | None:
    words = iter(arguments)
    for word in words:
        if word == "--home":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def build() -> argparse.ArgumentParser:
    """The whole grammar."""
    parser = _Parser(
        prog="agent-board",
        description="One screen for every background coding agent on this machine. Without a command: the board.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"agent-board {__version__}")
    parser.add_argument("--home", metavar="DIR", help="the store (default: $AGENT_BOARD_HOME, ~/.pi/agent/agent-board)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=_Parser)
    _add_dispatch(commands)
    _add_reading(commands)
    _add_acting(commands)
    _add_triage(commands)
    _add_life(commands)
    _add_git(commands)
    _add_rest(commands)
    return parser


def _command(commands: Any, name: str, text: str, *, json: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help="the store")
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    return parser


def _add_dispatch(commands: Any) -> None:
    parser = _command(commands, "dispatch", "Start a task in the background.")
    parser.usage = "agent-board dispatch [options] (PROMPT | - | -- WORDS...)"
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="the task in one argument; - reads it from stdin")
    parser.add_argument("--cwd", metavar="DIR", help="the directory to work in (default: this one)")
    parser.add_argument("--agent", metavar="A", help="which agent (default: the configured one, else the first found)")
    parser.add_argument("--model", metavar="M", help="the agent's model")
    parser.add_argument("--mode", metavar="MODE", help="what the agent may do unasked, in its own words (see README)")
    parser.add_argument("--name", metavar="N", help="the row's name (default: from the prompt's first words)")
    parser.add_argument("--read-only", action="store_true", help="give the agent reading tools only")
    parser.add_argument(
        "--worktree",
        metavar="W",
        choices=("auto", "on", "off"),
        default="auto",
        help="on, off, or auto: a worktree of its own if another open task writes in the same checkout",
    )
    parser.add_argument("--wait", action="store_true", help="leave when the task has settled, with wait's exit code")
    _add_timeout(parser)


def _add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--timeout", metavar="SEC", type=_seconds, help="wait no longer than this (exit code 3)")


def _add_reading(commands: Any) -> None:
    parser = _command(commands, "list", "Print the tasks, those that need you first.")
    parser.add_argument("--state", metavar="S", type=_state, choices=_STATES, help="only this state")
    parser.add_argument("--all", action="store_true", help="archived ones too")
    _add_view(_command(commands, "show", "Print one task and its runs."))
    parser = _command(commands, "logs", "Print what the agent did in its current run.")
    _add_view(parser)
    parser.add_argument("--follow", action="store_true", help="go on until the run has ended")
    parser.add_argument("--raw", action="store_true", help="the agent's own output, byte for byte")
    _add_view(_command(commands, "explain", "Say why a task has the state it has."))


def _add_acting(commands: Any) -> None:
    parser = _command(commands, "wait", "Wait until tasks have settled: neither queued nor working.")
    parser.add_argument("views", nargs="+", metavar="VIEW", help=_VIEW_HELP)
    parser.add_argument("--state", metavar="S", type=_state, choices=_STATES, help="or in this state")
    _add_timeout(parser)
    _add_view(_command(commands, "stop", "End a task's run."))


def _add_triage(commands: Any) -> None:
    parser = _command(commands, "reply", "Send a prompt to a task: at once if it has settled, else in its turn.")
    parser.usage = "agent-board reply [options] VIEW (TEXT | - | -- WORDS...)"
    _add_view(parser)
    parser.add_argument("prompt", nargs="+", metavar="TEXT", help="the reply in one argument; - reads it from stdin")
    _add_answer(commands)
    parser = _command(commands, "followups", "Print the prompts that wait in a task, send one, or drop one.")
    _add_view(parser)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--send", metavar="ID", help="send this one now")
    choice.add_argument("--drop", metavar="ID", help="take this one away")
    _add_view(_command(commands, "retry", "Send a task's last prompt once more."))
    parser = _command(commands, "attach", "Open the agent's own program on a task's session, here.", json=False)
    _add_view(parser)
    parser.add_argument("--interrupt", action="store_true", help="stop a running run first, without asking")


def _add_answer(commands: Any) -> None:
    parser = _command(commands, "answer", "Answer what a running task asks: a permission or a choice.")
    _add_view(parser)
    parser.add_argument("--request", metavar="ID", help="which of several open requests (see show --json)")
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--allow", action="store_true", help="allow it, this once")
    choice.add_argument("--deny", metavar="TEXT", nargs="?", const="", help="deny it, and tell the agent why")
    choice.add_argument("--choice", metavar="N", type=int, help="take the Nth of the choices that it offers")


def _add_life(commands: Any) -> None:
    parser = _command(commands, "rename", "Give a task another name.")
    _add_view(parser)
    parser.add_argument("name", metavar="NAME", help="the new name")
    for name, text in _LIFE.items():
        _add_view(_command(commands, name, text))
    parser = _command(commands, "delete", "Remove a task's data for good, after showing what goes.")
    _add_view(parser)
    parser.add_argument("--yes", action="store_true", help="don't ask")
    parser.add_argument("--discard-work", action="store_true", help="also where work would be lost")
    _command(commands, "undo", "Take the last rename, pin, done, reopen, archive or restore back.")
    _command(commands, "elsewhere", "Print the sessions that run on this machine outside the board.")
    parser = _command(commands, "adopt", "Put a session that was started elsewhere on the board.")
    parser.add_argument("session", metavar="SESSION", help="the agent's session file, or the session's id")


def _add_git(commands: Any) -> None:
    parser = _command(commands, "diff", "Print what a task changed, uncommitted and new files included.")
    _add_view(parser)
    parser.add_argument("--stat", action="store_true", help="commits and files with their counts only")
    parser = _command(commands, "merge", "Merge a task's branch into the main checkout, after showing how.")
    _add_view(parser)
    parser.add_argument("--commit", metavar="MESSAGE", help="commit what is uncommitted with this message first")
    parser.add_argument("--yes", action="store_true", help="don't ask")
    _add_worktree(_command(commands, "worktree", "Make, list and remove worktrees of this repository.", json=False))


def _add_worktree(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACT", title="acts", required=True, parser_class=_Parser)
    act = _command(acts, "create", "Make a worktree with a branch of that name, or use the one that is there.")
    act.add_argument("name", metavar="NAME", help="of the worktree and of its branch")
    act.add_argument(
        "--base", metavar="REF", help="start from this commit, branch or tag (default: what is checked out)"
    )
    _command(acts, "list", "Print the main checkout and all worktrees.")
    named = "a worktree's name, branch or path"
    act = _command(acts, "info", "Say how a worktree stands.")
    act.add_argument("name", metavar="NAME", help=named)
    _command(acts, "out", "Print the main checkout's path.", json=False)
    act = _command(acts, "remove", "Remove a worktree that holds nothing that would be lost.")
    act.add_argument("name", metavar="NAME", help=named)
    act.add_argument(
        "--discard-work", action="store_true", help="remove it with all that would be lost, and its branch"
    )
    _command(acts, "prune", "Drop worktrees whose directory is gone and what interrupted work left.")
    for gone in ("start", "prepare"):
        acts.add_parser(gone).add_argument("rest", nargs="*", help=argparse.SUPPRESS)


def _add_rest(commands: Any) -> None:
    _command(commands, "doctor", "Check store, agents and terminal, each with its fix.")
    _command(commands, "demo", "Open the board on a throwaway world with a scripted agent.", json=False)
    parser = _command(commands, "completion", "Print the completion script of a shell.", json=False)
    parser.add_argument("shell", metavar="SHELL", choices=(*SHELLS, "views"), help=", ".join(SHELLS))


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("view", metavar="VIEW", help=_VIEW_HELP)


def _state(text: str) -> str:
    return text.replace("-", "_")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of seconds")
    return seconds
