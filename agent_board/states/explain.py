"""Why a view is in the state it is in, in plain sentences: the rule, what it means, the evidence."""

from agent_board.states.view import shown
from agent_board.store.records import Evidence, Meta, RunStatus, SemanticState, State
from agent_board.text import cut

_MEANINGS = {
    "stop": "You stopped it, and no report or end of its own came before.",
    "report": "It said so itself, by its report or, as a command, by its exit code, and nothing came after that.",
    "not-sent": "The prompt did not reach the agent: the run ended before the agent was let go.",
    "maybe-received": "The agent was let go and nothing shows if it took the prompt; you decide if it is sent again.",
    "error": "The agent's last answer ended in an error.",
    "retries": "The provider kept failing until the agent's own tries were used up.",
    "length": "The last answer was cut at the model's output limit.",
    "startup": "The agent ended before it took the prompt, and said why.",
    "no-prompt": "The agent ended in good order but never took the prompt.",
    "command": "The prompt begins with “/” and the agent took it as a command of its own instead of a task.",
    "signal": "A signal ended the agent that agent-board did not send.",
    "outside": "The runner was told to end by something other than you: a shutdown, a logout, or a kill.",
    "exit": "The agent's program failed in the middle of its work.",
    "aborted": "The run was interrupted inside the agent.",
    "lost": "It ended without coming to an end of its own.",
    "question": "The agent ended by asking for a decision that it needs to go on.",
    "permission": "The agent needed your permission, refused it by itself, having nobody to ask, and ended over that.",
    "idle": "An open-ended session: there was no task to finish.",
    "success": "The agent came to its end in good order and asks nothing.",
    "request": "The agent waits, alive, for something that only you can answer.",
    "activity": "It is alive and at work.",
    "started": "The run has begun; nothing has been heard from it yet.",
    "orphan": "The agent is alive, but the runner that watched it is gone; its end will be read from its transcript.",
}
_LONGEST = 300


def meaning(reason: str) -> str:
    """What a rule means, in one sentence; empty for one that this version does not know."""
    return _MEANINGS.get(reason, "")


def explain(meta: Meta, state: State | None, status: RunStatus | None) -> list[str]:
    """Plain sentences, the most telling first; one line each."""
    if state is None:
        return ["queued: it has no state yet; its first run has not begun."]
    seen = shown(meta, state)
    lines = [f"{seen.state}: {state.summary}"]
    if seen.verdict:
        lines.append(f"Your verdict counts ({seen.state}); by itself it would be {state.semantic_state}.")
    reason = state.reason or "unknown"
    lines.append(f"Rule “{reason}”: {meaning(reason) or 'a rule that this version does not know.'}")
    lines.append(f"Its process is {state.process_state}.")
    if state.queue_reason and state.semantic_state is SemanticState.QUEUED:
        lines.append(f"It waits: {state.queue_reason}.")
    if seen.stalled:
        lines.append("Nothing has been heard from it for a while (stalled).")
    if status is None:
        lines.append("The run's status can't be read, so there is no evidence to show.")
    else:
        lines.extend(_evidence(status))
    return [cut(" ".join(line.split()), _LONGEST) for line in lines]


def _evidence(status: RunStatus) -> list[str]:
    evidence = status.evidence
    facts = _facts(evidence)
    lines = [f"Evidence of run {status.run_id}: {'; '.join(facts)}."]
    if evidence.report is not None:
        lines.append(f"It reported {evidence.report.status}: {evidence.report.summary or '(no summary)'}")
    if evidence.retry is not None:
        lines.append(f"It retries ({evidence.retry.attempt} of {evidence.retry.most}) after: {evidence.retry.error}")
    lines.extend(f"Open request {key} ({asked.kind}): {asked.text}" for key, asked in evidence.open_requests.items())
    if evidence.error:
        lines.append(f"Last error: {evidence.error}")
    if evidence.startup_error:
        lines.append(f"On its error output: {evidence.startup_error}")
    if evidence.last_text.strip():
        lines.append(f"Its last words: …{evidence.last_text.strip()[-_LONGEST // 2 :]}")
    return lines


def _facts(evidence: Evidence) -> list[str]:
    told = {
        "the prompt was accepted": evidence.prompt_accepted,
        "the prompt was not confirmed": not evidence.prompt_accepted and not evidence.open_ended,
        "the agent was never let go": not evidence.started,
        "answers or tools were seen": evidence.activity,
        "the agent said that it has ended": evidence.settled,
        "it was interrupted": evidence.aborted,
        "its tries were used up": evidence.gave_up,
        "a stop was asked for": evidence.stop_requested,
        "the runner was ended from outside": evidence.outside,
        "the runner is gone": evidence.orphan,
        "an open-ended session": evidence.open_ended,
    }
    facts = [fact for fact, holds in told.items() if holds]
    if evidence.last_stop:
        facts.append(f"the last answer ended with “{evidence.last_stop}”")
    if evidence.denials:
        facts.append(f"{evidence.denials} permissions were denied")
    if evidence.exited:
        code = "unknown" if evidence.exit_code is None else str(evidence.exit_code)
        facts.append(f"it exited (exit code {code})")
    return facts or ["none yet"]
