"""Telling pasted text from typed keys in terminals that don't mark a paste.

A paste arrives as a burst: different characters within milliseconds. A held key repeats one character, and hands are
slower. So a key that acts waits a moment to see whether others come with it.
"""

GAP_S = 0.005
"""Characters closer together than this were not typed one by one."""
HOLD_S = 0.010
"""How long a key that acts waits for others."""
QUIET_S = 0.030
"""A burst has ended when nothing has come for this long."""
AFTERMATH_S = 0.120
"""A new line this soon after a burst still belongs to it (a paste over a slow line comes in pieces)."""
REPEAT_S = 0.7
"""The same key again this soon is taken for a held one (systems begin to repeat after 0.25 to 0.66 s)."""
_LEAST = 3


class Burst:
    """The run of characters that is arriving."""

    def __init__(self) -> None:
        self.text = ""
        self._last = float("-inf")
        self._pasted_at = float("-inf")

    def feed(self, char: str, at: float) -> bool:
        """Note a character and when it came (seconds); True when what is arriving is a paste."""
        close = at - self._last <= (QUIET_S if self.is_paste else GAP_S)
        self.text = self.text + char if close else char
        self._last = at
        if self.is_paste:
            self._pasted_at = at
        return self.is_paste

    @property
    def is_paste(self) -> bool:
        """Whether the characters so far can't have been typed."""
        return len(self.text) >= _LEAST and len(set(self.text)) > 1

    def continues(self, at: float) -> bool:
        """Whether a key at that time belongs to a burst, or comes too soon after one to be a decision."""
        return at - self._last <= GAP_S or at - self._pasted_at <= AFTERMATH_S

    def take(self) -> str:
        """The pasted text; the next character begins anew."""
        text, self.text = self.text, ""
        return text


class Repeats:
    """Tells a key that is held down from one that is pressed again."""

    def __init__(self) -> None:
        self._key = ""
        self._last = float("-inf")
        self._count = 0

    def feed(self, key: str, at: float) -> int:
        """Note a key and when it came (seconds); the how many-th repetition of a held key it is, 0 for a fresh one."""
        held = key == self._key and 0 <= at - self._last < REPEAT_S
        self._count = self._count + 1 if held else 0
        self._key, self._last = key, at
        return self._count
