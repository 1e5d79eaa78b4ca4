"""What stands in peek, from top to bottom: the facts, the last exchange, what changed, and the question."""

from collections.abc import Sequence

from rich.cells import cell_len

from agent_board.board.model import words
from agent_board.board.model.conversation import Style, conversation_lines, question_lines
from agent_board.board.model.exchange import Kind
from agent_board.board.model.peeked import Peeked, listed
from agent_board.board.model.wrapping import Line, wrap, wrap_text

PROMPT_LINES = 6
TOOLS = 12
QUICK_CHARS = 6_000
"""So much markdown is parsed before the first frame; of more, the text is shown at once and its look later."""


def is_quick(peeked: Peeked) -> bool:
    """Whether the markdown of the answers costs so little that the first frame can have it."""
    return sum(len(block.text) for block in peeked.blocks if block.kind is Kind.ANSWER) <= QUICK_CHARS


def body_lines(peeked: Peeked, style: Style) -> list[Line]:
    """All but the question, whose choices change with the keys."""
    glyphs = style.glyphs
    if peeked.problem:
        return wrap_text(peeked.problem, "error", style.width)
    parts: list[list[Line]] = []
    parts.append(_facts(peeked.facts, style))
    if peeked.earlier:
        parts.append([((f"{glyphs.ellipsis} v shows all of it", "faint"),)])
    parts.append([placed.line for placed in conversation_lines(peeked.blocks, style)])
    if peeked.changed:
        parts.append(wrap([("changed ", "label"), (listed(peeked.changed), "muted")], style.width))
    return _joined(parts)


def with_question(body: Sequence[Line], peeked: Peeked, marked: int | None, style: Style) -> list[Line]:
    """The body and, last, the question."""
    if not peeked.question:
        return list(body)
    return _joined([list(body), question_lines(peeked.question, peeked.choices, marked, style)])


def _facts(groups: Sequence[Sequence[str]], style: Style) -> list[Line]:
    """Facts with a dot between; a group that does not fit begins the next line, and so does a fact."""
    said, joint, width = [""], f" {style.glyphs.dot} ", style.width
    for group in groups:
        facts = [words.fit_end(fact, width, style.glyphs.ellipsis) for fact in group]
        if said[-1] and cell_len(joint.join([said[-1], *facts])) > width:
            said.append("")
        for fact in facts:
            longer = said[-1] + joint + fact if said[-1] else fact
            if cell_len(longer) > width:
                said.append(fact)
            else:
                said[-1] = longer
    return [line for text in said if text for line in wrap([(text, "faint")], width)]


def _joined(parts: Sequence[list[Line]]) -> list[Line]:
    lines: list[Line] = []
    for part in parts:
        if part:
            lines.extend([(), *part] if lines else part)
    return lines
