"""What every test stands on: a home of its own, and nothing left running at the end."""

import contextlib
import os
import secrets
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

from agent_board.store.paths import StorePaths
from agent_board.store.views import open_store
from tests.support import command, pi, processes
from tests.support.model_server import ModelServer
from tests.support.terminal import Terminal

# How fast an example is made or run tells of the machine, not of the product.
hypothesis.settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any-machine")

# Behind nohup, or as a shell's background job, these are ignored, by all that a test starts as well.
for ending, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ending) is signal.SIG_IGN:
        signal.signal(ending, usual)

SESSION = secrets.token_hex(6)
GRACE_SECONDS = 15.0
"""How long a runner may take, after the last test, to finish what a test has let go."""

_GITCONFIG = "[user]\nname = Test\nemail = test@example.invalid\n[init]\ndefaultBranch = main\n"
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fails the run when a process that a test started outlives the tests, and ends it."""
    yield
    deadline = time.monotonic() + GRACE_SECONDS
    while (left := processes.marked(f"{SESSION}:")) and time.monotonic() < deadline:
        time.sleep(0.1)
    lines = [processes.describe(process) for process in left]
    processes.end(left)
    assert not lines, "left running by tests:\n" + "\n".join(lines)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """An empty home directory: nothing of the user's is read, nothing of his is written."""
    for name in set(os.environ) - set(_KEPT):
        if not name.startswith(("PYTEST_", "PYTHON", "TEXTUAL_SNAPSHOT")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / ".cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / ".local" / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".local" / "state"))
    monkeypatch.setenv("AGENT_BOARD_HOME", str(tmp_path / "board"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv(processes.MARK, f"{SESSION}:{request.node.nodeid}")
    if not {"LANG", "LC_ALL", "LC_CTYPE"} & set(os.environ):
        monkeypatch.setenv("LANG", "C.UTF-8")
    (folder / ".gitconfig").write_text(_GITCONFIG)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path, home: Path) -> StorePaths:
    """A new, empty store, the one that commands of this test use."""
    return open_store(os.environ["AGENT_BOARD_HOME"])


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model; give it answers with `script`."""
    with ModelServer() as server:
        yield server


@dataclass(frozen=True)
class PiHome:
    """The real Pi on PATH, with the scripted server as its only provider."""

    bin: Path
    agent_dir: Path
    url: str

    def settings(self, **values: object) -> None:
        """Write Pi's own settings, as `retry={"enabled": False}`."""
        pi.write_models(self.agent_dir, self.url, **values)


@pytest.fixture(scope="session")
def pi_bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `pi` and `node`."""
    return pi.make_bin(tmp_path_factory.mktemp("pi") / "bin")


@pytest.fixture
def pi_home(pi_bin: Path, tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> PiHome:
    """The real Pi, ready to talk to `model_server`. Its retries come after 50 ms instead of 2 s."""
    agent_dir = tmp_path / "pi-agent"
    monkeypatch.setenv("PATH", f"{pi_bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent_dir))
    made = PiHome(pi_bin, agent_dir, model_server.url)
    made.settings(retry={"baseDelayMs": 50})
    return made


@pytest.fixture
def no_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with git, sh and Python's own needs, and no coding agent on it."""
    folder = tmp_path / "bare-bin"
    folder.mkdir()
    for name in ("sh", "git", "env", "cat", "ls", "sleep", "true", "false", "uname", "tty", "stty"):
        where = shutil.which(name)
        if where:
            (folder / name).symlink_to(where)
    monkeypatch.setenv("PATH", str(folder))
    return folder


StartBoard = Callable[..., Terminal]


@pytest.fixture
def board(project: Path) -> Iterator[StartBoard]:
    """Starts boards in real terminals: `board("--home", …, size=(80, 24))`; all are closed at the end."""
    with contextlib.ExitStack() as opened:

        def start(*arguments: str, size: tuple[int, int] = (120, 36), cwd: Path | None = None) -> Terminal:
            terminal = Terminal([*command.AGENT_BOARD, *arguments], size=size, cwd=cwd or project)
            return opened.enter_context(terminal)

        yield start
