"""Short words for times, tokens and money, and cutting by cells."""

from rich.cells import cell_len, set_cell_size

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def age(ms: int) -> str:
    """How long ago, in at most four cells; in steps of ten seconds at first, so that young rows are redrawn rarely."""
    seconds = max(0, ms) // 1000
    if seconds < 10:
        return "now"
    if seconds < _MINUTE:
        return f"{seconds // 10 * 10}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h"
    days = seconds // _DAY
    return f"{days}d" if days < 1000 else f"{min(days // 365, 999)}y"


def tokens(count: int | None) -> str:
    """A number of tokens in at most four cells; blank when the agent reports none."""
    if count is None:
        return ""
    if count < 1000:
        return str(count)
    for divisor, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        value = count / divisor
        if value < 9.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return ">1T"


def money(dollars: float | None) -> str:
    """A cost in at most six cells; blank when the agent reports none."""
    if dollars is None:
        return ""
    if dollars < 99.995:
        return f"${dollars:.2f}"
    return f"${dollars:.0f}" if dollars < 99_999 else ">$99k"


def fit(text: str, width: int, ellipsis: str, *, right: bool = False) -> str:
    """The text in exactly `width` cells: cut by cells with an ellipsis, or filled up with blanks."""
    if width <= 0:
        return ""
    taken = cell_len(text)
    if taken > width:
        kept = set_cell_size(text, width - cell_len(ellipsis)).rstrip() + ellipsis
        return set_cell_size(kept, width)
    blanks = " " * (width - taken)
    return blanks + text if right else text + blanks


def fit_end(text: str, width: int, ellipsis: str) -> str:
    """The text if it fits, else its end, which of a path tells the most; no wider than `width` cells."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(ellipsis + text) > width:
        text = text[1:]
    return ellipsis + text if width >= cell_len(ellipsis) else ""


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 run`, `3 runs`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
