"""A storm of deaths that lasts for minutes, in pieces of a minute, each on a store of its own and with its own seed."""

import os
import secrets
from collections import Counter
from pathlib import Path

from agent_board.store.views import open_store
from tests.support.chaos import Chaos

_PIECE_S = 60.0
_SESSIONS = 12
_SPEED = "10"


def run(folder: Path, minutes: float, seed: int | None = None) -> int:
    """Print what happened in each piece; 1 as soon as a prompt was lost or doubled or a row lied."""
    os.environ["AGENT_BOARD_DEMO_SPEED"] = _SPEED
    first = seed if seed is not None else secrets.randbelow(10**6)
    happened: Counter[str] = Counter()
    for piece in range(max(1, round(minutes * 60 / _PIECE_S))):
        wrong = _piece(folder / str(piece), first + piece, min(_PIECE_S, minutes * 60), happened)
        if wrong:
            print("\n".join(wrong))
            return 1
    print(f"all well: {dict(happened)}")
    return 0


def _piece(folder: Path, seed: int, seconds: float, happened: Counter[str]) -> list[str]:
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "notes.md").write_text("notes\n")
    os.environ["AGENT_BOARD_HOME"] = str(folder / "board")
    storm = Chaos(open_store(os.environ["AGENT_BOARD_HOME"]), project, seed, _SESSIONS)
    wrong = storm.run(seconds)
    happened += storm.done
    print(f"seed {seed}: {sum(storm.done.values())} acts, {'well' if not wrong else 'WRONG'}", flush=True)
    return wrong
