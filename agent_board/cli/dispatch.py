"""`agent-board dispatch`: start a task in the background."""

import argparse
import os
import sys

from agent_board.cli.output import print_object, say, warn
from agent_board.cli.stores import here, to_write
from agent_board.errors import BoardError, UsageError

LARGEST_PROMPT = 64 << 20


def run(args: argparse.Namespace) -> int:
    """Start the task and say which view it is; with `--wait`, leave as `wait` does."""
    if args.timeout is not None and not args.wait:
        raise UsageError("--timeout needs --wait.")
    prompt = prompt_of(args.prompt, args.words)
    from agent_board.config import load_settings
    from agent_board.runs.dispatch import Order, dispatch

    settings = load_settings()
    order = Order(
        prompt=prompt,
        cwd=_directory(args.cwd),
        agent=args.agent,
        model=args.model,
        mode=args.mode,
        name=args.name,
        read_only=args.read_only,
        worktree=args.worktree,
    )
    paths = to_write(args)
    started = dispatch(paths, order, settings.options(order.cwd))
    if args.json:
        print_object({"viewId": started.view_id, "runId": started.run_id})
    else:
        where = f" in its worktree {started.worktree_path}" if started.worktree_path else ""
        say(f"Started {started.name} ({started.view_id}){where}.")
    for warning in started.warnings:
        warn(warning)
    if not args.wait:
        return 0
    from agent_board.cli.waiting import tell, wait

    result = wait(paths, [started.view_id], None, args.timeout)
    if not args.json:
        tell(result)
    return result.code


def _directory(option: str | None) -> str:
    """The directory asked for, as an absolute path; the one we are in when none was."""
    current = here()
    if option is None and current is None:
        raise BoardError("The directory you are in has been deleted; go to another one or give --cwd.")
    if option == "":
        raise UsageError("--cwd is empty; name a directory.")
    return os.path.join(current or "/", os.path.expanduser(option or ""))


def prompt_of(arguments: list[str], words: list[str] | None) -> bytes:
    """The prompt's exact bytes: the argument, stdin for `-`, or the words behind `--` joined by one blank.

    Raises UsageError when there is none, more than one, nothing but white space in it, or not UTF-8.
    """
    if words is not None:
        if arguments:
            raise UsageError("Give the prompt either before -- or after it, not both.")
        prompt = os.fsencode(" ".join(words))
    elif len(arguments) > 1:
        raise UsageError("The prompt has to be one argument: put it in quotes, or write -- before its words.")
    elif arguments == ["-"]:
        prompt = _stdin()
    elif arguments:
        prompt = os.fsencode(arguments[0])
    else:
        raise UsageError("Say what is to be done: agent-board dispatch “PROMPT”, or - to read it from stdin.")
    return _checked(prompt)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("There is no stdin to read the prompt from.")
    prompt = sys.stdin.buffer.read(LARGEST_PROMPT + 1)
    if len(prompt) > LARGEST_PROMPT:
        raise UsageError(f"The prompt is larger than {LARGEST_PROMPT >> 20} MB; put it into a file and name the file.")
    return prompt


def _checked(prompt: bytes) -> bytes:
    try:
        text = prompt.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"The prompt is not UTF-8 text (byte {error.start + 1}); convert it first.") from None
    if not text.strip():
        raise UsageError("The prompt is empty; say what is to be done.")
    return prompt
