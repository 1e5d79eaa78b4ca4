"""What a task changed and taking it over, as a screen asks for it: each may take its time and is called in a thread."""

from typing import TYPE_CHECKING, NamedTuple

from agent_board.board.widgets.task_line import short_path
from agent_board.store.paths import StorePaths
from agent_board.text import clean_line

if TYPE_CHECKING:
    from agent_board.git.changes import Changes
    from agent_board.git.merge import MergePlan

SHORT_ID = 8
"""So many digits of a commit's id are shown."""


class Seen(NamedTuple):
    """The changes, and between what they lie."""

    where: str
    changes: "Changes"


class Work:
    """The work of one task. Imports wait until something is asked."""

    def __init__(self, paths: StorePaths, view_id: str) -> None:
        self._paths = paths
        self._view_id = view_id

    def look(self) -> Seen:
        """What has changed until now. Raises BoardError with the reason why nobody can tell."""
        from agent_board.runs.changes import view_changes
        from agent_board.store import plain
        from agent_board.store.records import Meta

        found = view_changes(self._paths, self._view_id)
        meta = plain.read_or_none(Meta, self._paths.view(self._view_id).meta)
        if meta is None or meta.worktree_path is None:
            against = f"HEAD, {found.base[:SHORT_ID]}" if found.head else "nothing: there is no commit yet"
            return Seen(clean_line(f"in place in {short_path(meta.cwd if meta else '')}, against {against}"), found)
        branch = f"branch {meta.branch} in " if meta.branch else ""
        where = f"{found.base[:SHORT_ID]} to {branch}{short_path(meta.worktree_path)}"
        return Seen(clean_line(where), found)

    def plan(self) -> "MergePlan":
        """What merging would do. Raises BoardError with the reason why it can't be done now."""
        from agent_board.runs.changes import plan_view_merge
        from agent_board.runs.life import not_running

        with not_running(self._paths, self._view_id, "merge it"):
            return plan_view_merge(self._paths, self._view_id)

    def merge(self, plan: "MergePlan", message: str | None) -> str:
        """Do what was shown; returns what was done. Raises BoardError, with the target as it was."""
        from agent_board.runs.changes import merge_view

        merged = merge_view(self._paths, self._view_id, plan, message)
        head = merged.head[:SHORT_ID]
        return f"Merged {plan.branch} into {plan.target_branch} in {short_path(merged.target)}, now at {head}."
