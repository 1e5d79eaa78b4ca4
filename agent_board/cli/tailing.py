"""Reading a capped log from its beginning and on while it grows, over its segments."""

import os
from collections.abc import Iterator

from agent_board.store.logs import segments

_CHUNK = 1 << 16


class LogTail:
    """One log; each reading yields what has come since the last one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = 0
        self._offset = 0

    def chunks(self) -> Iterator[bytes]:
        """The bytes not read yet, oldest first; text that the cap has dropped is passed over."""
        while True:
            later = [number for number in self._numbers() if number > self._number]
            yield from self._rest()  # complete if a later segment was there before: one is closed before the next
            if not later:
                return
            self._number, self._offset = later[0], 0

    def _rest(self) -> Iterator[bytes]:
        name = f"{self._path}.{self._number}" if self._number else self._path
        try:
            file = open(name, "rb")  # noqa: SIM115 closed below; the log's reader may stop in the middle
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while chunk := file.read(_CHUNK):
                self._offset += len(chunk)
                yield chunk

    def _numbers(self) -> list[int]:
        stem = len(os.path.basename(self._path)) + 1
        return [int(os.path.basename(name)[stem:] or 0) for name in segments(self._path)]


class LineTail:
    """A log by lines; a last one without its newline is kept until the rest has come or the log is at its end."""

    def __init__(self, path: str) -> None:
        self._tail = LogTail(path)
        self._begun = b""

    def lines(self) -> Iterator[bytes]:
        """The whole lines not read yet, without their newlines."""
        for chunk in self._tail.chunks():
            *whole, self._begun = (self._begun + chunk).split(b"\n")
            yield from whole

    def last(self) -> bytes:
        """What stands behind the last newline."""
        begun, self._begun = self._begun, b""
        return begun
