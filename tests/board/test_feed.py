"""The feed tells the screen of everything it has read, whenever that was."""

import threading

from agent_board.board.feed import Feed
from agent_board.board.journal import Journal
from agent_board.config import Settings
from agent_board.store.paths import StorePaths
from tests.board.conftest import FakeActs
from tests.support.fakestore import make_view


def test_rows_that_were_read_just_before_the_start_are_told(store: StorePaths) -> None:
    """The first frame waited in vain for the store, and then the store was there before anybody listened."""
    make_view(store, "a")
    feed = Feed(store, FakeActs(store, Settings()), Journal(store))
    assert not feed.take().loaded
    feed.read_all()
    told = threading.Event()
    feed.start(told.set)
    try:
        assert told.wait(20)
        news = feed.take()
        assert news.loaded
        assert set(news.rows) == {"a"}
    finally:
        feed.stop()


def test_what_the_screen_has_taken_is_not_told_again(store: StorePaths) -> None:
    make_view(store, "a")
    feed = Feed(store, FakeActs(store, Settings()), Journal(store))
    feed.read_all()
    assert set(feed.take().rows) == {"a"}
    told = threading.Event()
    feed.start(told.set)
    try:
        make_view(store, "b")
        assert told.wait(20)
        assert "a" not in feed.take().rows
    finally:
        feed.stop()
