"""What each recorded run of OpenCode must be read as."""

from tests.agents.replaying import Expected

ASKED = (
    "May it do this? bash: touch /opt/outside-file && echo made "
    "(OpenCode refused it, having nobody to ask; attach to allow it)"
)
EXPECTED = [
    Expected(
        "attach-run-perm",
        "needs_input",
        "permission",
        ASKED,
        usage=(1000, 50),
        cost=0.00375,
    ),
    Expected(
        "bad-model",
        "failed",
        "error",
        "OpenCode failed without saying why; mostly the model is unknown: `opencode models` names those there are.",
    ),
    Expected("continue", "completed", "success", "Hello from the stub model.", usage=(1000, 50), cost=0.00375),
    Expected("err400", "failed", "error", "400: stub: the request was refused"),
    Expected("err401", "failed", "error", "401: stub: invalid api key; run `opencode auth login`."),
    Expected(
        "err404", "failed", "error", "404: stub: model not found; choose another model, or mend the provider's address."
    ),
    Expected(
        "err429",
        "failed",
        "error",
        "429: stub: rate limited; the rate or usage limit is reached; wait, or choose another model or plan.",
    ),
    Expected("err500-full", "failed", "error", "500: stub: internal server error"),
    Expected(
        "external-directory",
        "needs_input",
        "permission",
        ASKED,
        usage=(1000, 50),
        cost=0.00375,
    ),
    Expected("flaky", "completed", "success", "It worked on the second try.", usage=(1000, 50), cost=0.00375),
    Expected(
        "permission-ask-bash-auto",
        "completed",
        "success",
        "The command ran and the task is finished.",
        usage=(2000, 100),
        cost=0.0075,
    ),
    Expected(
        "permission-deny-bash",
        "completed",
        "success",
        "The command ran and the task is finished.",
        usage=(2000, 100),
        cost=0.0075,
    ),
    Expected("plain", "completed", "success", "Hello from the stub model.", usage=(1000, 50), cost=0.00375),
    Expected(
        "question",
        "needs_input",
        "question",
        "I found two ways to do this: a small patch or a rewrite. Which one do you want?",
        usage=(1000, 50),
        cost=0.00375,
    ),
    Expected(
        "resume-1-first",
        "needs_input",
        "question",
        "I found two ways to do this: a small patch or a rewrite. Which one do you want?",
        usage=(1000, 50),
        cost=0.00375,
    ),
    Expected(
        "resume-other-cwd",
        "failed",
        "signal",
        "The agent was ended by SIGKILL before it took the prompt; the signal did not come from agent-board.",
    ),
    Expected(
        "resume-other-cwd-dir-flag",
        "completed",
        "success",
        "Hello from the stub model.",
        usage=(1000, 50),
        cost=0.00375,
    ),
    Expected(
        "resume-while-tui-open", "completed", "success", "Hello from the stub model.", usage=(1000, 50), cost=0.00375
    ),
    Expected(
        "sighup-mid-answer",
        "failed",
        "signal",
        "The agent was ended by SIGHUP in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "sigint-mid-answer",
        "failed",
        "signal",
        "The agent was ended by SIGINT in the middle of its work; the signal did not come from agent-board.",
    ),
    Expected(
        "sigkill-mid-tool",
        "failed",
        "signal",
        "The agent was ended by SIGKILL in the middle of its work; the signal did not come from agent-board.",
    ),
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
    Expected("stdin-open", "completed", "success", "Hello from the stub model.", usage=(1000, 50), cost=0.00375),
    Expected("stdin-prompt", "completed", "success", "Hello from the stub model.", usage=(1000, 50), cost=0.00375),
    Expected(
        "tool", "completed", "success", "The command ran and the task is finished.", usage=(2000, 100), cost=0.0075
    ),
    Expected(
        "unreachable",
        "failed",
        "signal",
        "The agent was ended by SIGKILL before it took the prompt; the signal did not come from agent-board.",
    ),
    Expected(
        "unreachable-full",
        "failed",
        "error",
        "Cannot connect to API: Unable to connect. Is the computer able to access the url?",
    ),
    Expected("write", "completed", "success", "I wrote hello.txt.", usage=(2000, 100), cost=0.0075),
]
