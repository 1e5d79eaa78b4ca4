"""Recordings of real runs, unpacked once."""

import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ARCHIVES = Path(__file__).parent / "recordings"

Recordings = Callable[[str], Path]


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """By an agent's name: a directory with one folder for each of its recorded runs (cmd, stdout, stderr, exit)."""

    @cache
    def unpacked(agent: str) -> Path:
        folder = tmp_path_factory.mktemp(f"{agent}-recordings")
        with tarfile.open(ARCHIVES / f"{agent}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        return folder

    return unpacked


@pytest.fixture(scope="session")
def pi_recordings(recordings: Recordings) -> Path:
    """Pi's, which have its session files, too."""
    return recordings("pi")
