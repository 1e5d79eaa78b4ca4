"""What each recorded run of Copilot CLI must be read as."""

from tests.agents.replaying import Expected

WORDS = " ".join(f"word{number}" for number in range(30)) + "…"
EXPECTED = [
    Expected("chosen-id", "completed", "success", "Hello from the stub model."),
    Expected("err400", "failed", "error", "400: stub: the request was refused"),
    Expected(
        "err401",
        "failed",
        "error",
        "401: Authentication failed with provider; run `copilot` and use /login.",
        retries=2,
    ),
    Expected("plain", "completed", "success", "Hello from the stub model."),
    Expected(
        "question",
        "needs_input",
        "question",
        "I found two ways to do this: a small patch or a rewrite. Which one do you want?",
    ),
    Expected("resume", "completed", "success", "Hello from the stub model."),
    Expected(
        "resume-unknown",
        "failed",
        "startup",
        "No session, task, or name matched '00000151-0000-4000-8000-000000000151'.",
    ),
    Expected(
        "sigint",
        "completed",
        "success",
        WORDS,
    ),
    Expected("sigint-group-hang", "failed", "aborted", "The run was interrupted before its end."),
    Expected(
        "sigint-hang",
        "failed",
        "signal",
        "The agent was ended by SIGINT in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "sigterm",
        "completed",
        "success",
        WORDS,
    ),
    Expected(
        "sigterm-tool",
        "failed",
        "signal",
        "The agent was ended by SIGTERM in the middle of its work; the signal did not come from agent-board.",
    ),
]
