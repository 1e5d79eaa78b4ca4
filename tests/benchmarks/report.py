"""Numbers to a table."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field


def p95(values: list[float]) -> float:
    """The 95th percentile: the value that all but one in twenty reach."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]


@dataclass(frozen=True)
class Line:
    """One measurement: what, how often, and what was aimed at."""

    what: str
    values: list[float]
    unit: str
    aim: str = ""
    limit: float | None = None
    """What the aim asks of the judged number."""
    judged: str = "median"
    """median or p95."""

    @property
    def verdict(self) -> str:
        """Whether the aim is met; empty where there is none."""
        if self.limit is None or not self.values:
            return ""
        number = p95(self.values) if self.judged == "p95" else statistics.median(self.values)
        return "met" if number <= self.limit else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """The table's cells."""
        if not self.values:
            return (self.what, "0", "-", "-", self.unit, self.aim, "")
        median = f"{statistics.median(self.values):.4g}"
        return (self.what, str(len(self.values)), median, f"{p95(self.values):.4g}", self.unit, self.aim, self.verdict)


HEAD = ("what", "n", "median", "p95", "unit", "aim", "")


@dataclass
class Report:
    """All lines, printed as a table."""

    lines: list[Line] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Keep a line and show it at once: a run takes minutes."""
        self.lines.append(line)
        print("  ".join(cell for cell in line.cells() if cell), flush=True)

    def table(self) -> str:
        """All lines as a markdown table."""
        rows = [HEAD, *(line.cells() for line in self.lines)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        rule = tuple("-" * width for width in widths)
        return "\n".join(_row(row, widths) for row in (rows[0], rule, *rows[1:]))


def _row(cells: Iterable[str], widths: list[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"
