"""What the scripted agent does for a prompt: steps written in it, or chosen by its text. Standard library only."""

import os
import zlib

Step = tuple[str, str]
"""A verb of demo/agent.py's text and its argument."""
PREFIX = "demo:"
SPEED = "AGENT_BOARD_DEMO_SPEED"
"""Environment: how many times faster than life."""
WORLD = "AGENT_BOARD_DEMO_WORLD"
"""Environment: the directory of the demo's world, in everything that was started inside it."""
SCRIPTS = "scripts.json"
"""In the world: prompt → steps, so that its prompts read like prompts."""
OWNER = "owner"
"""In the world: locked for as long as the demo lives."""
_COMMENT = {".md": "-", ".py": "#", ".yml": "#", ".toml": "#", ".tf": "#", ".ts": "//", ".css": "//"}


def directives(prompt: str) -> list[Step] | None:
    """The steps written in a prompt; None when there are none."""
    lines = [line.strip()[len(PREFIX) :] for line in prompt.splitlines() if line.strip().startswith(PREFIX)]
    steps: list[Step] = []
    for piece in ";".join(lines).split(";"):
        verb, _, argument = piece.strip().partition(" ")
        if verb:
            steps.append((verb, argument.strip()))
    return steps if lines else None


def topic(prompt: str) -> str:
    """The first line of the prompt that is no direction, short, and harmless inside a step."""
    lines = [line.strip() for line in prompt.splitlines()]
    first = next((line for line in lines if line and not line.startswith(PREFIX)), "as asked")
    return first.replace(";", ",").replace("|", "/")[:60]


def files_here(world: bool) -> list[str]:
    """Some files of the directory worked in, two levels deep, sources before what lies at the top."""
    found: list[str] = []
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders if not name.startswith("."))[: 8 if folder == "." else 0]
        found += [os.path.relpath(os.path.join(folder, name)) for name in sorted(names)[:20] if name[0] != "."]
    found = [name for name in found if not world or os.path.splitext(name)[1] in _COMMENT]
    return sorted(found, key=lambda name: (os.sep not in name, name)) or ["README.md"]


def chosen(prompt: str, turns: int, may_edit: bool) -> list[Step]:
    """A plausible script for a text without directives: the same text, the same script."""
    text = prompt.strip()
    number = zlib.crc32(text.encode("utf-8", "replace"))
    names = files_here(may_edit)
    name = names[number % len(names)]
    chinese = any("\u4e00" <= char <= "\u9fff" for char in text)
    first = "我先看看代码。" if chinese else "I'll look at the code first."
    look: list[Step] = [("wait", "0.4"), ("say", first), ("read", name)]
    work: list[Step] = [("edit", name), ("test", "")] if may_edit else [("run", "git log --oneline -3")]
    done = f"changed {name}, tests pass" if may_edit else f"looked at {name}, changed nothing"
    about = topic(text)
    if chinese:
        return [*look, *work, ("report", f"completed 已完成：{about}（{name}）")]
    if turns:
        return [*look, *work, ("report", f"completed Done as you said: {done}")]
    endings: list[list[Step]] = [
        [*work, ("report", f"completed {about}: {done}")],
        [*work, ("say", f"Done: {done}.\\n\\nLet me know if you want more tests too.")],
        [("say", f"There are two ways to go on in {name}.\\n\\nKeep the old behaviour behind a flag, or replace it?")],
        [("retry", "2 503 overloaded"), *work, ("report", f"completed {about}: {done}, after two retries")],
        [("work", "6"), *work, ("report", f"completed {about}: {done}, nothing else needed changing")],
    ]
    return look + endings[number // 7 % len(endings)]


def toggle_line(path: str, text: str) -> str:
    """Add a line to a file, or take it away if it is there; says which."""
    prefix = _COMMENT.get(os.path.splitext(path)[1], "-")
    line = f"{prefix} {text}\n".encode("utf-8", "replace")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    lines = data.splitlines(keepends=True)
    taken = line in lines
    if taken:
        lines.remove(line)
    else:
        lines += [line] if data.endswith(b"\n") or not data else [b"\n", line]
    with open(path, "wb") as file:
        file.writelines(lines)
    return "1 line removed" if taken else "1 line added"


def deserted(world: str) -> bool:
    """Whether the demo that made this world has gone: its lock is free, or the directory isn't there."""
    import fcntl

    try:
        fd = os.open(os.path.join(world, OWNER), os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
