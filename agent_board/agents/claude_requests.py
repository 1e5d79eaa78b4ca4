"""What Claude Code asks while it lives, and the lines that answer it (its stdio permission channel)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from agent_board.agents.base import Answer
from agent_board.agents.events import Event, RequestClosed, RequestOpened
from agent_board.errors import UsageError

Raw = dict[str, Any]

PERMISSION, QUESTION = "permission", "question"
ALLOW, DENY = "Allow once", "Deny"
_ASKING = "AskUserQuestion"
_PLANNED = "ExitPlanMode"
_DENIED = "The user does not allow this."


class Requests:
    """The open requests of one run, with what their answers have to repeat."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        """The tool calls that the user has denied."""
        self.open: dict[str, Raw] = {}
        """By Claude's own ids."""
        self.targets: dict[str, str] = {}
        """By tool call, what it works on: the request for leaving plan mode says nothing of the plan (2.1.332)."""
        self._answers: dict[str, dict[str, str]] = {}

    def opened(self, raw: Raw, target_of: Callable[[Any], str | None]) -> Iterator[Event]:
        """A control request; only those for the user are told."""
        request, request_id = raw.get("request"), raw.get("request_id")
        if not isinstance(request, dict) or not isinstance(request_id, str):
            return
        if request.get("subtype") != "can_use_tool":
            return
        self.open[request_id] = request
        questions = _questions(request)
        if questions:
            yield _asked(request_id, questions, 0)
            return
        target = target_of(request.get("input")) or self.targets.get(str(request.get("tool_use_id")))
        yield RequestOpened(
            request_id, PERMISSION, _wish(str(request.get("tool_name") or "a tool"), target), (ALLOW, DENY)
        )

    def of_tool(self, tool_id: str) -> list[str]:
        """The open requests for a tool call that has ended; they are forgotten."""
        found = [key for key, request in self.open.items() if tool_id and request.get("tool_use_id") == tool_id]
        return [name for key in found for name in self._forget(key)]

    def cancelled(self, request_id: str) -> Iterator[Event]:
        """Claude doesn't want to know any more."""
        if request_id in self.open:
            for name in self._forget(request_id):
                yield RequestClosed(name)

    def answer(self, request_id: str, answer: Answer) -> tuple[bytes, list[Event]]:
        """See `Reader.answer`. A request with several questions asks them one after the other."""
        key, at = _position(request_id)
        if key not in self.open:
            key, at = request_id, 0
        request = self.open.get(key)
        if request is None:
            raise UsageError("That request is no longer open.")
        questions = _questions(request)
        denied = answer.kind == "deny" or (not questions and answer.kind == "choice" and answer.choice == 2)
        if denied:
            return self._answered(key, request_id, {"behavior": "deny", "message": answer.text or _DENIED}, denied=True)
        if not questions:
            return self._answered(key, request_id, {"behavior": "allow", "updatedInput": request.get("input") or {}})
        labels = _labels(questions[at])
        if answer.kind != "choice" or not 1 <= answer.choice <= len(labels):
            raise UsageError("Claude asks a question; take one of its choices.")
        answers = self._answers.setdefault(key, {})
        answers[str(questions[at].get("question"))] = labels[answer.choice - 1]
        if at + 1 < len(questions):
            return b"", [RequestClosed(request_id), _asked(key, questions, at + 1)]
        updated = {**(request.get("input") or {}), "answers": answers}
        return self._answered(key, request_id, {"behavior": "allow", "updatedInput": updated})

    def _answered(self, key: str, request_id: str, response: Raw, *, denied: bool = False) -> tuple[bytes, list[Event]]:
        tool_id = self.open[key].get("tool_use_id")
        if denied and isinstance(tool_id, str):
            self.denied.add(tool_id)
        self._forget(key)
        reply = {"subtype": "success", "request_id": key, "response": response}
        line = json.dumps({"type": "control_response", "response": reply}).encode() + b"\n"
        return line, [RequestClosed(request_id, denied=denied)]

    def _forget(self, key: str) -> list[str]:
        """Every name under which that request may stand open."""
        count = len(_questions(self.open.pop(key))) or 1
        self._answers.pop(key, None)
        return [_name(key, at) for at in range(count)]


def _wish(name: str, target: str | None) -> str:
    if name == _PLANNED:
        return f"Go ahead with this plan? {target}" if target else "Go ahead with its plan?"
    return f"Allow {name}: {target}" if target else f"Allow {name}?"


def _questions(request: Raw) -> list[Raw]:
    given = request.get("input")
    questions = given.get("questions") if request.get("tool_name") == _ASKING and isinstance(given, dict) else None
    return [question for question in questions or [] if isinstance(question, dict)]


def _labels(question: Raw) -> list[str]:
    options = question.get("options")
    return [str(option.get("label")) for option in options or [] if isinstance(option, dict) and option.get("label")]


def _asked(key: str, questions: list[Raw], at: int) -> RequestOpened:
    text = str(questions[at].get("question") or "Claude asks something.")
    return RequestOpened(_name(key, at), QUESTION, text, tuple(_labels(questions[at])))


def _name(key: str, at: int) -> str:
    """The id of a request's later questions: the user answers what was painted, not what came after."""
    return f"{key}#{at + 1}" if at else key


def _position(name: str) -> tuple[str, int]:
    key, mark, number = name.rpartition("#")
    return (key, int(number) - 1) if mark and number.isdigit() and int(number) > 1 else (name, 0)
