"""The command line and the runner: a listing, and a shim's start and memory beside its worker's."""

import subprocess
import sys
import time
from pathlib import Path

from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.stop import stop
from agent_board.store.files import Raw, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.views import open_store
from tests.benchmarks.report import Line, Report
from tests.benchmarks.screen import memory_mb
from tests.benchmarks.world import make_world
from tests.support.command import AGENT_BOARD
from tests.support.wait import wait_for


def listing(report: Report, folder: Path, views: int, times: int) -> None:
    """`list --json` as a script runs it, and the floor below it: an interpreter that does nothing."""
    paths = make_world(folder / "store", views)
    command = [*AGENT_BOARD, "--home", paths.root, "list", "--json"]
    report.add(Line("an interpreter that does nothing", _timed([sys.executable, "-c", ""], times), "ms", "(floor)"))
    report.add(Line(f"list --json, {views:,} views", _timed(command, times), "ms", "200 at 1,000", 200.0))
    report.add(Line("--version", _timed([*AGENT_BOARD, "--version"], times), "ms"))


def _timed(command: list[str], times: int) -> list[float]:
    spent = []
    for _ in range(times + 1):
        before = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        spent.append((time.perf_counter() - before) * 1000)
    return spent[1:]


def runner(report: Report, folder: Path, times: int) -> None:
    """From the act to the worker, and what the shim weighs while its worker works."""
    paths = open_store(str(folder / "store"))
    order = Order(prompt=b"demo: say Working.; hang", cwd=str(folder), agent="demo")
    acts, workers, inside, resident, proportional, worker = [], [], [], [], [], []
    for _ in range(times):
        before = time.perf_counter()
        done = dispatch(paths, order)
        acts.append((time.perf_counter() - before) * 1000)
        status = _worker_status(paths, done.view_id, done.run_id)
        workers.append((time.perf_counter() - before) * 1000)
        inside.append(float(status["durations"].get("toWorker", "nan")))
        shim = read_json(paths.view(done.view_id).run(done.run_id).pid)
        assert isinstance(shim, dict)
        rss, pss = memory_mb(shim["identity"]["pid"])
        resident.append(rss)
        proportional.append(pss)
        worker.append(memory_mb(int(status["pid"]))[0])
        stop(paths, done.view_id)
        _wait_exited(paths, done.view_id, done.run_id)
    report.add(Line("dispatch returns", acts, "ms"))
    report.add(Line("dispatch to worker recorded", workers, "ms", "100", 100.0))
    report.add(Line("shim's start to worker started (its own clock)", inside, "ms"))
    report.add(Line("shim's resident memory", resident, "MB", "30", 30.0))
    report.add(Line("shim's proportional memory", proportional, "MB"))
    report.add(Line("its worker's resident memory (demo agent)", worker, "MB"))


def _worker_status(paths: StorePaths, view_id: str, run_id: str) -> Raw:
    def started() -> Raw | None:
        status = read_json(paths.view(view_id).run(run_id).status)
        return status if isinstance(status, dict) and status.get("pid") else None

    return wait_for(started, 20, "the worker")


def _wait_exited(paths: StorePaths, view_id: str, run_id: str) -> None:
    def ended() -> bool:
        status = read_json(paths.view(view_id).run(run_id).status)
        return isinstance(status, dict) and status.get("processState") == "exited" and status.get("endedAt") is not None

    wait_for(ended, 20, "the end of the run")
