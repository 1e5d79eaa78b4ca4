"""Codex's errors in one clear sentence: what its provider answered, and what its stderr says of a failed start."""

import re

from agent_board.agents.provider_errors import innermost, one_line, sentence

LOG_IN = "run `codex login`"
_STATUS = re.compile(
    r"^(?:unexpected status|exceeded retry limit, last status:)\s*(?P<code>\d{3})\b[^:]*(?::\s*)?(?P<rest>.*)$",
    re.DOTALL,
)
_CUT = re.compile(r"^stream disconnected before completion")
_VARIABLE = re.compile(r"Missing environment variable:?\s*[`'\"]?(?P<name>\w+)")
_NOISE = re.compile(
    r"^(?:WARNING: proceeding|warning:|Reading additional input|\d{4}-\d\d-\d\dT\S+\s+(?:ERROR|WARN|INFO)\b|Usage:|\s"
    r"|For more information|Stack backtrace)"
)
_KNOWN = (
    (
        re.compile(r"already has an active writer"),
        "Another Codex has this conversation open (a terminal, or its daemon behind one); leave it, or run "
        "`codex app-server daemon stop`, then send again.",
    ),
    (
        re.compile(r"no rollout found for thread id"),
        "Codex no longer has this conversation; start a new task.",
    ),
    (re.compile(r"not logged in", re.IGNORECASE), f"Codex is not logged in; {LOG_IN}."),
)


def plain_error(message: str) -> str:
    """What a failed turn says, with what to do where that is known. Never empty."""
    message = message.strip()
    if found := _VARIABLE.search(message):
        return f"The environment variable {found['name']} is missing; set it where the board is started, or {LOG_IN}."
    if found := _STATUS.match(message):
        said = found["rest"] or message[found.start("code") + 4 :]
        return sentence(int(found["code"]), said, LOG_IN)
    if _CUT.match(message):
        return "The connection to the provider broke before the answer's end, and the tries were used up."
    return sentence(None, message, LOG_IN)


def startup_sentence(stderr: str) -> str | None:
    """The one sentence of Codex's stderr that says why it ended; None where there is only noise."""
    for pattern, said in _KNOWN:
        if pattern.search(stderr):
            return said
    lines = [line for line in stderr.split("\n") if line.strip() and not _NOISE.match(line)]
    if not lines:
        return None
    said = re.sub(r"^(?:Error|error):\s*", "", innermost(lines[0]))
    return one_line(f"Codex could not begin: {said}") if said else None
