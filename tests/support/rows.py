"""Rows for tests of the board's model, with only what a test cares about spelled out."""

from typing import Any

from agent_board.board.model.row import Row
from agent_board.store.records import SemanticState


def row(number: int = 1, state: SemanticState = SemanticState.COMPLETED, **fields: Any) -> Row:
    """A row; later numbers were made later."""
    facts: dict[str, Any] = {
        "id": f"v{number:02d}",
        "name": f"task-{number}",
        "project": "api",
        "project_path": "/src/api",
        "cwd": "/src/api",
        "agent": "pi",
        "state": state,
        "alive": False,
        "summary": "Done",
        "since": 0,
        "created_at": number,
    }
    return Row(**(facts | fields))
