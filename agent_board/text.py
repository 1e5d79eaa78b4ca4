"""Text from outside is data: made harmless and cut by cells before it is stored short or shown.

Light on purpose (standard library): the runner uses it too.
"""

import unicodedata

ELLIPSIS = "…"
# Controls, format characters (bidi overrides, joiners, BOM, tags), lone surrogates, line and paragraph separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_ZERO_WIDTH = {"Mn", "Me"}
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)  # an emoji with one is as wide as each terminal likes

# Of a terminal: sequences with parameters, with text up to a terminator, and those of two characters.
_SEQUENCES = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)|\x1b[ -/]*[0-~]|.\x08"


def _is_unsafe(char: str) -> bool:
    return unicodedata.category(char) in _UNSAFE or ord(char) in _VARIATION_SELECTORS


def _safe(char: str) -> str:
    if not _is_unsafe(char):
        return char
    return "" if unicodedata.category(char) in ("Cf", "Mn") else " "


def clean_line(text: str) -> str:
    """One line without any control character; runs of white space and controls become one blank."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(_safe(char) for char in text).split())


def clean_block(text: str) -> str:
    """Several lines without control characters; newlines are kept, tabs become four blanks."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(line if line.isascii() and line.isprintable() else _without_unsafe(line) for line in lines)


def _without_unsafe(line: str) -> str:
    return "".join("" if _is_unsafe(char) else char for char in line)


def printed(data: bytes) -> str:
    """What a program printed on a terminal, as plain lines: no colours, and of a line written over its last text."""
    import re

    text = re.sub(_SEQUENCES, "", data.decode("utf-8", "replace"))
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return clean_block("\n".join(lines))


def char_cells(char: str) -> int:
    """Cells that one character takes in a terminal: 0, 1 or 2."""
    if char.isascii():
        return 1
    if unicodedata.category(char) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str) -> int:
    """Cells that a clean line takes in a terminal."""
    return len(text) if text.isascii() else sum(map(char_cells, text))


def cut(text: str, width: int) -> str:
    """The text if it fits in `width` cells, else its head and an ellipsis; never more than `width` cells."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    used, kept = 1, []
    for char in text:
        used += char_cells(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + ELLIPSIS


def preview(text: str, width: int = 240) -> str:
    """One clean line of at most `width` cells, for previews and summaries."""
    return cut(clean_line(text[: width * 8]), width)
