"""A task's worktree, made if it isn't there: at its first run, after an interrupted making, after it was removed."""

from collections.abc import Callable

from agent_board.errors import BoardError
from agent_board.git.admin import admin_of, canonical, is_unfinished, read_marker, working_on
from agent_board.git.call import git
from agent_board.git.create import create, was_made_for
from agent_board.git.listing import is_ready
from agent_board.git.repository import Place, home_of


def ensure(
    place: Place,
    *,
    path: str,
    branch: str,
    base: str,
    view: str,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda _: None,
    setup: list[str] | None = None,
) -> list[str]:
    """Have the view's worktree ready at `path`; returns warnings, and costs no process when it is.

    A branch that this very worktree had before is checked out again; any other of that name is refused. Raises
    BoardError with one sentence, CancelledError.
    """
    if is_ready(path):
        return []
    home = home_of(place)
    admin = admin_of(home, path)
    if admin is not None and not is_unfinished(admin, read_marker(admin)):
        _forget_lost(home, path)
    exists = git(home, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", ok=(0, 1)).code == 0
    unfinished = admin is not None and is_unfinished(admin, read_marker(admin))
    return create(
        place,
        path=path,
        branch=branch,
        base=base,
        view=view,
        cancelled=cancelled,
        progress=progress,
        setup=setup,
        new_branch=unfinished or not (exists and was_made_for(home, canonical(path), branch)),
    )


def _forget_lost(home: str, path: str) -> None:
    """Have git forget the worktree if its directory is gone and nothing hangs on it; or end what had been begun."""
    from agent_board.git.removal import Standing, finish, plan_removal, recover  # 10 ms, for a rare case

    with working_on(home, path):
        recover(home, path)
        if is_ready(path):
            return
        plan = plan_removal(path, repository=home)
        if plan.standing is not Standing.MISSING or plan.admin is None:
            return
        if plan.lost:
            raise BoardError(
                f"The directory {path} is gone, and git still has {plan.summary()} of it; mend that first."
            )
        finish(home, plan.admin, None)
