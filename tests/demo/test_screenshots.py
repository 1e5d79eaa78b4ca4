"""The pictures of the README come from a script that still runs."""

import re
from pathlib import Path

import pytest

from screenshots import make
from screenshots.svg import CELL, portable

LINE = (
    '<text class="r1" x="24.4" y="20" textLength="97.6" clip-path="url(#line-0)">支付&#160;ok&#160;⠋</text>'
    '<text class="r1" x="0" y="44" textLength="12.2" clip-path="url(#line-1)">\n</text>'
)


def test_each_character_stands_in_its_cell() -> None:
    drawn = portable(LINE)
    places: dict[str, float] = {}
    for xs, text in re.findall(r'x="([\d. ]+)" y="20".*?>([^<]+)<', drawn):
        places.update(zip(text, map(float, xs.split()), strict=True))
    columns = {char: round(x / CELL, 2) for char, x in places.items()}
    assert columns == {"支": 2, "付": 4, "o": 7, "k": 8, "⠋": 10}
    assert "</text>" not in re.findall(r'y="44".*', drawn), "blank lines are left out"


def test_no_font_from_elsewhere_is_asked_for() -> None:
    svg = '<style>@font-face { src: url("far away") } .m { font-family: Fira Code, monospace; }</style>'
    assert "url(" not in portable(svg)
    assert "DejaVu Sans Mono" in portable(svg)


def test_the_script_draws_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "pictures"
    out.mkdir()
    assert make.main(["--out", str(out), "empty-80x24"]) == 0
    (picture,) = out.iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 5000


def test_an_unknown_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        make.main(["--out", str(tmp_path), "nothing-like-it"])
    assert not list(tmp_path.glob("*.png"))
