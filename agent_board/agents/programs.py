"""Finding an agent's program on PATH and its version without starting it: real agents take seconds to say theirs."""

import json
import os
import re

from agent_board.agents.base import Installation

_UP = 6  # from a platform's binary deep in its package to package.json
_VERSION = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])")


def installed(program: str, packages: tuple[str, ...], title: str) -> Installation | None:
    """The program on PATH, with the version that its package says, else the one in its path; None when it isn't here.

    `packages`: how the names of its packages begin. Reads files only.
    """
    import shutil  # not for the runner

    path = shutil.which(program)
    if path is None:
        return None
    real = os.path.realpath(path)
    problem = None
    if real.endswith((".js", ".mjs", ".cjs")) and shutil.which("node") is None:
        problem = f"{title} needs Node, and there is no `node` on PATH: install it or put it on PATH."
    return Installation(path, _packaged(real, packages) or _in_path(real), problem)


def _packaged(real: str, packages: tuple[str, ...]) -> str | None:
    folder = os.path.dirname(real)
    for _ in range(_UP):
        try:
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                raw = json.load(file)
        except (OSError, ValueError, RecursionError):
            raw = None
        if isinstance(raw, dict) and str(raw.get("name", "")).startswith(packages):
            found = _VERSION.match(str(raw.get("version", "")))
            return found.group() if found else None
        folder = os.path.dirname(folder)
    return None


def _in_path(real: str) -> str | None:
    """Package managers without a package.json keep a program in a directory of its version's name."""
    found = _VERSION.findall(os.path.dirname(real))
    return str(found[-1]) if found else None
