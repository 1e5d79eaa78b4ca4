"""The user's settings, from `$XDG_CONFIG_HOME/agent-board/config.toml`.

Strict: a key that we don't know is named, not ignored, for it is a slip or was meant for another version. Plain
dataclasses, so that who has no such file doesn't wait for pydantic; it validates the file of who has one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from agent_board.errors import UsageError
from agent_board.runs.options import AgentOptions, Options

if TYPE_CHECKING:
    from pydantic import ValidationError

_STRICT = {"extra": "forbid", "strict": True, "allow_inf_nan": False}


class Rule:
    """A rule for a value, put before pydantic only when there is a file to validate."""

    def __init__(self, **rules: Any) -> None:
        self._rules = rules

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The schema of the type that the rule stands beside, with the rule in it."""
        from pydantic import Field

        return handler.generate_schema(Annotated[source, Field(**self._rules)])


Seconds = Annotated[float, Rule(gt=0)]
Word = Annotated[str, Rule(min_length=1)]


@dataclass(frozen=True)
class DirectorySettings:
    """How an agent is run below one directory."""

    __pydantic_config__ = _STRICT
    wrap: list[Word] | None = None
    """Put in front of the agent's command there, in place of the agent's own `wrap`."""
    args: list[str] | None = None
    """In place of the agent's own `args`."""
    mode: Word | None = None
    """In place of the agent's own `mode`."""
    stall_after_s: Seconds | None = None
    """In place of the agent's own `stall_after_s`."""


@dataclass(frozen=True)
class AgentSettings:
    """How one agent is run: `[agents.pi]`."""

    __pydantic_config__ = _STRICT
    wrap: list[Word] = field(default_factory=list)
    """Put in front of the agent's command, as `["direnv", "exec", "."]`."""
    args: list[str] = field(default_factory=list)
    """Added to the agent's command line, as `["--profile", "work"]` for Codex."""
    mode: Word | None = None
    """The mode of a task that names none, as `"acceptEdits"` for Claude Code."""
    stall_after_s: Seconds | None = None
    """Seconds of silence after which a working row is marked as stalled; unset: as usual with that agent."""
    directories: dict[str, DirectorySettings] = field(default_factory=dict)
    """What differs below a directory: `[agents.pi.directories."~/src/api"]`. The deepest one that fits counts."""

    def options(self, cwd: str) -> AgentOptions:
        """What counts for a run in that directory."""
        here = self.directories.get(_deepest(self.directories, cwd) or "") or DirectorySettings()
        return AgentOptions(
            wrap=tuple(self.wrap if here.wrap is None else here.wrap),
            args=tuple(self.args if here.args is None else here.args),
            mode=here.mode or self.mode,
            stall_after_s=here.stall_after_s or self.stall_after_s,
        )


@dataclass(frozen=True)
class OpenCommand:
    """A program of the user's for the menu behind `o`."""

    __pydantic_config__ = _STRICT
    command: Annotated[list[Word], Rule(min_length=1)]
    """Arguments one by one, no shell: {path}, {branch} and {id} are the row's."""
    beside: bool = False
    """It opens a window of its own: the board goes on beside it instead of giving it the terminal."""


@dataclass(frozen=True)
class WorktreeSettings:
    """Where worktrees go and what makes them ready: `[worktrees]`."""

    __pydantic_config__ = _STRICT
    root: Word | None = None
    """A directory for all worktrees, with one in it for each repository; unset: `.worktrees` in the main checkout."""
    setup: Word | list[Word] = field(default_factory=list)
    """Run in each new worktree: a line for the shell, or a program and its arguments."""

    @property
    def setup_command(self) -> list[str]:
        """The set-up as an argument list; empty when there is none."""
        return ["/bin/sh", "-c", self.setup] if isinstance(self.setup, str) else list(self.setup)


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults. Nothing needs to be set."""

    __pydantic_config__ = _STRICT
    agent: Word | None = None
    """The agent of a task that names none; unset: the first installed one."""
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    """By agent: `[agents.pi]`."""
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    """The board's signs; auto: ASCII where the locale isn't UTF-8."""
    theme: Word | None = None
    """The board's colours: the name of a theme; unset: the built-in dark one."""
    mouse: bool = True
    """False gives the terminal its own selection back."""
    spinner: bool = True
    """A quiet sign of life on the working rows in view."""
    elsewhere: bool = False
    """The board has a group for the sessions that run outside of it."""
    worktrees: WorktreeSettings = field(default_factory=WorktreeSettings)
    """Where worktrees go and what makes them ready: `[worktrees]`."""
    bell: Literal["auto", "bell", "osc9", "osc777", "off"] = "auto"
    """How the board calls you in its terminal; auto: by the bell, over SSH by the terminal's notification if known."""
    open: dict[Word, Annotated[list[Word], Rule(min_length=1)] | OpenCommand] = field(default_factory=dict)
    """Programs to open in a row's directory, by the name in the menu: `[open]` `lazygit = ["lazygit", "-p", "{path}"]`,
    or with `beside` for those with a window: `[open.code]` `command = ["code", "{path}"]` `beside = true`."""

    notify: bool | list[Word] = True
    """Tell of a row that needs you, failed or is done, also with no board open: true by the desktop's own notifier,
    false not at all, or a command that finds the row in AGENT_BOARD_VIEW, _NAME, _STATE and _SUMMARY."""

    def options(self, cwd: str) -> Options:
        """What dispatching in that directory goes by."""
        chosen = {name: agent.options(cwd) for name, agent in self.agents.items()}
        return Options(
            default_agent=self.agent,
            agents=chosen,
            notify=self._notifier(),
            worktree_root=self.worktrees.root,
            worktree_setup=tuple(self.worktrees.setup_command),
        )

    def commands_to_open(self) -> dict[str, OpenCommand]:
        """The user's own programs in the form that says everything."""
        given = self.open.items()
        return {name: OpenCommand(command=how) if isinstance(how, list) else how for name, how in given}

    def _notifier(self) -> tuple[str, ...]:
        if isinstance(self.notify, bool):
            return () if self.notify else ("-",)
        return tuple(self.notify)


def config_path(environ: Mapping[str, str] = os.environ) -> str:
    """Where the settings are."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    return os.path.join(os.path.abspath(os.path.expanduser(base)), "agent-board", "config.toml")


def load_settings(path: str | None = None) -> Settings:
    """The user's settings, or the defaults when there is no file.

    Raises UsageError naming file and key when the file can't be read or is wrong.
    """
    path = path or config_path()
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise UsageError(f"The settings {path} can't be read ({error.strerror}).") from None
    return _validated(path, text)


def _validated(path: str, text: bytes) -> Settings:
    import json
    import tomllib

    from pydantic import TypeAdapter, ValidationError

    try:
        # By way of JSON: strict means there what it should mean for a file, tables being objects.
        return TypeAdapter(Settings).validate_json(json.dumps(tomllib.loads(text.decode()), default=str))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The settings {path} are not TOML: {error}.") from None
    except ValidationError as error:
        raise UsageError(f"The settings {path}: {_sentence(error)}.") from None


def _sentence(error: "ValidationError") -> str:
    first: Any = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"there is no setting “{key}”"
    return f"“{key}” is wrong: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _deepest(directories: Mapping[str, Any], cwd: str) -> str | None:
    here = os.path.realpath(cwd)
    fitting = {folder: os.path.realpath(os.path.expanduser(folder)) for folder in directories}
    inside = [folder for folder, real in fitting.items() if os.path.commonpath([here, real]) == real]
    return max(inside, key=lambda folder: len(fitting[folder]), default=None)
