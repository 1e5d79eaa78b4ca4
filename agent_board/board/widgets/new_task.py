"""The new-task bar: the prompt, and beside it where and with what. What was typed is never lost."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from agent_board.board.acts import AgentHere, NewTask, shell_command
from agent_board.board.widgets.choice import Choice, Option
from agent_board.board.widgets.directory_input import DirectoryInput
from agent_board.board.widgets.prompt_area import PromptArea

_WRITES, _READS = "writes", "reads"
_ACCESS = (Option(_WRITES, "edits files"), Option(_READS, "only reads"))
_OWN_MODE = Option("", "default")
_WORKTREE = (
    Option("auto", "auto: of its own if another task writes here"),
    Option("on", "on: a directory and a branch of its own"),
    Option("off", "off: works here, in turn with the others"),
)


class NewTaskBar(Vertical):
    """Enter in any field starts; tab walks through the fields; esc closes and keeps everything as it is."""

    class Started(Message):
        """The user wants this task to run."""

        def __init__(self, task: NewTask) -> None:
            super().__init__()
            self.task = task

    class Closed(Message):
        """The user leaves the bar; the draft is kept."""

    class Edited(Message):
        """Something was typed: the draft is worth keeping soon."""

        def can_replace(self, message: Message) -> bool:
            """One is enough."""
            return isinstance(message, NewTaskBar.Edited)

    def __init__(self, draft: NewTask, recent: Sequence[str], ellipsis: str) -> None:
        super().__init__(id="new-task")
        self._prompt = PromptArea(draft.prompt, f"describe a task{ellipsis}")
        self._directory = DirectoryInput(draft.cwd, recent)
        self._agent = Choice(id="agent")
        self._model = Input(draft.model, placeholder="default", id="model", compact=True, select_on_focus=False)
        self._task_name = Input(
            draft.name, placeholder="from the prompt", id="task-name", compact=True, select_on_focus=False
        )
        self._mode = Choice(id="mode")
        self._modes: dict[str, tuple[str, ...]] = {}
        self._chosen_modes = {draft.agent or "": draft.mode}
        self._access = Choice(id="access")
        self._access.offer(_ACCESS, _READS if draft.read_only else _WRITES)
        self._worktree = Choice(id="worktree")
        self._worktree.offer(_WORKTREE, draft.worktree)
        self._message = Static("", id="task-message")
        self._wanted_agent = draft.agent
        self._sent = False
        """It is closing: a second enter does nothing."""
        self._complained_of: str | None = None
        """The prompt as it was when something was found wrong."""

    def compose(self) -> ComposeResult:
        """The prompt on top, the fields under it, the word on what went wrong between."""
        yield self._prompt
        yield self._message
        for row in (
            (("in", self._directory), ("agent", self._agent)),
            (("name", self._task_name), ("mode", self._mode), ("model", self._model)),
            (("worktree", self._worktree), ("", self._access)),
        ):
            with Horizontal(classes="task-fields"):
                for label, field in row:
                    with Horizontal(classes=f"field field-{field.id}"):
                        yield Static(label, classes="label")
                        yield field

    def on_mount(self) -> None:
        """Type at once."""
        self._show_mode()
        self._prompt.focus()
        self._prompt.move_cursor(self._prompt.document.end)

    def offer_agents(self, agents: Sequence[AgentHere], default: str | None) -> None:
        """Offer these agents; those that can't run say why."""
        options = [Option(here.name, here.name, _problem(here)) for here in agents]
        self._agent.offer(options, self._wanted_agent or default)
        self._modes = {here.name: here.modes for here in agents}
        self._offer_modes()

    def _offer_modes(self) -> None:
        """The modes of the chosen agent, with the one that was chosen for it before."""
        agent = self._agent.value
        self._mode.offer(
            [_OWN_MODE, *(Option(mode, mode) for mode in self._modes.get(agent, ()))], self._chosen_modes.get(agent)
        )
        self._chosen_modes[agent] = self._mode.value
        self._show_mode()

    def _show_mode(self) -> None:
        """The field is there when there is something to choose that counts."""
        there = bool(self._modes.get(self._agent.value)) and self._access.value == _WRITES
        for field in self.query(".field-mode"):  # there is none before the bar is put together
            field.display = there

    def paste(self, text: str) -> None:
        """Put pasted text into the prompt."""
        self._prompt.add(text)

    @property
    def order(self) -> NewTask:
        """What stands in the bar now."""
        agent = self._agent.value or self._wanted_agent
        return NewTask(
            prompt=self._prompt.text,
            cwd=self._directory.path,
            agent=agent,
            model=self._model.value,
            mode=self._chosen_modes.get(agent or "", ""),
            name=self._task_name.value,
            read_only=self._access.value == _READS,
            worktree=self._worktree.value,
        )

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Say something in the bar: what went wrong, mostly."""
        self._complained_of = self._prompt.text if wrong else None
        self._message.set_class(wrong, "-wrong")
        self._message.display = bool(sentence)
        self._message.update(Content(sentence))

    def give_back(self, prompt: str) -> None:
        """Put the text of an earlier task, which was refused meanwhile, in front of what was typed since."""
        typed = self._prompt.text
        self._prompt.text = f"{prompt}\n\n{typed}" if typed.strip() else prompt
        self._prompt.move_cursor(self._prompt.document.end)

    def clear(self) -> bool:
        """Empty the field that has the focus; False when there was nothing in it."""
        field = self.screen.focused
        if isinstance(field, PromptArea):
            had = bool(field.text)
            field.clear()
        elif isinstance(field, Input):
            had = bool(field.value)
            field.value = ""
        else:
            had = False
        return had

    def on_prompt_area_sent(self, event: PromptArea.Sent) -> None:
        """Enter in the prompt."""
        event.stop()
        self._start()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field."""
        event.stop()
        self._start()

    def _start(self) -> None:
        if self._sent:
            return
        if not self._prompt.text.strip():
            self.say("Say first what is to be done.", wrong=True)
            self._prompt.focus()
        elif self._agent.problem and shell_command(self._prompt.text) is None:
            self.say(self._agent.problem, wrong=True)
        else:
            self._sent = True
            self.post_message(self.Started(self.order))

    def on_key(self, event: events.Key) -> None:
        """Esc leaves; enter on a choice starts."""
        if event.key == "escape":
            event.stop()
            self.post_message(self.Closed())
        elif event.key == "enter":
            event.stop()
            self._start()

    def on_text_area_changed(self) -> None:
        """A draft is worth keeping, and a complaint about another text is out of date."""
        if self._prompt.text != self._complained_of:
            self._edited()

    def on_input_changed(self) -> None:
        """As above."""
        self._edited()

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """An agent that can't run says so at once."""
        event.stop()
        if event.choice is self._agent:
            self._offer_modes()
        elif event.choice is self._mode:
            self._chosen_modes[self._agent.value] = self._mode.value
        self._show_mode()
        self.say(self._agent.problem, wrong=True)
        self._edited()

    def _edited(self) -> None:
        if not self._agent.problem:
            is_command = shell_command(self._prompt.text) is not None
            self.say("a shell command: it runs here, and no agent sees it" if is_command else "")
        self.post_message(self.Edited())


def _problem(here: AgentHere) -> str:
    if here.problem:
        return here.problem
    return "" if here.found else f"{here.title} is not installed; get it with: {here.install}"
