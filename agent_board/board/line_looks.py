"""What the parts of a conversation look like, from the theme's own colours, as `looks` has it for the list."""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color

_MUTED, _FAINT = "foreground-muted", "foreground-disabled"

_ROLES = {
    "text": "foreground",
    "muted": _MUTED,
    "faint": _FAINT,
    "label": f"bold {_MUTED}",
    "you": "foreground",
    "you-mark": "bold primary",
    "live": f"italic {_MUTED}",
    "note": "warning",
    "good": "success",
    "error": "error",
    "report": "foreground",
    "running": "primary",
    "tool-name": _MUTED,
    "tool-target": "foreground",
    "tool-failed": "error",
    "question": "bold foreground",
    "question-mark": "bold warning",
    "choice": "foreground",
    "choice-key": "bold primary",
    "choice-marked": "bold primary",
    "heading": "bold primary",
    "bold": "bold foreground",
    "italic": "italic foreground",
    "code": "secondary",
    "link": "underline foreground",
    "bullet": _MUTED,
    "match": "reverse warning",
}


def line_style(role: str, colours: Mapping[str, str], *, ground: str, chosen: bool) -> Style:
    """The style of a role; `ground` names the colour below, `chosen` lines stand on another one."""
    weights, _, name = _ROLES[role].rpartition(" ")
    marks = {
        "bold": "bold" in weights or None,
        "italic": "italic" in weights or None,
        "underline": "underline" in weights or None,
        "reverse": "reverse" in weights or None,
    }
    if Color.parse(colours["background"]).ansi is not None:  # the other grounds of such a theme have no colour
        fore = None if name in (_MUTED, _FAINT, "foreground") else Color.parse(colours[name]).rich_color
        dim = name in (_MUTED, _FAINT) or None
        return Style(color=fore, dim=dim, **(marks | ({"reverse": True} if chosen else {})))  # type: ignore[arg-type]
    below = Color.parse(colours[ground])
    if chosen:
        below += Color.parse(colours["selected"])
    fore_colour = below + Color.parse(colours[name])
    return Style(color=fore_colour.rich_color, bgcolor=below.rich_color, **marks)  # type: ignore[arg-type]
