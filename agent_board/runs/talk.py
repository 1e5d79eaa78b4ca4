"""The shim's talk with an agent that asks while it lives: the prompt goes in, answers follow, each exactly once."""

import selectors
from collections.abc import Callable
from contextlib import suppress

from agent_board.agents.base import Answer, Reader
from agent_board.agents.events import Event
from agent_board.errors import UsageError
from agent_board.runs import inbox
from agent_board.runs.channel import Channel
from agent_board.store.paths import RunPaths
from agent_board.store.records import Evidence

LOOK_EVERY_S = 0.1


class Talk:
    """What the shim writes to its agent. The loop calls `step`; nothing here blocks."""

    def __init__(
        self, run: RunPaths, reader: Reader, selector: selectors.BaseSelector, see: Callable[[Event], None]
    ) -> None:
        self._run = run
        self._reader = reader
        self._selector = selector
        self._see = see
        self._channel: Channel | None = None
        self._watched = -1
        self._sending: list[str] = []

    def begin(self, fd: int, first_line: bytes) -> None:
        """Send the prompt."""
        self._channel = Channel(fd)
        self._channel.send(first_line)
        self._watch_for_room()

    def patience(self, evidence: Evidence) -> float:
        """Seconds that the loop may sleep without missing an answer."""
        waits = self._channel is not None and self._channel.is_open and (evidence.open_requests or evidence.settled)
        return LOOK_EVERY_S if waits else 3600.0

    def step(self, evidence: Evidence, silent_s: float) -> None:
        """Pass on the answers that have come, and hang up when there is nothing left to say."""
        channel = self._channel
        if channel is None:
            return
        if evidence.open_requests:
            for path in inbox.given(self._run):
                self._pass_on(path, evidence)
        elif evidence.settled and not channel.wants_to_write and self._reader.may_hang_up(silent_s):
            channel.close()
        self._watch_for_room()

    def end(self) -> None:
        """The agent has ended: whatever is still there came too late."""
        if self._channel is not None:
            self._channel.close()
            self._watch_for_room()
        for path in inbox.given(self._run):
            with suppress(OSError):
                inbox.move(path, inbox.LATE)

    def _pass_on(self, path: str, evidence: Evidence) -> None:
        """One answer, if it belongs to a request that is open. It is marked before it is sent: never twice."""
        assert self._channel is not None
        given = inbox.read(path)
        with suppress(OSError):  # withdrawn meanwhile, or a full disk: then it stays where it is
            if given is None or given.request_id not in evidence.open_requests or not self._channel.is_open:
                inbox.move(path, inbox.LATE)
                return
            try:
                line, events = self._reader.answer(given.request_id, Answer(given.kind, given.text, given.choice))
            except UsageError as error:
                inbox.explain(self._run, given, str(error))
                inbox.move(path, inbox.REFUSED)
                return
            sending = inbox.move(path, inbox.SENDING)
            if line and not self._channel.send(line):
                inbox.move(sending, inbox.LATE)
                return
            self._sending.append(sending)
            self._say_sent()
            for event in events:
                self._see(event)

    def _say_sent(self) -> None:
        if self._channel is None or self._channel.wants_to_write:
            return
        for path in self._sending:
            with suppress(OSError):
                inbox.move(path, inbox.SENT)
        self._sending.clear()

    def _on_room(self) -> None:
        if self._channel is not None:
            self._channel.flush()
        self._say_sent()
        self._watch_for_room()

    def _watch_for_room(self) -> None:
        """Be woken when there is room in the pipe exactly while something waits for it."""
        channel = self._channel
        wanted = channel.fd if channel is not None and channel.wants_to_write else -1
        if wanted == self._watched:
            return
        if self._watched != -1:
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._watched)
        if wanted != -1:
            self._selector.register(wanted, selectors.EVENT_WRITE, self._on_room)
        self._watched = wanted
