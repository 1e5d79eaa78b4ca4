"""`agent-board elsewhere`: the sessions that run on this machine outside the board."""

import argparse
from typing import Any

from agent_board.agents.running import RunningSession
from agent_board.cli.output import print_array, say, warn
from agent_board.cli.stores import to_read
from agent_board.text import clean_line


def run(args: argparse.Namespace) -> int:
    """Print them; an agent that does not answer is named on stderr and hides nobody else's."""
    from agent_board.runs.elsewhere import Elsewhere

    found = Elsewhere(to_read(args)).look()
    for problem in found.problems.values():
        warn(problem)
    if args.json:
        print_array(map(_object, found.sessions))
    elif found.sessions:
        for session in found.sessions:
            _print(session)
    else:
        say("No session runs outside the board.")
    return 0


def _object(session: RunningSession) -> dict[str, Any]:
    return {
        "agent": session.agent,
        "pid": session.pid,
        "sessionId": session.session_id,
        "sessionFile": session.session_file,
        "mayHave": list(session.may_have),
        "cwd": session.cwd,
        "title": clean_line(session.title) or None,
        "status": session.doing.name.lower(),
        "waitingFor": clean_line(session.detail) or None,
        "startedAt": session.started_at or None,
    }


def _print(session: RunningSession) -> None:
    doing = f"{session.doing}: {session.detail}" if session.detail else session.doing
    print(clean_line(f"{session.agent} (pid {session.pid}), {doing}, in {session.cwd}"))
    if session.title:
        print(f"    {clean_line(session.title[:400])}")
    for path in (session.session_file, *session.may_have):
        if path:
            print(clean_line(f"    {'session' if path == session.session_file else 'may have'} {path}"))
