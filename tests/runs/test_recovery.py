"""After any death and after a reboot: each session is its own, no prompt goes twice, no row lies (AB-028, AB-103,
AB-105, AB-113; FIELD-FAULTS 4, 10, 27, 28, 29)."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.runs import followups
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.processes import Liveness, identify, probe
from agent_board.runs.reconcile import reconcile, reconcile_claims
from agent_board.runs.reply import reply, retry
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import Identity, ProcessState, SemanticState, ShimPid
from agent_board.store.views import view_ids
from tests.runs.accounts import all_lies, lies, unaccounted
from tests.runs.views import own_processes, received, settled, state_of, status_of
from tests.support.chaos import Chaos
from tests.support.wait import wait_for

SEED = 20_261_130


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


def working_ones(store: StorePaths, project: Path, count: int) -> list[Dispatched]:
    """Tasks in one directory, all in the middle of their work; read-only, so that none waits for another."""
    tasks = []
    for number in range(count):
        prompt = f"marker-{number}\ndemo: say Going.; until {project}/go; say Done {number}."
        tasks.append(dispatch(store, Order(prompt.encode(), str(project), agent="demo", read_only=True)))
    for task in tasks:
        wait_for(lambda task=task: state_of(store, task.view_id).semantic_state == "working", what="work")  # type: ignore[misc]
    return tasks


def shim_of(store: StorePaths, task: Dispatched) -> Identity:
    owner = plain.read(ShimPid, store.view(task.view_id).run(task.run_id).pid)
    assert isinstance(owner, ShimPid)
    return owner.identity


def worker_of(store: StorePaths, task: Dispatched) -> Identity:
    identity = status_of(store, task.view_id, task.run_id).worker_identity
    assert identity is not None
    return identity


def kill(*identities: Identity) -> None:
    for identity in identities:
        if probe(identity) is Liveness.ALIVE:
            os.kill(identity.pid, signal.SIGKILL)
    for identity in identities:
        wait_for(lambda identity=identity: probe(identity) is Liveness.GONE, what="its death")  # type: ignore[misc]


Death = Callable[[StorePaths, Dispatched], None]


def both(store: StorePaths, task: Dispatched) -> None:
    kill(shim_of(store, task), worker_of(store, task))


def worker_first(store: StorePaths, task: Dispatched) -> None:
    kill(worker_of(store, task))
    kill(shim_of(store, task))


def worker_only(store: StorePaths, task: Dispatched) -> None:
    kill(worker_of(store, task))


def shim_then_worker(store: StorePaths, task: Dispatched) -> None:
    kill(shim_of(store, task))
    wait_for(lambda: reconcile(store, task.view_id), what="the orphan to be noticed")
    assert state_of(store, task.view_id).reason == "orphan"
    kill(worker_of(store, task))


def everything(store: StorePaths, task: Dispatched) -> None:
    for pid in own_processes(task.run_id):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: own_processes(task.run_id) == [], what="all to be gone")


@pytest.mark.parametrize("death", [both, worker_first, worker_only, shim_then_worker, everything])
def test_each_session_goes_on_as_its_own(store: StorePaths, project: Path, death: Death) -> None:
    """FIELD-FAULTS 4, 27, 28: killed in the middle, found out, and continued; each by its own conversation."""
    tasks = working_ones(store, project, 2)
    for task in tasks:
        death(store, task)
    go_on(store, project, tasks)


def go_on(store: StorePaths, project: Path, tasks: list[Dispatched]) -> None:
    """The rows are true; replying to each continues that one's conversation; nothing came twice."""
    for task in tasks:
        settled(store, task.view_id)
        assert state_of(store, task.view_id).process_state is ProcessState.EXITED
        for _ in range(10):
            assert not reconcile(store, task.view_id)
        wait_for(lambda task=task: own_processes(task.run_id) == [], what="nothing left")  # type: ignore[misc]
    assert all_lies(store) == []
    for number, task in enumerate(tasks):
        answer = reply(store, task.view_id, f"again-{number}\ndemo: say Back {number}.".encode())
        assert settled(store, task.view_id, run_id=answer.run_id).summary == f"Back {number}."
    for number, task in enumerate(tasks):
        first, second = received(store, task.view_id)
        assert first.startswith(f"marker-{number}\n")
        assert second.startswith(f"again-{number}\n")
        lines = [json.loads(line) for line in Path(store.session(task.view_id)).read_text("utf-8").splitlines()]
        assert len({line["id"] for line in lines if line["type"] == "session"}) == 1


def rebooted(store: StorePaths, *, reuse: bool) -> None:
    """What a reboot leaves: another boot id in every record of a process, all locks gone; with `reuse` the pids are
    those of processes that live now."""
    me = os.getpid()
    for view_id in view_ids(store):
        for path in Path(store.view(view_id).runs).glob("*/*.json"):
            raw = json.loads(path.read_text())
            for key in ("identity", "workerIdentity"):
                if isinstance(raw.get(key), dict):
                    raw[key]["bootId"] = "11111111-2222-3333-4444-555555555555"
                    raw[key]["pid"] = me if reuse else raw[key]["pid"]
                    path.write_text(json.dumps(raw))


