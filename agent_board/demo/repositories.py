"""Small git repositories with a short history, made in a few milliseconds and without the user's git settings."""

import os
import subprocess
import time
from collections.abc import Mapping

from agent_board.errors import BoardError

_WHO = "Demo <demo@example.invalid>"
_MESSAGES = ("Begin", "Say what it is for", "Make the test check every file")
_STEP_S = 26 * 3600


def make_repository(path: str, files: Mapping[str, str]) -> None:
    """A repository at `path` holding these files, in a few commits of the last days; `test.sh` can be executed.

    Raises BoardError when git is missing or refuses.
    """
    os.makedirs(path)
    _git(path, "init", "-q")
    _git(path, "fast-import", "--quiet", given=_history(files))
    _git(path, "symbolic-ref", "HEAD", "refs/heads/main")
    _git(path, "reset", "-q", "--hard")


def _history(files: Mapping[str, str]) -> bytes:
    """A stream for `git fast-import`: the files spread over as many commits as there are messages."""
    names = sorted(files, key=lambda name: (name != "README.md", name))
    first = int(time.time()) - _STEP_S * len(_MESSAGES)
    stream: list[bytes] = []
    for number, message in enumerate(_MESSAGES):
        stream.append(f"commit refs/heads/main\ncommitter {_WHO} {first + number * _STEP_S} +0000\n".encode())
        stream.append(_data(f"{message}\n"))
        for name in names[number :: len(_MESSAGES)]:
            mode = "100755" if name.endswith(".sh") else "100644"
            stream.append(f"M {mode} inline {name}\n".encode() + _data(files[name]))
    return b"".join(stream)


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _git(path: str, *arguments: str, given: bytes = b"") -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        subprocess.run(["git", *arguments], cwd=path, env=environ, input=given, capture_output=True, check=True)
    except FileNotFoundError:
        raise BoardError("The demo needs git, and there is none on PATH; install git and try again.") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BoardError(f"git {arguments[0]} failed in {path}: {said[-1] if said else error.returncode}") from error
