"""Surviving the end of a login session where the system kills what it leaves behind (systemd's KillUserProcesses)."""

import getpass
import glob
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogoutPolicy:
    """What happens to this user's processes when the last login session ends."""

    systemd: bool
    kills: bool
    """logind ends what a session leaves behind."""
    lingers: bool
    """The user's own service manager goes on without a session."""

    @property
    def safe(self) -> bool:
        """Runs survive a logout."""
        return not self.kills or self.lingers


def kills_user_processes(configs: Iterable[str]) -> bool:
    """The last word that logind's configuration texts say on KillUserProcesses; Debian and others say no by default."""
    value = False
    for text in configs:
        for said in re.findall(r"^\s*KillUserProcesses\s*=\s*(\S+)", text, re.MULTILINE):
            value = said.lower() in ("yes", "true", "1", "on")
    return value


def logout_policy() -> LogoutPolicy:
    """Read from the files of logind; asks no process."""
    if not os.path.isdir("/run/systemd/system"):
        return LogoutPolicy(systemd=False, kills=False, lingers=False)
    texts = []
    for path in ["/etc/systemd/logind.conf", *sorted(glob.glob("/etc/systemd/logind.conf.d/*.conf"))]:
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    try:
        lingers = os.path.exists(f"/var/lib/systemd/linger/{getpass.getuser()}")
    except (KeyError, OSError):
        lingers = False
    return LogoutPolicy(systemd=True, kills=kills_user_processes(texts), lingers=lingers)


def scope_prefix(run_id: str, environ: Mapping[str, str]) -> list[str]:
    """What to put in front of the runner's command so that it outlives a logout; empty where nothing is needed.

    Where the system kills leftovers and lingering is on, a scope of the user's own manager is out of the login
    session's reach. Where lingering is off nothing helps; doctor says so.
    """
    policy = logout_policy()
    if not (policy.kills and policy.lingers and environ.get("XDG_RUNTIME_DIR")) or not shutil.which("systemd-run"):
        return []
    return ["systemd-run", "--user", "--scope", "--quiet", "--collect", f"--unit=agent-board-{run_id}"]
