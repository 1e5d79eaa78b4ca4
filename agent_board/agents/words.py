"""The user's own words for an agent's command line, from his settings."""

from collections.abc import Collection, Sequence


def without(args: Sequence[str], options: Collection[str]) -> list[str]:
    """The arguments without these options and what belongs to them, which is all up to the next option."""
    kept: list[str] = []
    dropped = False
    for word in args:
        if word.startswith("-"):
            dropped = word.partition("=")[0] in options
        if not dropped:
            kept.append(word)
    return kept
