"""What the keys of a row ask of `runs`: each may take its time and is called in a thread. Imports wait until then."""

import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from agent_board.errors import BoardError
from agent_board.store.files import Missing, Unreadable
from agent_board.store.paths import StorePaths

if TYPE_CHECKING:
    from agent_board.agents.base import Job
    from agent_board.board.model.row import Row
    from agent_board.config import Settings
    from agent_board.runs.delete import DeletePlan
    from agent_board.runs.life import Undone
    from agent_board.store.records import Meta

_ENDS_WITHIN_S = 10.0
_POLL_S = 0.05
_TAIL = 1 << 18


class Item(NamedTuple):
    """One thing to copy: the key that takes it, how it is called, and the text."""

    key: str
    title: str
    text: str


class Place(NamedTuple):
    """Where a row works, for programs that are opened there."""

    path: str
    branch: str
    view_id: str
    name: str

    def fill(self, command: Sequence[str]) -> list[str]:
        """The command with {path}, {branch} and {id} filled in, argument by argument: no shell reads it.

        Raises BoardError when it needs a branch and there is none.
        """
        if not self.branch and any("{branch}" in part for part in command):
            raise BoardError(f"{self.name} is on no branch, and the command needs one.")
        values = {"{path}": self.path, "{branch}": self.branch, "{id}": self.view_id}
        return [_filled(part, values) for part in command]


def _filled(text: str, values: dict[str, str]) -> str:
    """Placeholders replaced in one pass, so that a value is never searched itself."""
    import re

    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], text)


class RowActs:
    """The acts of a row's life on one store."""

    def __init__(self, paths: StorePaths, settings: "Settings") -> None:
        self._paths = paths
        self._settings = settings

    # -- the life of a row

    def pin(self, row: "Row", *, pinned: bool) -> str:
        """Pin or unpin; the row itself shows it, so nothing is said."""
        from agent_board.runs import life

        life.pin(self._paths, row.id, pinned)
        return ""

    def rename(self, view_id: str, name: str) -> str:
        """Rename; returns the name as kept. Raises BoardError with what is wrong with it."""
        from agent_board.runs import life

        return life.rename(self._paths, view_id, name)

    def done(self, row: "Row", *, reopen: bool) -> str:
        """The user's verdict, or its taking back."""
        from agent_board.runs import life

        (life.reopen if reopen else life.done)(self._paths, row.id)
        return ""

    def archive(self, row: "Row") -> str:
        """Hide the row."""
        from agent_board.runs import life

        life.archive(self._paths, row.id)
        return ""

    def restore(self, row: "Row") -> str:
        """Bring an archived row back."""
        from agent_board.runs import life

        life.restore(self._paths, row.id)
        return ""

    def retry(self, row: "Row") -> str:
        """Send the row's last prompt again."""
        from agent_board.runs.reply import retry

        retry(self._paths, row.id, self._settings.options(row.cwd))
        return ""

    def undo(self) -> "Undone":
        """Take the last of these acts back."""
        from agent_board.runs import life

        return life.undo_last(self._paths)

    def plan(self, row: "Row") -> "DeletePlan":
        """What deleting the row's data would remove."""
        from agent_board.runs.delete import plan_delete

        return plan_delete(self._paths, row.id)

    def delete(self, row: "Row", shown: "DeletePlan", *, discard_work: bool) -> str:
        """Remove the row's data for good, as it was shown."""
        from agent_board.runs.delete import delete

        delete(self._paths, row.id, shown=shown, discard_work=discard_work)
        return ""

    def archived_ids(self) -> set[str]:
        """Which rows are archived: one small file is read."""
        from agent_board.store.watch import read_roster

        return read_roster(self._paths).archived

    def archived(self) -> "list[Row]":
        """The archived rows, in no order. Reads all of them."""
        from agent_board.board.model.row import archived_row_of
        from agent_board.store.load import load_view

        found = []
        for view_id in sorted(self.archived_ids()):
            record = load_view(self._paths, view_id)
            if not isinstance(record, Missing):
                found.append(archived_row_of(record))
        return found

    # -- attaching

    def check_attach(self, view_id: str) -> None:
        """Raises BoardError with the reason why nobody could attach to this view, whether or not it runs."""
        from agent_board.runs.reply import replyable
        from agent_board.runs.status import has_session

        meta = replyable(self._paths, view_id)
        if not has_session(meta):
            raise BoardError(f"{meta.name} has no session yet; there is nothing to attach to.")

    def interrupt(self, view_id: str) -> None:
        """Stop a run and wait until it has really ended. Raises BoardError when it doesn't within ten seconds."""
        from agent_board.runs.reconcile import claims_a_process, reconcile
        from agent_board.runs.stop import stop
        from agent_board.store import plain
        from agent_board.store.records import State

        state = self._paths.view(view_id).state
        if claims_a_process(plain.read(State, state)):
            stop(self._paths, view_id)
        deadline = time.monotonic() + _ENDS_WITHIN_S
        while claims_a_process(plain.read(State, state)):
            if time.monotonic() > deadline:
                raise BoardError(f"The run did not end within {_ENDS_WITHIN_S:.0f} s; nothing was attached.")
            time.sleep(_POLL_S)
            reconcile(self._paths, view_id)

    def attach_command(self, view_id: str, *, interrupt: bool = False) -> list[str]:
        """The program that attaches on the terminal that it is started on."""
        more = ["--interrupt"] if interrupt else []
        return [*_agent_board(), "--home", self._paths.root, "attach", *more, view_id]

    def runs(self, view_id: str) -> list[str]:
        """The ids of a view's runs in their order, to tell afterwards whether an attach took place."""
        from agent_board.runs.claim import run_ids

        return run_ids(self._paths.view(view_id))

    def why_attach_failed(self, row: "Row", runs: int, exit_code: int) -> str:
        """Why an attach ended with that code. `runs`: how many the view had before."""
        from agent_board.store import plain
        from agent_board.store.records import RunStatus

        view, now = self._paths.view(row.id), self.runs(row.id)
        if len(now) > runs:
            status = plain.read_or_none(RunStatus, view.run(now[-1]).status)
            code = exit_code if status is None or status.exit_code is None else status.exit_code
            return f"The program of {row.name} ended with {how_ended(code)}."
        try:
            self.check_attach(row.id)
        except BoardError as error:
            return str(error)
        return f"{row.name} was not attached: another run or terminal uses it."

    # -- what is copied and opened

    def place(self, row: "Row") -> Place:
        """Where the row works. Raises BoardError when the directory is gone. Asks git for the branch."""
        meta = self._meta(row)
        path = meta.worktree_path or meta.cwd
        if not os.path.isdir(path):
            raise BoardError(f"The directory of {row.name} is gone: {path}.")
        return Place(path, meta.branch or _branch_of(path), row.id, row.name)

    def items(self, row: "Row") -> list[Item]:
        """What of a row can be copied; only what there is. Reads the transcript's last answer."""
        from agent_board.agents.base import Job
        from agent_board.store.load import load
        from agent_board.store.records import State

        meta = self._meta(row)
        path = meta.worktree_path or meta.cwd
        state = load(State, self._paths.view(row.id).state)
        job = Job(
            path,
            meta.session_file,
            meta.session_id,
            model=meta.default_model,
            mode=meta.mode,
            read_only=meta.read_only,
            resume=True,
        )
        found = [
            Item("q", "question", state.question or "" if isinstance(state, State) else ""),
            Item("a", "last answer", _last_answer(meta.agent, job)),
            Item("i", "id", row.id),
            Item("b", "branch", meta.branch or _branch_of(path)),
            Item("p", "path", path),
            Item("c", "command that attaches", shlex.join(["agent-board", "attach", row.id])),
            Item("r", "the agent's own resume command", _resume(meta.agent, job)),
        ]
        return [item for item in found if item.text.strip()]

    def _meta(self, row: "Row") -> "Meta":
        from agent_board.store.load import load
        from agent_board.store.records import Meta

        meta = load(Meta, self._paths.view(row.id).meta)
        if isinstance(meta, Missing | Unreadable):
            raise BoardError(f"The files of {row.name} can't be read.")
        return meta


