"""What each recorded run of Gemini CLI must be read as."""

from tests.agents.replaying import Expected

EXPECTED = [
    Expected("err400", "failed", "error", "400: stub: the request was refused"),
    Expected("plain", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "question",
        "needs_input",
        "question",
        "I found two ways to do this: a small patch or a rewrite. Which one do you want?",
        usage=(1000, 50),
    ),
    Expected("resume", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "sigint",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("sigint-group-hang", "failed", "lost", "The agent ended without an answer, in the middle of its work."),
    Expected(
        "sigint-hang",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("sigterm-group-hang", "failed", "lost", "The agent ended without an answer, in the middle of its work."),
    Expected(
        "sigterm-hang",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "sigterm-tool",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("tool-yolo", "completed", "success", "The command ran and the task is finished.", usage=(2000, 100)),
    Expected("write-default", "completed", "success", "I wrote hello.txt.", usage=(2000, 100)),
]
