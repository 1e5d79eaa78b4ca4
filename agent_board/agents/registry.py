"""Which agents there are. Each is imported when first asked for: the runner needs one, not all."""

from functools import cache
from importlib import import_module

from agent_board.agents.base import Agent
from agent_board.errors import UsageError

_TABLE = {
    "pi": "agent_board.agents.pi:Pi",
    "claude": "agent_board.agents.claude:Claude",
    "codex": "agent_board.agents.codex:Codex",
    "opencode": "agent_board.agents.opencode:OpenCode",
    "gemini": "agent_board.agents.gemini:Gemini",
    "copilot": "agent_board.agents.copilot:Copilot",
    "demo": "agent_board.agents.demo:Demo",
    "shell": "agent_board.agents.shell:Shell",
}
ORDER = ("pi", "claude", "codex", "opencode", "demo", "gemini", "copilot", "shell")
"""The order in which a default is looked for; demo is always there, so that nothing behind it becomes one by itself."""


def names() -> list[str]:
    """Every agent's name, in the order of preference."""
    return list(ORDER)


@cache
def agent(name: str) -> Agent:
    """The adapter of that name. Raises UsageError when there is none."""
    try:
        module, _, attribute = _TABLE[name].partition(":")
    except KeyError:
        raise UsageError(f"Unknown agent “{name}”; known are {', '.join(ORDER)}.") from None
    made: Agent = getattr(import_module(module), attribute)()
    return made
