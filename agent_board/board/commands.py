"""The command palette: every act that exists, from the table of keys."""

from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from agent_board.board.keys import KEYS, Key

_BEGINS = 1000.0
"""More than any score that Textual gives."""


class Commands(Provider):
    """Acts by name, with the key that does the same."""

    def _acts(self) -> Iterable[Key]:
        return (key for key in KEYS if key.in_palette)

    def _run(self, key: Key) -> "partial[Coroutine[Any, Any, None]]":
        return partial(self._take, key.id)

    async def _take(self, act: str) -> None:
        await self.app.board.leave_inputs()  # type: ignore[attr-defined]
        await self.app.run_action(f"act('{act}')", self.screen)

    @staticmethod
    def _name(key: Key) -> str:
        return f"{key.section}: {key.help}"

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for key in self._acts():
            yield DiscoveryHit(_with_keys(Content(self._name(key)), key), self._run(key), text=self._name(key))

    async def search(self, query: str) -> Hits:
        """Those whose name fits, first those that begin with it: “rename” is not to undo one."""
        matcher, begins = self.matcher(query), query.strip().lower()
        for key in self._acts():
            score = matcher.match(self._name(key))
            if score > 0:
                score += _BEGINS if key.help.lower().startswith(begins) else 0
                found = _with_keys(matcher.highlight(self._name(key)), key)
                yield Hit(score, found, self._run(key), text=self._name(key))


def _with_keys(name: Content, key: Key) -> Content:
    return Content.assemble(name, (f"  {key.written}", "$foreground-muted")) if key.keys else name
