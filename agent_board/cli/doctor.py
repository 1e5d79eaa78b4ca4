"""`agent-board doctor`: what is fine here, what isn't, and what to do about it."""

import argparse

from agent_board.cli.checks import Check, Health
from agent_board.cli.checks_store import store_checks
from agent_board.cli.checks_system import system_checks, worst
from agent_board.cli.output import coloured, print_object
from agent_board.store.paths import StorePaths, home_from
from agent_board.text import clean_line

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
        for check in checks:
            print("\n".join(_lines(check)))
        print(_verdict(health))
    return 1 if health is Health.BROKEN else 0


def _lines(check: Check) -> list[str]:
    sign, colour = _SIGNS[check.health]
    mark = f"\x1b[{colour}m{sign}\x1b[0m" if coloured() else sign
    lines = [f"{mark} {check.name:<14}{clean_line(check.found)}"]
    if check.fix:
        lines.append(f"   {'':<14}fix: {clean_line(check.fix)}")
    return lines


def _verdict(health: Health) -> str:
    return {
        Health.OK: "All is well.",
        Health.WARNING: "It works; what is marked !! could be better.",
        Health.BROKEN: "What is marked XX has to be mended first.",
    }[health]
