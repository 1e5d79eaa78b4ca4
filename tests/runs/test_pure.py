"""Lines, names and the logout rule: the decisions of runs/ that need no process."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.errors import UsageError
from agent_board.runs.lines import LineSplitter
from agent_board.runs.logout import LogoutPolicy, kills_user_processes
from agent_board.runs.naming import LONGEST_NAME, checked_name, free_name, name_from
from agent_board.text import cells, clean_block, clean_line, cut


@given(st.lists(st.binary(max_size=30), max_size=30))
def test_lines_end_at_lf_only_however_the_bytes_arrive(chunks: list[bytes]) -> None:
    splitter = LineSplitter()
    lines = [line.data for chunk in chunks for line in splitter.feed(chunk)]
    lines += [line.data for line in splitter.flush()]
    whole = b"".join(chunks)
    assert b"\n".join(lines) == (whole[:-1] if whole.endswith(b"\n") else whole)
    assert all(b"\n" not in line for line in lines)


def test_unicode_line_separators_are_text() -> None:
    [line] = LineSplitter().feed('{"text":"a\u2028b\u2029c"}\n'.encode())
    assert line.data.decode() == '{"text":"a\u2028b\u2029c"}'


@given(st.integers(1, 400), st.integers(1, 7))
def test_a_too_long_line_keeps_its_ends_and_is_counted(size: int, step: int) -> None:
    whole = bytes(65 + position % 26 for position in range(size))
    splitter = LineSplitter(longest=100, kept=10)
    for start in range(0, size, step):
        splitter.feed(whole[start : start + step])
    [line] = splitter.feed(b"\nnext")
    assert len(line.data) + line.dropped == size
    assert whole.startswith(line.data[:10])
    assert whole.endswith(line.data[-10:])
    assert len(line.data) <= 100 or not line.dropped
    assert [rest.data for rest in splitter.flush()] == [b"next"]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Fix the login bug", "fix-the-login-bug"),
        ("  - [ ] `src/auth.py`: don't crash!", "src-auth-py-don't-crash"),
        ("/review the PR", "review-the-pr"),
        ("修复登录 错误", "修复登录-错误"),
        ("!!!", "task"),
        ("x" * 100, "x" * 40),
        ("refactor the whole authentication middleware and its tests", "refactor-the-whole-authentication"),
        ("\x1b[31mred\x07 alert", "31mred-alert"),
    ],
)
def test_a_name_is_made_from_the_first_words(prompt: str, name: str) -> None:
    assert name_from(prompt, set()) == name


@given(st.text(max_size=200), st.integers(0, 12))
def test_made_names_are_short_clean_and_unique(prompt: str, again: int) -> None:
    taken: set[str] = set()
    for _ in range(again + 1):
        name = name_from(prompt, taken)
        assert name
        assert name not in taken
        assert cells(name) <= LONGEST_NAME
        assert clean_line(name) == name
        taken.add(name)


def test_a_taken_name_gets_a_number() -> None:
    assert free_name("a", {"a", "a-2"}) == "a-3"
    assert free_name("y" * 40, {"y" * 40}) == "y" * 38 + "-2"


@pytest.mark.parametrize("bad", ["", "  ", "x" * 300, "a\x00b", "a\nb\x1b", "taken"])
def test_a_given_name_that_cannot_be_kept_says_why(bad: str) -> None:
    with pytest.raises(UsageError, match=r"^(The name|There is a task)"):
        checked_name(bad, {"taken"})


def test_a_given_name_is_kept_as_it_is() -> None:
    assert checked_name(" Größe 日本 ", set()) == "Größe 日本"


@given(st.text(max_size=60), st.integers(0, 30))
def test_a_cut_text_fits_and_holds_no_control(text: str, width: int) -> None:
    line = clean_line(text)
    unsafe = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not unsafe & {unicodedata.category(char) for char in line}
    assert cells(cut(line, width)) <= width
    assert not unsafe & {unicodedata.category(char) for char in clean_block(text).replace("\n", "")}


@pytest.mark.parametrize(
    ("configs", "kills"),
    [
        ([], False),
        (["[Login]\n#KillUserProcesses=yes\n"], False),
        (["[Login]\nKillUserProcesses=yes\n"], True),
        (["KillUserProcesses=yes", "KillUserProcesses = no"], False),
        (["KillUserProcesses=no", "  KillUserProcesses=1"], True),
    ],
)
def test_the_last_word_of_logind_counts(configs: list[str], kills: bool) -> None:
    assert kills_user_processes(configs) is kills


def test_runs_survive_a_logout_unless_killed_without_lingering() -> None:
    assert LogoutPolicy(systemd=True, kills=False, lingers=False).safe
    assert LogoutPolicy(systemd=True, kills=True, lingers=True).safe
    assert not LogoutPolicy(systemd=True, kills=True, lingers=False).safe
