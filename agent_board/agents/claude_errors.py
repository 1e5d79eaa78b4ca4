"""Claude Code's errors in one clear sentence, with what to do where that is known."""

import re

from agent_board.text import clean_line, cut

_WIDEST = 360
_LOG_IN = "run `claude` and use /login"
_LOGGED_OUT = re.compile(
    r"not logged in|run /login|oauth token|invalid (?:x-)?api key|authentication_(?:error|failed)", re.I
)
_QUOTA = re.compile(
    r"usage limit|hit your .*limit|limit reached|out of (?:extra )?usage|credit balance|insufficient credit", re.I
)
_STATUS = re.compile(r"^(?:[\w ]+\. )?API Error:?\s*\(?(?P<code>[45]\d\d)\b\)?[\s:·]*(?P<rest>.*)$", re.DOTALL)
_BODY = re.compile(r'"message"\s*:\s*"(?P<said>(?:[^"\\]|\\.)*)"')
_HINTS = {
    401: _LOG_IN,
    403: "the provider refuses this account or model",
    429: "wait a while, then retry",
    529: "the provider is overloaded; wait a while, then retry",
}
_RESETS = re.compile(r"\|(?P<at>\d{10,13})\s*$")


def plain_error(said: str, status: int | None = None) -> str:
    """What Claude says of a failure, with what to do about it. Never empty."""
    said = said.strip()
    found = _STATUS.match(said)
    if found is not None:
        status, said = int(found["code"]), found["rest"]
    body = _BODY.search(said)
    text = _one_line(body["said"] if body is not None else said.removeprefix("API Error: ")).rstrip(".")
    if _QUOTA.search(text):
        return f"Claude's quota is used up: {_RESETS.sub('', text)}; wait for its reset, or see /usage in `claude`."
    if status == 401 or (status is None and _LOGGED_OUT.search(text)):
        return f"Claude is not logged in ({_shortened(text)}); {_LOG_IN}."
    hint = _HINTS.get(status or 0, "")
    text = text or "the provider refused without saying why"
    code = f"{status}: " if status is not None and not text.startswith(str(status)) else ""
    return f"{code}{text}{f'; {hint}' if hint else ''}."


def _shortened(text: str) -> str:
    return text.partition(" · ")[0] or "the provider does not accept the key"


def retry_error(status: int | None, name: str) -> str:
    """Why Claude tries again, in a few words: `server_error` and a status are all that it says."""
    words = clean_line(name).replace("_", " ")
    if words in ("", "unknown"):
        words = "no connection" if status is None else "the provider failed"
    return f"{status}: {words}" if status else words


def startup_sentence(stderr: str) -> str | None:
    """The line of stderr that says why it ended."""
    lines = [clean_line(line) for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(?:error|fatal)\b|.*\bcannot be used\b", line, re.I)] or lines[-1:]
    if not telling:
        return None
    said = re.sub(r"^(?:error|fatal):\s*", "", telling[0], flags=re.I)
    if _LOGGED_OUT.search(said) or _QUOTA.search(said):
        return plain_error(said)
    return _one_line(f"{said[:1].upper()}{said[1:].rstrip('.')}.")


def _one_line(text: str) -> str:
    return cut(clean_line(text[: 4 * _WIDEST]), _WIDEST)
