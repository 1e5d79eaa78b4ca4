"""What the board asks of the rest: each may take its time and is called in a thread. Imports wait until then."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agent_board.store.files import Missing, Unreadable
from agent_board.store.paths import StorePaths

if TYPE_CHECKING:
    from agent_board.board.model.outside import Around
    from agent_board.config import Settings
    from agent_board.runs.elsewhere import Elsewhere
    from agent_board.store.load import ViewRecord


@dataclass
class NewTask:
    """What stands in the new-task bar; also its draft."""

    prompt: str = ""
    cwd: str = ""
    agent: str | None = None
    model: str = ""
    mode: str = ""
    """Empty: the agent's own."""
    name: str = ""
    read_only: bool = False
    worktree: str = "auto"


class Begun(NamedTuple):
    """A task that was started, and what the user should know about it."""

    view_id: str
    warnings: tuple[str, ...] = ()


def shell_command(prompt: str) -> str | None:
    """The command of a prompt that begins with `!`; None when it is a task for an agent."""
    text = prompt.strip()
    return text[1:].strip() if text.startswith("!") else None


class AgentHere(NamedTuple):
    """An agent that we know, and whether it can run on this machine."""

    name: str
    title: str
    install: str
    found: bool
    problem: str | None = None
    modes: tuple[str, ...] = ()


@dataclass
class Acts:
    """The acts of `runs` on one store."""

    paths: StorePaths
    settings: "Settings"
    _agents: list[AgentHere] = field(default_factory=list)
    _elsewhere: "Elsewhere | None" = None

    def start(self, task: NewTask) -> Begun:
        """Start a task. Raises BoardError with the sentence for the user."""
        from agent_board.runs.dispatch import Order, dispatch

        command = shell_command(task.prompt)
        order = Order(
            prompt=(task.prompt if command is None else command).encode("utf-8", "surrogateescape"),
            cwd=task.cwd,
            agent=task.agent if command is None else "shell",
            model=task.model.strip() or None,
            mode=(task.mode or None) if command is None else None,
            name=task.name.strip() or None,
            read_only=task.read_only,
            worktree=task.worktree,
        )
        begun = dispatch(self.paths, order, self.settings.options(task.cwd))
        return Begun(begun.view_id, begun.warnings)

    def stop(self, view_id: str) -> str:
        """Stop a run; returns a sentence. Raises BoardError."""
        from agent_board.runs.stop import stop

        return stop(self.paths, view_id)

    def leftovers(self, view_id: str, run_id: str) -> int:
        """How many processes an ended run is known to have left behind."""
        from agent_board.store.load import load_status

        status = load_status(self.paths.view(view_id), run_id)
        return 0 if isinstance(status, Missing | Unreadable) else len(status.leftovers)

    def reconcile(self, records: "Iterable[ViewRecord]") -> list[str]:
        """Settle rows whose processes are gone; returns the ids of those that changed."""
        from agent_board.runs.reconcile import reconcile_claims

        return reconcile_claims(self.paths, records)

    def elsewhere(self) -> "Around":
        """Look for the sessions that run outside the board."""
        from agent_board.agents.registry import agent
        from agent_board.board.checkout import project_of
        from agent_board.board.model.outside import Around
        from agent_board.runs.elsewhere import Elsewhere

        self._elsewhere = self._elsewhere or Elsewhere(self.paths)
        found = self._elsewhere.look()
        projects = {session.cwd: project_of(session.cwd) for session in found.sessions}
        return Around(found, projects, {session.agent: agent(session.agent).title for session in found.sessions})

    def adopt(self, session: str) -> tuple[str, str]:
        """Put a session on the board; its view's id and name. Raises BoardError."""
        from agent_board.runs.adopt import adopt

        adopted = adopt(self.paths, session)
        return adopted.view_id, adopted.name

    def session_title(self, agent_name: str, path: str) -> str:
        """What a session file of that agent says of itself; empty when it doesn't."""
        from agent_board.agents.registry import agent
        from agent_board.text import preview

        session = agent(agent_name).foreign_session(path)
        return preview(session.title or "", 60) if session else ""

    def agents(self) -> list[AgentHere]:
        """Every known agent in the order of preference; looked for once."""
        from agent_board.agents.registry import agent, names

        if not self._agents:
            for name in names():
                known = agent(name)
                found = known.find()
                problem = found.problem if found else None
                self._agents.append(
                    AgentHere(name, known.title, known.install, found is not None, problem, known.modes)
                )
        return self._agents

    def default_agent(self) -> str | None:
        """The agent of a task that names none: the configured one, else the first that can run."""
        usable = (here.name for here in self.agents() if here.found and here.problem is None)
        return self.settings.agent or next(usable, None)
