"""Which of the machine's tools are asked to take a text, and that they get it byte for byte."""

from pathlib import Path

import pytest

from agent_board.board import clipboard
from tests.support.wait import wait_for


def program(folder: Path, name: str, text: str = "") -> Path:
    """A tool that keeps what it gets beside itself, and its arguments."""
    path = folder / name
    path.write_text(f'#!/bin/sh\n{text}\n/bin/cat > "{folder}/{name}.got"\necho "$@" > "{folder}/{name}.with"\n')
    path.chmod(0o755)
    return folder / f"{name}.got"


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def names(**environ: str) -> list[str]:
    return [tool[0] for tool in clipboard.tools(environ)]


def test_only_tools_that_fit_and_are_there(bin_dir: Path) -> None:
    for name in ("tmux", "wl-copy", "xclip", "clip.exe"):
        program(bin_dir, name)
    assert names() == []
    assert names(TMUX="/tmp/x", DISPLAY=":0") == ["tmux", "xclip"]
    assert names(WAYLAND_DISPLAY="w", DISPLAY=":0") == ["wl-copy", "xclip"]
    assert names(WSL_DISTRO_NAME="d") == ["clip.exe"]
    assert names(TERMUX_VERSION="1") == []


def test_the_text_arrives_whole_and_the_next_tool_is_asked_when_one_fails(bin_dir: Path) -> None:
    refused = program(bin_dir, "wl-copy", "exit 1")
    got, buffer = program(bin_dir, "xclip"), program(bin_dir, "tmux")
    text = "line\n\ttab “面板” \x00 end"
    clipboard._hand_over(clipboard.tools({"TMUX": "x", "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}), text)
    assert got.read_bytes() == buffer.read_bytes() == text.encode()
    assert not refused.exists()
    wait_for(lambda: (bin_dir / "xclip.with").read_text().strip() == "-selection clipboard")


def test_a_tool_that_vanishes_is_no_error(bin_dir: Path) -> None:
    clipboard._hand_over([("no-such-tool",)], "text")
