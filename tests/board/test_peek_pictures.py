"""How peek and its screens look, compared as a whole. `pytest --snapshot-update` accepts what has been judged."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from agent_board.agents import events as ev
from agent_board.board.app import BoardApp
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState, Usage
from tests.board.conftest import Starter
from tests.board.talks import QUESTION, make_run, make_waiting
from tests.board.test_pictures import Still
from tests.support.fakestore import make_view, make_views

Photograph = Callable[..., bool]
ANSWER = f"""The tests disagree about the **name**:

1. `test_login` wants `sign_in`
2. `test_session` wants `log_in`

```python
assert sign_in is log_in
```

{QUESTION}"""


def make_talk(store: StorePaths) -> None:
    """A task that asks, in front of the usual ones."""
    make_views(store, 30)
    make_view(
        store, "0", name="rename-login", state=SemanticState.NEEDS_INPUT, summary=QUESTION, reason="question",
        choices=["the old name", "the new name"], age_ms=90_000_000, pinned=True, held_prompts=1,
        usage=Usage(8_000, 900, 3_000, 0, 0.0421),
    )  # fmt: skip
    events = (
        ev.PromptAccepted("Rename the login functions so that they are called the same everywhere.\nTouch no tests."),
        ev.AssistantMessage("I'll look where they are used.", stop="tool"),
        ev.ToolStarted("1", "grep", "sign_in|log_in"),
        ev.ToolEnded("1", "grep", result="14 matches in 6 files"),
        ev.ToolStarted("2", "edit", "src/login.py"),
        ev.ToolEnded("2", "edit", result="3 lines changed"),
        ev.ToolStarted("3", "bash", "pytest -q tests/login"),
        ev.ToolEnded("3", "bash", is_error=True, result="2 failed, 31 passed"),
        ev.AssistantMessage(ANSWER),
        ev.Settled(),
    )
    make_run(store, "0", events)
    make_waiting(store, "0", "And mention it in the changelog, under “Changed”.")


@pytest.fixture
def photograph(start: Starter, snap_compare: Photograph, monkeypatch: pytest.MonkeyPatch) -> Photograph:
    """Compare a picture of the board after some keys, once `until` is true of its text."""
    monkeypatch.setattr("agent_board.board.feed.Watch", Still)
    monkeypatch.setenv("TZ", "UTC")

    def take(*keys: str, until: str, size: tuple[int, int] = (80, 24), **settings: Any) -> bool:
        start.cwd = "/home/dev/src/api"
        make_talk(start.paths)
        app, _ = start.app(**settings)

        async def ready(pilot: Pilot[Any]) -> None:
            assert isinstance(pilot.app, BoardApp)
            board = pilot.app.board
            while not (board.news.loaded and board.agents and board.peek is not None):
                await pilot.pause(0.02)
            await pilot.press(*keys)
            while until not in _text(pilot.app):
                await pilot.pause(0.02)
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=ready)

    return take


def _text(app: BoardApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def test_beside_the_list(photograph: Photograph) -> None:
    assert photograph("space", until="1 the old name", size=(120, 40))


def test_below_the_list(photograph: Photograph) -> None:
    assert photograph("space", until="1 the old name")


def test_in_light_while_a_reply_is_written(photograph: Photograph) -> None:
    keys = ("r", *"Take the new one,", "ctrl+j", *"and tell the others.")
    assert photograph(*keys, until="tell the others", size=(120, 40), theme="agent-board-light")


def test_what_waits(photograph: Photograph) -> None:
    assert photograph("h", until="enter sends", size=(120, 40))


def test_in_ascii(photograph: Photograph) -> None:
    assert photograph("space", until="1 the old name", size=(120, 40), glyphs="ascii")


def test_the_transcript(photograph: Photograph) -> None:
    assert photograph("v", until=QUESTION[:20], size=(100, 40))