@pytest.mark.parametrize("reuse", [False, True])
def test_twenty_sessions_of_one_directory_after_a_reboot(store: StorePaths, project: Path, reuse: bool) -> None:
    """FIELD-FAULTS 27, 29: never by the newest file, never by a pid; and nobody is signalled by a stale record."""
    tasks = working_ones(store, project, 20 if reuse else 3)
    for task in tasks:
        everything(store, task)
    rebooted(store, reuse=reuse)
    records = [load_view(store, task.view_id) for task in tasks]
    claims = [record for record in records if isinstance(record, ViewRecord)]
    assert sorted(reconcile_claims(store, claims)) == sorted(task.view_id for task in tasks)
    go_on(store, project, tasks)


def test_a_reused_pid_is_not_the_old_process(store: StorePaths, project: Path) -> None:
    """Invariant 2: the same boot, the same pid, another start: gone, and never signalled."""
    (task,) = working_ones(store, project, 1)
    everything(store, task)
    me = identify(os.getpid())
    assert me is not None
    view = store.view(task.view_id)
    for path, key in ((view.run(task.run_id).pid, "identity"), (view.run(task.run_id).status, "workerIdentity")):
        raw = json.loads(Path(path).read_text())
        raw[key]["pid"] = me.pid
        Path(path).write_text(json.dumps(raw))
    stop(store, task.view_id)  # a stop of it hits nobody either
    assert settled(store, task.view_id).semantic_state is SemanticState.STOPPED


def test_what_was_stopped_stays_stopped_over_a_reboot(store: StorePaths, project: Path) -> None:
    """FIELD-FAULTS 10: ten reconciles and a reboot later there is no new process."""
    (task,) = working_ones(store, project, 1)
    stop(store, task.view_id)
    before = settled(store, task.view_id)
    assert before.semantic_state is SemanticState.STOPPED
    rebooted(store, reuse=True)
    for _ in range(10):
        assert not reconcile(store, task.view_id)
    assert state_of(store, task.view_id) == before
    wait_for(lambda: own_processes(task.run_id) == [], what="nothing left")


def test_what_waited_over_a_reboot_is_held_and_sent_once(store: StorePaths, project: Path) -> None:
    (task,) = working_ones(store, project, 1)
    text = "later\ndemo: say Later."
    waiting = reply(store, task.view_id, text.encode()).followup_id
    everything(store, task)
    rebooted(store, reuse=False)
    assert settled(store, task.view_id).held_prompts == 1
    (held,) = followups.listed(store.view(task.view_id))
    assert (held.id, held.state) == (waiting, "held")
    again = reply(store, task.view_id, b"first this\ndemo: say This.")
    settled(store, task.view_id, run_id=again.run_id)
    assert [prompt.state for prompt in followups.listed(store.view(task.view_id))] == ["held"]
    accepted = [received(store, task.view_id)[0], text, "first this\ndemo: say This."]
    assert unaccounted(store, task.view_id, accepted) == []


def test_a_prompt_that_a_killed_agent_never_took_is_kept(store: StorePaths, project: Path) -> None:
    """Invariant 5: its runner lived and saw it die by a signal, before it said a word."""
    held_back = project / "held-back"
    held_back.mkdir()
    (held_back / "wrap.sh").write_text(f'until [ -e "{project}/never" ]; do sleep 0.02; done\n')
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "agent-board" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[agents.demo]\nwrap = ["sh", "{held_back}/wrap.sh"]')
    from agent_board.config import load_settings

    order = Order(b"take it\ndemo: say Taken.", str(project), agent="demo", read_only=True)
    task = dispatch(store, order, load_settings().options(str(project)))
    wait_for(lambda: os.path.exists(store.view(task.view_id).run(task.run_id).started), what="the gate to open")
    kill(worker_of(store, task))
    state = settled(store, task.view_id)
    assert (state.semantic_state, state.reason, state.held_prompts) == (SemanticState.FAILED, "signal", 1)
    (kept,) = followups.listed(store.view(task.view_id))
    assert (kept.text, kept.state) == ("take it\ndemo: say Taken.", "maybe-received")
    config.unlink()
    again = retry(store, task.view_id, load_settings().options(str(project)))
    assert settled(store, task.view_id, run_id=again.run_id).summary == "Taken."
    assert received(store, task.view_id) == ["take it\ndemo: say Taken."]
    assert followups.listed(store.view(task.view_id)) == []
    assert lies(store, task.view_id) == []


@pytest.mark.parametrize(
    ("seconds", "sessions"), [(8, 6), pytest.param(80, 10, marks=[pytest.mark.full, pytest.mark.timeout(300)])]
)
def test_chaos(store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, sessions: int) -> None:
    """Random deaths of everything, random acts of users, a board that reconciles all the time."""
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "10")
    (project / "notes.md").write_text("notes\n")
    storm = Chaos(store, project, SEED, sessions)
    wrong = storm.run(seconds)
    assert wrong == [], f"seed {SEED}, {dict(storm.done)}"
    assert storm.done["reply"] > 5
