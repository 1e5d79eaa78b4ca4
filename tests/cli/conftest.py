"""The command line in this process, which answers in milliseconds; a process of its own is for what needs one."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.cli.main import main
from tests.support.command import Done

Cli = Callable[..., Done]


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted agent works a hundred times faster than life."""
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs `agent-board` with these arguments; `stdin` is what it can read."""

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        code = main(arguments)
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return Done(code, out.decode(), err.decode())

    return run
