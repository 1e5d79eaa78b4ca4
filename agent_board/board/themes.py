"""The board's colours: calm greys, and colour only where something is asked of the eye."""

from textual.theme import Theme

DARK = Theme(
    name="agent-board-dark",
    dark=True,
    primary="#7aa7d9",
    secondary="#8f9bb3",
    accent="#7aa7d9",
    warning="#e2b35c",
    error="#e07a78",
    success="#86b98a",
    foreground="#d5d8de",
    background="#15171b",
    surface="#1b1e23",
    panel="#22262d",
    variables={
        "foreground-muted": "#8a919d",
        "foreground-disabled": "#5d6470",
        "selected": "#2b3039",
        "selected-away": "#20242a",
        "scrollbar": "#343a44",
        "scrollbar-hover": "#454d59",
        "scrollbar-active": "#7aa7d9",
        "scrollbar-background": "#15171b",
        "scrollbar-background-hover": "#15171b",
        "scrollbar-background-active": "#15171b",
        "scrollbar-corner-color": "#15171b",
        "input-cursor-background": "#d5d8de",
        "input-cursor-foreground": "#15171b",
        "input-selection-background": "#7aa7d9 35%",
    },
)

LIGHT = Theme(
    name="agent-board-light",
    dark=False,
    primary="#2f6499",
    secondary="#5d6b80",
    accent="#2f6499",
    warning="#935f00",
    error="#b23a38",
    success="#3a7442",
    foreground="#2a2d33",
    background="#faf9f6",
    surface="#f1f0ed",
    panel="#e9e6df",
    variables={
        "foreground-muted": "#6a6f78",
        "foreground-disabled": "#9a9da3",
        "selected": "#e4e7ea",
        "selected-away": "#efeeea",
        "scrollbar": "#cfccc4",
        "scrollbar-hover": "#b9b6ad",
        "scrollbar-active": "#2f6499",
        "scrollbar-background": "#faf9f6",
        "scrollbar-background-hover": "#faf9f6",
        "scrollbar-background-active": "#faf9f6",
        "scrollbar-corner-color": "#faf9f6",
        "input-cursor-background": "#2a2d33",
        "input-cursor-foreground": "#faf9f6",
        "input-selection-background": "#2f6499 25%",
    },
)

THEMES = (DARK, LIGHT)


def variable_defaults(*, ansi: bool) -> dict[str, str]:
    """Colours of ours that other themes don't name."""
    if ansi:
        names = ("foreground-muted", "foreground-disabled", "selected", "selected-away")
        return dict.fromkeys(names, "ansi_default")
    return {"selected": "#80808040", "selected-away": "#80808020"}
