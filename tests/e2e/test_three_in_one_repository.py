"""Three real Pi tasks in one repository at once, from the board in tmux: seen, one merged, two deleted."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.test_tmux import MOMENT_S, Tmux
from tests.git.repo import git, make_repo
from tests.support import acts
from tests.support.model_server import ModelServer, say, use
from tests.support.wait import wait_for

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("pi_home", "store")]
NAMES = ("alpha", "bravo", "charlie")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "src" / "api", {"colours.txt": "red\n"})


def script(server: ModelServer, meeting: Path) -> None:
    """Each task writes the same file while all three are at work; charlie commits what it wrote."""
    meeting.mkdir()
    together = f"until [ $(ls {meeting} | wc -l) = 3 ]; do sleep 0.05; done"
    for name in NAMES:
        end = "git commit -qam 'Add charlie'" if name == "charlie" else "true"
        line = f"echo {name} >> colours.txt; touch {meeting}/{name}; {together}; {end}"
        server.script(use("bash", command=line), say(f"Wrote {name}."), when=f"Write {name}")


def test_seen_merged_and_deleted(repo: Path, tmp_path: Path, model_server: ModelServer) -> None:
    """AB-005, AB-078…088: each on its own branch; nothing is lost that was not shown and confirmed."""
    script(model_server, tmp_path / "meeting")
    tmux = Tmux(repo)
    try:
        tmux.wait_for("all keys")
        for name in NAMES:
            start(tmux, name)
        for name in NAMES:
            tmux.wait_for_row(f"write-{name}", f"Wrote {name}.")
        rows = {row["name"]: row for row in acts.listed().values()}
        places = {name: Path(rows[f"write-{name}"]["worktreePath"]) for name in NAMES}
        for name, place in places.items():
            assert (place / "colours.txt").read_text() == f"red\n{name}\n"
        assert git(repo, "status", "--porcelain") == ""
        assert git(repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"
        assert (repo / "colours.txt").read_text() == "red\n"

        tmux.send("g")
        tmux.wait_until(lambda screen: selected(screen, "write-alpha"))
        tmux.send("f")
        tmux.wait_for("+alpha")
        tmux.send("Escape")
        tmux.wait_for("all keys")
        tmux.send("M")
        tmux.wait_for("First commit 1 uncommitted file")
        tmux.send("Enter")
        tmux.say_yes("These commands run", "merge it")
        wait_for(lambda: (repo / "colours.txt").read_text() == "red\nalpha\n", 30, "the merge")
        wait_for(lambda: not git(repo, "--no-optional-locks", "status", "--porcelain"), 30, "the end of the merge")
        tmux.send("Escape")  # the changes were shown under the questions
        tmux.wait_for("all keys")

        for name in ("bravo", "charlie"):
            archive(tmux, f"write-{name}")
        tmux.send("A")
        tmux.wait_for("write-bravo")
        move(tmux, "Down", "write-bravo")
        tmux.send("D")
        tmux.wait_for("This work is lost")
        tmux.send("y")
        tmux.wait_for("   y\n")
        tmux.send("C-u")
        tmux.wait_until(lambda screen: "   y\n" not in screen)
        tmux.send("write-bravo")
        tmux.wait_for("   write-bravo\n")
        tmux.press_until("Enter", lambda screen: "This work is lost" not in screen)
        wait_for(lambda: not places["bravo"].exists(), 30, "the worktree to go")
        move(tmux, "Up", "write-charlie")
        tmux.send("D")
        assert "This work is lost" not in tmux.wait_for("for good?")
        tmux.say_yes("for good?", "delete it")
        wait_for(lambda: not places["charlie"].exists(), 30, "the worktree to go")
    finally:
        tmux.close()
    branches = git(repo, "branch", "--format=%(refname:short)").splitlines()
    assert sorted(branches) == sorted(["main", rows["write-alpha"]["branch"], rows["write-charlie"]["branch"]])
    assert "Add charlie" in git(repo, "log", "--format=%s", rows["write-charlie"]["branch"])
    assert list(acts.listed()) == [rows["write-alpha"]["id"]]
    assert sorted(model_server.prompts) == [f"Write {name}" for name in NAMES]


def start(tmux: Tmux, name: str) -> None:
    """A new task from the bar, in its own worktree."""
    tmux.send("n")
    tmux.wait_for("keep for later")
    tmux.send(f"Write {name}")
    tmux.wait_for(f"Write {name}")
    tmux.send(*["Tab"] * 5)
    tmux.wait_for("‹ auto")
    tmux.send("Right")
    tmux.wait_for("‹ on")
    tmux.send("Enter")
    tmux.wait_for_row(f"write-{name}", "")


def archive(tmux: Tmux, name: str) -> None:
    """Take that row off the list."""
    move(tmux, "Down", name)
    tmux.press_until("x", lambda screen: not any(name in line for line in rows_of(screen)))


def selected(screen: str, name: str) -> bool:
    """Whether the cursor is on the row of that name."""
    return name in cursor_line(screen)


def rows_of(screen: str) -> list[str]:
    """The lines of the list, as far as their names go: to the right a word about an act may name a row, too."""
    return [line[:40] for line in screen.splitlines()[1:-3]]


def move(tmux: Tmux, key: str, name: str) -> None:
    """Press an arrow, and only when it has moved the cursor the next time, until the row of that name is reached."""

    def moved() -> bool:
        before = cursor_line(tmux.screen)
        if name in before:
            return True
        tmux.send(key)
        with suppress(AssertionError):
            wait_for(lambda: cursor_line(tmux.screen) not in ("", before), MOMENT_S)
        return False

    wait_for(moved, 30, f"{key} to get to {name}")


def cursor_line(screen: str) -> str:
    """The row that the cursor is on, or an empty text."""
    return next((line for line in rows_of(screen) if "❯" in line), "")
