"""Dispatch: a prompt becomes a view with its first run, or a sentence that says why not."""

import os
from dataclasses import dataclass

from agent_board.agents.base import Agent
from agent_board.agents.registry import ORDER
from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError, UsageError
from agent_board.git.repository import identify
from agent_board.runs.claim import claim, new_run_id, queued_state
from agent_board.runs.naming import checked_name, name_from
from agent_board.runs.options import AgentOptions, Options
from agent_board.runs.place import Placement, claimed, placed
from agent_board.runs.succession import start_claimed
from agent_board.store import locks, plain
from agent_board.store.files import now_ms
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import VERSION, Meta, RunRequest
from agent_board.store.views import create_view, names, new_id
from agent_board.text import preview


@dataclass(frozen=True, slots=True)
class Order:
    """What the user asks for. `prompt` is kept and delivered byte for byte."""

    prompt: bytes
    cwd: str
    agent: str | None = None
    """None: the configured one, else the first that is installed, else the demo."""
    model: str | None = None
    name: str | None = None
    """None: made from the prompt's first words."""
    mode: str | None = None
    """None: the configured one, else as the agent begins by itself. A task that only reads has none."""
    read_only: bool = False
    worktree: str = "auto"
    """on, off, or auto: in place only if nobody else's open task writes there."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The new view and its first run."""

    view_id: str
    run_id: str
    name: str
    warnings: tuple[str, ...] = ()
    worktree_path: str | None = None


def dispatch(paths: StorePaths, order: Order, options: Options | None = None) -> Dispatched:
    """Start a task in the background; returns once its shim owns it.

    Raises UsageError for an order that makes no sense, BoardError when it can't be carried out now. If it fails
    behind the moment when the prompt is on disk, the view stays and says so.
    """
    options = options or Options()
    text = checked_prompt(order.prompt)
    cwd = checked_directory(order.cwd)
    chosen = usable_agent(order.agent or options.default_agent)
    if refusal := chosen.refusal(text, cwd):
        raise BoardError(refusal)
    place = identify(cwd)
    with claimed(paths, place):
        taken = names(paths)
        name = checked_name(order.name, taken) if order.name is not None else name_from(text, taken)
        placement = placed(
            paths, place, mode=order.worktree, name=name, read_only=order.read_only, root=options.worktree_root
        )
        request = _request(paths, order, chosen, placement, options)
        name, lock = _create(paths, _meta(request, chosen, cwd, placement), request, order, text)
    try:
        start_claimed(paths, request, lock)
    finally:
        locks.release(lock)
    return Dispatched(request.view_id, request.run_id, name, placement.warnings, placement.worktree_path)


def checked_prompt(prompt: bytes) -> str:
    """The prompt as text. Raises UsageError when it is blank or not UTF-8."""
    try:
        text = prompt.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"The prompt is not valid UTF-8 (byte {error.start}); nothing was started.") from None
    if not text.strip():
        raise UsageError("The prompt is empty; say what is to be done.")
    return text


def checked_directory(cwd: str) -> str:
    """The directory's absolute path, symbolic links kept. Raises BoardError when no agent could work there."""
    path = os.path.abspath(os.path.expanduser(cwd))
    if not os.path.lexists(path):
        raise BoardError(f"The directory {path} does not exist.")
    if not os.path.isdir(path):
        raise BoardError(f"{path} is not a directory.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise BoardError(f"The directory {path} can't be read; change its permissions or choose another.")
    return path


def usable_agent(name: str | None) -> Agent:
    """The agent of that name, or the first installed one; it is here and can run.

    Raises UsageError when there is no such agent, BoardError when it isn't installed or can't run.
    """
    if name is None:
        return next(found for found in map(agent_named, ORDER) if _can_run(found))
    chosen = agent_named(name)
    found = chosen.find()
    if found is None:
        raise BoardError(
            f"{chosen.title} is not installed (no `{chosen.name}` on PATH); install it with: {chosen.install}"
        )
    if found.problem:
        raise BoardError(found.problem)
    return chosen


def checked_mode(chosen: Agent, asked: str | None, configured: str | None) -> str | None:
    """The mode that was asked for, else the configured one. Raises UsageError naming those that this agent has."""
    mode = asked or configured
    if mode is None or mode in chosen.modes:
        return mode
    named = f"“{mode}”" if asked else f"“{mode}”, which your settings name"
    if not chosen.modes:
        raise UsageError(f"{chosen.title} has no modes to choose from, so no {named}; leave it out.")
    raise UsageError(f"{chosen.title} has no mode {named}; it has {', '.join(chosen.modes)}.")


def _can_run(candidate: Agent) -> bool:
    found = candidate.find()
    return found is not None and found.problem is None


def _request(paths: StorePaths, order: Order, chosen: Agent, placement: Placement, options: Options) -> RunRequest:
    view_id, run_id = new_id(), new_run_id(1)
    wishes = options.agents.get(chosen.name, AgentOptions())
    mode = checked_mode(chosen, order.mode, wishes.mode)
    session_file, session_id = chosen.new_session(view_id, placement.cwd, paths.session(view_id))
    return RunRequest(
        version=VERSION,
        run_id=run_id,
        view_id=view_id,
        prompt_id=run_id,
        seq=1,
        created_at=now_ms(),
        agent=chosen.name,
        cwd=placement.cwd,
        session_file=session_file,
        session_id=session_id,
        model=order.model,
        mode=None if order.read_only else mode,
        read_only=order.read_only,
        checkout=placement.checkout,
        worktree=placement.worktree_path is not None,
        rules=list(placement.rules),
        setup=list(options.worktree_setup),
        prompt_preview=preview(order.prompt.decode()),
        prompt_bytes=len(order.prompt),
        wrap=list(wishes.wrap),
        args=list(wishes.args),
        stall_after_ms=round((wishes.stall_after_s or chosen.stall_after_s) * 1000),
        notify=list(options.notify),
    )


def _meta(request: RunRequest, chosen: Agent, cwd: str, placement: Placement) -> Meta:
    return Meta(
        version=VERSION,
        id=request.view_id,
        name="",
        cwd=cwd,
        created_at=request.created_at,
        updated_at=request.created_at,
        session_file=request.session_file,
        session_id=request.session_id,
        kind=chosen.kind,
        default_model=request.model,
        mode=request.mode,
        worktree_mode="off" if placement.worktree_path is None else "on",
        worktree_path=placement.worktree_path,
        agent=chosen.name,
        repo_root=placement.repo_root,
        base_ref=placement.base,
        branch=placement.branch,
        read_only=request.read_only,
        checkout=placement.checkout,
    )


def _create(paths: StorePaths, meta: Meta, request: RunRequest, order: Order, text: str) -> tuple[str, int]:
    """The view with its claimed first run, in one rename, already locked: its name and the locked descriptor."""
    fds: list[int] = []

    def fill(view: ViewPaths, taken: set[str]) -> None:
        meta.name = checked_name(order.name, taken) if order.name is not None else name_from(text, taken)
        fds.append(locks.acquire(view.lock))
        plain.write(view.meta, meta, sync=True)
        claim(view, request, order.prompt)
        plain.write(view.state, queued_state(request, None), sync=True)

    try:
        create_view(paths, request.view_id, fill)
    except BaseException:
        for fd in fds:
            locks.release(fd)
        raise
    return meta.name, fds[0]
