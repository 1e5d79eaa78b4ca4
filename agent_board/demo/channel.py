"""Where the scripted agent says what it does: stdout, the transcript, or a person's terminal. Standard library only."""

import json
import os
import sys
import time
import zlib

KEPT = ("session", "prompt", "answer", "tool", "tool-end", "report")
"""The lines that go into the transcript."""


class Channel:
    """Where lines go: to stdout, and those of the conversation to the transcript first."""

    def __init__(self, session_file: str | None) -> None:
        self.file = session_file
        self.session_id = f"{zlib.crc32(os.urandom(8)):08x}"
        self.turns = 0
        if session_file:
            self._look(session_file)

    def _look(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and entry.get("type") == "session":
                self.session_id = str(entry.get("id"))
            self.turns += isinstance(entry, dict) and entry.get("type") == "prompt"
        if data and not data.endswith(b"\n"):
            self._append(b"\n")

    def _append(self, data: bytes) -> None:
        assert self.file
        fd = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    def send(self, kind: str, /, **fields: object) -> None:
        """One line: kept if it belongs to the conversation, then said."""
        line = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        if self.file and kind in KEPT:
            self._append(line)
        self.show(kind, fields, line)

    def show(self, kind: str, fields: dict[str, object], line: bytes) -> None:
        """Say a line on stdout. With nobody there to read, the work goes on: the transcript has it."""
        del kind, fields
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(1, view) :]
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class Terminal(Channel):
    """The same for a person: text instead of JSON."""

    def show(self, kind: str, fields: dict[str, object], line: bytes) -> None:
        """Print what a person wants to see."""
        text = {
            "answer": f"\n{fields.get('text')}\n",
            "tool": f"  {fields.get('name')} {fields.get('target') or ''}",
            "report": f"\n[{fields.get('status')}] {fields.get('summary')} {fields.get('question') or ''}\n",
        }.get(kind)
        if text is not None:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


def now_ms() -> int:
    """Wall time in epoch milliseconds."""
    return time.time_ns() // 1_000_000
