"""Triage on the real Pi: reply, follow-up, attach and recovery, counted at the model (AB-025, AB-026, AB-105)."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import acts, command, processes
from tests.support.acts import Dispatched, Shown
from tests.support.model_server import ModelServer, Request, held, say, use
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

pytestmark = pytest.mark.usefixtures("pi_home")

Attach = Callable[..., Terminal]


@pytest.fixture
def attach(project: Path) -> Iterator[Attach]:
    """Starts `agent-board attach` in terminals of their own; all are closed at the end."""
    with ExitStack() as opened:

        def begin(view: str, *options: str) -> Terminal:
            line = [*command.AGENT_BOARD, "attach", view, *options]
            return opened.enter_context(Terminal(line, size=(120, 40), cwd=project))

        yield begin


def say_inside(terminal: Terminal, text: str, answer: str) -> None:
    """Type a message into Pi and send it: while it starts, an enter is lost."""
    terminal.send(text)
    terminal.wait_for(text)
    terminal.press_until("enter", lambda: answer in terminal.text)


def users(request: Request) -> list[str]:
    """All that the user said in the conversation that a request holds."""
    texts = []
    for message in request.messages:
        if message.get("role") == "user":
            content = message["content"]
            texts.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    return texts


def reply(view: str, text: str) -> dict[str, str | None]:
    answer: dict[str, str | None] = command.ok("reply", view, "-", "--json", stdin=text.encode()).json
    return answer


def working(task: Dispatched) -> Shown:
    return acts.until(task.view, lambda shown: shown["semanticState"] == "working")


def test_a_question_is_answered_in_the_same_conversation(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("Should refresh tokens live 7 or 30 days?"), say("I set them to 30 days."))
    task = acts.dispatch("Set the lifetime", cwd=project)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["question"]) == ("needs_input", "Should refresh tokens live 7 or 30 days?")
    before = Path(shown["sessionFile"]).read_bytes()
    assert reply(task.view, "30 days, please.")["runId"]
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "I set them to 30 days.")
    assert Path(shown["sessionFile"]).read_bytes().startswith(before)
    assert users(model_server.requests[-1]) == ["Set the lifetime", "30 days, please."]
    assert [run["kind"] for run in shown["runs"]] == ["prompt", "reply"]
    assert not shown["unread"] or shown["changeSeq"] > 1


ODD = {
    "dash": "-rf --yes is what I mean",
    "lines": "!ls is no command here\n\n  third, indented\n“quotes” and 中文 👩‍💻 \u2028 end",
    "long": "@nowhere.txt has it\n" + "0123456789 äöü 一二三 abcdefghijkl\n" * 1700 + "end",
}


def test_replies_reach_the_model_byte_for_byte(project: Path, model_server: ModelServer) -> None:
    """FIELD-FAULTS 45: each exactly once, in order, as it was typed; the long one has over 64 KB."""
    model_server.script(say("Understood."), forever=True)
    task = acts.dispatch("Hello", cwd=project)
    acts.settled(task.view)
    for text in ODD.values():
        assert reply(task.view, text)["runId"]
        assert acts.settled(task.view)["semanticState"] == "completed"
    assert len(ODD["long"].encode()) > 64 << 10
    assert model_server.prompts == ["Hello", *ODD.values()]
    assert users(model_server.requests[-1]) == ["Hello", *ODD.values()]


def test_follow_ups_to_a_working_row_are_delivered_in_order(project: Path, model_server: ModelServer) -> None:
    release = threading.Event()
    model_server.script(held(say("Half of it is told. And the rest."), release, at=2))
    model_server.script(say("Second done."), say("Third done."))
    task = acts.dispatch("First", cwd=project)
    working(task)
    ids = [reply(task.view, text)["followupId"] for text in ("Second", "Third")]
    waiting = command.ok("followups", task.view, "--json").json
    assert [(prompt["id"], prompt["text"], prompt["state"]) for prompt in waiting] == [
        (ids[0], "Second", "waiting"),
        (ids[1], "Third", "waiting"),
    ]
    assert model_server.prompts == ["First"]
    release.set()
    acts.until(task.view, lambda shown: shown["summary"] == "Third done.", 60)
    assert model_server.prompts == ["First", "Second", "Third"]
    assert users(model_server.requests[-1]) == ["First", "Second", "Third"]
    assert command.ok("followups", task.view, "--json").json == []


def test_a_message_typed_inside_pi_is_seen_on_the_board(
    project: Path, model_server: ModelServer, attach: Attach
) -> None:
    model_server.script(say("The cache was stale."), say("Shall I clear the other cache as well?"), say("Cleared it."))
    task = acts.dispatch("Why is the page old?", "--name", "old-page", cwd=project)
    acts.settled(task.view)
    terminal = attach("old-page")
    terminal.wait_for("The cache was stale.")
    assert b"attached to old-page: leave it with ctrl+d or /quit" in terminal.written  # Pi may have cleared the screen
    assert acts.show(task.view)["attached"] is True
    say_inside(terminal, "And the other one?", "Shall I clear the other cache as well?")
    wait_for(lambda: "other cache" in Path(acts.show(task.view)["sessionFile"]).read_text(), 20)
    assert terminal.leave("ctrl+d") == 0
    shown = acts.show(task.view)
    assert (shown["semanticState"], shown["attached"]) == ("needs_input", False)
    assert shown["question"] == "Shall I clear the other cache as well?"
    reply(task.view, "Yes.")
    assert acts.settled(task.view)["summary"] == "Cleared it."
    assert users(model_server.requests[-1]) == ["Why is the page old?", "And the other one?", "Yes."]
    assert "report" in model_server.requests[1].tools


def test_a_session_that_was_only_looked_at_stays_as_it_was(
    project: Path, model_server: ModelServer, attach: Attach
) -> None:
    model_server.script(say("Keep the old name, or drop it?"))
    task = acts.dispatch("Rename it", cwd=project)
    before = acts.settled(task.view)
    transcript = Path(before["sessionFile"]).read_bytes()
    terminal = attach(task.view)
    terminal.wait_for("Keep the old name, or drop it?")
    terminal.wait_quiet(0.5)
    terminal.send("ctrl+c")  # Pi's own affair: it clears the input
    terminal.wait_quiet(0.5)
    assert terminal.leave("ctrl+d") == 0
    after = acts.show(task.view)
    for key in ("semanticState", "question", "currentRunId", "stateSince", "changeSeq", "reason"):
        assert after[key] == before[key]
    assert (after["attached"], after["unread"]) == (False, False)
    assert Path(before["sessionFile"]).read_bytes() == transcript
    assert len(model_server.requests) == 1


def test_interrupt_and_attach(project: Path, model_server: ModelServer, attach: Attach) -> None:
    model_server.script(use("bash", command="echo $$ > tool.pid; exec sleep 300"), say("Never said."), when="Sleep")
    model_server.script(say("I was interrupted, I know."), when="again")
    task = acts.dispatch("Sleep long", "--name", "sleeper", cwd=project)
    pid_file = project / "tool.pid"
    tool = int(wait_for(lambda: pid_file.read_text().strip() if pid_file.exists() else "", 30))
    terminal = attach("sleeper")
    terminal.wait_for("“sleeper” is running. Interrupt and attach? (y/N)")
    terminal.send("y", "enter")
    terminal.wait_for("Sleep long", 30)
    wait_for(lambda: not os.path.exists(f"/proc/{tool}"))
    say_inside(terminal, "Here again", "I was interrupted, I know.")
    wait_for(lambda: "I know." in Path(acts.show(task.view)["sessionFile"]).read_text(), 20)
    assert terminal.leave("ctrl+d") == 0
    shown = acts.show(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "I was interrupted, I know.")
    assert [run["semanticState"] for run in shown["runs"]] == ["stopped", "completed"]
    assert model_server.prompts.count("Sleep long") == 1


def test_everything_is_killed_and_a_reply_goes_on(project: Path, model_server: ModelServer) -> None:
    """AB-028, AB-113, FIELD-FAULTS 28: shim, agent and its tool, at once; then the user answers."""
    model_server.script(use("bash", command="echo $$ > tool.pid; exec sleep 300"), when="Do it")
    model_server.script(say("Back at it, and done."), when="Go on")
    task = acts.dispatch("Do it", cwd=project)
    wait_for((project / "tool.pid").exists, 30)
    run = acts.run_of(acts.show(task.view))
    reply(task.view, "Held for later")
    for process in [p for p in processes.marked(task.run, "AGENT_BOARD_RUN") if p.pid != os.getpid()]:
        os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: not os.path.exists(f"/proc/{run['shimPid']}"))
    shown = acts.show(task.view)
    assert (shown["semanticState"], shown["processState"], shown["heldPrompts"]) == ("failed", "exited", 1)
    assert shown["error"]
    assert reply(task.view, "Go on")["runId"]
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Back at it, and done.")
    assert [request.last_user for request in model_server.requests] == ["Do it", "Go on"]
    (held_one,) = command.ok("followups", task.view, "--json").json
    assert (held_one["text"], held_one["state"]) == ("Held for later", "held")


def test_a_session_of_a_terminal_is_adopted_and_continued(
    project: Path, model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(say("First answer."), say("Second answer."))
    session = tmp_path / "mine.jsonl"
    with Terminal(["pi", "--offline", "--session", str(session)], size=(120, 40), cwd=project) as terminal:
        terminal.wait_for("scripted")
        say_inside(terminal, "Asked in a terminal", "First answer.")
        wait_for(lambda: session.exists() and "First answer." in session.read_text(), 20)
        assert terminal.leave("ctrl+d") == 0
    adopted = command.ok("adopt", str(session), "--json").json
    assert adopted["new"] is True
    shown = acts.show(adopted["viewId"])
    assert (shown["semanticState"], shown["name"], shown["cwd"]) == ("idle", "asked-in-a-terminal", str(project))
    reply(adopted["viewId"], "Asked on the board")
    assert acts.settled(adopted["viewId"])["summary"] == "Second answer."
    assert users(model_server.requests[-1]) == ["Asked in a terminal", "Asked on the board"]
    assert command.ok("adopt", str(session), "--json").json == {"viewId": adopted["viewId"], "new": False}
