"""The real agents against the scripted model: how soon each says its first word, and what worker and shim weigh."""

import math
import os
import threading
from contextlib import suppress
from pathlib import Path

import psutil

from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.store.files import Raw, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.views import open_store
from tests.benchmarks.report import Line, Report
from tests.benchmarks.screen import memory_mb
from tests.support import agents, pi
from tests.support.model_server import ModelServer, held, say
from tests.support.wait import wait_for

PATIENCE = 120.0
MODELS = {"gemini": "gemini-2.5-pro"}
NAMES = ("pi", "claude", "codex", "opencode", "gemini", "copilot")


def measure(report: Report, folder: Path, times: int) -> None:
    """Each of them by itself, after one run that nobody counts."""
    paths = open_store(str(folder / "store"))
    before = dict(os.environ)
    for name in NAMES:
        home, project = folder / name, folder / f"{name}-project"
        home.mkdir()
        project.mkdir()
        with ModelServer(seconds=900) as server:
            try:
                os.environ |= _environment(name, folder / f"{name}-bin", home, project, server.url)
                _measure(report, paths, server, name, project, times)
            finally:
                os.environ.clear()
                os.environ |= before


def _environment(name: str, programs: Path, home: Path, project: Path, url: str) -> dict[str, str]:
    if name != "pi":
        return {"HOME": str(home), **agents.scripted(name, programs, home, project, url)}
    pi.write_models(home / "pi", url)
    return {"HOME": str(home), "PI_CODING_AGENT_DIR": str(home / "pi"), "PATH": agents.path_with(pi.make_bin(programs))}


def _measure(report: Report, paths: StorePaths, server: ModelServer, name: str, cwd: Path, times: int) -> None:
    release = threading.Event()
    server.script(held(say("Released."), release), when="hold", forever=True)
    server.script(say("Said."), forever=True)

    def begin(prompt: bytes) -> Dispatched:
        return dispatch(paths, Order(prompt, str(cwd), agent=name, model=MODELS.get(name), read_only=True))

    ended = [_ended(paths, begin(b"Say something")) for _ in range(times + 1)][1:]
    asked = len(server.requests)
    task = begin(b"hold on")
    server.wait_for_requests(asked + 1, PATIENCE)
    run = paths.view(task.view_id).run(task.run_id)
    worker, shim = _record(run.status)["pid"], _record(run.pid)["identity"]["pid"]
    tree = [process.pid for process in (psutil.Process(worker), *psutil.Process(worker).children(recursive=True))]
    weights = []
    for pid in tree:
        with suppress(psutil.NoSuchProcess):  # a helper of a moment
            weights.append(memory_mb(pid))
    of_shim = memory_mb(shim)
    release.set()
    _ended(paths, task)
    report.add(Line(f"{name}: start to first event", [_first_event_ms(status) for status in ended], "ms"))
    report.add(Line(f"{name}: whole run", [float(status["durations"]["run"]) for status in ended], "ms"))
    report.add(Line(f"{name}: worker's resident memory, all {len(weights)}", [sum(rss for rss, _ in weights)], "MB"))
    proportional = sum(pss for _, pss in weights if not math.isnan(pss))
    report.add(Line(f"{name}: worker's proportional memory", [proportional], "MB"))
    report.add(Line(f"{name}: shim's resident memory", [of_shim[0]], "MB", "30", 30.0))


def _first_event_ms(status: Raw) -> float:
    durations = status["durations"]
    return float(durations["toFirstEvent"] - durations["toWorker"])


def _record(path: str) -> Raw:
    found = read_json(path)
    assert isinstance(found, dict), found
    return found


def _ended(paths: StorePaths, task: Dispatched) -> Raw:
    status = paths.view(task.view_id).run(task.run_id).status

    def look() -> Raw | None:
        found = read_json(status)
        return found if isinstance(found, dict) and found.get("endedAt") is not None else None

    found = wait_for(look, PATIENCE, "the run's end")
    assert found["semanticState"] == "completed", found["error"]
    return found
