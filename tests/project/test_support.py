"""The tests' own tools, on real parts: a broken tool must not look like a broken product."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.conftest import PiHome
from tests.support import processes
from tests.support.model_server import ModelServer, cut, refuse, report, say, silent, use
from tests.support.terminal import Terminal
from tests.support.wait import wait_for


def _ask(server: ModelServer, text: str, model: str = "scripted") -> str:
    asked = {"model": model, "stream": True, "messages": [{"role": "user", "content": text}]}
    body = json.dumps(asked).encode()
    request = urllib.request.Request(f"{server.url}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        events = answer.read().decode().split("\n\n")
    parts = [json.loads(event[6:]) for event in events if event.startswith("data: {")]
    return "".join(choice["delta"].get("content", "") for part in parts for choice in part["choices"])


def test_each_request_gets_the_script_that_its_words_name() -> None:
    with ModelServer(say("default"), forever=True) as server:
        server.script(say("first"), say("second"), when="count")
        server.script(say("other model"), model="two")
        answers = [_ask(server, "count"), _ask(server, "hello"), _ask(server, "count"), _ask(server, "hi", "two")]
        assert answers == ["first", "default", "second", "other model"]
        assert server.prompts == ["count", "hello", "count", "hi"]


def test_errors_and_cuts_are_what_the_script_says() -> None:
    with ModelServer(refuse(503, "busy"), cut("a long enough answer to be cut", after=2)) as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            _ask(server, "one")
        assert (refused.value.code, json.loads(refused.value.read())["error"]["message"]) == (503, "busy")
        assert _ask(server, "two") == "a long enough an"


def test_the_real_pi_runs_against_the_scripted_model(pi_home: PiHome, model_server: ModelServer) -> None:
    model_server.script(use("bash", command="echo from-the-tool"), say("All done."))
    done = subprocess.run(
        ["pi", "--mode", "json", "--offline", "--no-session"], input=b"run it", capture_output=True, timeout=60
    )
    events = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    assert done.returncode == 0, done.stderr
    assert [event["type"] for event in events if event["type"] == "tool_execution_start"] == ["tool_execution_start"]
    assert events[-1]["type"] == "agent_settled"
    assert model_server.prompts == ["run it"]
    assert "from-the-tool" in json.dumps(model_server.requests[1].messages)


def test_a_silent_model_keeps_pi_waiting(pi_home: PiHome, model_server: ModelServer) -> None:
    model_server.script(silent())
    process = subprocess.Popen(["pi", "--mode", "json", "--offline", "--no-session", "hi"], stdin=subprocess.DEVNULL)
    try:
        model_server.wait_for_requests(1)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(20)


def test_a_report_is_a_tool_call() -> None:
    assert report("blocked", "stuck", "which?").tools == (
        ("report", {"status": "blocked", "summary": "stuck", "question": "which?"}),
    )


_ECHO = """
import os, sys, termios
print("\\x1b[?1049h\\x1b[>1u\\x1b[?2026$p\\x1b[31mred\\x1b[0m tty", os.ttyname(0) == os.ttyname(1), flush=True)
while (line := sys.stdin.readline()).strip() != "quit":
    print("got", line.strip(), *os.get_terminal_size(), flush=True)
sys.exit(7)
"""


def test_a_program_has_a_terminal_a_screen_and_keys() -> None:
    with Terminal([sys.executable, "-c", _ECHO], size=(60, 10)) as terminal:
        terminal.wait_for("red tty True")
        assert terminal.cell(0, 0).fg == "red"
        terminal.send("hello", "enter")
        terminal.wait_for("got hello 60 10")
        terminal.resize(50, 12)
        terminal.send("again", "enter")
        terminal.wait_for("got again 50 12")
        assert os.getpgid(terminal.pid) == os.getsid(terminal.pid) == terminal.pid
        terminal.send("quit", "enter")
        assert terminal.wait_exit() == 7


_FRAME = """
import sys
print("\\x1b[?2026$p", flush=True)
print("\\x1b[?2026hhalf", flush=True)
sys.stdin.readline()
print(" and half\\x1b[?2026l", flush=True)
sys.stdin.readline()
"""


def test_a_frame_is_shown_when_it_is_whole() -> None:
    with Terminal([sys.executable, "-c", _FRAME]) as terminal:
        wait_for(lambda: b"half" in terminal.written, what="what it wrote")
        assert "half" not in terminal.text
        terminal.send("enter")
        assert "half" in terminal.wait_for(" and half").splitlines()


def test_a_hung_up_terminal_ends_its_program() -> None:
    with Terminal([sys.executable, "-c", _ECHO]) as terminal:
        terminal.wait_for("red tty")
        terminal.hang_up()
        assert terminal.wait_exit() == -1


def test_processes_of_a_test_are_found_by_their_mark(monkeypatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_PROBE", "yes-1")
    process = subprocess.Popen(["sleep", "60"])
    try:
        wait_for(lambda: [p.pid for p in processes.marked("yes-", "AGENT_BOARD_PROBE")] == [process.pid])
    finally:
        processes.end(processes.marked("yes-", "AGENT_BOARD_PROBE"))
    assert process.wait(10) == -9
