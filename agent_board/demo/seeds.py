"""What the demo's world holds: a few repositories, and tasks in every state a row can have. Data only."""

from dataclasses import dataclass

from agent_board.store.records import SemanticState as S

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
GO = "go"
"""The file in the world that lets the queued task begin."""
READY = "ready"
"""The file in the world that says: every task stands as it should."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One task: what the user would have typed, and what comes of it."""

    name: str
    project: str
    prompt: str
    script: str
    """Steps for the scripted agent, see demo/agent.py."""
    ends: S
    age: int = 0
    """Seconds since the row's state began, for rows that have settled."""
    seen: bool = False
    pinned: bool = False


_TEST = '#!/bin/sh\n# Every file says something.\nfor file in $(git ls-files); do test -s "$file" || exit 1; done\n'
_MORE = f"{_TEST}echo \"$(git ls-files | wc -l | tr -d ' ') files checked, all fine\"\n"

REPOSITORIES: dict[str, dict[str, str]] = {
    "api": {
        "README.md": "# api\n\nThe HTTP service: sessions, invoices, webhooks.\n",
        "test.sh": _MORE,
        "src/sessions.py": (
            '"""Sessions: who is logged in, and until when."""\n\nLIFETIME_DAYS = 7\n\n\n'
            "def is_valid(age_days: int) -> bool:\n    return age_days < LIFETIME_DAYS\n"
        ),
        "src/middleware.py": (
            '"""What runs before each request."""\n\n\ndef authenticate(headers: dict[str, str]) -> str | None:\n'
            '    return headers.get("authorization")\n'
        ),
        "src/pagination.py": (
            '"""Pages of a long list."""\n\nPAGE = 50\n\n\n'
            "def page(items: list[str], number: int) -> list[str]:\n"
            "    return items[number * PAGE : (number + 1) * PAGE]\n"
        ),
    },
    "web": {
        "README.md": "# web\n\nThe browser application.\n",
        "test.sh": _MORE,
        "src/theme.css": ":root {\n  --background: white;\n  --text: #222;\n}\n",
        "src/upload.ts": (
            "export async function upload(file: File): Promise<string> {\n"
            '  const answer = await fetch("/files", { method: "POST", body: file });\n  return answer.text();\n}\n'
        ),
        "src/retry.ts": (
            "export async function retry<T>(work: () => Promise<T>, tries = 3): Promise<T> {\n"
            "  try {\n    return await work();\n  } catch (error) {\n"
            "    if (tries <= 1) throw error;\n    return retry(work, tries - 1);\n  }\n}\n"
        ),
    },
    "infra": {
        "README.md": "# infra\n\nMachines, networks, deployments.\n",
        "test.sh": _MORE,
        "main.tf": 'variable "region" {\n  default = "eu-central-1"\n}\n',
        "deploy.yml": "steps:\n  - build\n  - test\n  - release\n",
    },
    "docs": {
        "README.md": "# docs\n\nWhat users read.\n",
        "test.sh": _MORE,
        "quick-start.md": "# Quick start\n\nInstall it, start it, open the page.\n",
        "changelog.md": "# Changelog\n\n- First release\n",
    },
}

SEEDS: tuple[Seed, ...] = (
    Seed(
        "auth-middleware",
        "api",
        "Move the authentication checks out of the handlers and into one middleware. Keep the public behaviour.",
        "say I'll start with what the handlers do today.; read src/middleware.py; edit src/middleware.py; test;"
        " say The first handlers are moved, the rest follows one by one.; work 900; test;"
        " report completed All 14 handlers use the middleware; the checks are in one place",
        S.WORKING,
        pinned=True,
    ),
    Seed(
        "translate-quick-start",
        "docs",
        "Translate the quick start into Chinese and put it beside the English one.",
        f"until {GO}; say I'll read the English text first.; read quick-start.md; work 20; edit quick-start.md; test;"
        " report completed Translated the quick start, 1 page",
        S.QUEUED,
    ),
    Seed(
        "refresh-tokens",
        "api",
        "Add refresh tokens to the session service.\n\nThey must be rotated on use and be revocable.",
        "speed 12; say I'll look at how sessions end today.; read src/sessions.py; edit src/sessions.py; test;"
        " report blocked Tokens are issued, rotated and revocable, only their lifetime is open"
        " | Should refresh tokens live 7 or 30 days?",
        S.NEEDS_INPUT,
        age=3 * MINUTE,
    ),
    Seed(
        "bump-deps",
        "infra",
        "Bump all providers to their latest versions and fix what breaks.",
        "speed 20; say Checking which providers are behind.; read main.tf; fail 429 quota exhausted, resets at 18:00",
        S.FAILED,
        age=HOUR,
    ),
    Seed(
        "支付回调重试",
        "api",
        "支付回调偶尔失败，请加上带退避的重试，并补一个测试。",
        "say 我先看看现在的实现。; read src/middleware.py; work 600; test;"
        " report completed 已加上带退避的重试，并补了测试",
        S.WORKING,
    ),
    Seed(
        "rewrite-build",
        "web",
        "Rewrite the build with the new bundler.",
        "speed 5; say I'll begin with the entry points.; read src/upload.ts; hang",
        S.STOPPED,
        age=26 * MINUTE,
        seen=True,
    ),
    Seed(
        "docs-typos",
        "docs",
        "Fix all typos in the docs.",
        "speed 20; say Reading all pages.; read quick-start.md; edit changelog.md; test;"
        " report completed Fixed 14 typos in 6 files",
        S.COMPLETED,
        age=2 * HOUR,
    ),
    Seed(
        "flaky-upload-test",
        "web",
        "The upload test fails about once in twenty runs. Find out why and fix it.",
        "speed 20; say Running it in a loop first.; test; read src/retry.ts;"
        " ask The test is flaky because `retry` hides a race in `upload`: the second try finds a half-written file."
        "\\n\\nI fixed the race. The retry helper has no other user now.\\n\\n"
        "Should I delete the retry helper, or keep it behind a flag?",
        S.NEEDS_INPUT,
        age=11 * MINUTE,
        seen=True,
    ),
    Seed(
        "dark-mode",
        "web",
        "Add a dark mode that follows the system's setting.",
        "say The colours are in one file, good.; read src/theme.css; edit src/theme.css; work 300; test;"
        " say Dark mode follows the system now. Both themes pass the contrast check.",
        S.WORKING,
    ),
    Seed(
        "cursor-pagination",
        "api",
        "Replace the page numbers of the list endpoints by cursors.",
        "speed 20; say Looking at the list endpoints.; read src/pagination.py; edit src/pagination.py; test;"
        " say Replaced page numbers by opaque cursors in all nine list endpoints, kept the old parameter for one"
        " release with a warning in the response's headers, and extended the tests.\\n\\n"
        "Let me know if you also want the old parameter removed now.",
        S.COMPLETED,
        age=5 * HOUR,
        seen=True,
    ),
    Seed(
        "cheaper-runners",
        "infra",
        "Why is the pipeline so expensive? Look only, change nothing.",
        "speed 20; read deploy.yml; say Two of three jobs build the same image. Sharing it halves the bill.",
        S.COMPLETED,
        age=DAY,
        seen=True,
    ),
)

IDLE = Seed(
    "explore-tracing",
    "infra",
    "How would we trace one request through all services?",
    "We could pass a request id along and log it everywhere. That takes a day, and no new service.",
    S.IDLE,
    age=40 * MINUTE,
    seen=True,
)
"""A session that was begun elsewhere: its script is the agent's last answer."""
