"""A question on the terminal whose answer is No unless it is spelled out."""

import sys
from contextlib import suppress

from agent_board.text import clean_line


def can_ask() -> bool:
    """Whether somebody is there to answer: stdin and stderr are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def agreed(question: str) -> bool:
    """Ask on stderr, which leaves stdout to what scripts read; only y or yes is a Yes, Enter is a No.

    What was typed before the question could be read is no answer to it.
    """
    return _answer(f"{question} (y/N) ").lower() in ("y", "yes")


def agreed_by_name(name: str) -> bool:
    """Ask for the name to be typed: what is agreed to here can't be had back."""
    return _answer(f"Type {name} to lose this work: ") == clean_line(name)


def _answer(question: str) -> str:
    import termios

    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stderr.write(clean_line(question) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip()
