"""Pi's errors in one clear sentence: what its provider answered, and what its stderr says of a failed start."""

import json
import re
from collections.abc import Callable
from typing import Any

from agent_board.text import clean_line, cut

_WIDEST = 360
_READ = 64 << 10
_LOG_IN = "run `pi` and use /login"
_HINTS = {
    "401": _LOG_IN,
    "403": "the provider refuses this account or model",
}
_STATUS = re.compile(r"^(?:Error:\s*)?(?P<code>[45]\d\d)\b[:\s]*(?P<rest>.*)$", re.DOTALL)
_BODY = re.compile(r"\{.*\}", re.DOTALL)
_SYSTEM = re.compile(
    r"\b(?P<code>E[A-Z]{3,}): (?P<what>[^,\n]+), (?P<call>\w+)(?: '(?P<path>[^'\n]*)')?",
)
_SYSTEM_WORDS = {
    "EACCES": "permission denied",
    "EPERM": "permission denied",
    "ENOSPC": "the disk is full",
    "EROFS": "the file system is read-only",
    "EDQUOT": "the disk quota is used up",
}


def plain_error(message: str) -> str:
    """A provider's or system's error without its JSON, with what to do where that is known. Never empty."""
    message = message.strip()
    if system := _system_error(message):
        return system
    status = _STATUS.match(message)
    body = _body_message(message)
    if status is None:
        return _one_line(body or message.replace(".: ", ": ")) or "The provider failed without saying why."
    code = status["code"]
    said = _one_line(body or status["rest"]).rstrip(".") or "the provider refused"
    hint = f"; {_HINTS[code]}." if code in _HINTS else ""
    return f"{code}: {said}{hint}"


def _body_message(message: str) -> str:
    found = _BODY.search(message)
    if found is None:
        return ""
    try:
        raw: Any = json.loads(found.group())
    except (ValueError, RecursionError):
        return ""
    for _ in range(3):
        if isinstance(raw, dict):
            raw = raw.get("message") or raw.get("error") or raw.get("detail")
    return raw if isinstance(raw, str) else ""


def _system_error(text: str) -> str | None:
    found = _SYSTEM.search(text)
    if found is None or not (found["path"] or found["code"] in _SYSTEM_WORDS):
        return None
    why = _SYSTEM_WORDS.get(found["code"], found["what"])
    if not found["path"]:
        return f"Pi can't {found['call']}: {why}."
    what = "session file" if found["path"].endswith(".jsonl") else "file"
    if found["call"] in ("mkdir", "scandir"):
        what = "directory"
    doing = {"open": "opened", "mkdir": "made", "scandir": "read"}.get(found["call"], "written")
    return _one_line(f"Pi's {what} {found['path']} can't be {doing}: {why}.")


def _one_line(text: str) -> str:
    return cut(clean_line(text[: 4 * _WIDEST]), _WIDEST)


# What Pi wrote on stderr

_NODE = re.compile(r"^Node\.js v(?P<version>\S+)", re.MULTILINE)
_TOO_NEW = re.compile(r"SyntaxError|does not provide an export|ERR_UNKNOWN_BUILTIN|is not a function")


def _old_node(stderr: str) -> str | None:
    if not _TOO_NEW.search(stderr) or not (node := _NODE.search(stderr)):
        return None
    return f"Node {node['version']} is too old for this Pi; install a newer Node and put it first on PATH."


def _no_key(stderr: str) -> str | None:
    found = re.search(r"No API key found for (.+?)\.\s*$", stderr, re.MULTILINE)
    return f"No API key found for {found[1]}; {_LOG_IN}." if found else None


def _no_model(stderr: str) -> str | None:
    found = re.search(r'Model "([^"\n]+)" not found', stderr)
    if not found:
        return None
    if "No models available" in stderr:
        return f'Model "{found[1]}" not found: Pi has no models; run `pi` and use /login, or mend its models.json.'
    return f'Model "{found[1]}" not found; `pi --list-models` names those that there are.'


def _no_cwd(stderr: str) -> str | None:
    found = re.search(r"session working directory does not exist: (.+)", stderr)
    return f"The session's directory {found[1].strip()} is gone; bring it back or start a new task." if found else None


def _no_extension(stderr: str) -> str | None:
    found = re.search(r'Failed to load extension "([^"\n]+)":\s*(?:Failed to load extension:\s*)?(.+)', stderr)
    return f"Pi could not load the extension {found[1]}: {found[2].strip().rstrip('.')}." if found else None


def _no_pipe(stderr: str) -> str | None:
    return "Pi lost its output: whoever read it was gone." if re.search(r"\bEPIPE\b", stderr) else None


_KNOWN: tuple[Callable[[str], str | None], ...] = (
    _old_node,
    _no_key,
    _no_model,
    _no_cwd,
    _no_extension,
    _system_error,
    _no_pipe,
)
_NOISE = re.compile(
    r"^(?:Warning\b|Hint:|Node\.js v|\s+\S|\^|node:|file://|Use /login|See:|Extension error|Session file:"
    r"|Current working|Emitted '|To resume|\(node:|\(Use `)"
)
_TELLING = re.compile(
    r"^(?:\w*Error\b|No \w+ found|Unknown |Invalid |Cannot |Can't |Failed |Fatal|\d{3}\b)", re.IGNORECASE
)


def startup_sentence(stderr: str) -> str | None:
    """The one sentence of Pi's stderr that says why it ended: no stack, no source lines, no harmless warnings."""
    stderr = stderr[-_READ:]
    for known in _KNOWN:
        if sentence := known(stderr):
            return _one_line(sentence)
    lines = [line.rstrip() for line in stderr.split("\n") if line.strip() and not _NOISE.match(line)]
    telling = [line for line in lines if _TELLING.match(line)] or lines[-1:]
    if not telling:
        return None
    said = re.sub(r"^(?:Uncaught )?(?:\w*Error): ", "", telling[0].strip())
    return plain_error(said) if said else None
