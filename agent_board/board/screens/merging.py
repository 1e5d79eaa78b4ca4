"""The questions before a merge: the message for what is uncommitted, and the commands that `y` alone lets run."""

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.screens.confirm import Confirm
from agent_board.text import clean_line

if TYPE_CHECKING:
    from agent_board.git.merge import MergePlan

_SHOWN = 8


class CommitMessage(ModalScreen[str | None]):
    """Offers to commit what is uncommitted; the answer is the message, or None. Nothing is done yet."""

    def __init__(self, plan: "MergePlan", glyphs: Glyphs) -> None:
        super().__init__(id="commit")
        self._plan = plan
        self._glyphs = glyphs
        self._input = Input(plan.message, id="commit-message", compact=True, select_on_focus=False)
        self._input.cursor_blink = False

    def compose(self) -> ComposeResult:
        """What is uncommitted, the message, the two ways on."""
        plan, glyphs = self._plan, self._glyphs
        count = words.count(len(plan.uncommitted), "uncommitted file")
        with Vertical(classes="dialog"):
            yield Static(
                Content(f"First commit {count} on {glyphs.text(clean_line(plan.branch))}"), classes="dialog-title"
            )
            yield Static(Content("\n".join(_listed(plan.uncommitted, glyphs))), classes="dialog-text")
            yield Static("message", id="commit-label")
            yield self._input
            yield Static("", id="answers")

    def on_mount(self) -> None:
        """Type at once."""
        self._input.focus()
        self._say()

    def _say(self, wrong: str = "") -> None:
        self.query_one("#answers", Static).update(
            Content.assemble(
                ("enter", "bold $foreground"),
                (" shows the commands     ", "$foreground-muted"),
                ("esc", "bold $foreground"),
                (" leave it uncommitted, no merge", "$foreground-muted"),
                (f"     {wrong}" if wrong else "", "$error"),
            )
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """On to the question."""
        event.stop()
        message = event.value.strip()
        if message:
            self.dismiss(message)
        else:
            self._say("A commit needs a message.")

    def on_key(self, event: events.Key) -> None:
        """Esc leaves everything as it is."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)


def question_for(plan: "MergePlan", message: str | None, glyphs: Glyphs) -> Confirm:
    """Shows what comes over and the git commands that do it."""
    lines = []
    if plan.commits:
        lines.append(f"{words.count(len(plan.commits), 'commit')} that {plan.target_branch} hasn't got:")
        lines += _listed([f"{commit.id[:8]}  {commit.subject}" for commit in plan.commits], glyphs)
    if plan.uncommitted:
        lines.append(f"Committed first, with your message: {words.count(len(plan.uncommitted), 'file')}")
    lines.append("These commands run:")
    lines += [f"  {command}" for command in plan.commands(message)]
    question = clean_line(f"Merge {plan.branch} into {plan.target_branch} in {plan.target}?")
    shown = "\n".join(line[: len(line) - len(line.lstrip())] + clean_line(line) for line in lines)
    return Confirm(glyphs.text(question), "merge it", "leave both as they are", detail=glyphs.text(shown))


def _listed(items: "tuple[str, ...] | list[str]", glyphs: Glyphs) -> list[str]:
    shown = [f"  {glyphs.text(clean_line(item))}" for item in items[:_SHOWN]]
    return [*shown, f"  and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else shown
