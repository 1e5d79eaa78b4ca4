"""Half-written replies: in memory at once, on disk within half a second, and never behind a later word."""

import threading
import time
from collections.abc import Callable

SOON_S = 0.3
"""A draft is written this long after the first key since it was last written."""


class Drafts:
    """The reply that is being written for each view, and the one that is on its way to the agent.

    A reply that is on its way stays in the draft's file until it has been accepted: whatever dies, it is not lost.
    One thread writes, so an older text never replaces a newer one.
    """

    def __init__(
        self, load: Callable[[str], str], save: Callable[[str, str], None], failed: Callable[[str], None]
    ) -> None:
        """`load` and `save` read and keep a view's draft; `save` may raise OSError, and `failed` is told so once."""
        self._load = load
        self._save = save
        self._failed = failed
        self._lock = threading.Condition()
        self._writing = threading.Lock()
        self._texts: dict[str, str] = {}
        self._sending: dict[str, str] = {}
        self._stamps: dict[str, int] = {}
        self._saving = ""
        """The view whose draft is being written just now."""
        self._read: set[str] = set()
        """Views whose draft on disk is known; those of others are not written over."""
        self._dirty: dict[str, float] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self._told = False

    def text(self, view_id: str) -> str:
        """What stands in the input of a view."""
        return self._texts.get(view_id, "")

    def stamp(self, view_id: str) -> int:
        """Grows whenever the draft changes here and when it has been written; taken before the disk is read."""
        return self._stamps.get(view_id, 0)

    def take_from_disk(self, view_id: str, text: str, stamp: int) -> str:
        """Learn what the disk held at that stamp; returns what counts: with it, what has been typed here since."""
        with self._lock:
            self._learn(view_id, text)
            under_way = view_id in self._dirty or view_id in self._sending or view_id == self._saving
            if not under_way and stamp == self.stamp(view_id):
                self._texts[view_id] = text
            return self._texts.get(view_id, "")

    def _learn(self, view_id: str, text: str) -> None:
        """The first time, what was typed before the disk had answered is put behind what it holds."""
        if view_id not in self._read:
            self._read.add(view_id)
            self._texts[view_id] = _both(text, self._texts.get(view_id, ""))
            self._lock.notify()

    def put(self, view_id: str, text: str) -> None:
        """The input of a view says this now."""
        with self._lock:
            if self._texts.get(view_id, "") != text:
                self._texts[view_id] = text
                self._due(view_id, SOON_S)

    def flush(self) -> None:
        """Write at once, in the thread."""
        with self._lock:
            for view_id in self._dirty:
                self._dirty[view_id] = 0.0
            self._lock.notify()

    def write_now(self, view_id: str) -> None:
        """Write one view's draft here, before somebody else opens its file. Raises OSError."""
        self._put_on_disk(view_id)

    def close(self) -> None:
        """Write what is left, here; for the board's end."""
        with self._lock:
            self._closed = True
            left = list(self._dirty)
            self._lock.notify()
        for view_id in left:
            self._write(view_id)

    def send(self, view_id: str, text: str) -> None:
        """The text leaves the input; its copy on disk stays until `sent`."""
        with self._lock:
            self._sending[view_id] = text
            self._texts[view_id] = ""
            self._due(view_id, 0.0)

    def on_their_way(self) -> list[str]:
        """The views that a reply is on its way to."""
        return list(self._sending)

    def is_sending(self, view_id: str) -> bool:
        """Whether a reply to this view is on its way."""
        return view_id in self._sending

    def sent(self, view_id: str, *, accepted: bool) -> str:
        """What became of it; returns what the input has to say now: a refused reply comes back into it."""
        with self._lock:
            text = self._sending.pop(view_id, "")
            if not accepted:
                self._texts[view_id] = _both(text, self._texts.get(view_id, ""))
            self._due(view_id, 0.0)
            return self._texts.get(view_id, "")

    def _due(self, view_id: str, delay: float) -> None:
        self._stamps[view_id] = self.stamp(view_id) + 1
        at = time.monotonic() + delay
        self._dirty[view_id] = min(at, self._dirty.get(view_id, at))
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, daemon=True, name="drafts")
            self._thread.start()
        self._lock.notify()

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._closed:
                    return
                now = time.monotonic()
                known = {view_id: at for view_id, at in self._dirty.items() if view_id in self._read}
                due = [view_id for view_id, at in known.items() if at <= now]
                if not due:
                    self._lock.wait(min((at - now for at in known.values()), default=None))
            for view_id in due:
                self._write(view_id)

    def _write(self, view_id: str) -> None:
        try:
            self._put_on_disk(view_id)
        except OSError as error:
            if not self._told:
                self._told = True
                self._failed(f"The half-written reply can't be kept on disk ({error.strerror or error}).")

    def _put_on_disk(self, view_id: str) -> None:
        with self._writing:
            with self._lock:
                if view_id not in self._read:
                    self._learn(view_id, self._load(view_id))
                self._dirty.pop(view_id, None)
                self._saving = view_id
                text = _both(self._sending.get(view_id, ""), self._texts.get(view_id, ""))
            try:
                self._save(view_id, text)
            finally:
                with self._lock:  # what was read while this was being written may be what was there before
                    self._saving = ""
                    self._stamps[view_id] = self.stamp(view_id) + 1


def _both(first: str, second: str) -> str:
    return f"{first}\n{second}" if first and second else first or second
