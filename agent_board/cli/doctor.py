"""`agent-board doctor`: what is fine here, what isn't, and what to do about it."""

import argparse
import textwrap

from agent_board.cli import table
from agent_board.cli.checks import Check, Health
from agent_board.cli.checks_store import store_checks
from agent_board.cli.checks_system import system_checks, worst
from agent_board.cli.output import coloured, print_object
from agent_board.store.paths import StorePaths, home_from
from agent_board.text import clean_line

_NAME_CELLS = len("agent opencode") + 2
_SIGNS = {Health.OK: ("ok", "32"), Health.WARNING: ("!!", "33"), Health.BROKEN: ("XX", "31")}


def run(args: argparse.Namespace) -> int:
    """Print every check; 1 when something is broken."""
    paths = StorePaths(home_from(args.home))
    checks = [*store_checks(paths), *system_checks()]
    health = worst(checks)
    if args.json:
        listed = [{"name": c.name, "status": c.health, "found": c.found, "fix": c.fix} for c in checks]
        print_object({"ok": health is not Health.BROKEN, "checks": listed})
    else:
        columns = table.width()
        for check in checks:
            print("\n".join(lines_of(check, columns)))
        print(_verdict(health))
    return 1 if health is Health.BROKEN else 0


def lines_of(check: Check, width: int | None) -> list[str]:
    """What is said of a check, in lines of `width` cells (None: as long as they get)."""
    sign, colour = _SIGNS[check.health]
    mark = f"\x1b[{colour}m{sign}\x1b[0m" if coloured() else sign
    said = _wrapped(clean_line(check.found), width)
    if check.fix:
        said += _wrapped(f"fix: {clean_line(check.fix)}", width)
    return [f"{mark} {check.name:<{_NAME_CELLS}}{said[0]}", *(f"   {'':<{_NAME_CELLS}}{line}" for line in said[1:])]


def _wrapped(text: str, width: int | None) -> list[str]:
    """Beside the names where a terminal shows it; one line elsewhere."""
    if width is None:
        return [text]
    room = max(30, width - 3 - _NAME_CELLS)
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]


def _verdict(health: Health) -> str:
    return {
        Health.OK: "All is well.",
        Health.WARNING: "It works; what is marked !! could be better.",
        Health.BROKEN: "What is marked XX has to be mended first.",
    }[health]
