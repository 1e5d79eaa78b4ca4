"""Dying between any two steps of making or removing a worktree: this process, by its own hand, as `kill -9` does.

`python -m tests.git.crash create|remove|discard STEP REPOSITORY` does that with the worktree `task` and dies before its
STEPth change of something on disk or call of git. It prints how many steps there were if it lives to the end.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from agent_board.git import call
from agent_board.git.create import create
from agent_board.git.repository import identify
from agent_board.git.worktrees import plan_removal, remove, worktree_root

_CHANGES = ("rename", "replace", "unlink", "rmdir", "mkdir", "chmod")


class _Steps:
    """Counts what happens and dies before one of them."""

    def __init__(self, last: int) -> None:
        self.count, self.last = 0, last

    def counting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def doing(*words: Any, **rest: Any) -> Any:
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1
            return real(*words, **rest)

        return doing


def main(act: str, step: str, repo: str) -> None:
    """Do it once."""
    place = identify(repo)
    path = os.path.join(worktree_root(place), "task")
    plan = plan_removal(path, repository=repo) if act != "create" else None
    steps = _Steps(int(step))
    vars(call)["run"] = steps.counting(call.run)
    for name in _CHANGES:
        setattr(os, name, steps.counting(getattr(os, name)))
    if plan is None:
        create(place, path=path, branch="task", base=str(place.head), setup=["/bin/sh", "-c", "echo > set-up.log"])
    else:
        remove(plan, discard_work=act == "discard")
    print(steps.count)


if __name__ == "__main__":
    main(*sys.argv[1:])
