"""Whether an answer ends by asking for a decision that is needed to go on, and what exactly it asks."""

import re
from dataclasses import dataclass, field
from enum import Enum

from agent_board.states import asking
from agent_board.states.asking import Kind
from agent_board.states.sentences import (
    is_heading,
    is_item,
    is_rule,
    item_text,
    plain,
    sentence_spans,
    without_code,
)
from agent_board.text import clean_block, preview

LONGEST = 2_000
_READ = 9_000
_MOST_BEHIND = 4  # statements that may follow a question and leave it one
_MOST_PARAGRAPHS = 3
_MOST_CHOICES = 9
_LONGEST_END = 400
_LOOK_BACK = 40  # parts in which finished work may have been told
_CLAUSE = r"[;:—–,；：，](?=[^;:—–,；：，]*$)"
_MUTED = (
    r"`+[^`\n]+`+"
    r"|“[^”\n]{1,400}”|\"[^\"\n]{1,400}\"|「[^」\n]{1,400}」|『[^』\n]{1,400}』|«[^»\n]{1,400}»|(?<!\w)'[^'\n]{1,200}'(?!\w)"
    r"|\b(?:https?|file)://[^\s<>\"'）)]*[^\s<>\"'）).,;:!?？。，]"
)
_YES_NO = r"[(\[（](?:[yY](?:es)?\s*/\s*[nN]o?|是\s*/\s*否)[)\]）]"
_OPTION_LINE = (
    r"^[\s*_]*(?:(?:[Oo]ption|[Cc]hoice|OPTION|CHOICE)\s+[A-Z0-9]|(?:方案|选项|選項)\s*[A-Z0-9一二三四])"
    r"\s*[*_]*\s*[:：.)—–-]"
)


class _Form(Enum):
    TEXT = "text"
    ITEM = "item"
    HEADING = "heading"


