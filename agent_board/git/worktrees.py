"""Worktrees, in one place for those who use them: made, locked, listed, and removed without losing work."""

from agent_board.git.create import create
from agent_board.git.ensure import ensure
from agent_board.git.listing import (
    Condition,
    Worktree,
    is_ready,
    list_worktrees,
    lock,
    registered,
    unlock,
    worktree_root,
)
from agent_board.git.losses import Loss, LossKind
from agent_board.git.names import free_names
from agent_board.git.processes import Inside, processes_in
from agent_board.git.pruning import prune
from agent_board.git.removal import RemovalPlan, plan_removal, remove

__all__ = [
    "Condition",
    "Inside",
    "Loss",
    "LossKind",
    "RemovalPlan",
    "Worktree",
    "create",
    "ensure",
    "free_names",
    "is_ready",
    "list_worktrees",
    "lock",
    "plan_removal",
    "processes_in",
    "prune",
    "registered",
    "remove",
    "unlock",
    "worktree_root",
]
