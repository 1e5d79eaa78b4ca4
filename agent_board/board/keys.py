"""Every key of the board, in one table: bindings, footer, help and palette are made from it."""

from typing import NamedTuple

from textual.binding import Binding


class Key(NamedTuple):
    """One act and its keys. `id` is also the name under which a user may bind it anew."""

    id: str
    keys: tuple[str, ...]
    section: str
    help: str
    """What it does, as help and palette say it."""
    hint: str = ""
    """What it does, as the footer says it; not in the footer without."""
    shown: str = ""
    """How the keys are written; made from `keys` without."""
    in_palette: bool = True
    numbered: bool = False
    """Each of the keys is a digit and the act is called with it."""

    @property
    def written(self) -> str:
        """The keys as people write them."""
        return self.shown or " ".join(_written(key) for key in self.keys)


KEY_NAMES = {
    "question_mark": "?",
    "exclamation_mark": "!",
    "shift+up": "shift+↑",
    "shift+down": "shift+↓",
    "slash": "/",
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def _written(key: str) -> str:
    return KEY_NAMES.get(key, key)


TASK, MOVE, LIST, ARCHIVE, BOARD = "Tasks", "Moving", "List", "Archived list", "Board"

KEYS: tuple[Key, ...] = (
    Key("attach", ("enter",), TASK, "Attach: the agent's own program on this terminal", "attach"),
    Key("reply", ("r",), TASK, "Reply in peek; to a task at work it waits its turn", "reply"),
    Key("new", ("n",), TASK, "Describe a new task", "new task"),
    Key("stop", ("s",), TASK, "Stop the selected task (asks first)", "stop"),
    Key("done", ("d",), TASK, "Done, or open again: your own verdict"),
    Key("archive", ("x",), TASK, "Archive: hide it and keep everything", "archive"),
    Key("undo", ("u",), TASK, "Undo the last done, archive, pin or rename"),
    Key("pin", ("p",), TASK, "Pin to the top of its group, or unpin"),
    Key("rename", ("e",), TASK, "Rename in place"),
    Key("retry", ("R",), TASK, "Reply with the last prompt filled in"),
    Key("waiting", ("h",), TASK, "Go to the replies that wait: send, edit, drop"),
    Key(
        "choose",
        tuple("123456789"),
        TASK,
        "Mark a choice in peek; enter sends it",
        shown="1 … 9",
        in_palette=False,
        numbered=True,
    ),
    Key("transcript", ("v",), TASK, "The whole conversation: search it, copy from it"),
    Key("changes", ("f",), TASK, "What it changed, uncommitted and new files too"),
    Key("merge", ("M",), TASK, "Merge its branch into the main checkout (asks first)"),
    Key("why", ("exclamation_mark",), TASK, "Why it stands so: rule, evidence, processes, files"),
    Key("mark", ("m",), TASK, "Mark, to act on several at once"),
    Key("copy", ("y",), TASK, "Copy the question, the last answer, a path …"),
    Key("open", ("o",), TASK, "Open a shell, the editor or a program of yours there"),
    Key("adopt", (), TASK, "Adopt a session that was started outside the board"),
    Key("next-needing-you", ("tab",), MOVE, "Go to the next task that needs you", "needs you"),
    Key("up", ("up", "k"), MOVE, "Up", in_palette=False),
    Key("down", ("down", "j"), MOVE, "Down", in_palette=False),
    Key("page-up", ("pageup",), MOVE, "A page up", in_palette=False),
    Key("page-down", ("pagedown",), MOVE, "A page down", in_palette=False),
    Key("first", ("home", "g"), MOVE, "First task"),
    Key("last", ("end", "G"), MOVE, "Last task"),
    Key("unfold", ("space", "right"), LIST, "Peek at the task; open a group, show older tasks", "peek"),
    Key("fold", ("left",), LIST, "Close peek, or the group"),
    Key("peek-down", ("shift+down", "ctrl+d"), LIST, "Scroll peek down", in_palette=False),
    Key("peek-up", ("shift+up", "ctrl+u"), LIST, "Scroll peek up", in_palette=False),
    Key("filter", ("slash",), LIST, "Filter by words, s:failed a:pi p:api is:unread is:pinned", "filter"),
    Key("group", ("t",), LIST, "Group by state or by project"),
    Key("scope", ("ctrl+o",), LIST, "All projects, or the one here"),
    Key("elsewhere", (), LIST, "Show or hide the sessions that run elsewhere"),
    Key("archived", ("A",), ARCHIVE, "The archived tasks: restore, delete"),
    Key("delete", ("D",), ARCHIVE, "Delete the data for good (shows what goes and asks)"),
    Key("clear", ("escape",), BOARD, "Close peek, clear marks, then the filter", in_palette=False),
    Key("help", ("question_mark",), BOARD, "All keys", "all keys"),
    Key("theme", (), BOARD, "Light or dark"),
    Key("put-aside", ("ctrl+z",), BOARD, "Put the board aside; the shell's fg brings it back"),
    Key("quit", ("q",), BOARD, "Leave the board; what runs goes on"),
)
BY_KEY = {written: key.id for key in KEYS for written in key.keys}
"""Which act a key calls, as shipped."""
ONCE = frozenset({"attach", "done", "archive", "undo", "pin", "retry"})
"""Acts that a key which is held down takes once."""

ALWAYS: tuple[Key, ...] = (
    Key("palette", ("ctrl+p",), BOARD, "Find any act by its name"),
    Key("interrupt", ("ctrl+c",), BOARD, "Clear the input; twice leaves the board"),
)
"""Keys that work with an input focused too."""


def list_bindings() -> list[Binding]:
    """The bindings that act while the list has the focus."""
    return [
        Binding(",".join(key.keys), f"screen.act('{key.id}')", key.help, id=key.id, show=False)
        for key in KEYS
        if key.keys and not key.numbered
    ] + [
        Binding(digit, f"screen.{key.id}({digit})", key.help, show=False)
        for key in KEYS
        if key.numbered
        for digit in key.keys
    ]


def app_bindings() -> list[Binding]:
    """The bindings that always act."""
    return [
        Binding(",".join(key.keys), f"app.{key.id.replace('-', '_')}", key.help, id=key.id, show=False, priority=True)
        for key in ALWAYS
    ]
