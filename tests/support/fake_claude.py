"""A program that speaks Claude Code's stream-json with the stdio permission channel, without a model.

The prompt's words direct it, one after the other: `say TEXT…;` ends the turn, `ask TOOL TARGET;` asks for a permission,
`choose A|B;` asks a question, `both;` asks for two permissions at once, `cancel;` asks and takes it back, `hang;` waits
for ever. Everything it reads is appended to `$FAKE_CLAUDE_HEARD`, one line each.
"""

import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Line = dict[str, Any]
heard = Path(os.environ.get("FAKE_CLAUDE_HEARD", os.devnull))
session = next((sys.argv[at + 1] for at, word in enumerate(sys.argv) if word in ("--session-id", "--resume")), "")
numbers = itertools.count(1)


def tell(line: Line) -> None:
    """One line to the reader."""
    sys.stdout.write(json.dumps({**line, "session_id": session}) + "\n")
    sys.stdout.flush()


def keep(entry: Line) -> None:
    """One entry of the transcript."""
    base = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path("~/.claude").expanduser())
    folder = base / "projects" / "".join(c if c.isascii() and c.isalnum() else "-" for c in os.getcwd())
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")


def listen() -> Line | None:
    """One line of stdin."""
    line = sys.stdin.readline()
    if not line:
        return None
    with heard.open("a") as file:
        file.write(line)
    found: Line = json.loads(line)
    return found


def block(content: Line) -> None:
    """One block of the model's message."""
    message = {"role": "assistant", "model": "fake", "content": [content]}
    tell({"type": "assistant", "message": message, "parent_tool_use_id": None})
    keep({"type": "assistant", "message": {**message, "stop_reason": "tool_use"}})


def request(tool: str, given: Line) -> str:
    """Call a tool and ask for leave."""
    number = next(numbers)
    block({"type": "tool_use", "id": f"tool/{number}", "name": tool, "input": given})
    wanted = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": f"tool/{number}"}
    request_id = f"../odd id {number}"
    tell({"type": "control_request", "request_id": request_id, "request": wanted})
    return request_id


def answered(*open_ids: str) -> None:
    """Wait for these answers, in whatever order they come."""
    waiting = set(open_ids)
    while waiting:
        line = listen()
        if line is None:
            finish("Nobody answers.", is_error=True)
        else:
            waiting.discard(line["response"]["request_id"])
            result = line["response"]["response"]
            tool_id = f"tool/{line['response']['request_id'].split()[-1]}"
            content = [{"type": "tool_result", "tool_use_id": tool_id, "content": json.dumps(result)}]
            tell({"type": "user", "message": {"role": "user", "content": content}})


def finish(text: str, *, is_error: bool = False) -> None:
    """End the turn, and the process when stdin ends."""
    block({"type": "text", "text": text})
    keep({"type": "assistant", "message": {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}})
    usage = {"input_tokens": 10, "output_tokens": 5}
    tell({"type": "result", "subtype": "success", "is_error": is_error, "result": text, "usage": usage, "num_turns": 1})
    while listen() is not None:
        pass
    sys.exit(int(is_error))


def ask(rest: str) -> None:
    """`ask TOOL TARGET`."""
    tool, _, target = rest.partition(" ")
    answered(request(tool, {"file_path": target}))


def choose(rest: str) -> None:
    """`choose A|B`, two questions with `//` between."""
    questions = [
        {"question": f"Which of {part}?", "options": [{"label": label} for label in part.split("|")]}
        for part in rest.split("//")
    ]
    answered(request("AskUserQuestion", {"questions": questions}))


def both(_: str) -> None:
    """Two at once."""
    answered(request("Write", {"file_path": "one"}), request("Write", {"file_path": "two"}))


def cancel(_: str) -> None:
    """Ask, and withdraw it when the file `withdraw` is there."""
    request_id = request("Write", {"file_path": "x"})
    while not Path("withdraw").exists():
        time.sleep(0.02)
    tell({"type": "control_cancel_request", "request_id": request_id})


def hang(_: str) -> None:
    """For ever, as far as a test goes."""
    time.sleep(600)


STEPS: dict[str, Callable[[str], None]] = {
    "say": finish,
    "ask": ask,
    "choose": choose,
    "both": both,
    "cancel": cancel,
    "hang": hang,
}


def install(folder: Path) -> Path:
    """Make `claude` in that folder, to be put on PATH, be this program."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{__file__}" "$@"\n')
    program.chmod(0o755)
    return folder


def main() -> None:
    """One run."""
    if "--version" in sys.argv:
        print("2.1.332 (Claude Code)")
        return
    tell({"type": "system", "subtype": "init", "cwd": os.getcwd(), "argv": sys.argv[1:]})
    line = listen()
    if line is None:
        return
    prompt = line["message"]["content"]
    keep({"type": "user", "message": {"role": "user", "content": prompt}})
    tell({"type": "user", "message": line["message"], "isReplay": True})
    for step in prompt.partition("fake:")[2].split(";"):
        word, _, rest = step.strip().partition(" ")
        STEPS[word or "say"](rest or "Done.")
    finish("Done.")


if __name__ == "__main__":
    main()
