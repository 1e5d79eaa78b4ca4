"""What each part of the list looks like, from the theme's own colours.

Not in the style sheets: forty component classes there cost every start some 30 ms.
"""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color

_GROUND = "background"
_MUTED, _FAINT = "foreground-muted", "foreground-disabled"

_ROLES = {
    "row": "foreground",
    "cursor": "bold primary",
    "cursor-away": _FAINT,
    "unread": "foreground",
    "mark": "bold primary",
    "name": "foreground",
    "name-unread": "bold foreground",
    "name-outside": _MUTED,
    "project": _MUTED,
    "marks": _MUTED,
    "note": "warning",
    "usage": _FAINT,
    "age": _MUTED,
    "more": _FAINT,
    "header-title": "bold foreground",
    "header-count": _MUTED,
    "header-note": _MUTED,
    "glyph-needs_input": "bold warning",
    "glyph-failed": "error",
    "glyph-unreadable": "error",
    "glyph-working": "primary",
    "glyph-queued": _MUTED,
    "glyph-completed": "success",
    "glyph-idle": _MUTED,
    "glyph-stopped": _MUTED,
    "glyph-elsewhere": _MUTED,
    "summary-needs_input": "foreground",
    "summary-failed": "error",
    "summary-unreadable": "error",
    "summary-working": _MUTED,
    "summary-queued": _MUTED,
    "summary-completed": _MUTED,
    "summary-idle": _MUTED,
    "summary-stopped": _FAINT,
    "summary-elsewhere": _MUTED,
    "header-needs_input": "bold warning",
    "header-failed": "bold error",
    "header-unreadable": "bold error",
    "header-working": "bold primary",
    "header-queued": f"bold {_MUTED}",
    "header-completed": f"bold {_MUTED}",
    "header-idle": f"bold {_MUTED}",
    "header-stopped": f"bold {_MUTED}",
    "header-elsewhere": f"bold {_MUTED}",
}


def role_style(role: str, colours: Mapping[str, str], *, selected: bool, away: bool) -> Style:
    """The style of a role on a plain or the selected line; `away`: the list does not have the keyboard."""
    weight, _, name = _ROLES[role].rpartition(" ")
    bold = bool(weight) or (selected and role in ("name", "name-outside")) or None
    ground = Color.parse(colours[_GROUND])
    if ground.ansi is not None:
        return _terminal_style(name, colours, bold=bold, reverse=(selected and not away) or None)
    if selected:
        ground += Color.parse(colours["selected-away" if away else "selected"])
    fore = ground + Color.parse(colours[name])
    return Style(color=fore.rich_color, bgcolor=ground.rich_color, bold=bold)


def _terminal_style(name: str, colours: Mapping[str, str], *, bold: bool | None, reverse: bool | None) -> Style:
    """In the terminal's own colours, or in none: what is muted elsewhere is dim, the selected line is reversed."""
    if name in (_MUTED, _FAINT):
        return Style(dim=True, bold=bold, reverse=reverse)
    return Style(color=Color.parse(colours[name]).rich_color, bold=bold, reverse=reverse)
