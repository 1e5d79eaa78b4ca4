"""Each of these tests ends what it started: a leftover is that test's failure, not the next one's riddle."""

import os
import time
from collections.abc import Iterator

import pytest

from tests.support import processes

GRACE_SECONDS = 10.0


@pytest.fixture(autouse=True)
def everything_ends(home: object) -> Iterator[None]:
    """Waits for runners that finish by themselves; what then still runs is killed and fails the test."""
    mark = os.environ[processes.MARK]
    yield
    deadline = time.monotonic() + GRACE_SECONDS
    while (left := processes.marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = [processes.describe(process) for process in left]
    processes.end(left)
    assert not lines, "still running after the test:\n" + "\n".join(lines)
