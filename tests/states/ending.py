"""One row of the table of endings."""

from typing import NamedTuple


class Ending(NamedTuple):
    """How an answer ends. `asks` must stand in the question found (None: there is none); `choices` go with it."""

    text: str
    asks: str | None
    choices: tuple[str, ...] = ()
