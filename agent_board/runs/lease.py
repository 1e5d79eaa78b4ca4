"""The lease: the right to write in one checkout, held by one run at a time (DESIGN 8).

It is a flock on `locks/checkout-<hash>`, named after the real path of the work tree; the try is the check. Beside it
stand the holder's name, for telling, and the tickets of those who wait: only the first in line tries.
"""

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass

from agent_board.errors import BusyError
from agent_board.runs.processes import Liveness, probe
from agent_board.store import locks, plain
from agent_board.store.files import make_dir
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, Identity, LeaseHolder, Meta, ShimPid


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write in one checkout."""

    paths: StorePaths
    checkout: str
    """The real path of the work tree (of a plain directory: its own)."""

    @property
    def lock(self) -> str:
        """The file that is locked."""
        return f"{self.paths.locks}/checkout-{path_hash(self.checkout)}"

    def try_take(self, view_id: str, run_id: str, *, patience: float = 0.0) -> int | None:
        """The locked descriptor, or None while somebody else holds it. Raises OSError."""
        try:
            fd = locks.acquire(self.lock, patience=patience, what=self.checkout)
        except BusyError:
            return None
        self.say_held(view_id, run_id)
        return fd

    def say_held(self, view_id: str, run_id: str) -> None:
        """Leave word of who holds it; for telling only, so a refusing disk doesn't matter."""
        with suppress(OSError):
            plain.write(f"{self.lock}.json", LeaseHolder(VERSION, self.checkout, view_id, run_id))

    def held_by(self) -> str:
        """“auth-refactor in ~/src/api”: whose run holds it, as far as can be told."""
        holder = plain.read_or_none(LeaseHolder, f"{self.lock}.json")
        meta = plain.read_or_none(Meta, self.paths.view(holder.view_id).meta) if holder else None
        who = meta.name if meta is not None else "another task"
        return f"{who} in {short_path(self.checkout)}"


class Ticket:
    """A place in the line for a lease. Whoever died in line is passed over."""

    def __init__(self, lease: Lease, run_id: str, me: Identity) -> None:
        """Stand behind those who are there. Raises OSError or BusyError."""
        self._folder = f"{lease.lock}.line"
        make_dir(self._folder)
        with locks.held(lease.paths.store_lock):
            last = max((number for number, _ in self._line()), default=0)
            self._name = f"{last + 1:08d}-{run_id}"
            plain.write(f"{self._folder}/{self._name}", ShimPid(VERSION, 0, me))

    def is_first(self) -> bool:
        """Whether everybody before us has left or died."""
        for _, name in sorted(self._line()):
            if name == self._name:
                return True
            other = plain.read_or_none(ShimPid, f"{self._folder}/{name}")
            if other is not None and probe(other.identity) is not Liveness.GONE:
                return False
            self._remove(name)
        return True

    def give_back(self) -> None:
        """Leave the line."""
        self._remove(self._name)

    def _line(self) -> list[tuple[int, str]]:
        names = [name for name in os.listdir(self._folder) if name[:8].isdigit()]
        return [(int(name[:8]), name) for name in names]

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(f"{self._folder}/{name}")


def short_path(path: str) -> str:
    """The path with the home directory as `~`."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path == home or path.startswith(home + os.sep) else path


def path_hash(path: str) -> str:
    """A file name for a path. Two paths that share one would wait for each other for nothing, no more than that."""
    data = os.fsencode(path)
    return f"{zlib.crc32(data):08x}{zlib.crc32(data[::-1]):08x}"
