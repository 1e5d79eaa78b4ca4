"""How a conversation is laid out: the user's words, answers, a line for each tool, and what went wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from agent_board.board.model import words
from agent_board.board.model.columns import Piece
from agent_board.board.model.exchange import Block, Kind, Standing
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.markdown import markdown_lines
from agent_board.board.model.wrapping import Line, wrap_text
from agent_board.store.records import SemanticState

GUTTER = 2
_INDENT: Piece = ("  ", "text")
_LONGEST_TOOL_NAME = 12
_LEAST_RESULT = 8
_NO_RESULT = {Standing.RUNNING: "running", Standing.LOST: "no end of it was seen"}


@dataclass(frozen=True, slots=True)
class Style:
    """What the layout depends on beside the blocks."""

    width: int
    glyphs: Glyphs
    markdown: bool = True
    """False: answers as the text that they are, which costs next to nothing."""
    prompt_lines: int = 0
    """So many lines of a prompt are shown; 0: all."""
    tools: int = 0
    """So many of the tools in a row are shown, the latest; 0: all."""
    when: Callable[[int], str] | None = None
    """Says a time over each prompt; None: none is said."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A line and the number of the block that it belongs to (-1: none)."""

    line: Line
    block: int


def conversation_lines(blocks: Sequence[Block], style: Style) -> list[Placed]:
    """All blocks as lines, with a blank one between those that don't belong together."""
    placed: list[Placed] = []
    for numbers in _together(blocks):
        tools = blocks[numbers[0]].kind is Kind.TOOL
        drawn = _tools(blocks, numbers, style) if tools else [(numbers[0], _draw(blocks[numbers[0]], style))]
        if placed and placed[-1].line:
            placed.append(Placed((), -1))
        for number, lines in drawn:
            placed.extend(Placed(_shown(line, style.glyphs), number) for line in lines)
    return placed


def _together(blocks: Sequence[Block]) -> list[range]:
    """The numbers of blocks that stand without a blank line between them: tools in a row, any other alone."""
    groups: list[range] = []
    for number, block in enumerate(blocks):
        if groups and block.kind is Kind.TOOL and blocks[number - 1].kind is Kind.TOOL:
            groups[-1] = range(groups[-1].start, number + 1)
        else:
            groups.append(range(number, number + 1))
    return groups


def question_lines(question: str, choices: Sequence[str], marked: int | None, style: Style) -> list[Line]:
    """The question in full and its choices, numbered; `marked` counts from 0."""
    sign = style.glyphs.states[SemanticState.NEEDS_INPUT][1]
    lines = wrap_text(question, "question", style.width, [(f"{sign} ", "question-mark")], [_INDENT])
    if choices:
        lines.append(())
    for number, choice in enumerate(choices):
        chosen = number == marked
        cursor = style.glyphs.cursor if chosen else " "
        first = [("  ", "text"), (cursor, "choice-key"), (f"{number + 1} ", "choice-key")]
        lines.extend(
            wrap_text(choice, "choice-marked" if chosen else "choice", style.width, first, [("     ", "text")])
        )
    return [_shown(line, style.glyphs) for line in lines]


def _shown(line: Line, glyphs: Glyphs) -> Line:
    return tuple((glyphs.text(text), role) for text, role in line) if glyphs.only_ascii else line


def _draw(block: Block, style: Style) -> list[Line]:
    return _DRAWN[block.kind](block, style)


def _tools(blocks: Sequence[Block], numbers: range, style: Style) -> Iterator[tuple[int, list[Line]]]:
    hidden = len(numbers) - style.tools if style.tools else 0
    if hidden > 1:
        text = f"{style.glyphs.ellipsis} {hidden} earlier tool calls"
        line = (_INDENT, (words.fit(text, max(0, style.width - GUTTER), style.glyphs.ellipsis), "faint"))
        yield numbers[0], [line]
        numbers = numbers[hidden:]
    name = min(_LONGEST_TOOL_NAME, max(cell_len(blocks[number].name) for number in numbers))
    for number in numbers:
        yield number, [_tool(blocks[number], name, style)]


