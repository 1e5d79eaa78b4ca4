"""Invariant 10: what `ps` shows to others holds no prompt and no environment value, from the gate on."""

import os
from pathlib import Path

import pytest

from agent_board.agents.registry import agent
from agent_board.runs.worker import Worker, environment
from tests.support.wait import wait_for


def test_the_waiting_gate_names_neither_prompt_nor_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent replaces its argument list a moment later, so whoever looks at a running task can't tell."""
    monkeypatch.setenv("SOME_TOKEN", "canary-value")
    prompt = tmp_path / "prompt"
    prompt.write_text("canary-prompt")
    worker = Worker(
        ["/bin/true"],
        cwd=str(tmp_path),
        environ=environment(agent("demo"), "0001-run"),
        started=str(tmp_path / "started"),
        prompt=str(prompt),
    )
    said = wait_for(Path(f"/proc/{worker.pid}/cmdline").read_bytes, what="the gate to show its arguments")
    worker.close_gate()

    def ended() -> bool:
        worker.reap()
        return worker.exit_code is not None

    wait_for(ended, what="the gate to end")
    for fd in (worker.stdout, worker.stderr):
        if fd is not None:
            os.close(fd)
    assert b"agent-board-gate" in said
    assert b"canary" not in said
    assert not (tmp_path / "started").exists()
