"""Text that was laid out before, drawn by the line: only what is visible, and of that only what has changed."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agent_board.board.line_looks import line_style
from agent_board.board.model.wrapping import Line


class LinesView(ScrollView, can_focus=False, inherit_bindings=False):
    """Scrolls over lines; stays at the end while the end is in view."""

    def __init__(self, *, id: str, ground: str = "background") -> None:
        """`ground` names the theme's colour that the widget stands on."""
        super().__init__(id=id)
        self._ground = ground
        self.lines: Sequence[Line] = ()
        self._follows = True
        self._styles: dict[tuple[str, bool], Style] = {}
        self.chosen: Callable[[int], bool] | None = None
        """Whether a line belongs to what is chosen: it is drawn on another ground."""
        self.matched: Callable[[Line], Line] | None = None
        """Marks in a line what is searched for."""

    @property
    def at_end(self) -> bool:
        """Whether the last line is in view."""
        return self.scroll_y >= self.max_scroll_y - 0.5

    def show(self, lines: Sequence[Line], *, anew: bool = False) -> None:
        """Show these instead. `anew`: it is another text, seen from its end; else the place is kept."""
        follow = anew or self._follows
        before, self.lines = self.lines, lines
        top = round(self.scroll_y)
        self._fit_size()
        if follow:
            self._to_end()
        if round(self.scroll_y) != top:
            self.refresh()
            return
        for y in range(self.size.height):
            old = before[top + y] if top + y < len(before) else None
            new = lines[top + y] if top + y < len(lines) else None
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def put_before(self, lines: Sequence[Line]) -> None:
        """Add lines above; what is in view stays where it is."""
        self.lines = [*lines, *self.lines]
        top = round(self.scroll_y)
        self._fit_size()
        self.scroll_to(y=top + len(lines), animate=False, immediate=True, force=True)
        self.refresh()

    def bring_into_view(self, first: int, last: int) -> None:
        """Scroll no more than needed to see these lines, the first of them whatever happens."""
        top, height = round(self.scroll_y), self.size.height
        if first < top or last - first >= height:
            self.scroll_to(y=first, animate=False, immediate=True, force=True)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, immediate=True, force=True)

    def move(self, distance: int) -> None:
        """Scroll by so many lines."""
        self.scroll_to(y=round(self.scroll_y) + distance, animate=False, immediate=True, force=True)

    def _fit_size(self) -> None:
        wanted = Size(self.scrollable_content_region.width, len(self.lines))
        if self.virtual_size != wanted:
            self.virtual_size = wanted

    def on_resize(self) -> None:
        """The end stays in view when it was."""
        self._fit_size()
        if self._follows:
            self._to_end()

    def _to_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)
        self._follows = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Who scrolls away from the end leaves it; who comes back follows it again."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = self.at_end

    def notify_style_update(self) -> None:
        """Another theme."""
        self._styles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        number, width = round(self.scroll_y) + y, self.scrollable_content_region.width
        line = self.lines[number] if number < len(self.lines) else ()
        chosen = self.chosen is not None and number < len(self.lines) and self.chosen(number)
        if self.matched is not None:
            line = self.matched(line)
        segments = [Segment(text, self._style(role, chosen)) for text, role in line]
        return Strip(segments).adjust_cell_length(width, self._style("text", chosen))

    def _style(self, role: str, chosen: bool) -> Style:
        known = self._styles.get((role, chosen))
        if known is None:
            known = line_style(role, self.app.theme_variables, ground=self._ground, chosen=chosen)
            self._styles[(role, chosen)] = known
        return known