@dataclass(slots=True)
class _Part:
    """One sentence, list item or heading: as written, and with quotes, code and addresses made mute."""

    form: _Form
    said: str
    mute: str
    paragraph: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What an answer asks, in full, and the choices it gives when they are clear."""

    text: str
    choices: list[str] = field(default_factory=list)


def question_in(text: str) -> str | None:
    """The question that a text ends with and that must be answered to go on; None when it asks nothing such."""
    asked = find_question(text)
    return asked.text if asked else None


def find_question(text: str) -> Asked | None:
    """As `question_in`, with the choices."""
    parts = _parts(clean_block(text[-_READ:]))
    at = _asking_part(parts)
    if at is None:
        return None
    first, last = _extent(parts, at)
    said = _written(parts[first : last + 1])
    return Asked(said[:LONGEST].strip(), _choices(parts, first, at, last))


def choices_in(question: str) -> list[str]:
    """The choices that a question itself lists."""
    return _as_choices([item_text(line) for line in question.split("\n") if is_item(line)]) or _yes_no(question)


def _mute(text: str) -> str:
    return re.sub(_MUTED, lambda found: "x" * len(found.group()), text)


def _parts(text: str) -> list[_Part]:
    """The text cut up; code, quoted lines, tables and rules are left out."""
    parts: list[_Part] = []
    paragraph, run, form = 0, "", _Form.TEXT
    for line in [*without_code(text).split("\n"), ""]:
        bare = line.strip()
        breaks = not bare or is_rule(line) or bare.startswith(("|", ">"))
        item = not breaks and (is_item(line) or re.match(_OPTION_LINE, bare) is not None)
        heading = not breaks and not item and is_heading(line) and not asking.is_question(plain(bare))
        if not (breaks or item or heading):
            run = f"{run} {bare}".strip()
            continue
        if run:
            parts.extend(_cut(run, form, paragraph))
        run, form = (item_text(line), _Form.ITEM) if item else ("", _Form.TEXT)
        paragraph += breaks
        if heading:
            parts.append(_Part(_Form.HEADING, bare, "", paragraph))
    return parts


def _cut(run: str, form: _Form, paragraph: int) -> list[_Part]:
    mute = _mute(run)
    if form is _Form.ITEM:
        return [_Part(form, run, _bounded(plain(mute)), paragraph)]
    parts: list[_Part] = []
    for start, end in sentence_spans(mute):
        said = run[start:end].strip()
        if parts and (re.fullmatch(_YES_NO, said) or not any(map(str.isalnum, said))):
            parts[-1].said += f" {said}"
        else:
            parts.append(_Part(form, said, _bounded(plain(mute[start:end]).strip()), paragraph))
    return parts


def _bounded(sentence: str) -> str:
    """Both ends of an endless sentence: what it does stands there, and looking stays cheap."""
    return sentence if len(sentence) <= 2 * _LONGEST_END else sentence[:_LONGEST_END] + " " + sentence[-_LONGEST_END:]


def _asking_part(parts: list[_Part]) -> int | None:
    """The last part that asks, unless what follows it shows that the agent went on without an answer."""
    done = [asking.tells_done(part.mute) for part in parts]
    behind: list[_Part] = []
    for at in range(len(parts) - 1, -1, -1):
        part = parts[at]
        kind = _kind(parts, at, done=any(done[max(0, at - _LOOK_BACK) : at]))
        if kind is Kind.ASK:
            return at if _stands(part, parts[at + 1 :], [said.mute for said in behind]) else None
        if kind is Kind.OFFER or part.form is not _Form.TEXT:
            continue
        behind.insert(0, part)
        if len(behind) > _MOST_BEHIND or len({said.paragraph for said in behind}) > _MOST_PARAGRAPHS:
            return None
    return None


def _kind(parts: list[_Part], at: int, *, done: bool) -> Kind:
    part = parts[at]
    if part.form is _Form.HEADING:
        return Kind.STATE
    done = done or any(map(asking.tells_done, re.split(_CLAUSE, part.mute)[:-1]))
    kind = asking.classify(part.mute, done=done)
    if kind is Kind.ASK and part.form is _Form.ITEM and not _item_asks(parts, at, done=done):
        return Kind.STATE
    return kind


def _item_asks(parts: list[_Part], at: int, *, done: bool) -> bool:
    """A question in a list counts unless its heading or finished work says that it is for later."""
    item = parts[at]
    before = [part for part in parts[max(0, at - 12) : at] if part.form is not _Form.ITEM]
    if not asking.is_question(item.mute) or (before and asking.is_for_later(plain(before[-1].said))):
        return False
    return not done or asking.is_directed(item.mute)


def _stands(part: _Part, following: list[_Part], statements: list[str]) -> bool:
    """Whether an asking part still asks with all that follows it."""
    if asking.is_settled_by(statements):
        return False
    return not following or not asking.is_question(part.mute) or asking.is_directed(part.mute)


def _extent(parts: list[_Part], at: int) -> tuple[int, int]:
    """From the first to the last part that belongs to the question: its neighbours that ask too, and its list."""
    first = last = at
    while first > 0 and _asks_along(parts[first - 1], parts[first]):
        first -= 1
    if parts[first].form is _Form.ITEM:
        first -= first > 0 and parts[first - 1].form is not _Form.ITEM
        return first, last
    before = parts[at - 1] if first == at > 0 else None
    near = before is not None and before.form is _Form.TEXT and before.paragraph >= parts[at].paragraph - 1
    if before and near and asking.leans_on_previous(parts[at].mute, before.said):
        first -= 1
    listing = last + 1
    if listing < len(parts) and parts[listing].form is _Form.TEXT and parts[listing].said.endswith((":", "：")):
        listing += 1
    while listing < len(parts) and parts[listing].form is _Form.ITEM:
        last = listing
        listing += 1
    return first, last


def _asks_along(before: _Part, part: _Part) -> bool:
    if before.form is not part.form or before.form is _Form.HEADING:
        return False
    if part.form is _Form.TEXT and (
        before.paragraph != part.paragraph or asking.classify(before.mute, done=False) is not Kind.ASK
    ):
        return False
    return asking.is_question(before.mute)


def _written(parts: list[_Part]) -> str:
    lines: list[str] = []
    number = 0
    for before, part in zip([None, *parts], parts, strict=False):
        said = " ".join(plain(part.said).lstrip("#> ").split())
        if part.form is _Form.ITEM:
            number += 1
            lines.append(f"{number}. {said}")
        elif before is not None and before.form is _Form.TEXT and before.paragraph == part.paragraph:
            lines[-1] += f" {said}"
        else:
            lines.append(said)
    return "\n".join(lines)


def _choices(parts: list[_Part], first: int, at: int, last: int) -> list[str]:
    """The list behind the question, else the one before it that it points at, else yes and no if it names them."""
    if parts[at].form is _Form.ITEM:
        return []
    asked = " ".join(part.mute for part in parts[first : at + 1])
    found: list[str] = []
    if asking.is_choosing(asked):
        found = _as_choices([part.said for part in parts[at + 1 : last + 1] if part.form is _Form.ITEM])
    if not found and asking.is_choosing_among(asked):
        found = _as_choices(_list_before(parts, first))
    return found or _yes_no(" ".join(part.said for part in parts[first : last + 1]))


def _list_before(parts: list[_Part], first: int) -> list[str]:
    items: list[str] = []
    for part in reversed(parts[:first]):
        if part.form is _Form.ITEM:
            items.insert(0, part.said)
        elif items or parts[first].paragraph - part.paragraph > _MOST_PARAGRAPHS:
            break
    return items


def _as_choices(items: list[str]) -> list[str]:
    """List items as choices to pick from: two to nine of them, none of them a question itself."""
    if not 2 <= len(items) <= _MOST_CHOICES or any(asking.is_question(item) for item in items):
        return []
    return [preview(plain(item), 160) for item in items]


def _yes_no(said: str) -> list[str]:
    return ["yes", "no"] if re.search(_YES_NO, said) else []
