"""What each recorded run of Codex must be read as."""

from tests.agents.replaying import Expected

BUSY = (
    "Another Codex has this conversation open (a terminal, or its daemon behind one); leave it, or run "
    "`codex app-server daemon stop`, then send again."
)
EXPECTED = [
    Expected("approval-on-request", "completed", "success", "I wrote hello.txt.", usage=(2000, 100)),
    Expected(
        "approval-untrusted-shell",
        "failed",
        "startup",
        'Codex could not begin: approval_policy = "untrusted" is no longer supported; remove this setting',
    ),
    Expected("ask", "needs_input", "question", "Which database should I use?", usage=(2000, 100)),
    Expected("bad-flag", "failed", "startup", "Codex could not begin: unexpected argument '--no-such' found"),
    Expected("cd-flag", "completed", "success", "I wrote hello.txt.", usage=(2000, 100)),
    Expected("concurrent-a", "completed", "success", "The wait is over.", usage=(2000, 100), before=(1000, 50)),
    Expected(
        "concurrent-b-resume-running",
        "failed",
        "startup",
        BUSY,
    ),
    Expected(
        "cut",
        "failed",
        "error",
        "The connection to the provider broke before the answer's end, and the tries were used up.",
        retries=1,
    ),
    Expected("empty", "completed", "success", "Ended without a word", usage=(1000, 50)),
    Expected("ephemeral", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("err400", "failed", "error", "Stub: the request was refused."),
    Expected("err401", "failed", "error", "401: stub: invalid api key; run `codex login`.", retries=1),
    Expected(
        "err403", "failed", "error", "403: stub: forbidden; the provider refuses this account or model.", retries=1
    ),
    Expected(
        "err429",
        "failed",
        "error",
        "429: Too Many Requests; the rate or usage limit is reached; wait, or choose another model or plan.",
        retries=1,
    ),
    Expected(
        "failtool", "completed", "success", "The command failed with status 3, so I stopped there.", usage=(2000, 100)
    ),
    Expected("flaky", "completed", "success", "It worked on the second try.", usage=(1000, 50)),
    Expected("fork", "completed", "success", "Hello from the stub model.", usage=(1000, 50), before=(9000, 450)),
    Expected("orphan-full-sigint", "failed", "exit", "The agent ended with exit code 1 in the middle of its work."),
    Expected(
        "orphan-full-sigterm",
        "failed",
        "signal",
        "The agent was ended by SIGTERM in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "orphan-ws-sigkill-group",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("plain", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("plain-native-binary", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "question",
        "needs_input",
        "question",
        "I found two ways to do this: a small patch or a rewrite. Which one do you want?",
        usage=(1000, 50),
    ),
    Expected("readonly-shell-write", "completed", "success", "Done with the shell.", usage=(2000, 100)),
    Expected("remote-question", "needs_input", "question", "Which database should I use?", usage=(2000, 100)),
    Expected(
        "remote-resume",
        "completed",
        "success",
        "The command ran and the task is finished.",
        usage=(2000, 100),
        before=(11000, 550),
    ),
    Expected("remote-sigint", "failed", "exit", "The agent ended with exit code 1 in the middle of its work."),
    Expected(
        "remote-sigterm",
        "failed",
        "signal",
        "The agent was ended by SIGTERM in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "resume-2-reply",
        "completed",
        "success",
        "The command ran and the task is finished.",
        usage=(2000, 100),
        before=(1000, 50),
    ),
    Expected(
        "resume-3-third", "completed", "success", "Hello from the stub model.", usage=(1000, 50), before=(3000, 150)
    ),
    Expected(
        "resume-after-daemon-stop",
        "completed",
        "success",
        "Hello from the stub model.",
        usage=(1000, 50),
        before=(10000, 500),
    ),
    Expected(
        "resume-after-tui-no-daemon-quit",
        "completed",
        "success",
        "Hello from the stub model.",
        usage=(1000, 50),
        before=(14000, 700),
    ),
    Expected(
        "resume-after-tui-quit-20s",
        "failed",
        "startup",
        BUSY,
    ),
    Expected("resume-last", "completed", "success", "Hello from the stub model.", usage=(1000, 50), before=(4000, 200)),
    Expected("resume-unknown", "failed", "startup", "Codex no longer has this conversation; start a new task."),
    Expected(
        "resume-while-tui-open",
        "failed",
        "startup",
        BUSY,
    ),
    Expected("sandbox-1-workspace", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "sandbox-2-resume-without-flag",
        "completed",
        "success",
        "I wrote hello.txt.",
        usage=(2000, 100),
        before=(1000, 50),
    ),
    Expected(
        "sandbox-3-resume-flag-after", "failed", "startup", "Codex could not begin: unexpected argument '-s' found"
    ),
    Expected(
        "sandbox-4-resume-flag-before",
        "completed",
        "success",
        "I wrote hello.txt.",
        usage=(2000, 100),
        before=(3000, 150),
    ),
    Expected(
        "sandbox-5-resume-config", "completed", "success", "I wrote hello.txt.", usage=(2000, 100), before=(5000, 250)
    ),
    Expected("sighup-then-resume", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("sigint-mid-answer", "failed", "exit", "The agent ended with exit code 1 in the middle of its work."),
    Expected("sigint-mid-tool", "failed", "exit", "The agent ended with exit code 1 in the middle of its work."),
    Expected("sigint-mid-tool-then-resume", "completed", "success", "Hello from the stub model.", usage=(2000, 100)),
    Expected("sigint-then-resume", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "sigkill-mid-tool",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("sigkill-mid-tool-then-resume", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected(
        "sigterm-mid-answer",
        "failed",
        "signal",
        "The agent was ended by SIGTERM in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "sigterm-mid-tool",
        "failed",
        "signal",
        "The agent was ended by SIGTERM in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected("sigterm-mid-tool-then-resume", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("stdin-extra", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("stdin-open", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("stdin-prompt", "completed", "success", "Hello from the stub model.", usage=(1000, 50)),
    Expected("think", "completed", "success", "Thought about it.", usage=(1000, 50)),
    Expected("tool", "completed", "success", "The command ran and the task is finished.", usage=(2000, 100)),
    Expected("toolerr", "failed", "error", "Stub: refused after a tool."),
    Expected("two-tools", "completed", "success", "Both commands ran.", usage=(2000, 100)),
    Expected(
        "unreachable",
        "failed",
        "signal",
        "The agent was ended by SIGKILL while it was retrying after: Waiting for network (Connection "
        "failed: error sending request); "
        "the signal did not come from agent-board.",
        retries=3,
    ),
    Expected("workspace-shell-write-outside", "completed", "success", "Tried to write outside.", usage=(2000, 100)),
    Expected("write-workspace", "completed", "success", "I wrote hello.txt.", usage=(2000, 100)),
]
