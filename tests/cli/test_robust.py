"""Whatever happens, the user gets one sentence and an exit code, never a traceback."""

import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from agent_board.cli import listing
from agent_board.cli.main import INTERRUPTED, READER_GONE
from agent_board.store.files import write_json
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view
from tests.cli.test_usage import one_sentence
from tests.support import command
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

_MODULES = """
import sys
from agent_board.cli.main import main
code = main(sys.argv[1:])
print("\\n" + " ".join(sys.modules), file=sys.stderr)
"""


def modules_of(*arguments: str) -> set[str]:
    """The top-level modules that a command loads."""
    done = subprocess.run([sys.executable, "-c", _MODULES, *arguments], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}


def test_help_and_version_load_next_to_nothing():
    assert not modules_of("--version") & {"textual", "pydantic", "json", "dataclasses", "shtab", "subprocess"}


@pytest.fixture
def bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(args: object) -> int:
        raise ZeroDivisionError("secret \x1b[31m sauce")

    monkeypatch.setattr(listing, "list_views", fail)


@pytest.mark.usefixtures("bug")
def test_an_unforeseen_error_goes_into_the_log(cli: Cli, store: StorePaths):
    done = cli("list")
    log = f"{store.log}/errors.log"
    assert done.code == 1
    assert one_sentence(done.err)
    assert log in done.err
    assert "\x1b" not in done.err
    with open(log, encoding="utf-8") as file:
        assert "ZeroDivisionError" in file.read()
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600


@pytest.mark.usefixtures("bug")
@pytest.mark.parametrize("option", [["--home", "HERE"], ["--home=HERE"]])
def test_the_log_is_that_of_the_chosen_store(cli: Cli, store: StorePaths, monkeypatch, option: list[str]):
    monkeypatch.delenv("AGENT_BOARD_HOME")
    done = cli("list", *(word.replace("HERE", store.root) for word in option))
    assert f"{store.log}/errors.log" in done.err


@pytest.mark.usefixtures("bug")
def test_without_a_store_the_sentence_says_where_it_happened(cli: Cli, home):
    done = cli("list")
    assert one_sentence(done.err)
    assert "in test_robust.py:" in done.err
    assert not os.path.exists(os.environ["AGENT_BOARD_HOME"])


