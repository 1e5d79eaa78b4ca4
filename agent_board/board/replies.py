"""What the reply input asks of `runs`: each may take its time and is called in a thread. Imports wait until then."""

from typing import TYPE_CHECKING

from agent_board.store.paths import StorePaths

if TYPE_CHECKING:
    from agent_board.board.model.peeked import Peeked
    from agent_board.config import Settings


class Replies:
    """Reading, answering, and the prompts that wait, on one store."""

    def __init__(self, paths: StorePaths, settings: "Settings") -> None:
        self.paths = paths
        self._settings = settings

    def peek(self, view_id: str) -> "Peeked | None":
        """What peek shows of a view; None when it is gone."""
        from agent_board.board.reading import read_peek

        return read_peek(self.paths, view_id)

    def send(self, view_id: str, text: str, cwd: str) -> bool:
        """Send a reply; True when it waits for its turn. Raises BoardError with the sentence for the user."""
        from agent_board.runs.reply import reply

        answered = reply(self.paths, view_id, text.encode("utf-8", "surrogateescape"), self._settings.options(cwd))
        return answered.run_id is None

    def answer(self, view_id: str, request_id: str, number: int, text: str = "") -> None:
        """Answer an open request by one of its choices, from 1; with a text, deny it for that reason.

        Raises BoardError when nobody waits for it any more.
        """
        from agent_board.agents.base import Answer
        from agent_board.runs.answer import answer

        answer(self.paths, view_id, request_id, Answer("deny", text) if text else Answer("choice", choice=number))

    def takes_replies(self, agent: str | None) -> bool:
        """Whether that agent goes on from a reply; a shell command doesn't."""
        from agent_board.agents.registry import agent as agent_named
        from agent_board.errors import BoardError

        try:
            return agent is None or agent_named(agent).takes_replies
        except BoardError:  # of another version
            return True

    def run_again(self, view_id: str, cwd: str) -> None:
        """Send the last prompt once more, as it was. Raises BoardError."""
        from agent_board.runs.reply import retry

        retry(self.paths, view_id, self._settings.options(cwd))

    def replace(self, view_id: str, prompt_id: str, text: str) -> None:
        """Put another text in the place of a prompt that waits. Raises BoardError when it does no longer."""
        from agent_board.runs.dispatch import checked_prompt
        from agent_board.runs.followups import edit

        edit(self.paths, self.paths.view(view_id), prompt_id, checked_prompt(text.encode("utf-8", "surrogateescape")))

    def send_held(self, view_id: str, prompt_id: str, cwd: str) -> None:
        """Send a held prompt now. Raises BoardError when the row lives or the prompt waits no longer."""
        from agent_board.runs.reply import send

        send(self.paths, view_id, prompt_id, self._settings.options(cwd))

    def drop(self, view_id: str, prompt_id: str) -> str:
        """Take a waiting prompt away; returns its text. Raises BoardError when it waits no longer."""
        from agent_board.runs.followups import drop

        return drop(self.paths, self.paths.view(view_id), prompt_id)

    def last_prompt(self, view_id: str) -> "tuple[str, str]":
        """The last prompt in full, and its id when it was not sent and still waits (else empty).

        Raises BoardError when there was none.
        """
        from agent_board.board.reading import last_prompt
        from agent_board.runs.followups import UNSENT, listed

        kept = next((item for item in listed(self.paths.view(view_id)) if item.state in UNSENT), None)
        return (kept.text, kept.id) if kept is not None else (last_prompt(self.paths, view_id), "")

    def mark_seen(self, view_id: str) -> None:
        """The user has seen how the view stands. Raises BoardError."""
        from agent_board.runs.reply import mark_seen

        mark_seen(self.paths, view_id)

    def draft_path(self, view_id: str) -> str:
        """The draft's own file."""
        return self.paths.view(view_id).draft

    def load_draft(self, view_id: str) -> str:
        """The half-written reply; empty when there is none."""
        from agent_board.runs.reply import load_draft

        return load_draft(self.paths, view_id)

    def save_draft(self, view_id: str, text: str) -> None:
        """Keep a half-written reply; an empty one is removed. Raises OSError."""
        from agent_board.runs.reply import save_draft

        save_draft(self.paths, view_id, text)

    def command_warning(self, agent: str, text: str) -> str:
        """What to say while a text is typed that the agent would take for a command of its own; else nothing."""
        from agent_board.agents.registry import agent as agent_named
        from agent_board.errors import UsageError

        try:
            known = agent_named(agent)
        except UsageError:
            return ""
        return f"{known.title} takes a leading / as its own command" if known.takes_commands(text[:4096]) else ""