def _tool(block: Block, name: int, style: Style) -> Line:
    """One line: sign, name, target, and what came out of it where there is room."""
    glyphs, room = style.glyphs, max(0, style.width - GUTTER - name - 1)
    sign, role = _signs(glyphs)[block.standing]
    result = block.result or _NO_RESULT.get(block.standing, "")
    target_width = min(cell_len(block.text), room if not result else max(room * 6 // 10, room - cell_len(result) - 2))
    result_width = room - target_width - (2 if target_width else 0)
    if result_width < min(_LEAST_RESULT, cell_len(result)):
        target_width, result_width = min(cell_len(block.text), room), 0
    pieces: list[Piece] = [
        (f"{sign} ", role),
        (words.fit(block.name, name, glyphs.ellipsis) + " ", "tool-name"),
        (words.fit(block.text, target_width, glyphs.ellipsis), "tool-target"),
    ]
    if result and result_width:
        said = words.fit(result, min(result_width, cell_len(result)), glyphs.ellipsis)
        failed = block.standing is Standing.FAILED
        pieces.extend([("  " if target_width else "", "text"), (said, "tool-failed" if failed else "faint")])
    return tuple(piece for piece in pieces if piece[0])


def _signs(glyphs: Glyphs) -> dict[Standing, Piece]:
    return {
        Standing.RUNNING: (glyphs.states[SemanticState.WORKING][0], "running"),
        Standing.DONE: (glyphs.dot, "faint"),
        Standing.FAILED: (glyphs.states[SemanticState.FAILED][1], "tool-failed"),
        Standing.LOST: (glyphs.dot, "faint"),
    }


def _prompt(block: Block, style: Style) -> list[Line]:
    lines = wrap_text(block.text, "you", style.width, [(f"{style.glyphs.cursor} ", "you-mark")], [_INDENT])
    if style.when is not None and block.at is not None:
        lines.insert(0, (_INDENT, (style.when(block.at), "faint")))
    most = style.prompt_lines
    if most and len(lines) > most + 1:
        hidden = len(lines) - most
        lines = [*lines[:most], (_INDENT, (f"{style.glyphs.ellipsis} {hidden} more lines", "faint"))]
    return lines


def _answer(block: Block, style: Style) -> list[Line]:
    if block.live:
        return wrap_text(f"{style.glyphs.ellipsis} {block.text.strip()}", "live", style.width, [_INDENT], [_INDENT])
    width = style.width - GUTTER
    if style.markdown:
        return [(_INDENT, *line) if line else () for line in markdown_lines(block.text, width)]
    return wrap_text(block.text, "text", style.width, [_INDENT], [_INDENT])


def _retry(block: Block, style: Style) -> list[Line]:
    sign, role = _signs(style.glyphs)[block.standing]
    return wrap_text(f"retry: {block.text}", "note", style.width, [(f"{sign} ", role)], [_INDENT])


_REPORTS = {
    "completed": (SemanticState.COMPLETED, "good"),
    "blocked": (SemanticState.NEEDS_INPUT, "question-mark"),
    "failed": (SemanticState.FAILED, "error"),
}


def _report(block: Block, style: Style) -> list[Line]:
    state, role = _REPORTS.get(block.name, (SemanticState.IDLE, "faint"))
    sign = style.glyphs.states[state][1]
    lines = wrap_text(block.text or f"reported {block.name}", "report", style.width, [(f"{sign} ", role)], [_INDENT])
    if block.result:
        lines += wrap_text(block.result, "question", style.width, [_INDENT], [_INDENT])
    return lines


def _request(block: Block, style: Style) -> list[Line]:
    came = {Standing.RUNNING: "", Standing.DONE: "answered", Standing.FAILED: "denied", Standing.LOST: "not answered"}
    sign = style.glyphs.states[SemanticState.NEEDS_INPUT][1]
    said = f"{block.text}  ({came[block.standing]})" if came[block.standing] else block.text
    return wrap_text(said, "note", style.width, [(f"{sign} ", "question-mark")], [_INDENT])


def _notice(block: Block, style: Style) -> list[Line]:
    return wrap_text(block.text, "faint", style.width, [_INDENT], [_INDENT])


def _error(block: Block, style: Style) -> list[Line]:
    sign = style.glyphs.states[SemanticState.FAILED][1]
    return wrap_text(block.text, "error", style.width, [(f"{sign} ", "error")], [_INDENT])


_DRAWN: dict[Kind, Callable[[Block, Style], list[Line]]] = {
    Kind.PROMPT: _prompt,
    Kind.ANSWER: _answer,
    Kind.RETRY: _retry,
    Kind.REPORT: _report,
    Kind.REQUEST: _request,
    Kind.NOTICE: _notice,
    Kind.ERROR: _error,
}
