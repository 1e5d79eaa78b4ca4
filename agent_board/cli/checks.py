"""What doctor finds: one check is a subject, how it stands, what was seen and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a subject stands; only broken makes doctor fail."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding."""

    name: str
    health: Health
    found: str
    fix: str | None = None


def ok(name: str, found: str) -> Check:
    """All is well."""
    return Check(name, Health.OK, found)


def warning(name: str, found: str, fix: str) -> Check:
    """It works, and less well than it could."""
    return Check(name, Health.WARNING, found, fix)


def broken(name: str, found: str, fix: str) -> Check:
    """It does not work before this is done."""
    return Check(name, Health.BROKEN, found, fix)
