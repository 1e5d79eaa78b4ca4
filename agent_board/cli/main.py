"""The `agent-board` command: from an argument list to an exit code, with one sentence on stderr when it fails.

Exit codes: 0 done, 1 failed, 2 wrong usage; `wait` adds 3 (timed out) and 4 (settled, not completed); 130 and 141
are the shell's for ctrl+c and for a reader that went away.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TextIO

from agent_board.errors import BoardError

INTERRUPTED = 130
READER_GONE = 141

_COMMANDS = {
    "board": "agent_board.cli.board:board",
    "demo": "agent_board.cli.board:demo",
    "dispatch": "agent_board.cli.dispatch:run",
    "list": "agent_board.cli.listing:list_views",
    "show": "agent_board.cli.listing:show",
    "wait": "agent_board.cli.waiting:run",
    "logs": "agent_board.cli.logs:run",
    "stop": "agent_board.cli.stop:run",
    "reply": "agent_board.cli.reply:reply",
    "answer": "agent_board.cli.answer:run",
    "followups": "agent_board.cli.reply:followups",
    "retry": "agent_board.cli.reply:retry",
    "attach": "agent_board.cli.attach:run",
    "rename": "agent_board.cli.life:rename",
    "pin": "agent_board.cli.life:pin",
    "unpin": "agent_board.cli.life:unpin",
    "done": "agent_board.cli.life:done",
    "reopen": "agent_board.cli.life:reopen",
    "archive": "agent_board.cli.life:archive",
    "restore": "agent_board.cli.life:restore",
    "delete": "agent_board.cli.delete:run",
    "undo": "agent_board.cli.life:undo",
    "elsewhere": "agent_board.cli.elsewhere:run",
    "adopt": "agent_board.cli.adopt:run",
    "diff": "agent_board.cli.changes:diff",
    "merge": "agent_board.cli.changes:merge",
    "worktree": "agent_board.cli.worktree:run",
    "explain": "agent_board.cli.explain:run",
    "doctor": "agent_board.cli.doctor:run",
    "completion": "agent_board.cli.completion:run",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no exception and no traceback leaves here."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _make_output_safe()
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BoardError as error:
        return _fail(str(error), error.exit_code)
    except SystemExit as leaving:  # argparse, after it printed help or the version
        return leaving.code if isinstance(leaving.code, int) else 0
    except BrokenPipeError:
        _give_up_on(sys.stdout)
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _give_up_on(sys.stdout)
        return _fail(_os_sentence(error), BoardError.exit_code)
    except Exception as error:  # noqa: BLE001 the last resort: a user never sees a traceback
        from agent_board.cli.failures import unexpected

        return _fail(unexpected(error, arguments), BoardError.exit_code)


def _run(arguments: list[str]) -> int:
    from agent_board.cli.parser import parse

    args = parse(arguments)
    module, _, function = _COMMANDS[args.command].partition(":")
    code: int = getattr(import_module(module), function)(args)
    return code


def _fail(sentence: str, code: int) -> int:
    from agent_board.cli.output import warn

    with suppress(OSError):
        warn(sentence)
    return code


def _os_sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"The system refused: {where}{error.strerror or error}."


def _make_output_safe() -> None:
    """A terminal that can't show a character gets a substitute instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _give_up_on(stream: TextIO | None) -> None:
    """If the stream takes no more, let the rest go nowhere: the interpreter would complain about it while it ends."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
