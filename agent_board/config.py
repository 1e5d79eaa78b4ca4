"""The user's settings, from `$XDG_CONFIG_HOME/agent-board/config.toml`.

Strict: a key that we don't know is named, not ignored, for it is a slip or was meant for another version.
"""

import os
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_board.errors import UsageError
from agent_board.runs.dispatch import AgentOptions, Options

_STRICT = ConfigDict(extra="forbid", frozen=True)
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Word = Annotated[str, Field(min_length=1)]


class DirectorySettings(BaseModel):
    """How an agent is run below one directory."""

    model_config = _STRICT
    wrap: list[Word] | None = None
    """Put in front of the agent's command there, in place of the agent's own `wrap`."""
    stall_after_s: Seconds | None = None
    """In place of the agent's own `stall_after_s`."""


class AgentSettings(BaseModel):
    """How one agent is run: `[agents.pi]`."""

    model_config = _STRICT
    wrap: list[Word] = []
    """Put in front of the agent's command, as `["direnv", "exec", "."]`."""
    stall_after_s: Seconds = 300.0
    """Seconds of silence after which a working row is marked as stalled."""
    directories: dict[str, DirectorySettings] = {}
    """What differs below a directory: `[agents.pi.directories."~/src/api"]`. The deepest one that fits counts."""

    def options(self, cwd: str) -> AgentOptions:
        """What counts for a run in that directory."""
        here = self.directories.get(_deepest(self.directories, cwd) or "") or DirectorySettings()
        return AgentOptions(
            wrap=tuple(self.wrap if here.wrap is None else here.wrap),
            stall_after_s=here.stall_after_s or self.stall_after_s,
        )


class OpenCommand(BaseModel):
    """A program of the user's for the menu behind `o`."""

    model_config = _STRICT
    command: list[Word] = Field(min_length=1)
    """Arguments one by one, no shell: {path}, {branch} and {id} are the row's."""
    beside: bool = False
    """It opens a window of its own: the board goes on beside it instead of giving it the terminal."""


class WorktreeSettings(BaseModel):
    """Where worktrees go and what makes them ready: `[worktrees]`."""

    model_config = _STRICT
    root: Word | None = None
    """A directory for all worktrees, with one in it for each repository; unset: `.worktrees` in the main checkout."""
    setup: Word | list[Word] = []
    """Run in each new worktree: a line for the shell, or a program and its arguments."""

    @property
    def setup_command(self) -> list[str]:
        """The set-up as an argument list; empty when there is none."""
        return ["/bin/sh", "-c", self.setup] if isinstance(self.setup, str) else list(self.setup)


class Settings(BaseModel):
    """All settings with their defaults. Nothing needs to be set."""

    model_config = _STRICT
    agent: Word | None = None
    """The agent of a task that names none; unset: the first installed one."""
    agents: dict[str, AgentSettings] = {}
    """By agent: `[agents.pi]`."""
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    """The board's signs; auto: ASCII where the locale isn't UTF-8."""
    theme: Word | None = None
    """The board's colours: the name of a theme; unset: the built-in dark one."""
    mouse: bool = True
    """False gives the terminal its own selection back."""
    spinner: bool = True
    """A quiet sign of life on the working rows in view."""
    worktrees: WorktreeSettings = WorktreeSettings()
    """Where worktrees go and what makes them ready: `[worktrees]`."""
    bell: Literal["auto", "bell", "osc9", "osc777", "off"] = "auto"
    """How the board calls you in its terminal; auto: by the bell, over SSH by the terminal's notification if known."""
    open: dict[Word, Annotated[list[Word], Field(min_length=1)] | OpenCommand] = {}
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
            return Settings.model_validate(tomllib.load(file), strict=True)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise UsageError(f"The settings {path} can't be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The settings {path} are not TOML: {error}.") from None
    except ValidationError as error:
        raise UsageError(f"The settings {path}: {_sentence(error)}.") from None


def _sentence(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"there is no setting “{key}”"
    return f"“{key}” is wrong: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _deepest(directories: Mapping[str, Any], cwd: str) -> str | None:
    here = os.path.realpath(cwd)
    fitting = {folder: os.path.realpath(os.path.expanduser(folder)) for folder in directories}
    inside = [folder for folder, real in fitting.items() if os.path.commonpath([here, real]) == real]
    return max(inside, key=lambda folder: len(fitting[folder]), default=None)
