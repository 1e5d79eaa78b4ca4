"""Logs that can't fill the disk: a head and two tail segments that take turns, nothing ever rewritten.

`stdout.log` is the head. What does not fit goes to `stdout.log.1`, then `.2`, `.3` …, of which the last two are
kept. The numbers give the order, so no clock does.
"""

import os
from contextlib import suppress

from agent_board.store.files import FILE_MODE

SEGMENT_BYTES = 1 << 20
LONGEST_LINE = 16 << 20
KEPT_OF_LONG_LINE = 64 << 10


def segments(path: str) -> list[str]:
    """The files of a log that exist, oldest first; a gap in the numbers is where text was dropped."""
    folder, name = os.path.split(path)
    numbered = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            stem, _, number = entry.name.rpartition(".")
            if stem == name and number.isdigit():
                numbered.append(int(number))
    head = [path] if os.path.exists(path) else []
    return head + [f"{path}.{number}" for number in sorted(numbered)]


def tail(path: str, most: int) -> bytes:
    """The last `most` bytes of a log, read from the end in time independent of its size."""
    pieces: list[bytes] = []
    for segment in reversed(segments(path)):
        with suppress(FileNotFoundError), open(segment, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            pieces.append(file.read(most))
            most -= len(pieces[-1])
        if most <= 0:
            break
    return b"".join(reversed(pieces))


class CappedLog:
    """One log being written by its only writer.

    A failed write (a full disk) is remembered in `failed` and what was to be written is dropped: the run goes on.
    """

    def __init__(self, path: str, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.path = path
        self.failed: OSError | None = None
        self._limit = segment_bytes
        self._number = 0
        self._size = 0
        self._fd: int | None = None

    def write(self, data: bytes) -> None:
        """Append; a line is not split over two segments unless it is longer than one."""
        try:
            if self._fd is None:
                self._open()
            if self._size and self._size + len(data) > self._limit:
                self._turn()
            for start in range(0, len(data), self._limit):
                if start:
                    self._turn()
                self._append(data[start : start + self._limit])
        except OSError as error:
            self.failed = error

    def close(self) -> None:
        """Close the file; a later write opens it again."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _append(self, data: bytes) -> None:
        assert self._fd is not None
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            self._size += written
            view = view[written:]

    def _open(self) -> None:
        name = f"{self.path}.{self._number}" if self._number else self.path
        self._fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
        self._size = os.fstat(self._fd).st_size

    def _turn(self) -> None:
        self.close()
        self._number += 1
        if self._number > 2:
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}.{self._number - 2}")
        self._open()
