"""Half-written replies survive: written soon, in order, and never over what the disk held."""

import threading

import pytest

from agent_board.board.drafts import Drafts
from tests.support.wait import wait_for


class Disk:
    """Where drafts are kept; may be slow, full, or hold something from before."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.open = threading.Event()
        self.open.set()
        self.full = False
        self.told: list[str] = []

    def load(self, view_id: str) -> str:
        return self.texts.get(view_id, "")

    def save(self, view_id: str, text: str) -> None:
        self.open.wait(20)
        if self.full:
            raise OSError(28, "No space left on device")
        self.texts[view_id] = text


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def drafts(disk: Disk) -> Drafts:
    return Drafts(disk.load, disk.save, disk.told.append)


def learn(drafts: Drafts, disk: Disk, view_id: str = "a") -> str:
    return drafts.take_from_disk(view_id, disk.load(view_id), drafts.stamp(view_id))


def test_what_is_typed_is_on_disk_soon(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.put("a", "hel")
    drafts.put("a", "hello")
    wait_for(lambda: disk.texts.get("a") == "hello", 5)
    drafts.close()


def test_leaving_writes_at_once_and_closing_writes_before_it_returns(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.put("a", "one")
    drafts.flush()
    wait_for(lambda: disk.texts.get("a") == "one", 5)
    drafts.put("a", "two")
    drafts.close()
    assert disk.texts["a"] == "two"


def test_typed_before_the_disk_answered_is_put_behind_what_it_held(drafts: Drafts, disk: Disk) -> None:
    disk.texts["a"] = "from before"
    drafts.put("a", "typed")
    assert learn(drafts, disk) == "from before\ntyped"
    drafts.close()
    assert disk.texts["a"] == "from before\ntyped"


def test_closing_before_the_disk_answered_loses_neither(drafts: Drafts, disk: Disk) -> None:
    disk.texts["a"] = "from before"
    drafts.put("a", "typed")
    drafts.close()
    assert disk.texts["a"] == "from before\ntyped"


def test_an_old_reading_does_not_replace_newer_words(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    stamp = drafts.stamp("a")
    drafts.put("a", "newer")
    drafts.write_now("a")
    assert drafts.take_from_disk("a", "older", stamp) == "newer"
    assert drafts.take_from_disk("a", "of another board", drafts.stamp("a")) == "of another board"
    drafts.close()


def test_a_reply_on_its_way_stays_on_disk_until_it_was_accepted(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.send("a", "the reply")
    drafts.put("a", "the next")
    drafts.write_now("a")
    assert disk.texts["a"] == "the reply\nthe next"
    assert drafts.text("a") == "the next"
    assert drafts.sent("a", accepted=True) == "the next"
    drafts.close()
    assert disk.texts["a"] == "the next"


def test_a_refused_reply_comes_back_in_front_of_what_was_typed_since(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.send("a", "the reply")
    drafts.put("a", "the next")
    assert drafts.sent("a", accepted=False) == "the reply\nthe next"
    drafts.close()
    assert disk.texts["a"] == "the reply\nthe next"


def test_what_was_read_during_a_write_is_not_believed(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.send("a", "the reply")
    drafts.write_now("a")
    drafts.sent("a", accepted=True)
    stamp, old = drafts.stamp("a"), disk.load("a")
    assert old == "the reply"
    drafts.write_now("a")
    assert drafts.take_from_disk("a", old, stamp) == ""
    drafts.close()


def test_what_arrives_during_a_write_is_not_believed_either(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    drafts.send("a", "the reply")
    drafts.write_now("a")
    disk.open.clear()
    drafts.sent("a", accepted=True)
    wait_for(lambda: drafts._saving == "a", 5)
    assert drafts.take_from_disk("a", "the reply", drafts.stamp("a")) == ""
    disk.open.set()
    drafts.close()


def test_a_slow_disk_gets_the_latest_words_last(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    disk.open.clear()
    drafts.put("a", "first")
    drafts.flush()
    for number in range(50):
        drafts.put("a", f"word {number}")
    disk.open.set()
    drafts.close()
    assert disk.texts["a"] == "word 49"


def test_a_full_disk_is_told_once_and_the_words_stay(drafts: Drafts, disk: Disk) -> None:
    learn(drafts, disk)
    disk.full = True
    for text in ("one", "two"):
        drafts.put("a", text)
        drafts.flush()
    wait_for(lambda: disk.told, 5)
    assert drafts.text("a") == "two"
    drafts.close()
    assert len(disk.told) == 1
    assert "No space" in disk.told[0]
