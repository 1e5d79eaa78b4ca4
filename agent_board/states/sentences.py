"""Cutting what agents write (markdown, English or Chinese) into plain sentences."""

import re

_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_ABBREVIATION = re.compile(
    r"(?:^|[^\w.])(?:e\.g|i\.e|etc|vs|cf|approx|figs?|sec|eq|resp|incl|dept|mr|mrs|ms|dr|prof|inc|ltd|a\.m|p\.m|ca)$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？!?…]+[”’」』）)*_]*(?=[^\s\x00-\x7f])|[。！？]+[”’」』）)*_]*")
_LIST = re.compile(
    r"^\s*(?:[-*+•–]|\(?(?:\d{1,2}|[A-Za-z])[.)、]|（\d{1,2}）)\s+(?:\[[ xX]\]\s+)?|^\s*\d{1,2}[、．]\s*"
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+|^\s*(?:\*\*|__)[^*_\n]{1,60}(?:\*\*|__)\s*$")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"\*\*|__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")


def without_code(text: str) -> str:
    """The text with fenced blocks blanked out, length and lines kept; an open fence runs to the end."""
    return _FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), text)


def plain(text: str) -> str:
    """Markdown emphasis, links and back quotes taken off; nothing else changed."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", text)).replace("`", "")


def is_item(line: str) -> bool:
    """Whether a line begins a list item."""
    return _LIST.match(line) is not None and _RULE.match(line) is None


def item_text(line: str) -> str:
    """A list item without its marker."""
    return _LIST.sub("", line, count=1).strip()


def is_heading(line: str) -> bool:
    """Whether a line is a heading, or a whole line in bold that serves as one."""
    return _HEADING.match(line) is not None


def is_rule(line: str) -> bool:
    """Whether a line only draws a line."""
    return _RULE.match(line) is not None


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of one paragraph lies. Dots in names, numbers and abbreviations end none."""
    spans, start = [], 0
    for end in _END.finditer(text):
        if end.group() == "." and _ABBREVIATION.search(text, max(0, end.start() - 12), end.start()):
            continue
        if text[start : end.end()].strip():
            spans.append((start, end.end()))
        start = end.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph, trimmed."""
    return [paragraph[start:end].strip() for start, end in sentence_spans(paragraph)]


def paragraphs(text: str) -> list[str]:
    """What a text says, part by part: paragraphs joined to one line, list items alone; no code, rules or tables."""
    parts: list[str] = []
    fresh = True
    for line in without_code(text).split("\n"):
        bare = line.strip()
        if not bare or is_rule(line) or bare.startswith("|"):
            fresh = True
        elif is_item(line):
            parts.append(item_text(line))
            fresh = False
        elif is_heading(line):
            parts.append(bare)
            fresh = True
        elif fresh:
            parts.append(bare)
            fresh = False
        else:
            parts[-1] += " " + bare
    return parts


_SHORT = 12


def first_sentence(text: str) -> str:
    """The first sentence that says something: headings are passed over, “Done.” takes the next one along."""
    parts = paragraphs(text[:4000])
    body = [part for part in parts if not is_heading(part)] or [part.lstrip("# ") for part in parts]
    said = ""
    for part in body[:4]:
        for sentence in sentences(plain(part)):
            said = f"{said} {sentence}".strip()
            if len(said) >= _SHORT and not said.endswith((":", "：")):
                return said
    return said


def last_sentence(text: str) -> str:
    """The last sentence, for telling what is going on."""
    parts = paragraphs(text[-1500:])
    found = sentences(plain(parts[-1])) if parts else []
    return found[-1] if found else ""


def last_whole_sentence(text: str) -> str:
    """Of a text that is still coming the last sentence that has ended, else what there is."""
    found = sentences(plain(text))
    if len(found) > 1 and not _END.search(found[-1]):
        found.pop()
    return found[-1] if found else ""
