"""Each of these tests ends what it started: a leftover is that test's failure, not the next one's riddle."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import agents, processes
from tests.support.model_server import ModelServer

GRACE_SECONDS = 10.0
RealAgents = Callable[..., None]


@pytest.fixture
def real_agents(
    tmp_path: Path, home: Path, project: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> RealAgents:
    """`real_agents("claude", "codex")`: these programs on PATH, with `model_server` as their only model."""

    def bring(*names: str) -> None:
        for name in names:
            needed = agents.scripted(name, tmp_path / f"{name}-bin", home, project, model_server.url)
            for variable, value in needed.items():
                monkeypatch.setenv(variable, value)

    return bring


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