def how_ended(exit_code: int) -> str:
    """How a program ended, in words."""
    return f"exit code {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"


def _agent_board() -> list[str]:
    """Our own program, whatever lies in the directory that it is started in."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found_by_directory = os.path.realpath(os.path.dirname(package)) == os.path.realpath(os.getcwd())
    return [sys.executable, *([] if found_by_directory else ["-P"]), "-m", "agent_board"]


def _branch_of(path: str) -> str:
    """The branch that is checked out there; empty without one, or without git."""
    import subprocess

    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["git", "-C", path, "symbolic-ref", "--short", "-q", "HEAD"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=5,
            check=False,
        )
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""


def _last_answer(name: str, job: "Job") -> str:
    """The agent's last answer in full, from the tail of its transcript."""
    from agent_board.agents.events import AssistantMessage
    from agent_board.agents.registry import agent
    from agent_board.runs.status import transcript_size

    with suppress(OSError, BoardError):
        size = transcript_size(name, job)
        for tail in (_TAIL, size):
            events = agent(name).transcript_events(job, max(0, size - tail))
            answers = [event.text for event in events if isinstance(event, AssistantMessage) and event.text.strip()]
            if answers or tail >= size:
                return answers[-1] if answers else ""
    return ""


def _resume(name: str, job: "Job") -> str:
    from agent_board.agents.registry import agent

    if not job.session_file and not job.session_id:
        return ""
    with suppress(BoardError):
        return f"cd {shlex.quote(job.cwd)} && {shlex.join(agent(name).attach_command(job))}"
    return ""
