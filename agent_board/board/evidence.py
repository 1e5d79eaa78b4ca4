"""Why a view stands as it does: the rule and its evidence, its processes, its files, its last errors. For threads."""

import os
import time
from contextlib import suppress
from typing import NamedTuple

from agent_board.board.widgets.task_line import short_path
from agent_board.runs.claim import run_ids
from agent_board.runs.processes import Liveness, probe
from agent_board.states.explain import explain
from agent_board.store import plain
from agent_board.store.files import Missing, Unreadable
from agent_board.store.load import load_status, load_view
from agent_board.store.logs import segments, tail
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Identity, Meta, RunStatus, ShimPid, State
from agent_board.text import clean_block

_ERROR_BYTES = 8 << 10
_ERROR_LINES = 40
_OF_A_RUN = ("request", "prompt", "started", "stop", "pid", "status", "events", "stdout", "stderr")
_ALIVE = {
    Liveness.ALIVE: "lives",
    Liveness.GONE: "is gone",
    Liveness.UNKNOWN: "can't be told (another machine or namespace)",
}


class Section(NamedTuple):
    """A heading and its lines, clean."""

    title: str
    lines: list[str]


def gather(paths: StorePaths, view_id: str) -> list[Section]:
    """Everything there is to know of a view; empty when it is gone."""
    record = load_view(paths, view_id)
    if isinstance(record, Missing):
        return []
    view = paths.view(view_id)
    state = record.state if isinstance(record.state, State) else None
    runs = run_ids(view)
    current = (
        state.current_run_id if state is not None and state.current_run_id in runs else (runs[-1] if runs else None)
    )
    found = load_status(view, current) if current else None
    status = found if isinstance(found, RunStatus) else None
    sections = [
        Section("Why", _why(record.meta, state, status, record.unreadable)),
        Section("Processes", _processes(view, current, status)),
        Section("Files", _files(view, current, record.meta)),
        Section("Last words on its error output", _errors(view, current)),
    ]
    return [section for section in sections if section.lines]


def _why(meta: Meta | Unreadable, state: State | None, status: RunStatus | None, broken: str | None) -> list[str]:
    if isinstance(meta, Unreadable) or broken:
        return [f"Its files can't be read: {broken}.", "Nothing of it is changed; archive and delete work on it."]
    lines = explain(meta, state, status)
    if status is not None and status.durations:
        steps = {"toWorker": "until the agent was started", "toFirstEvent": "until it said something", "run": "in all"}
        said = [
            f"{status.durations[key] / 1000:.1f} s {words}" for key, words in steps.items() if key in status.durations
        ]
        lines.append(f"Time: {', '.join(said)}." if said else "")
    return [line for line in lines if line]


def _processes(view: ViewPaths, run_id: str | None, status: RunStatus | None) -> list[str]:
    if run_id is None:
        return ["It has not run yet."]
    shim = plain.read_or_none(ShimPid, view.run(run_id).pid)
    lines = [_process("runner", shim.identity) if shim is not None else "runner: none is recorded"]
    if status is not None and status.worker_identity is not None:
        lines.append(_process("agent", status.worker_identity))
    else:
        lines.append("agent: none is recorded")
    lines.extend(_process("left behind", identity) for identity in (status.leftovers if status is not None else []))
    return lines


def _process(what: str, identity: Identity) -> str:
    return f"{what}: process {identity.pid} {_ALIVE[probe(identity)]}"


def _files(view: ViewPaths, run_id: str | None, meta: Meta | Unreadable) -> list[str]:
    lines = []
    if isinstance(meta, Meta):
        folder = meta.worktree_path or meta.cwd
        lines.append(f"works in {short_path(folder)}{'' if os.path.isdir(folder) else ' (it is gone)'}")
        if meta.session_file:
            lines.append(_file("session", meta.session_file))
    for name, path in (("meta", view.meta), ("state", view.state)):
        if os.path.exists(path):
            lines.append(_file(name, path))
    if run_id is not None:
        run = view.run(run_id)
        lines.append(f"run {run_id} in {short_path(run.dir)}")
        paths_of = {name: getattr(run, name) for name in _OF_A_RUN}
        lines.extend(f"  {name:<8}  {_facts(path)}" for name, path in paths_of.items() if os.path.exists(path))
    return lines


def _file(name: str, path: str) -> str:
    return f"{name:<8}  {_facts(path) if os.path.exists(path) else 'not there':<24}  {short_path(path)}"


def _facts(path: str) -> str:
    """How large it is and when it was last written; of a log all its files together."""
    files, size, latest = segments(path), 0, 0.0
    for each in files:
        with suppress(OSError):
            found = os.stat(each)
            size, latest = size + found.st_size, max(latest, found.st_mtime)
    when = time.strftime("%d %b %H:%M:%S", time.localtime(latest))
    more = f", {len(files)} files" if len(files) > 1 else ""
    return f"{_bytes(size):>7}  {when}{more}"


def _bytes(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size / 1024:.0f} KB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MB"


def _errors(view: ViewPaths, run_id: str | None) -> list[str]:
    if run_id is None:
        return []
    data = tail(view.run(run_id).stderr, _ERROR_BYTES)
    lines = clean_block(data.decode("utf-8", "replace")).rstrip().split("\n")
    return [line.rstrip() for line in lines[-_ERROR_LINES:]] if data.strip() else []
