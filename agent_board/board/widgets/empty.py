"""What stands where the list would be: the three keys that matter, or how to get an agent."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from agent_board.board.acts import AgentHere

_KEYS = (
    ("n", "describe a task; an agent works on it in the background"),
    ("space", "look at one; r answers it"),
    ("?", "all the other keys"),
)

_NOT_CODING = frozenset({"demo", "shell"})
"""Always here, and no reason to say nothing about the real ones."""


class Empty(Widget):
    """A few calm lines in the middle of the screen."""

    def __init__(self) -> None:
        super().__init__(id="empty")
        self._agents: tuple[AgentHere, ...] = ()
        self._why = ""

    def show(self, *, agents: Sequence[AgentHere], why: str = "") -> None:
        """`why` replaces the lesson: nothing passes the filter, nothing is here."""
        if (tuple(agents), why) != (self._agents, self._why):
            self._agents, self._why = tuple(agents), why
            self.refresh(layout=True)

    def render(self) -> Content:
        """The lines that fit the present height."""
        if self._why:
            return Content.styled(self._why, "$foreground-muted")
        lines = [Content.styled("No tasks yet.", "bold $foreground"), Content("")]
        lines += [
            Content.assemble((f"{key:<5}   ", "bold $primary"), (words, "$foreground-muted")) for key, words in _KEYS
        ]
        lines += self._about_agents()
        return Content("\n").join(lines)

    def _about_agents(self) -> list[Content]:
        real = [here for here in self._agents if here.name not in _NOT_CODING]
        usable = [here for here in real if here.found and here.problem is None]
        if not real or usable:
            return []
        lines = [Content(""), Content.styled("No coding agent can run here yet.", "bold $warning")]
        advice = [(here.title, here.problem or here.install) for here in real]
        advice.append(("agent-board demo", "shows everything without one"))
        longest = max(len(title) for title, _ in advice)
        return lines + [
            Content.assemble((f"{title:<{longest}}   ", "$foreground"), (words, "$foreground-muted"))
            for title, words in advice
        ]
