"""Where each file of the store is. Pure: makes and reads nothing."""

import os
from collections.abc import Mapping

from agent_board.errors import UsageError

DEFAULT_HOME = os.path.join("~", ".pi", "agent", "agent-board")


def home_from(option: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The store's root: `--home`, else `$AGENT_BOARD_HOME`, else `~/.pi/agent/agent-board`; absolute.

    Raises UsageError where there is no such home directory: a container's user may have none.
    """
    chosen = option or environ.get("AGENT_BOARD_HOME") or DEFAULT_HOME
    expanded = os.path.expanduser(chosen)
    if expanded.startswith("~"):
        raise UsageError(f"There is no home directory for {chosen}; set HOME or name the store with --home.")
    return os.path.abspath(expanded)


class RunPaths:
    """The files of one run, `views/<viewId>/runs/<runId>/`."""

    __slots__ = (
        "dir",
        "events",
        "inbox",
        "pid",
        "prompt",
        "request",
        "started",
        "status",
        "stderr",
        "stdout",
        "stop",
    )

    def __init__(self, folder: str) -> None:
        self.dir = folder
        self.request = f"{folder}/request.json"
        self.prompt = f"{folder}/prompt"
        self.started = f"{folder}/started"
        self.stop = f"{folder}/stop.json"
        self.pid = f"{folder}/pid.json"
        self.status = f"{folder}/status.json"
        self.inbox = f"{folder}/inbox"
        self.events = f"{folder}/events.jsonl"
        self.stdout = f"{folder}/stdout.log"
        self.stderr = f"{folder}/stderr.log"

    @property
    def run_id(self) -> str:
        """The run's id is its directory's name."""
        return os.path.basename(self.dir)

    @property
    def view(self) -> "ViewPaths":
        """The view that the run lies in, whatever its files say: they may be a copy of another's."""
        return ViewPaths(os.path.dirname(os.path.dirname(self.dir)))


class ViewPaths:
    """The files of one view, `views/<viewId>/`."""

    __slots__ = ("dir", "draft", "followups", "lock", "meta", "runs", "state")

    def __init__(self, folder: str) -> None:
        self.dir = folder
        self.lock = f"{folder}/lock"
        self.meta = f"{folder}/meta.json"
        self.state = f"{folder}/state.json"
        self.followups = f"{folder}/followups.json"
        self.draft = f"{folder}/draft"
        self.runs = f"{folder}/runs"

    @property
    def view_id(self) -> str:
        """The view's id is its directory's name."""
        return os.path.basename(self.dir)

    def run(self, run_id: str) -> RunPaths:
        """The files of one run of this view."""
        return RunPaths(f"{self.runs}/{run_id}")


class StorePaths:
    """The root of the store and what lies directly under it."""

    __slots__ = ("locks", "log", "root", "roster", "sessions", "store_lock", "views")

    def __init__(self, root: str) -> None:
        self.root = root
        self.roster = f"{root}/roster.json"
        self.views = f"{root}/views"
        self.sessions = f"{root}/sessions"
        self.locks = f"{root}/locks"
        self.log = f"{root}/log"
        self.store_lock = f"{root}/locks/store"

    def view(self, view_id: str) -> ViewPaths:
        """The files of one view."""
        return ViewPaths(f"{self.views}/{view_id}")

    def session(self, view_id: str) -> str:
        """Where Pi keeps the transcript of a view that the board made."""
        return f"{self.sessions}/{view_id}.jsonl"
