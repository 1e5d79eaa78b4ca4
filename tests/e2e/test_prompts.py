"""What the user typed is what the model gets, whatever it looks like (DESIGN: byte for byte, exactly once)."""

import os
import threading
from pathlib import Path

import pytest

from tests.support import acts, command, processes
from tests.support.model_server import ModelServer, held, say

pytestmark = pytest.mark.usefixtures("pi_home")

ODD = {
    "dash": "-rf is what I typed, --verbose too",
    "option": "--help",
    "at": "@nowhere.txt what is in there?",
    "slash": "/etc/hosts is what I mean",
    "bang": "!echo not a command",
    "unicode": "Grüße, 世界 👩‍💻: «naïve» — \u2028 and \u2029, tab\there",
    "quotes": """it's "quoted" `ticked` $HOME $(id) \\n %s {{x}}""",
    "lines": "first line\n\n  third, indented\nlast",
}


@pytest.mark.parametrize("prompt", ODD.values(), ids=ODD.keys())
def test_an_odd_prompt_arrives_as_it_was_typed(prompt: str, project: Path, model_server: ModelServer) -> None:
    """AB-047: no argument parser and no shell ever sees it."""
    model_server.script(say("Understood."))
    task = acts.dispatch(prompt, cwd=project)
    shown = acts.settled(task.view)
    assert shown["semanticState"] == "completed", shown["error"]
    assert model_server.prompts == [prompt]
    assert (task.run_dir / "prompt").read_bytes() == prompt.encode()


def test_words_behind_two_dashes_are_the_prompt(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("Understood."))
    done = command.ok("dispatch", "--json", "--agent", "pi", "--wait", "--", "-x", "is", "mine", cwd=project)
    assert acts.show(done.json["viewId"])["semanticState"] == "completed"
    assert model_server.prompts == ["-x is mine"]


def test_two_megabytes_arrive_whole(project: Path, model_server: ModelServer) -> None:
    line = "0123456789 äöü 一二三 abcdefghijklmnopqrstuvwxyz\n"
    prompt = (line * (2_000_000 // len(line.encode()) + 1)).strip()
    model_server.script(say("That was long."))
    task = acts.dispatch(prompt, cwd=project)
    assert acts.settled(task.view)["semanticState"] == "completed"
    assert model_server.prompts == [prompt]
    assert len(acts.show(task.view)["name"]) <= 40


def test_no_prompt_and_no_secret_is_in_an_argument_list(
    project: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant 10: what other users of the machine can list holds neither prompt nor environment."""
    release = threading.Event()
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    model_server.script(held(say("Done."), release))
    task = acts.dispatch("the-secret-prompt", cwd=project)
    model_server.wait_for_requests(1)
    lines = [" ".join(process.cmdline()) for process in processes.marked(os.environ[processes.MARK])]
    release.set()
    acts.settled(task.view)
    assert lines
    assert not [line for line in lines if "the-secret-prompt" in line or "sk-very-secret" in line]
    files = [path for path in task.run_dir.rglob("*") if path.is_file()]
    assert not [path for path in files if b"sk-very-secret" in path.read_bytes()]
