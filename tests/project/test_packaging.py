"""The wheel: it carries the styles and the runner, and what it installs works away from any checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import agent_board
from tests.support.repository import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel; no network: its dependencies are borrowed from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "pip"), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def _run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheel_holds_the_styles_and_the_runner_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "agent_board").rglob("*.py")}
    styles = {f"agent_board/_styles/{path.name}" for path in (ROOT / "styles").glob("*.tcss")}
    runner = {"agent_board/_runner/job_runner.py", "agent_board/_runner/report_extension.ts"}
    assert names >= sources | styles | runner
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"agent_board"}


def test_the_installed_command_tells_its_version(installed: Path, project: Path) -> None:
    assert _run(installed / "agent-board", "--version", cwd=project).split()[-1] == agent_board.__version__


def test_the_installed_package_finds_its_own_files(installed: Path, project: Path) -> None:
    program = "from agent_board import resources as r; print(r.STYLES, r.JOB_RUNNER, r.REPORT_EXTENSION, sep='\\n')"
    found = [Path(line) for line in _run(installed / "python", "-c", program, cwd=project).splitlines()]
    assert all(path.exists() and path.is_relative_to(installed.parent.resolve()) for path in found), found


def test_the_installed_command_runs_a_task(installed: Path, project: Path) -> None:
    """AB-090: from the wheel alone, a runner is started, an agent works and the row is completed."""
    out = _run(installed / "agent-board", "dispatch", "--agent", "demo", "--wait", "say hello", cwd=project)
    assert out
