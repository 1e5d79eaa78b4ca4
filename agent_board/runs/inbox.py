"""Answers on their way to a living run: `inbox/<request>.json`, then renamed to what became of it (DESIGN 5).

One file an open request, made exclusively; only the run's shim moves it on, and nothing ever moves back.
"""

import os
import zlib
from contextlib import suppress

from agent_board.store import plain
from agent_board.store.files import write_bytes, write_json
from agent_board.store.paths import RunPaths
from agent_board.store.records import GivenAnswer, encode

SENDING, SENT, LATE, REFUSED = "sending", "sent", "late", "refused"
"""Being written to the agent; written; came when nobody waited for it any more; does not fit the request."""
_GIVEN = "json"
_LONGEST = 100


def stem_of(request_id: str) -> str:
    """The file name of a request, whatever characters the agent puts into its ids."""
    plain_chars = (c if c.isascii() and (c.isalnum() or c in "-_") else f"%{ord(c):x}." for c in request_id)
    name = "".join(plain_chars)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}~{zlib.crc32(request_id.encode('utf-8', 'surrogatepass')):08x}"


def give(run: RunPaths, answer: GivenAnswer) -> None:
    """Put an answer where the shim finds it. Raises FileExistsError when one is on its way already."""
    path = f"{run.inbox}/{stem_of(answer.request_id)}.{_GIVEN}"
    whole = f"{run.inbox}/.{answer.token}"
    write_json(whole, encode(answer), sync=True)
    try:
        os.link(whole, path)
    finally:
        os.unlink(whole)


def given(run: RunPaths) -> list[str]:
    """The paths of the answers that nobody has looked at yet."""
    with suppress(FileNotFoundError):
        return [
            f"{run.inbox}/{name}" for name in os.listdir(run.inbox) if name.endswith(f".{_GIVEN}") and name[0] != "."
        ]
    return []


def read(path: str) -> GivenAnswer | None:
    """The answer in a file; None when it can't be understood."""
    return plain.read_or_none(GivenAnswer, path)


def move(path: str, outcome: str) -> str:
    """Say what became of an answer; returns where it is now. Raises FileNotFoundError when somebody else did."""
    moved = f"{path.rpartition('.')[0]}.{outcome}"
    os.rename(path, moved)
    return moved


def explain(run: RunPaths, answer: GivenAnswer, why: str) -> None:
    """Why an answer was refused, for the one who gave it."""
    write_bytes(f"{run.inbox}/{stem_of(answer.request_id)}.why", why.encode())


def reason(run: RunPaths, request_id: str) -> str:
    """What `explain` wrote."""
    with suppress(OSError), open(f"{run.inbox}/{stem_of(request_id)}.why", encoding="utf-8") as file:
        return file.read()
    return "It does not fit what the agent asks."


def outcome_of(run: RunPaths, answer: GivenAnswer) -> str | None:
    """What has become of this very answer; None while it waits."""
    stem = f"{run.inbox}/{stem_of(answer.request_id)}"
    for outcome in (SENDING, SENT, LATE, REFUSED):
        found = read(f"{stem}.{outcome}")
        if found is not None and found.token == answer.token:
            return outcome
    return None


def withdraw(run: RunPaths, answer: GivenAnswer) -> bool:
    """Take an answer back that nobody has taken up; False when somebody has."""
    try:
        move(f"{run.inbox}/{stem_of(answer.request_id)}.{_GIVEN}", LATE)
    except FileNotFoundError:
        return False
    return True
