"""The product's own log of the board: what failed and why, for the toasts that were missed."""

import time
from contextlib import suppress

from agent_board.store.logs import CappedLog
from agent_board.store.paths import StorePaths
from agent_board.text import clean_line


class Journal:
    """`log/board.log`; a board that can't write it goes on without."""

    def __init__(self, paths: StorePaths) -> None:
        self.path = f"{paths.log}/board.log"
        self._log = CappedLog(self.path)

    def write(self, sentence: str) -> None:
        """Add one line with the time. Blocks for a write to disk at most."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        with suppress(OSError):
            self._log.write(f"{stamp} {clean_line(sentence)}\n".encode())
