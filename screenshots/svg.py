"""From Textual's SVG to a PNG that looks the same on every machine: one local font, every character in its cell."""

import html
import re

from agent_board.text import char_cells

CELL = 12.2
FONT = "DejaVu Sans Mono"
WIDE_FONTS = "WenQuanYi Zen Hei Mono, Noto Sans Mono CJK SC, Noto Sans CJK SC, WenQuanYi Micro Hei Mono"
BRAILLE_FONT = "DejaVu Sans"
_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
_TEXT = re.compile(
    r'<text class="(?P<style>[^"]*)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" textLength="[\d.]+" '
    r'clip-path="(?P<clip>[^"]*)">(?P<text>.*?)</text>',
    re.DOTALL,
)


def portable(svg: str) -> str:
    """The drawing without fonts from elsewhere, and with wide characters two cells wide."""
    svg = _FONT_FACE.sub("", svg).replace("Fira Code, monospace", f"'{FONT}', monospace")
    return _TEXT.sub(_placed, svg)


def _placed(match: re.Match[str]) -> str:
    """The same text as one element a font, with a place for every character."""
    by_font: dict[str, tuple[list[str], list[str]]] = {}
    x = float(match["x"])
    for char in html.unescape(match["text"]).rstrip("\n"):
        if char not in " \u00a0":
            chars, places = by_font.setdefault(_font_of(char), ([], []))
            chars.append(char)
            places.append(f"{x:.1f}")
        x += char_cells(char) * CELL
    return "".join(
        f'<text class="{match["style"]}" x="{" ".join(places)}" y="{match["y"]}" clip-path="{match["clip"]}" '
        f'style="font-family: {font}">{html.escape("".join(chars))}</text>'
        for font, (chars, places) in by_font.items()
    )


def _font_of(char: str) -> str:
    if char_cells(char) == 2:
        return WIDE_FONTS
    return BRAILLE_FONT if "\u2800" <= char <= "\u28ff" else FONT


def png(svg: str, path: str, width: int) -> None:
    """Write the drawing as a PNG of that many pixels. Raises OSError when the path can't be written."""
    import cairosvg

    cairosvg.svg2png(bytestring=svg.encode(), write_to=path, output_width=width)
