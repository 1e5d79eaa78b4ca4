"""Waiting for a condition with a deadline: what tests use instead of sleeping."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.01


def wait_for(condition: Callable[[], T | None], timeout: float = 10.0, what: str = "the condition") -> T:
    """Poll every 10 ms; the first truthy value. Raises AssertionError naming `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s in vain for {what}; the last answer was {value!r:.300}")
        time.sleep(POLL_SECONDS)


async def wait_for_async(condition: Callable[[], T | None], timeout: float = 10.0, what: str = "the condition") -> T:
    """The same inside an event loop, which goes on running."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s in vain for {what}; the last answer was {value!r:.300}")
        await asyncio.sleep(POLL_SECONDS)
