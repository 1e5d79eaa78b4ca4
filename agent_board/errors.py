"""What a user is told when something can't be done: one sentence saying what, where and what to do."""


class BoardError(Exception):
    """An act failed; `str(error)` is the one sentence for the user."""

    exit_code = 1


class UsageError(BoardError):
    """What was asked for makes no sense as asked; the command line leaves with 2."""

    exit_code = 2


class BusyError(BoardError):
    """A lock was not to be had within its second: somebody else is at the same thing."""
