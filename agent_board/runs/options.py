"""What the user's settings say of runs, as the acts take it. Light: settings are read for every command."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the user's settings say of one agent in one directory."""

    wrap: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    mode: str | None = None
    """Of a task that names none."""
    stall_after_s: float | None = None
    """None: as usual with that agent."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user's settings say of dispatching."""

    default_agent: str | None = None
    notify: tuple[str, ...] = ()
    """The user's notifier; empty: the desktop's own, `-`: none."""
    worktree_root: str | None = None
    """Where worktrees go, in place of `.worktrees` in the main checkout."""
    worktree_setup: tuple[str, ...] = ()
    """The command that makes a new worktree ready."""
    agents: dict[str, AgentOptions] = field(default_factory=dict)
