"""Recordings of real runs, unpacked once."""

import tarfile
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).parent / "recordings" / "pi.tar.xz"


@pytest.fixture(scope="session")
def pi_recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one folder for each recorded run of Pi: cmd, stdout, stderr, exit, session."""
    folder = tmp_path_factory.mktemp("pi-recordings")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder
