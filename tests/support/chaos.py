"""Random deaths: users who reply, stop, send and drop while runners, workers and commands are killed at any moment.

Nothing is asserted while it goes on but that no row lies; at the end each prompt must have arrived exactly once, or
wait visibly. The same seed makes the same plan; when things die in it is up to the machine.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent_board.demo.script import SPEED
from agent_board.errors import BoardError
from agent_board.runs import followups
from agent_board.runs.claim import run_ids
from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.processes import MARKER, Liveness, probe
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply, send
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Identity, RunStatus, ShimPid, State
from agent_board.store.views import view_ids
from tests.runs.accounts import lies, living_workers
from tests.runs.views import received
from tests.support import command, processes
from tests.support.repository import ROOT
from tests.support.wait import wait_for

SCRIPTS = (
    "say Done.",
    "say Going.; wait 4; say Done.",
    "wait 3; say Late.",
    "say Going.; wait 15; say Done.",
    "wait 1; say Going.; wait 30; say Done.",
    "say Going.; work 10; say Done.",
    "read notes.md; wait 2; report completed All is done",
    "ask Keep the old one or drop it?",
    "say Going.; fail 429 quota",
    "report failed It broke",
    "crash boom",
    "say Going.; run sleep 0.1; say Done.",
    "retry 2; say Recovered.",
    "die",
)
LAUNCHER_STEPS = ("run built", "claimed", "forgotten", "view there", "shim started", "waiting")
SHIM_STEPS = (
    *("-", "started", "owner recorded", "gate started", "worker recorded", "gate open", "accepted", "settled", "ended"),
    *("status written", "all written", "next chosen", "next claimed", "next forgotten", "next queued", "next started"),
)
_SETTLE_S = 60.0


@dataclass
class Chaos:
    """One storm over one store. `run` returns what was wrong: nothing, if all is well."""

    store: StorePaths
    cwd: Path
    seed: int
    sessions: int = 6
    done: Counter[str] = field(default_factory=Counter)
    """How often each thing happened."""

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._accepted: dict[str, list[str]] = {}
        self._perhaps: dict[str, list[str]] = {}
        """Prompts of commands that were killed, or that said the prompt was not sent: in the store or not."""
        self._dropped: dict[str, list[str]] = {}
        self._commands: list[subprocess.Popen[bytes]] = []
        self._wrong: list[str] = []
        self._number = 0

    def run(self, seconds: float) -> list[str]:
        """Storm for so long, let everything settle, and look into the accounts."""
        for _ in range(self.sessions):
            self._dispatch()
        acts: list[tuple[int, Callable[[], None]]] = [
            (8, self._reply),
            (2, self._reply_by_a_command_that_is_killed),
            (3, self._reply_by_steps_that_die),
            (2, self._kill_a_runner),
            (3, self._kill_a_runner_and_reply),
            (3, self._kill_a_worker),
            (2, self._kill_both),
            (3, self._kill_anything),
            (1, self._kill_all),
            (2, self._stop),
            (2, self._send_one),
            (3, self._send_by_steps_that_die),
            (1, self._drop_one),
            (3, self._look),
        ]
        stop_looking = threading.Event()
        boards = [threading.Thread(target=self._reconcile_until, args=(stop_looking,), daemon=True) for _ in range(2)]
        for board in boards:
            board.start()
        deadline = time.monotonic() + seconds
        try:
            while time.monotonic() < deadline and not self._wrong:
                (act,) = self._dice.choices([act for _, act in acts], [weight for weight, _ in acts])
                self.done[act.__name__.strip("_")] += 1
                with contextlib.suppress(BoardError):
                    act()
                time.sleep(self._dice.random() * 0.04)
        finally:
            stop_looking.set()
            for board in boards:
                board.join()
            for process in self._commands:
                process.wait()
        self._calm()
        self._account()
        self._send_everything()
        self._account(finally_=True)
        return self._wrong

    # What users do

    def _text(self, view: str) -> str:
        self._number += 1
        return f"prompt {self._number} of {view}\ndemo: {self._dice.choice(SCRIPTS)}"

    def _dispatch(self) -> None:
        name = f"task-{len(self._accepted)}"
        text = self._text(name)
        order = Order(text.encode(), str(self.cwd), agent="demo", name=name, read_only=True)
        view_id = dispatch(self.store, order).view_id
        self._accepted[view_id] = [text]
        self._perhaps[view_id], self._dropped[view_id] = [], []

    def _any(self) -> str:
        return self._dice.choice(sorted(self._accepted))

    def _reply(self) -> None:
        self._reply_to(self._any())

    def _reply_to(self, view_id: str) -> None:
        text = self._text(view_id)
        try:
            reply(self.store, view_id, text.encode())
        except BoardError:
            self._perhaps[view_id].append(text)
            raise
        self._accepted[view_id].append(text)

    def _reply_by_a_command_that_is_killed(self) -> None:
        view_id, text = self._perhaps_sent()
        process = self._command(*command.AGENT_BOARD, "reply", view_id, "-")
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(text.encode())
            process.stdin.close()
        killer = threading.Timer(0.1 + self._dice.random() * 0.4, process.kill)
        killer.daemon = True
        killer.start()

    def _reply_by_steps_that_die(self) -> None:
        """The launcher, or the runner, ends at exactly one step of the delivery."""
        view_id, text = self._perhaps_sent()
        self._dying(text, f"reply:{view_id}")

    def _send_by_steps_that_die(self) -> None:
        if waiting := self._waiting():
            view_id, prompt_id, _ = self._dice.choice(waiting)
            self._dying(prompt_id, f"send:{view_id}")

    def _dying(self, prompt: str, where: str) -> None:
        launcher, shim = self._dice.choice(LAUNCHER_STEPS), self._dice.choice(SHIM_STEPS)
        if self._dice.random() < 0.5:
            launcher = "-"
        self._command(sys.executable, "-m", "tests.runs.crash", launcher, shim, prompt, where)

    def _perhaps_sent(self) -> tuple[str, str]:
        view_id = self._any()
        text = self._text(view_id)
        self._perhaps[view_id].append(text)
        return view_id, text

    def _command(self, *line: str) -> "subprocess.Popen[bytes]":
        null = subprocess.DEVNULL
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=null, stderr=null, cwd=ROOT)
        self._commands.append(process)
        return process

    def _stop(self) -> None:
        stop(self.store, self._any())

    def _waiting(self) -> list[tuple[str, str, str]]:
        return [
            (view_id, prompt.id, prompt.text)
            for view_id in sorted(self._accepted)
            for prompt in followups.listed(self.store.view(view_id))
        ]

    def _send_one(self) -> None:
        if waiting := self._waiting():
            view_id, prompt_id, _ = self._dice.choice(waiting)
            send(self.store, view_id, prompt_id)

    def _drop_one(self) -> None:
        if waiting := self._waiting():
            view_id, prompt_id, text = self._dice.choice(waiting)
            followups.drop(self.store, self.store.view(view_id), prompt_id)
            self._dropped[view_id].append(text)

    def _look(self) -> None:
        self._wrong += lies(self.store, self._any())

    def _reconcile_until(self, leave: threading.Event) -> None:
        """What an open board does all the time; two are open."""
        while not leave.wait(0.05):
            for view_id in view_ids(self.store):
                reconcile(self.store, view_id)
                writers = living_workers(self.store, view_id)
                if len(writers) > 1:
                    self._wrong.append(f"{view_id} has the writers {writers} at once")

    # What kills

    def _last_run(self, view_id: str) -> tuple[Identity | None, Identity | None]:
        view = self.store.view(view_id)
        runs = run_ids(view)
        if not runs:
            return None, None
        run = view.run(runs[-1])
        owner, status = plain.read_or_none(ShimPid, run.pid), plain.read_or_none(RunStatus, run.status)
        return owner.identity if owner else None, status.worker_identity if status else None

    def _kill_a_runner(self) -> None:
        _kill(self._last_run(self._living())[:1])

    def _kill_a_runner_and_reply(self) -> None:
        """Its worker runs on: alive is not free."""
        view_id = self._living()
        _kill(self._last_run(view_id)[:1])
        self._reply_to(view_id)

    def _kill_a_worker(self) -> None:
        _kill(self._last_run(self._living())[1:])

    def _kill_both(self) -> None:
        pair = list(self._last_run(self._living()))
        self._dice.shuffle(pair)
        _kill(pair)

    def _living(self) -> str:
        """A view that has somebody to kill, if there is one."""
        living = [
            view_id
            for view_id in sorted(self._accepted)
            if any(who is not None and probe(who) is Liveness.ALIVE for who in self._last_run(view_id))
        ]
        return self._dice.choice(living or sorted(self._accepted))

    def _kill_anything(self) -> None:
        """A starter, a gate, a successor not recorded yet, a tool: whatever it hits."""
        ours = self._ours()
        if ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._dice.choice(ours), signal.SIGKILL)

    def _kill_all(self) -> None:
        for pid in self._ours():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _ours(self) -> list[int]:
        """Living processes of this store's runs."""
        runs = {run for view_id in self._accepted for run in run_ids(self.store.view(view_id))}
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                run = next((entry for entry in environ if entry.startswith(f"{MARKER}=".encode())), b"")
                if run.partition(b"=")[2].decode() in runs:
                    found.append(int(pid))
        return sorted(found)

    # The end

    def _calm(self) -> None:
        """Wait until nothing happens any more by itself."""

        def at_rest() -> bool:
            moved = [reconcile(self.store, view_id) for view_id in self._accepted]
            return not any(moved) and all(map(self._settled, self._accepted)) and not self._ours()

        wait_for(at_rest, _SETTLE_S, f"everything to settle; running: {self._describe()}")

    def _settled(self, view_id: str) -> bool:
        state = plain.read(State, self.store.view(view_id).state)
        waits = any(prompt.state == "waiting" for prompt in followups.listed(self.store.view(view_id)))
        return isinstance(state, State) and state.semantic_state.settled and not waits

    def _describe(self) -> str:
        mark = os.environ.get(processes.MARK, "-")
        return "; ".join(map(processes.describe, processes.marked(mark)))

    def _account(self, *, finally_: bool = False) -> None:
        for view_id, accepted in self._accepted.items():
            self._wrong += lies(self.store, view_id)
            arrived = Counter(received(self.store, view_id))
            waiting = Counter(prompt.text for prompt in followups.listed(self.store.view(view_id)))
            found = arrived + waiting + Counter(self._dropped[view_id]) + self._cancelled(view_id)
            known = {*accepted, *self._perhaps[view_id]}
            self._wrong += self._each(view_id, found, accepted, {1})
            self._wrong += self._each(view_id, found, self._perhaps[view_id], {0, 1})
            self._wrong += [f"{view_id} has of elsewhere: {text!r}" for text in {*arrived, *waiting} - known]
            if finally_ and waiting:
                self._wrong.append(f"{view_id} still has {list(waiting)}")

    def _cancelled(self, view_id: str) -> Counter[str]:
        """The prompts of runs that the user stopped before their agent took them: his word, so they don't wait."""
        found: Counter[str] = Counter()
        view = self.store.view(view_id)
        for run_id in run_ids(view):
            status = plain.read_or_none(RunStatus, view.run(run_id).status)
            if status is not None and status.reason == "stop" and not status.evidence.prompt_accepted:
                found[Path(view.run(run_id).prompt).read_text("utf-8")] += 1
        return found

    @staticmethod
    def _each(view_id: str, found: Counter[str], texts: Iterable[str], right: set[int]) -> list[str]:
        return [f"{view_id}: {found[text]} times: {text!r}" for text in texts if found[text] not in right]

    def _send_everything(self) -> None:
        """The user goes through what waits: of each view the first, until there is none. No reason to dawdle now."""
        os.environ[SPEED] = "200"
        while waiting := self._waiting():
            for view_id, prompt_id in {view_id: prompt_id for view_id, prompt_id, _ in reversed(waiting)}.items():
                send(self.store, view_id, prompt_id)
            self._calm()


def _kill(identities: Iterable[Identity | None]) -> None:
    for identity in identities:
        if identity is not None and probe(identity) is Liveness.ALIVE:
            with contextlib.suppress(ProcessLookupError):
                os.kill(identity.pid, signal.SIGKILL)
