"""Sessions that their agent names by itself: the id, once learned, stays with the view, so that replies continue it."""

from contextlib import suppress

from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError
from agent_board.runs.status import job_of
from agent_board.store.paths import StorePaths
from agent_board.store.records import RunRequest
from agent_board.store.views import change_meta


def keep_session(paths: StorePaths, request: RunRequest, session_id: str | None) -> bool:
    """Write the id into meta.json if it is news; False when the store refused, to be tried again."""
    if request.session_file is not None or not session_id or session_id == request.session_id:
        return True
    with suppress(OSError, BoardError):
        change_meta(paths, request.view_id, lambda raw: raw.update(sessionId=session_id))
        return True
    return False


def unnamed_session(request: RunRequest) -> str | None:
    """The id of the session of a run that ended before its agent told it; None when there is none to be found."""
    if request.session_id or request.session_file:
        return request.session_id
    with suppress(OSError, BoardError):
        return agent_named(request.agent).find_session(job_of(request))
    return None