def test_ctrl_c_is_no_traceback(store: StorePaths):
    make_view(store, "aa11", "working", processState="alive")
    os.unlink(store.view("aa11").run("0001-aa11").status)
    lock = "import fcntl,sys; f=open(sys.argv[1],'w'); fcntl.flock(f,2); print(1,flush=True); input()"
    with_lock = subprocess.Popen(
        [sys.executable, "-c", lock, store.view("aa11").lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert with_lock.stdout is not None
    with_lock.stdout.readline()
    process = command.start("wait", "aa11")
    try:
        wait_for(lambda: _sleeps(process.pid), what="the command to wait")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        with_lock.communicate(b"\n")
    assert (process.returncode, out, err) == (INTERRUPTED, b"", b"")


def _sleeps(pid: int) -> bool:
    """The process has come as far as sleeping in the clock."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return "nanosleep" in file.read()


def test_a_reader_that_goes_away_is_no_error(store: StorePaths):
    for number in range(300):
        make_view(store, f"{number:04x}", summary="x" * 400)
    process = command.start("list", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(20) == READER_GONE
    process.stderr.close()


def test_a_full_disk_behind_stdout_is_a_sentence(store: StorePaths):
    make_view(store, "aa11")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*command.AGENT_BOARD, "list", "--json"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert one_sentence(done.stderr.decode())


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_traceback(store: StorePaths, closed: str):
    make_view(store, "aa11")
    shell = f'"{sys.executable}" -m agent_board list {closed}'
    done = subprocess.run(["sh", "-c", shell], capture_output=True)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_is_not_utf8_gets_substitutes(store: StorePaths, monkeypatch):
    make_view(store, "aa11", meta={"name": "修复"})
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = command.ok("list")
    assert "\\u4fee" in done.out


@pytest.mark.parametrize(
    "arguments", [["list"], ["show", "aa11"], ["explain", "aa11"], ["logs", "aa11"], ["wait", "aa11"]]
)
def test_a_newer_store_is_read_with_a_warning(cli: Cli, store: StorePaths, arguments: list[str]):
    make_view(store, "aa11")
    write_json(store.roster, {"version": 99})
    done = cli(*arguments)
    assert done.code == 0
    assert "newer" in done.err


@pytest.mark.parametrize("arguments", [["dispatch", "--agent", "demo", "x"], ["stop", "aa11"]])
def test_a_newer_store_is_not_written(cli: Cli, store: StorePaths, arguments: list[str]):
    make_view(store, "aa11")
    write_json(store.roster, {"version": 99, "views": ["aa11"], "future": True})
    before = _contents(store.root)
    done = cli(*arguments)
    assert done.code == 1
    assert one_sentence(done.err)
    assert _contents(store.root) == before


def _contents(root: str) -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found


READING = [["list"], ["show", "x"], ["wait", "x"], ["logs", "x"], ["explain", "x"]]
WRITING = [["dispatch", "--agent", "demo", "x"], ["stop", "x"]]


@pytest.mark.parametrize("arguments", [*READING, *WRITING])
def test_a_directory_that_is_not_ours_is_refused_and_left_alone(cli: Cli, tmp_path, arguments: list[str]):
    foreign = tmp_path / "photos"
    foreign.mkdir()
    (foreign / "cat.jpg").write_bytes(b"x")
    done = cli(*arguments, "--home", str(foreign))
    assert done.code == 1
    assert one_sentence(done.err)
    assert "not an agent-board store" in done.err
    assert [entry.name for entry in foreign.iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize("arguments", [*READING, *WRITING])
def test_a_file_in_the_stores_place_is_refused(cli: Cli, tmp_path, arguments: list[str]):
    place = tmp_path / "file"
    place.write_text("x")
    for home in (place, place / "below"):
        done = cli(*arguments, "--home", str(home))
        assert done.code in (0, 1) if arguments == ["list"] else done.code == 1
        assert done.code == 0 or one_sentence(done.err)


def test_a_place_that_can_not_be_written_is_a_sentence(cli: Cli):
    done = cli("dispatch", "--agent", "demo", "--home", "/proc/agent-board", "x")
    assert done.code == 1
    assert one_sentence(done.err)
    assert "/proc/agent-board" in done.err


def test_the_log_is_kept_small(store: StorePaths):
    from agent_board.cli.failures import append_error

    for _ in range(5):
        append_error(store, "x" * (600 << 10))
    sizes = [os.path.getsize(f"{store.log}/{name}") for name in os.listdir(store.log)]
    assert len(sizes) == 2
    assert max(sizes) < 2 << 20


def test_json_on_stdout_is_json_whatever_is_said_on_stderr(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    write_json(store.roster, {"version": 99})
    done = cli("list", "--json")
    assert done.err
    assert len(json.loads(done.out)) == 1


_BROKEN_BOARD = """
import sys
from agent_board.board.app import BoardApp
from agent_board.cli.main import main
def fail(self):
    secret = "a prompt of the user"
    raise ZeroDivisionError("broken on purpose")
BoardApp.on_ready = fail
sys.exit(main([]))
"""


def test_a_board_that_breaks_leaves_one_sentence(store: StorePaths):
    with Terminal([sys.executable, "-c", _BROKEN_BOARD], size=(100, 30)) as terminal:
        assert terminal.wait_exit() == 1
        screen = terminal.text
    assert "Something went wrong inside agent-board" in screen
    assert "Traceback" not in screen
    assert "a prompt" not in screen
    with open(f"{store.log}/errors.log", encoding="utf-8") as file:
        assert "broken on purpose" in file.read()
