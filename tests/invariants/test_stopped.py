"""Invariant 8: stop ends what is provably the run's own, also what tried to get away."""

from collections.abc import Callable
from pathlib import Path

from agent_board.runs.processes import Liveness, identify, probe
from agent_board.runs.stop import stop
from agent_board.store.paths import StorePaths
from agent_board.store.records import Identity, SemanticState
from tests.runs.views import settled, start
from tests.support.wait import wait_for

# Each in a session of its own and deaf to TERM: one marked, with its parent alive; one without the run's environment,
# its parent gone; one with neither environment nor link to the worker but through a parent that lives.
_CHILDREN = """\
cd "$(dirname "$0")"
exec </dev/null >/dev/null 2>&1
deaf='trap "" TERM; echo $$ > "$0.tmp"; mv "$0.tmp" "$0"; while :; do sleep 60; done'
setsid sh -c "$deaf" marked &
setsid sh -c 'env -i PATH="$PATH" sh -c "$1" orphan & exit' sh "$deaf" &
setsid env -i PATH="$PATH" sh -c 'sh -c "$1" nested & wait' sh "$deaf" &
"""


def pid_in(path: Path) -> Callable[[], int]:
    return lambda: int(path.read_text()) if path.exists() else 0


def test_nothing_of_a_run_gets_away_from_its_stop(store: StorePaths, project: Path) -> None:
    """Neither by a session of its own, nor by another environment, nor by losing its parent, nor by being deaf."""
    (project / "children.sh").write_text(_CHILDREN)
    task = start(store, project, f"say Going.; run sh {project}/children.sh; hang")
    found: dict[str, Identity] = {}
    for name in ("marked", "orphan", "nested"):
        identity = identify(wait_for(pid_in(project / name), what=f"{name} to run"))
        assert identity is not None
        found[name] = identity
    stop(store, task.view_id)
    state = settled(store, task.view_id)
    assert (state.semantic_state, state.reason) == (SemanticState.STOPPED, "stop")
    assert {name: probe(identity) for name, identity in found.items()} == dict.fromkeys(found, Liveness.GONE)
