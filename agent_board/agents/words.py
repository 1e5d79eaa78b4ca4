"""The user's own words for an agent's command line, from his settings."""

import re
from collections.abc import Collection, Sequence

_OPTION = re.compile(r"-[-A-Za-z]")


def without(args: Sequence[str], options: Collection[str]) -> list[str]:
    """The arguments without these options and what belongs to them, which is all up to the next option."""
    kept: list[str] = []
    dropped = False
    for word in args:
        if _OPTION.match(word):
            dropped = word.partition("=")[0] in options
        if not dropped:
            kept.append(word)
    return kept


def given(args: Sequence[str], option: str) -> str | None:
    """The value that counts of an option that takes one: the last; None when it isn't there."""
    found: str | None = None
    for number, word in enumerate(args):
        name, equals, value = word.partition("=")
        if name == option:
            found = value if equals else next(iter(args[number + 1 : number + 2]), None)
    return found
