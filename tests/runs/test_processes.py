"""Identities: compared exactly, three answers, signals that hit nobody else (invariants 2, 3; FIELD-FAULTS 6, 29)."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agent_board.runs import processes
from agent_board.runs.processes import MARKER, Liveness, belonging_to, identify, marker_of, probe, signal_process
from agent_board.store.records import Identity
from tests.support.wait import wait_for


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def identity_of(process: subprocess.Popen[bytes]) -> Identity:
    found = identify(process.pid)
    assert found is not None
    return found


def test_a_living_process_is_alive_and_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    identity = identity_of(sleeper)
    assert probe(identity) is Liveness.ALIVE
    sleeper.kill()
    wait_for(lambda: probe(identity) is Liveness.GONE, what="the unreaped child to count as gone")
    sleeper.wait()
    assert probe(identity) is Liveness.GONE
    assert identify(sleeper.pid) is None


def test_a_reused_pid_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    other = dataclasses.replace(identity_of(sleeper), start_ticks=1)
    assert probe(other) is Liveness.GONE
    assert not signal_process(other, signal.SIGKILL)
    assert sleeper.poll() is None


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"machine_id": "other"}, Liveness.UNKNOWN),
        ({"machine_id": "other", "boot_id": "other"}, Liveness.UNKNOWN),
        ({"boot_id": "other"}, Liveness.GONE),
        ({"pid_ns": "pid:[1]"}, Liveness.UNKNOWN),
    ],
)
def test_elsewhere_is_unknown_and_before_the_reboot_is_gone(
    sleeper: subprocess.Popen[bytes], change: dict[str, str], answer: Liveness
) -> None:
    identity = dataclasses.replace(identity_of(sleeper), **change)  # type: ignore[arg-type]
    assert probe(identity) is answer
    assert not signal_process(identity, signal.SIGKILL)
    assert sleeper.poll() is None


def test_a_failed_probe_is_unknown_never_gone(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIELD-FAULTS 6: whatever goes wrong while looking, a living process is not declared dead."""
    identity = identity_of(sleeper)
    for error in (PermissionError(13, "no"), OSError(24, "too many open files"), ValueError("odd")):

        def failing(pid: int, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(processes, "_stat", failing)
        assert probe(identity) is Liveness.UNKNOWN


def test_a_run_owns_its_marked_processes_and_its_descendants_only(sleeper: subprocess.Popen[bytes]) -> None:
    """A decoy with the same command line stays out (FIELD-FAULTS 31); so does work that the run dispatched itself."""
    script = (
        "import os, subprocess, sys\n"
        "env = {**os.environ, 'AGENT_BOARD_RUN': 'other-run'}\n"
        "subprocess.Popen(['sleep', '60'])\n"
        "subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "subprocess.Popen(['sh', '-c', 'sleep 60 & wait'], env=env, start_new_session=True)\n"
        "print('there', flush=True)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, MARKER: "this-run"},
    )
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        own = belonging_to("this-run", identity_of(parent))
        assert parent.pid in {identity.pid for identity in own}
        assert len(own) == 3
        assert sleeper.pid not in {identity.pid for identity in own}
        parent.kill()
        parent.wait()
        gone = dataclasses.replace(own[0], pid=parent.pid, start_ticks=1)
        assert len(belonging_to("this-run", gone)) == 2
        assert len(belonging_to("other-run", gone)) == 2
    finally:
        for run in ("this-run", "other-run"):
            for identity in belonging_to(run, identity_of(sleeper)):
                if identity.pid != sleeper.pid:
                    signal_process(identity, signal.SIGKILL)
        parent.communicate()


def test_a_process_that_takes_on_a_program_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment reads as empty for a moment; it may be work that the run dispatched itself."""
    other = subprocess.Popen(["sleep", "60"], env={**os.environ, MARKER: "other-run"})
    try:
        wait_for(lambda: marker_of(other.pid) == "other-run")
        looked: list[int] = []

        def reading(pid: int) -> str | None:
            looked.append(pid)
            return None if looked.count(other.pid) == 1 and pid == other.pid else marker_of(pid)

        monkeypatch.setattr(processes, "marker_of", reading)
        me = identify(os.getpid())
        assert me is not None
        assert other.pid not in {identity.pid for identity in belonging_to("this-run", me)}
    finally:
        other.kill()
        other.wait()


def test_a_group_is_signalled_only_through_its_leader(sleeper: subprocess.Popen[bytes]) -> None:
    """The sleeper shares our own group: it must be hit alone."""
    assert signal_process(identity_of(sleeper), signal.SIGTERM, group=True)
    assert sleeper.wait(5) == -signal.SIGTERM
