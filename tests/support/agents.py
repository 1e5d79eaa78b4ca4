"""The other real agents for tests, installed like Pi, each with the scripted server as its only provider."""

import json
import os
from pathlib import Path

from tests.support import pi
from tests.support.model_server import MODEL

CLAUDE = ("@anthropic-ai/claude-code", "2.1.332")
CODEX = ("@openai/codex", "0.171.0")
OPENCODE = ("opencode-ai", "1.18.33")
GEMINI = ("@google/gemini-cli", "0.61.0")
COPILOT = ("@github/copilot", "1.0.102")

# The notice, as Codex itself notes it: a user who has been asked already whether he wants the newer model.
_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[sandbox_workspace_write]
exclude_slash_tmp = true
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"""
OPENCODE_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}


def make_claude_bin(folder: Path) -> Path:
    """Fill `folder` with `claude`: the program of this platform, which the package's install script would link."""
    packages = (pi.install(*CLAUDE) / "node_modules" / "@anthropic-ai").glob("claude-code-*/claude")
    return _bin(folder, claude=min(packages, key=lambda path: ("musl" in str(path), str(path))))


def claude_environment(home: Path, url: str, project: Path) -> dict[str, str]:
    """What makes Claude Code use the scripted server, beside the settings written here, which skip its welcome."""
    key = "sk-ant-scripted-key-of-no-account"
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(settings))
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    return {
        **dict.fromkeys((*quiet, "DISABLE_AUTOUPDATER", "CLAUDE_CODE_MAX_RETRIES"), "1"),
        "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
        "ANTHROPIC_API_KEY": key,
    }


def make_codex_bin(folder: Path) -> Path:
    """Fill `folder` with `codex` and `node`, to be put first on PATH."""
    return _bin(folder, codex=pi.install(*CODEX) / "node_modules" / ".bin" / "codex")


def make_opencode_bin(folder: Path) -> Path:
    """Fill `folder` with `opencode`: the program of this platform, which the package's install script would link."""
    packages = (pi.install(*OPENCODE) / "node_modules").glob("opencode-*/bin/opencode")
    best = min(packages, key=lambda path: ("baseline" in str(path), str(path)))
    return _bin(folder, opencode=best)


def make_other_bin(folder: Path) -> Path:
    """Fill `folder` with `gemini`, `copilot` and `node`."""
    programs = {"gemini": GEMINI, "copilot": COPILOT}
    return _bin(folder, **{name: pi.install(*what) / "node_modules" / ".bin" / name for name, what in programs.items()})


def _bin(folder: Path, **programs: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, where in {"node": pi.node(), **programs}.items():
        (folder / name).symlink_to(where)
    return folder


def write_codex_config(home: Path, url: str) -> None:
    """Make Codex use the scripted server."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(_CODEX_CONFIG.format(url=url))


def write_opencode_config(config: Path, url: str, **more: object) -> None:
    """Make OpenCode use the scripted server."""
    model = {"limit": {"context": 100_000, "output": 4_000}, "cost": {"input": 1, "output": 2}}
    options = {"baseURL": url, "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {MODEL: model}}
    chosen = {
        "model": f"scripted/{MODEL}",
        "small_model": f"scripted/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
    }
    folder = config / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(json.dumps({"provider": {"scripted": provider}, **chosen, **more}))


def other_environment(home: Path, url: str) -> dict[str, str]:
    """What makes Gemini CLI and Copilot CLI use the scripted server, beside the settings written here."""
    folder = home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    quiet = {"general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}}
    (folder / "settings.json").write_text(
        json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **quiet})
    )
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url.removesuffix("/v1"),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": url,
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": MODEL,
    }


def scripted(name: str, folder: Path, home: Path, project: Path, url: str) -> dict[str, str]:
    """What makes one agent run against the scripted server: its program in `folder`, its settings, these variables."""
    match name:
        case "claude":
            made, needed = make_claude_bin(folder), claude_environment(home, url, project)
        case "codex":
            made, needed = make_codex_bin(folder), {"SCRIPTED_API_KEY": "none"}
            write_codex_config(home / ".codex", url)
        case "opencode":
            made, needed = make_opencode_bin(folder), OPENCODE_QUIET
            write_opencode_config(home / ".config", url)
        case _:
            made, needed = make_other_bin(folder), other_environment(home, url)
    return {**needed, "PATH": path_with(made)}


def path_with(folder: Path) -> str:
    """PATH with that directory first."""
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
