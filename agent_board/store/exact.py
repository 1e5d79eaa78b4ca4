"""The quick way from a JSON object to its record, for objects that fit plainly.

Starting pydantic costs about 100 ms, more than reading a thousand views or starting the runner. So an object whose
every value already has the declared type becomes its record here. The runner takes nothing else; for the board and
the command line one that doesn't fit is put before pydantic, which may still accept it and otherwise says what is
wrong (`store.load`). Both go by the same dataclass fields. Unknown keys are passed over.
"""

import dataclasses
import types
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin

from agent_board.store.records import camel

R = TypeVar("R")
Plan = tuple[tuple[str, str, frozenset[type], Callable[[Any], Any] | None], ...]
"""Of each field: its name, its key on disk, the types taken as they are, and what turns others into its type."""
_PLANS: dict[Any, Plan] = {}
_PLAIN = {str, int, bool, types.NoneType}


class _OddError(Exception):
    """A value has another type than its field says."""


def exact(record: type[R], raw: dict[str, Any]) -> R | None:
    """The record, or None when something in the object has to be looked at more closely."""
    try:
        return _build(record, raw)
    except _OddError:
        return None


def _build(record: type[R], raw: Any) -> R:
    if type(raw) is not dict:
        raise _OddError
    values: dict[str, Any] = {}
    for name, key, plain, convert in _plan(record):
        if key not in raw:
            continue
        value = raw[key]
        if type(value) in plain:
            values[name] = value
        elif convert is not None:
            values[name] = convert(value)
        else:
            raise _OddError
    try:
        return record(**values)
    except TypeError:  # a field without a default is not in the object
        raise _OddError from None


def _plan(record: Any) -> Plan:
    plan = _PLANS.get(record)
    if plan is None:
        plan = tuple((field.name, camel(field.name), *_rule(field.type)) for field in dataclasses.fields(record))
        _PLANS[record] = plan
    return plan


def _rule(kind: Any) -> tuple[frozenset[type], Callable[[Any], Any] | None]:
    """Which types of a JSON value are taken as they are, and what turns the others into the field's type."""
    parts = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    others = [part for part in parts if part not in _PLAIN]
    return frozenset(part for part in parts if part in _PLAIN), _converter(others[0]) if others else None


def _converter(kind: Any) -> Callable[[Any], Any]:
    if dataclasses.is_dataclass(kind):
        return lambda value: _build(kind, value)  # type: ignore[arg-type]
    if kind is float:
        return _number
    if isinstance(kind, type) and issubclass(kind, Enum):
        members = {member.value: member for member in kind}
        return lambda value: _look_up(members, value)
    origin, arguments = get_origin(kind), get_args(kind)
    plain, convert = _rule(arguments[-1])
    if origin is list:
        return lambda value: [_item(plain, convert, item) for item in _of_type(list, value)]
    if origin is dict:
        return lambda value: {key: _item(plain, convert, item) for key, item in _of_type(dict, value).items()}
    raise TypeError(f"no rule for {kind}")


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise _OddError
    return float(value)


def _look_up(members: dict[Any, Any], value: Any) -> Any:
    try:
        return members[value]
    except (KeyError, TypeError):
        raise _OddError from None


def _of_type(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise _OddError
    return value


def _item(plain: frozenset[type], convert: Callable[[Any], Any] | None, value: Any) -> Any:
    if type(value) in plain:
        return value
    if convert is None:
        raise _OddError
    return convert(value)
