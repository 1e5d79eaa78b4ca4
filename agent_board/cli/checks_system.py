"""Doctor's look at what surrounds the store: git, the agents, the login session, the terminal, the settings."""

import locale
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

from agent_board import resources
from agent_board.agents import registry
from agent_board.agents.base import Agent
from agent_board.cli.checks import Check, Health, broken, ok, warning
from agent_board.errors import UsageError

_PATIENCE_S = 5.0
_OLDEST_GIT = (2, 36)
_SMALLEST_COLUMNS, _SMALLEST_LINES = 40, 10
_SLOW_ESCAPE_MS = 100


def system_checks(environ: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """All checks outside the store."""
    yield _runner()
    yield _settings()
    yield _git()
    yield _worktrees()
    yield from agent_checks([registry.agent(name) for name in registry.names()])
    yield _logout()
    yield from _connection(environ)
    yield from terminal_checks(environ)


def _runner() -> Check:
    if os.path.isfile(resources.JOB_RUNNER):
        return ok("runner", resources.JOB_RUNNER)
    return broken("runner", f"{resources.JOB_RUNNER} is missing", "Install agent-board anew.")


def _settings() -> Check:
    from agent_board.config import config_path, load_settings

    try:
        load_settings()
    except UsageError as error:
        return broken("settings", str(error), "Mend or remove that line; the defaults need no file.")
    there = os.path.exists(config_path())
    return ok("settings", config_path() if there else f"the defaults ({config_path()} is not there)")


def _git() -> Check:
    said = _output(["git", "--version"])
    if said is None:
        return warning("git", "git is not on PATH; the demo needs it", "Install git with the system's package manager.")
    found = said.removeprefix("git version ")
    number = re.match(r"(\d+)\.(\d+)", found)
    if number is not None and (int(number[1]), int(number[2])) < _OLDEST_GIT:
        return warning("git", f"{found} is too old for worktrees", "Update it to 2.36 or newer.")
    return ok("git", found)


def _worktrees() -> Check:
    """Where worktrees go, and the one command of git's that reaches them there."""
    from agent_board.config import Settings, load_settings

    try:
        root = load_settings().worktrees.root
    except UsageError:  # said by the check of the settings
        root = Settings().worktrees.root
    if root is not None and os.path.isabs(os.path.expanduser(root)):
        return ok("worktrees", f"in {root}, where `git clean` in a checkout can't reach them")
    found = (
        f"in {root or '.worktrees'} of each main checkout, out of `git status`; `git clean -fdx` there spares them, "
        "`git clean -ffdx` deletes them with all uncommitted work; worktrees.root in the settings puts them elsewhere"
    )
    return ok("worktrees", found)


def agent_checks(agents: list[Agent]) -> Iterator[Check]:
    """Each agent: where, which version, whether it can run; and whether there is a real one at all."""
    usable = 0
    for agent in agents:
        found = agent.find()
        name = f"agent {agent.name}"
        if found is None:
            yield warning(name, f"{agent.title} is not installed", f"Install it: {agent.install}")
        elif found.problem:
            yield broken(name, found.problem, f"Install a version that fits: {agent.install}")
        else:
            usable += agent.name not in ("demo", "shell")
            hint = "; logged in" if agent.logged_in() else f"; {agent.login}" if agent.login else ""
            yield ok(name, f"{agent.title} {found.version or 'of unknown version'} at {found.path}{hint}")
    if not usable:
        yield warning("agents", "no coding agent can run here", "Install one, or look around: agent-board demo")


def _logout() -> Check:
    from agent_board.runs.logout import logout_policy

    policy = logout_policy()
    if policy.safe:
        why = "lingering is on" if policy.lingers else "the system leaves them alone"
        return ok("logout", f"tasks survive it: {why}")
    found = "the system ends your tasks when you log out (KillUserProcesses=yes, lingering off)"
    return warning("logout", found, "loginctl enable-linger")


def _connection(environ: Mapping[str, str]) -> Iterator[Check]:
    if environ.get("TMUX"):
        version = _output(["tmux", "-V"]) or "tmux"
        delay = (_output(["tmux", "show-options", "-sv", "escape-time"]) or "").strip()
        if delay.isdigit() and int(delay) > _SLOW_ESCAPE_MS:
            found = f"{version}; Esc arrives {delay} ms late"
            yield warning("tmux", found, "In ~/.tmux.conf: set -s escape-time 10")
        else:
            yield ok("tmux", version)
    if environ.get("SSH_CONNECTION"):
        yield ok("ssh", "this is an SSH session; tasks go on when the line is cut, unless “logout” says otherwise")


def terminal_checks(environ: Mapping[str, str]) -> Iterator[Check]:
    """What the terminal can show."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        yield ok("terminal", "none here; the board needs one, the other commands don't")
        return
    name = environ.get("TERM", "")
    size = os.get_terminal_size(sys.stdout.fileno())
    found = f"{name or 'TERM is not set'}, {size.columns}x{size.lines}, {_colours(environ)}"
    if name in ("", "dumb"):
        yield broken("terminal", found, "Use a terminal that can move its cursor, and let it set TERM.")
    elif size.columns < _SMALLEST_COLUMNS or size.lines < _SMALLEST_LINES:
        yield warning("terminal", found, f"Make it {_SMALLEST_COLUMNS}x{_SMALLEST_LINES} or larger.")
    else:
        yield ok("terminal", found)
    encoding = locale.getpreferredencoding(do_setlocale=False)
    if re.sub(r"[^a-z0-9]", "", encoding.lower()) == "utf8":
        yield ok("characters", encoding)
    else:
        fix = "Set a UTF-8 locale: export LC_ALL=C.UTF-8"
        yield warning("characters", f"{encoding}: the board uses ASCII signs and can't show every text", fix)


def _colours(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return "no colours (NO_COLOR)"
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256" in environ.get("TERM", "") else "few colours"


def _output(command: list[str]) -> str | None:
    """What a program says, or None when it isn't here or doesn't answer."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def worst(checks: list[Check]) -> Health:
    """The worst health among them."""
    found = {check.health for check in checks}
    return next((health for health in (Health.BROKEN, Health.WARNING) if health in found), Health.OK)
