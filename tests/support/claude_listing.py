"""A program `claude` that knows nothing but `claude agents --json`."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest


def fake_claude(
    folder: Path, monkeypatch: pytest.MonkeyPatch, entries: Sequence[object] = (), *, script: str | None = None
) -> Path:
    """Put it first on PATH; it lists these sessions, or does what `script` says. The file with the list is returned.

    As a child of another Claude it lists nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "sessions.json"
    listing.write_text(json.dumps(entries))
    program = folder / "claude"
    does = script or f'[ "$*" = "agents --json" ] && [ -z "$CLAUDECODE" ] && exec cat "{listing}"; exit 9'
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    if str(folder) not in os.environ["PATH"].split(os.pathsep):
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return listing
