"""The one-line summaries of rows: what a tool does, and what an answer says first or last."""

import re

from agent_board.states.sentences import first_sentence, last_sentence, last_whole_sentence
from agent_board.store.records import Evidence, RunStatus, SemanticState, Tool
from agent_board.text import clean_line, cut, preview

WIDEST = 200
_WIDEST_COMMAND = 60

_VERBS = {
    "edit": "Editing",
    "multiedit": "Editing",
    "strreplace": "Editing",
    "applypatch": "Editing",
    "patch": "Editing",
    "notebookedit": "Editing",
    "write": "Writing",
    "create": "Writing",
    "read": "Reading",
    "view": "Reading",
    "ls": "Listing",
    "list": "Listing",
    "grep": "Searching for",
    "search": "Searching for",
    "find": "Finding",
    "glob": "Finding",
    "webfetch": "Fetching",
    "fetch": "Fetching",
    "websearch": "Searching the web for",
}
_PATHS = frozenset({"Editing", "Writing", "Reading", "Listing"})
_SHELLS = frozenset({"bash", "shell", "exec", "execcommand", "localshell", "powershell", "terminal", "run"})
_PLAIN = {"report": "Reporting the outcome", "task": "Working with a subagent", "agent": "Working with a subagent"}

_THROUGH = (
    r"(?:(?:npx|pnpm|yarn|npm exec|bunx|uvx|uv run|poetry run|pipenv run|pdm run|bundle exec|python3? -m)\s+"
    r"(?:-\S+\s+)*)*"
)
_SCRIPT = r"(?:npm|pnpm|yarn|bun|deno)\s+(?:run\s+|task\s+)?"
# Sources, compiled by `re` when first used: the runner starts often and classifies seldom.
_CLASSES = (
    (
        "Running tests",
        rf"{_THROUGH}(?:pytest|unittest|tox|nox|jest|vitest|mocha|playwright|ctest|rspec|phpunit)\b"
        rf"|{_SCRIPT}\S*test\S*"
        r"|(?:cargo|go|make|mix|swift|dotnet|gradle|\./gradlew|mvn|bazel|zig build|rake|just)\s+"
        r"(?:\S+\s+)?\S*test\S*",
    ),
    (
        "Building",
        rf"{_SCRIPT}\S*build\S*|make(?:\s+(?:all|build|-\S+))*$|mvn\s+(?:package|compile|install)"
        r"|(?:cargo|go|docker|gradle|\./gradlew|dotnet|swift|bazel|hatch|uv|zig|cmake)\s+(?:-\S+\s+)*-?-?build\b"
        rf"|{_THROUGH}(?:tsc|webpack|rollup|esbuild|vite build|build)\b",
    ),
    (
        "Linting",
        rf"{_THROUGH}(?:ruff|eslint|mypy|pyright|flake8|pylint|black|isort|prettier|biome|shellcheck|stylelint"
        rf"|golangci-lint|rubocop)\b|{_SCRIPT}(?:lint|format|typecheck|type-check)\S*|cargo\s+(?:clippy|fmt)"
        r"|go\s+(?:vet|fmt)|gofmt|make\s+(?:lint|format|fmt)|pre-commit",
    ),
)
_INSTALL = (
    r"(?:npm|pnpm|yarn|bun)\s+(?:install|ci|i|add)\b|yarn$|(?:python3?\s+-m\s+)?pip3?\s+install"
    r"|uv\s+(?:sync|add|pip\s+install)|poetry\s+install|cargo\s+(?:install|add|fetch)|go\s+(?:get|mod)\b"
    r"|bundle\s+install|(?:apt|apt-get|brew|dnf|apk)\s+(?:install|add)"
)
_GIT = r"git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*(?P<what>[a-z][a-z-]+)"
_PREFIX = (
    r"^(?:(?:sudo|time|nohup|exec|env|command)\s+|timeout\s+(?:-\S+\s+)*\S+\s+"
    r"|[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+)+"
)
_BREAKS = r"&&|\|\||[;|\n]"


def summary_of(status: RunStatus) -> str:
    """The summary of a run whose state is decided. Never empty, one line."""
    return cut(clean_line(_said(status)), WIDEST) or "Done"


def _said(status: RunStatus) -> str:
    evidence = status.evidence
    match status.semantic_state:
        case SemanticState.QUEUED:
            return _sentence_case(status.queue_reason or "Queued")
        case SemanticState.WORKING:
            return _working(status)
        case SemanticState.NEEDS_INPUT:
            return status.question or "Needs an answer"
        case SemanticState.FAILED:
            return status.error or "Failed"
        case SemanticState.STOPPED:
            return "Stopped"
        case SemanticState.IDLE:
            return first_sentence(evidence.last_text) or "Waiting for instructions"
    return _completed(evidence) + _denied(evidence.denials)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _completed(evidence: Evidence) -> str:
    if evidence.report is not None and evidence.report.summary:
        return evidence.report.summary
    if not evidence.prompt_accepted and evidence.command:
        return "Taken as a command"
    said = first_sentence(evidence.last_text)
    return said or ("Ended without a word" if evidence.last_stop == "stop" else "Done")


def _denied(denials: int) -> str:
    return f" ({denials} permission{'s' if denials > 1 else ''} denied)" if denials else ""


def _working(status: RunStatus) -> str:
    evidence = status.evidence
    if evidence.retry is not None:
        return f"retrying {evidence.retry.attempt}/{evidence.retry.most}: {evidence.retry.error}"
    if status.current_tool is not None:
        return doing(status.current_tool)
    said = last_whole_sentence(status.latest_assistant_preview or "") if evidence.streaming else ""
    return said or last_sentence(evidence.last_text) or "Running…"


def doing(tool: Tool) -> str:
    """What a tool in use does: “Editing auth.py”, “Running tests”."""
    name = re.sub(r"[^a-z]", "", tool.name.lower())
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _SHELLS:
        return running(tool.path or "") or "Running a command"
    verb = _VERBS.get(name)
    if verb is None:
        return f"Using {tool.name}" + (f": {preview(tool.path, _WIDEST_COMMAND)}" if tool.path else "")
    if not tool.path:
        return f"{verb} …" if verb.endswith("for") else verb + (" files" if verb in _PATHS else "")
    return f"{verb} {_short(tool.path) if verb in _PATHS else preview(tool.path, _WIDEST_COMMAND)}"


def _short(path: str) -> str:
    """A path as it reads best: relative ones as they are, of absolute ones the name."""
    return path.rstrip("/").rsplit("/", 1)[-1] or path if path.startswith(("/", "~")) else path


def running(command: str) -> str:
    """What a shell command does, in two or three words; empty for an empty one."""
    parts = [re.sub(_PREFIX, "", part.strip()) for part in re.split(_BREAKS, command[:2000])]
    parts = [part for part in parts if part and not part.startswith(("cd ", "#", "set -", "export "))]
    if not parts:
        return f"Running {preview(command, _WIDEST_COMMAND)}" if command.strip() else ""
    for label, pattern in _CLASSES:
        if any(re.match(pattern, part) for part in parts):
            return label
    for part in parts:
        if found := re.match(_INSTALL, part):
            return f"Running {clean_line(found.group())}"
    if found := re.match(_GIT, parts[0]):
        return f"Running git {found['what']}"
    return f"Running {preview(parts[0], _WIDEST_COMMAND)}"
