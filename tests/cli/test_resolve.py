"""VIEW: an exact id, an exact name, or the beginning of an id that no other has."""

import pytest

from agent_board.cli.resolve import resolve
from agent_board.errors import BoardError
from agent_board.store.paths import StorePaths
from tests.cli.makers import make_view, tear


@pytest.fixture
def views(store: StorePaths) -> StorePaths:
    make_view(store, "ab12", meta={"name": "fix-tests"})
    make_view(store, "ab34", meta={"name": "ab1"})
    make_view(store, "cd56", meta={"name": "修复 测试"})
    return store


@pytest.mark.parametrize(
    ("word", "view_id"),
    [("ab12", "ab12"), ("fix-tests", "ab12"), ("c", "cd56"), ("修复 测试", "cd56"), ("ab3", "ab34")],
)
def test_what_a_word_means(views: StorePaths, word: str, view_id: str):
    assert resolve(views, word) == view_id


def test_a_name_counts_more_than_the_beginning_of_an_id(views: StorePaths):
    assert resolve(views, "ab1") == "ab34"


def test_an_id_counts_more_than_a_name(views: StorePaths):
    make_view(views, "ee77", meta={"name": "ab12"})
    assert resolve(views, "ab12") == "ab12"


@pytest.mark.parametrize("word", ["nothing", "fix", "", " ", "../ab12", "ab12/", "AB12"])
def test_an_unknown_word_names_what_there_is(views: StorePaths, word: str):
    with pytest.raises(BoardError, match=r"No task is called .*ab12 \(fix-tests\), ab34 \(ab1\), cd56"):
        resolve(views, word)


def test_an_ambiguous_beginning_names_the_candidates(views: StorePaths):
    with pytest.raises(BoardError, match=r"could be ab12 \(fix-tests\), ab34 \(ab1\); name one by its id"):
        resolve(views, "ab")


def test_many_candidates_are_not_all_named(store: StorePaths):
    for number in range(8):
        make_view(store, f"a{number}")
    with pytest.raises(BoardError, match=r"and 3 more"):
        resolve(store, "a")


def test_two_of_one_name_are_ambiguous_unless_one_is_archived(store: StorePaths):
    make_view(store, "a1", meta={"name": "same"})
    make_view(store, "b2", meta={"name": "same", "archivedAt": 5})
    assert resolve(store, "same") == "a1"
    make_view(store, "c3", meta={"name": "same"})
    with pytest.raises(BoardError, match=r"a1 .* c3"):
        resolve(store, "same")


def test_unreadable_views_have_an_id(views: StorePaths):
    tear(views.view("ab12").meta)
    assert resolve(views, "ab12") == "ab12"
    assert resolve(views, "ab12"[:4]) == "ab12"


def test_an_empty_store_says_so(store: StorePaths):
    with pytest.raises(BoardError, match="there are no tasks yet"):
        resolve(store, "x")
