"""A repository that somebody works in, and the proof that his checkout stays as it is."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_board.cli.main import main
from tests.git.repo import dirty, make_repo, snapshot
from tests.support.command import Done

Command = Callable[..., Done]


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Path]:
    """A dirty main checkout; fails when anything in it has changed at the end (invariant 7)."""
    path = dirty(make_repo(tmp_path / "api"))
    before = snapshot(path)
    yield path
    assert snapshot(path) == before


@pytest.fixture
def clean_repo(tmp_path: Path) -> Path:
    """A main checkout with nothing uncommitted, which a test may change."""
    return make_repo(tmp_path / "api")


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs `agent-board` in this process, standing in the directory `cwd`."""

    def run(*arguments: str, cwd: Path) -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        capfdbinary.readouterr()
        with monkeypatch.context() as there:
            there.chdir(cwd)
            code = main(arguments)
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        return Done(code, out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape"))

    return run
