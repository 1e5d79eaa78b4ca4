"""What a provider answered, in one clear sentence: no JSON, no address, and what to do where that is known."""

import json
import re
from collections.abc import Mapping
from typing import Any

from agent_board.text import clean_line, cut

_WIDEST = 360
_READ = 64 << 10
_BODY = re.compile(r"\{.*\}", re.DOTALL)
_ADDRESS = re.compile(r",?\s*(?:url:\s*|at )?https?://\S+(?:\s*\(HTTP \d+\))?")
_DEEP = 4
HINTS: Mapping[int, str] = {
    402: "the account has no credit left; look at its billing",
    403: "the provider refuses this account or model",
    404: "choose another model, or mend the provider's address",
    429: "the rate or usage limit is reached; wait, or choose another model or plan",
    529: "the provider is overloaded; try again later",
}


def one_line(text: str) -> str:
    """The text on one line of a bounded length."""
    return cut(clean_line(text[: 4 * _WIDEST]), _WIDEST)


def innermost(text: str) -> str:
    """The message in an answer's body, which may be JSON in JSON; the text itself where there is none."""
    for _ in range(_DEEP):
        body = _BODY.search(text[:_READ])
        message = _message(body.group()) if body else ""
        if not message:
            break
        text = message
    return text.strip()


def _message(body: str) -> str:
    try:
        raw: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for _ in range(_DEEP):
        if isinstance(raw, dict):
            raw = raw.get("message") or raw.get("error") or raw.get("detail")
    return raw if isinstance(raw, str) else ""


def sentence(status: int | None, said: str, log_in: str) -> str:
    """One sentence from an HTTP status and what was said with it; `log_in` is what to do about a refused login."""
    said = one_line(_ADDRESS.sub("", innermost(said))).rstrip(".").removeprefix(f"{status} ")
    said = said or "the provider failed without saying why"
    if status is None:
        return said[:1].upper() + said[1:] + ("" if said.endswith(("?", "!")) else ".")
    hint = log_in if status == 401 else HINTS.get(status)
    return one_line(f"{status}: {said}" + (f"; {hint}." if hint else ""))
