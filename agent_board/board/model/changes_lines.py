"""What a task changed, laid out: totals, commits, files, and the patch. Paths and patch are data, never markup."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.wrapping import Line, chop
from agent_board.text import clean_block, clean_line

if TYPE_CHECKING:
    from agent_board.git.changes import Changes, FileChange

MOST_COMMITS = 20
MOST_FILES = 500
_LONGEST = 1000
"""What a line of the patch has behind so many characters is not shown."""
_COUNTS = 16
_SIGNS = {"added": ("A", "good"), "deleted": ("D", "error"), "renamed": ("R", "running"), "type": ("T", "running")}
_SAID_ABOVE = ("index ", "--- ", "+++ ")
_ROLES = {"+": "good", "-": "error", "@": "code", "\\": "faint"}


class Laid(NamedTuple):
    """The lines, and at which of them each file of the patch begins."""

    lines: Sequence[Line]
    files: Sequence[int]


def changes_lines(found: "Changes", width: int, glyphs: Glyphs) -> Laid:
    """All lines for so many cells."""
    lines: list[Line] = chop(totals(found, glyphs), "bold", width)
    if found.commits:
        lines += [(), (("Commits", "heading"), (f"  {found.ahead}", "muted"))]
        for commit in found.commits[:MOST_COMMITS]:
            subject = words.fit(glyphs.text(commit.subject), width - 12, glyphs.ellipsis).rstrip()
            lines.append(((f"  {commit.id[:8]}  ", "muted"), (subject, "text")))
        lines += _more(found.ahead - MOST_COMMITS, "commit", glyphs)
    if found.files:
        lines += [(), (("Files", "heading"), (f"  {len(found.files)}", "muted"))]
        lines += _files(found.files[:MOST_FILES], width, glyphs)
        lines += _more(len(found.files) - MOST_FILES, "file", glyphs)
    starts: list[int] = []
    if found.patch:
        _patch(clean_block(found.patch), width, glyphs, lines, starts)
    if found.patch_cut:
        lines += [(), (("The patch is longer; agent-board diff prints all of it.", "note"),)]
    return Laid(lines, starts)


def totals(found: "Changes", glyphs: Glyphs) -> str:
    """The whole in one line."""
    if not found.files and not found.ahead:
        return "Nothing has changed."
    parts = [f"{words.count(len(found.files), 'file')}, +{found.added} -{found.removed}"]
    parts.append(f"{words.count(found.ahead, 'commit')} ahead" if found.ahead else "no commit yet")
    if found.uncommitted:
        parts.append("with uncommitted changes")
    return f" {glyphs.dot} ".join(parts)


def _more(count: int, what: str, glyphs: Glyphs) -> list[Line]:
    return [((f"  {glyphs.ellipsis} {words.count(count, f'more {what}')}", "faint"),)] if count > 0 else []


def _files(files: "Sequence[FileChange]", width: int, glyphs: Glyphs) -> list[Line]:
    note = "  uncommitted" if any(file.uncommitted for file in files) and width >= 60 else ""
    named = [(file, glyphs.text(_named(file))) for file in files]
    longest = max(len(name) for _, name in named)
    room = max(8, min(longest * 2, width - 5 - _COUNTS - len(note)))
    lines: list[Line] = []
    for file, name in named:
        sign, role = _SIGNS.get(file.status, ("M", "muted"))
        shown = words.fit(words.fit_end(name, room, glyphs.ellipsis), min(room, longest), glyphs.ellipsis)
        line = [(f"  {sign}  ", role), (shown, "text"), *_counts(file)]
        lines.append(tuple([*line, (note, "note")] if file.uncommitted and note else line))
    return lines


def _named(file: "FileChange") -> str:
    return clean_line(f"{file.old_path} -> {file.path}" if file.old_path else file.path)


def _counts(file: "FileChange") -> list[tuple[str, str]]:
    if file.binary:
        return [("binary".rjust(_COUNTS), "muted")]
    return [(f"+{file.added}".rjust(8), "good"), (f"-{file.removed}".rjust(_COUNTS - 8), "error")]


def _patch(patch: str, width: int, glyphs: Glyphs, lines: list[Line], starts: list[int]) -> None:
    in_header = True
    for line in patch.removesuffix("\n").split("\n"):
        if line.startswith("diff --git "):
            in_header = True
            lines.append(())
            starts.append(len(lines))
            lines += chop(glyphs.text(_heading(line)), "heading", width)
        elif line.startswith("@@"):
            in_header = False
            lines += chop(_shortened(line, glyphs), "code", width)
        elif not in_header:
            lines += chop(_shortened(line, glyphs), _ROLES.get(line[:1], "text"), width)
        elif not line.startswith(_SAID_ABOVE):
            lines += chop(_shortened(line, glyphs), "faint", width)


def _shortened(line: str, glyphs: Glyphs) -> str:
    return glyphs.text(line if len(line) <= _LONGEST else line[:_LONGEST] + glyphs.ellipsis)


def _heading(line: str) -> str:
    """The file's path where git names the same one twice; else both names as git has them."""
    rest = line.removeprefix("diff --git ")
    one, other = rest[: len(rest) // 2], rest[len(rest) // 2 + 1 :]
    if one == other:
        return one
    return one[2:] if one[1:2] == "/" and one[2:] == other[2:] else rest
