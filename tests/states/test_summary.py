"""One-line summaries (AB-056, AB-057, AB-058)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.agents import events as ev
from agent_board.states.sentences import first_sentence, last_sentence, sentences
from agent_board.states.summary import doing, running
from agent_board.store.records import Tool
from agent_board.text import cells
from tests.states.worlds import ACCEPTED, SETTLED, after, exited, fresh, said


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("edit", "src/auth/middleware.py", "Editing src/auth/middleware.py"),
        ("Edit", "/home/user/src/auth.py", "Editing auth.py"),
        ("write", "hello.py", "Writing hello.py"),
        ("read", "notes.txt", "Reading notes.txt"),
        ("ls", "src/", "Listing src/"),
        ("ls", None, "Listing files"),
        ("grep", "TODO", "Searching for TODO"),
        ("find", "*.py", "Finding *.py"),
        ("bash", "pytest -q tests/agents", "Running tests"),
        ("bash", None, "Running a command"),
        ("report", None, "Reporting the outcome"),
        ("frobnicate", "x", "Using frobnicate: x"),
        ("frobnicate", None, "Using frobnicate"),
    ],
)
def test_what_a_tool_does(name: str, path: str | None, text: str):
    assert doing(Tool(name, path)) == text


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest", "Running tests"),
        ("cd app && npm test -- --watch=false", "Running tests"),
        ("python -m pytest -x 2>&1 | tail -20", "Running tests"),
        ("uv run pytest", "Running tests"),
        ("npm run test:unit", "Running tests"),
        ("CI=1 cargo test --all", "Running tests"),
        ("go test ./...", "Running tests"),
        ("make check-tests", "Running tests"),
        ("timeout 60 npx vitest run", "Running tests"),
        ("npm run build", "Building"),
        ("make", "Building"),
        ("make -j4 all", "Building"),
        ("cargo build --release", "Building"),
        ("docker build -t x .", "Building"),
        ("npx tsc -p .", "Building"),
        ("ruff check .", "Linting"),
        ("npm run lint", "Linting"),
        ("python -m mypy src", "Linting"),
        ("npm install", "Running npm install"),
        ("npm ci && npm run dev", "Running npm ci"),
        ("pip install -r requirements.txt", "Running pip install"),
        ("uv sync", "Running uv sync"),
        ("sudo apt-get install jq", "Running apt-get install"),
        ("git status --short", "Running git status"),
        ("git -C /src log --oneline", "Running git log"),
        ("cat notes.txt", "Running cat notes.txt"),
        ("ls -la && wc -l *", "Running ls -la"),
        ("cd /src", "Running cd /src"),
        ("latest_test_results", "Running latest_test_results"),
        ("", ""),
    ],
)
def test_what_a_command_does(command: str, text: str):
    assert running(command) == text


def test_a_long_command_is_cut():
    assert cells(running("frobnicate " + "x" * 500)) <= 80


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Fixed 14 typos in 6 files. Nothing else.", "Fixed 14 typos in 6 files."),
        ("Renamed e.g. auth.py and v1.2 of api.md. Then more.", "Renamed e.g. auth.py and v1.2 of api.md."),
        ("Updated config.toml, i.e. the defaults. Bye.", "Updated config.toml, i.e. the defaults."),
        ("## Summary\n\nThe lock is **taken** earlier. Tests pass.", "The lock is taken earlier."),
        ("Done. Fixed 14 typos. And more.", "Done. Fixed 14 typos."),
        (
            "Here is what I changed:\n\n- the lock is taken earlier\n- docs",
            "Here is what I changed: the lock is taken earlier",
        ),
        ("```\ncode here\n```\n\nThat was the log of it.", "That was the log of it."),
        ("See [the docs](https://example.org/a.b) for more. Bye.", "See the docs for more."),
        ("已修复 6 个文件中的 14 处拼写错误。其余未改动。", "已修复 6 个文件中的 14 处拼写错误。"),
        ("修好了！所有测试都通过了。再见。", "修好了！ 所有测试都通过了。"),
        ("Why? Because the file was read twice. Now once.", "Why? Because the file was read twice."),
        ("one line\ngoes on here. And another.", "one line goes on here."),
        ("# Only a heading", "Only a heading"),
        ("", ""),
        ("---\n\n***", ""),
    ],
)
def test_the_first_sentence(text: str, first: str):
    assert first_sentence(text) == first


def test_the_last_sentence():
    assert last_sentence("I'll look around first. Now the tests, e.g. test_a.py.") == "Now the tests, e.g. test_a.py."
    assert last_sentence("") == ""


def test_sentences_keep_every_word():
    assert sentences("Really?! Yes... well. OK") == ["Really?!", "Yes...", "well.", "OK"]


@given(st.text(max_size=300))
def test_sentences_lose_nothing(text: str):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    first_sentence(text)
    last_sentence(text)
    running(text)


def test_summaries_by_state():
    """AB-056, AB-058: each state says what the user needs of it, with a word to fall back on."""
    assert after(status=fresh(queue_reason=None)).summary == "Starting"
    assert after(ev.AssistantStarted()).summary == "Running…"
    assert after(ev.AssistantStarted(), ev.AssistantDelta("Looking at it. Then I")).summary == "Looking at it."
    assert after(said("I'll edit it now.", "tool")).summary == "I'll edit it now."
    assert exited(ACCEPTED, said("x", "tool"), stop_requested=True).summary == "Stopped"
    assert exited(ACCEPTED, said("", "tool"), SETTLED).summary == "Done"
    assert exited(ACCEPTED, said(""), SETTLED).summary == "Ended without a word"
    assert exited(open_ended=True).summary == "Waiting for instructions"
    asks = exited(ACCEPTED, said("Which one?\n\n1. A\n2. B"), SETTLED)
    assert asks.summary == "Which one? 1. A 2. B"
    assert asks.choices == ["A", "B"]
