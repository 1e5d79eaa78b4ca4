"""A repository that somebody works in, and the proof that his checkout stays as it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git.repo import dirty, make_repo, snapshot


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
