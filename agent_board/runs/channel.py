"""The pipe to a living agent: its prompt, then the user's answers, each written once (DESIGN 5)."""

import os
from contextlib import suppress

_PIECE = 1 << 16


class Channel:
    """What waits to be written into a pipe that must never block the shim."""

    def __init__(self, fd: int) -> None:
        """Take over a pipe that doesn't block."""
        self.fd = fd
        self._waiting = b""

    @property
    def is_open(self) -> bool:
        """The agent can still be written to, as far as we know."""
        return self.fd != -1

    @property
    def wants_to_write(self) -> bool:
        """Something waits for room in the pipe."""
        return bool(self._waiting)

    def send(self, line: bytes) -> bool:
        """Write a line, now or as soon as there is room; False when nobody reads it any more."""
        self._waiting += line
        self.flush()
        return self.is_open

    def flush(self) -> None:
        """Write what fits."""
        while self._waiting and self.fd != -1:
            try:
                self._waiting = self._waiting[os.write(self.fd, self._waiting[:_PIECE]) :]
            except BlockingIOError:
                return
            except OSError:
                self.close()

    def close(self) -> None:
        """The agent gets an end of file. Calling it twice is fine."""
        if self.fd != -1:
            with suppress(OSError):
                os.close(self.fd)
            self.fd, self._waiting = -1, b""
