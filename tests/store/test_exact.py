"""The quick way into a record accepts only what pydantic would, with the same result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from agent_board.store import records
from agent_board.store.exact import exact
from agent_board.store.records import Meta, RunStatus, State, encode

META = {"version": 1, "id": "a1", "name": "n", "cwd": "/", "createdAt": 1, "updatedAt": 2}
STATE = {
    "version": 1,
    "viewId": "a1",
    "semanticState": "working",
    "processState": "alive",
    "updatedAt": 1,
    "stateSince": 1,
}
STATUS = {"version": 1, "runId": "r", "viewId": "a1", "startedAt": 1}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "x", "queued", "alive", "1", "true"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "path", "state", "runId", "at", "status", "input", "costUsd", "kind", "text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)


def keys(record: type) -> list[str]:
    return [records.camel(name) for name in record.__dataclass_fields__]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("record", "base"), [(Meta, META), (State, STATE), (RunStatus, STATUS)])
@given(data=st.data())
def test_it_agrees_with_pydantic(record: type, base: dict[str, Any], data: st.DataObject):
    changes = data.draw(st.dictionaries(st.sampled_from([*keys(record), "unknown"]), VALUES, max_size=5))
    raw = {**base, **changes}
    quick = exact(record, raw)
    if quick is not None:
        try:
            slow = TypeAdapter(record).validate_python(raw, strict=False)
        except ValidationError as error:
            raise AssertionError(f"pydantic refuses what the quick way took: {error}") from error
        assert quick == slow
        assert encode(quick) == encode(slow)


@pytest.mark.parametrize(("record", "base"), [(Meta, META), (State, STATE), (RunStatus, STATUS)])
def test_what_we_write_is_read_the_quick_way(record: type, base: dict[str, Any]):
    made = exact(record, base)
    assert made is not None
    assert exact(record, encode(made)) == made


@pytest.mark.parametrize(
    "change",
    [
        {"cwd": None},
        {"createdAt": "1"},
        {"pinned": 1},
        {"createdAt": True},
        {"verdict": []},
        {"verdict": {"state": "done"}},
    ],
)
def test_anything_odd_is_left_to_pydantic(change: dict[str, Any]):
    assert exact(Meta, {**META, **change}) is None


def test_a_missing_field_is_left_to_pydantic():
    assert exact(Meta, {"version": 1}) is None
