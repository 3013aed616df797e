"""Plots that fit any width: places across are percent, places down are pixels, so text keeps its size on a phone.

A plot is HTML around small SVGs without a script. Colours are the style sheet's variables, marks are defined once in
each page (MARKS), and what a mark stands for appears when one points at it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from paddock import numbers

# Shapes around 0, 0; the first eight tell series apart together with their colours.
_SHAPES = {
    "circle": "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z",
    "square": "M-4 -4H4V4H-4Z",
    "up": "M0 -5.2L5 4H-5Z",
    "diamond": "M0 -5.6L5.2 0L0 5.6L-5.2 0Z",
    "down": "M0 5.2L5 -4H-5Z",
    "plus": "M-1.8 -5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5V-1.8H-1.8Z",
    "star": "M0 -6L1.8 -1.9L6 -1.5L2.8 1.4L3.8 5.6L0 3.3L-3.8 5.6L-2.8 1.4L-6 -1.5L-1.8 -1.9Z",
    "hourglass": "M-4.5 -4.5H4.5L-4.5 4.5H4.5Z",
    "cross": "M-4.5 -4.5L4.5 4.5M4.5 -4.5L-4.5 4.5",
    "end": "M0 -5V5",
    "more": "M0 -8V-17M-3 -13.5L0 -17L3 -13.5",
    "left": "M-4 0L3 -4V4Z",
    "right": "M4 0L-3 -4V4Z",
}
MARKS = "".join(f'<path id="mark-{name}" d="{path}"/>' for name, path in _SHAPES.items())
SERIES = 8  # colours; more series than these differ by their dashes
LONGEST = 80  # characters of a name in a legend or above a panel
_TICK_ROOM, _TITLE_ROOM = 20, 18
_LINE, _NEAR = 13, 0.35  # pixels down and share across within which two labels would touch
# Ratios beyond these are drawn at the edge.
_SMALLEST, _LARGEST = 0.01, 100.0


def shape(number: int) -> str:
    """The mark of the series with that number, from 0; those beyond the colours have the next one's."""
    return tuple(_SHAPES)[(number + number // SERIES) % SERIES]


def ink(number: int) -> str:
    """The class with the colour of the series with that number, from 0; they repeat, so shapes have to differ too."""
    return f"series-{number % SERIES + 1}"


def series(names: Sequence[str], baseline: str) -> dict[str, tuple[str, str]]:
    """Class and shape of each name; of more than there are colours for only the baseline can be told apart."""
    if len(names) > SERIES:
        return {name: (ink(0), "diamond") if name == baseline else ("muted", "circle") for name in names}
    return {name: (ink(number), shape(number)) for number, name in enumerate(names)}


def series_legend(styles: Mapping[str, tuple[str, str]], baseline: str) -> list[tuple[str, str, str]]:
    """What the legend says of these."""
    if len(styles) > SERIES:
        return [(baseline, "diamond", ink(0)), ("all others", "circle", "muted")]
    return [(shortened(name, LONGEST), shape_name, kind) for name, (kind, shape_name) in styles.items()]


def breakable(text: str) -> str:
    """HTML of a name that goes on in another line after its commas, points, hyphens and underscores."""
    return f'<span class="name">{re.sub("(?<=[,._-])(?=.)", "<wbr>", escape(text))}</span>'


def shortened(text: str, characters: int) -> str:
    """The text, cut to so many characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= characters else plain[: max(characters - 1, 1)] + "…"


# --- scales ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """From values to places.

    :param text: what is written at a tick.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    text: Callable[[float], str]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """0 at ``low``, 1 at ``high``; what lies beyond is at the end."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return (at - low) / (high - low) if high > low else 0.5


def linear(low: float, high: float, wanted: int = 4) -> Scale:
    """An axis with ticks at round values, at most ``wanted`` + 1 of them."""
    if high <= low:
        low, high = low - (abs(low) or 1) / 10, high + (abs(high) or 1) / 10
    finest = 10.0 ** math.floor(math.log10((high - low) / wanted))
    for factor in (1, 2, 5, 10):
        step = finest * factor
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        # By how many there are, not by how many steps fit: a range that begins and ends between two has fewer.
        if last - first <= wanted:
            break
    return Scale(low, high, tuple(number * step for number in range(first, last + 1)), thousands)


def logarithmic(low: float, high: float, wanted: int = 5) -> Scale:
    """An axis with ticks at 1, 2, 5, 10... as far as they fit, otherwise at powers of ten."""
    if high / low <= 4:
        return Scale(low, high, linear(low, high, wanted).ticks, thousands, logarithmic=True)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for digits in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        inside = [digit * 10.0**power for power in powers for digit in digits if low <= digit * 10.0**power <= high]
        if len(inside) <= wanted + 2:
            break
    return Scale(low, high, tuple(inside[:: max(1, math.ceil(len(inside) / (wanted + 2)))]), thousands, True)


def ratios(values: Sequence[float], margin: float = 0.0, wanted: int = 4) -> Scale:
    """An axis with all finite values, 1 and the margin around it; twice and half are equally far from 1."""
    seen = [value for value in values if math.isfinite(value) and _SMALLEST <= value <= _LARGEST]
    low = min([1 / (1 + 1.5 * margin), *seen])
    high = max([1 + 1.5 * margin, *seen])
    room = max((high / low) ** 0.06, 1.01)
    low, high = low / room, high * room
    if high / low <= 4:
        return Scale(low, high, linear(low, high, wanted).ticks, numbers.ratio, logarithmic=True)
    steps = [digit * 10.0**power for power in range(-3, 3) for digit in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)]
    inside = [step for step in steps if low <= step <= high]
    while len(inside) > wanted + 3:
        inside = inside[:: 2 if 1 in inside[::2] else 3]
    return Scale(low, high, tuple(inside), numbers.ratio, logarithmic=True)


def counted(most: int, least: int = 1) -> Scale:
    """An axis of the whole numbers from the least to the most."""
    low, high = least - 0.5, most + 0.5
    return Scale(low, high, tuple(tick for tick in linear(low, high, 5).ticks if tick == round(tick)), "{:.0f}".format)


def named(names: Sequence[object]) -> Scale:
    """An axis of names, equally far apart; the values are their positions from 0."""
    texts = [shortened(str(name), max(8, 36 // len(names))) for name in names]
    return Scale(-0.4, len(texts) - 0.6, tuple(map(float, range(len(texts)))), lambda value: texts[round(value)])


def thousands(value: float) -> str:
    """A tick of an axis of rates or times."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:,g}"


# --- panels ---------------------------------------------------------------------------------------


class Panel:
    """One pair of axes. What is drawn first lies below.

    :param height: of the area between the axes, in pixels.
    :param names: whether values across are told below; not where another panel below has the same axis.
    """

    def __init__(self, across: Scale, up: Scale, height: int, title: str = "", below: str = "", names: bool = True):
        self._across, self._up, self._height = across, up, height
        self._title, self._below, self._names = title, below, names
        self._labels: list[tuple[float, float]] = []
        self._ground: list[str] = []
        self._lines: list[str] = []
        self._marks: list[str] = []

    def box(
        self,
        kind: str,
        across: tuple[float, float] | None = None,
        up: tuple[float, float] | None = None,
        hover: str = "",
    ) -> None:
        """Fill from one value to another, across, upwards or both; a "band" lies below all else.

        A "touch" is not seen: it shows its figures when one points at it.
        """
        left, right = (self._across.share(value) for value in across) if across else (0.0, 1.0)
        bottom, top = (self._y(value) for value in up) if up else (self._height, 0)
        (self._ground if kind == "band" else self._marks).append(
            f'<rect class="{kind}" x="{_percent(left)}" width="{_percent(max(right - left, 0))}" y="{_pixels(top)}" '
            f'height="{_pixels(max(bottom - top, 0))}">{_title(hover)}</rect>'
        )

    def upright(self, value: float, kind: str) -> None:
        """A line at a value across; the kind is a class of the style sheet."""
        x = _percent(self._across.share(value))
        self._ground.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="{self._height}"/>')

    def flat(self, value: float, kind: str) -> None:
        """A line at a value upwards."""
        y = _pixels(self._y(value))
        self._ground.append(f'<line class="{kind}" x1="0" x2="100%" y1="{y}" y2="{y}"/>')

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A line through points; the kind are classes: a series' and thin, thick, dashed or dotted."""
        if len(points) > 1:
            places = " ".join(f"{1000 * self._across.share(x):.1f},{self._y(y):.1f}" for x, y in points)
            self._lines.append(f'<polyline class="{kind}" points="{places}"/>')

    def mark(self, x: float, y: float, shape: str, kind: str, hover: str = "") -> None:
        """A shape at a point, with what is shown when one points at it."""
        self._marks.append(mark(_percent(self._across.share(x)), _pixels(self._y(y)), shape, kind, hover))

    def label(self, x: float, y: float, text: str) -> None:
        """A name beside a point: left of those in the right half, and moved up where it would lie on another."""
        share, place = self._across.share(x), self._y(y)
        while any(abs(place - other) < _LINE and abs(share - at) < _NEAR for at, other in self._labels):
            place -= _LINE
        self._labels.append((share, place))
        anchor, aside = ("end", -9) if share > 0.5 else ("start", 9)
        self._marks.append(
            f'<text x="{_percent(share)}" dx="{aside}" y="{_pixels(place)}" dy=".35em" text-anchor="{anchor}">'
            f"{escape(text)}</text>"
        )

    def html(self) -> str:
        """The panel: title, axis, area."""
        height = self._height + (_TICK_ROOM if self._names else 4) + (_TITLE_ROOM if self._below else 0)
        levels = [(self._y(tick), self._up.text(tick)) for tick in self._up.ticks]
        grid = [f'<line class="grid" x1="0" x2="100%" y1="{_pixels(y)}" y2="{_pixels(y)}"/>' for y, _ in levels]
        left = "".join(
            f'<text x="40" y="{_pixels(y)}" dy=".35em" text-anchor="end">{text}</text>' for y, text in levels
        )
        below = []
        for number, tick in enumerate(self._across.ticks):
            x = _percent(self._across.share(tick))
            grid.append(f'<line class="tick" x1="{x}" x2="{x}" y1="{self._height}" y2="{self._height + 4}"/>')
            if self._names:
                spare = ' class="spare"' if number % 2 and len(self._across.ticks) > 6 else ""
                text = escape(self._across.text(tick))
                below.append(f'<text{spare} x="{x}" y="{self._height + 16}" text-anchor="middle">{text}</text>')
        if self._below:
            below.append(f'<text x="50%" y="{height - 4}" text-anchor="middle">{escape(self._below)}</text>')
        lines = "".join(self._lines)
        if lines:
            size = f'viewBox="0 0 1000 {self._height}" width="100%" height="{self._height}"'
            lines = f'<svg {size} preserveAspectRatio="none">{lines}</svg>'
        base = f'<line class="axis" x1="0" x2="100%" y1="{self._height}" y2="{self._height}"/>'
        title = f'<p class="panel-title">{escape(self._title)}</p>' if self._title else ""
        return (
            f'<div class="panel">{title}<svg class="scale" width="46" height="{height}">{left}</svg>'
            f'<svg class="area" width="100%" height="{height}">'
            f"{''.join([*self._ground, *grid])}{lines}{base}{''.join([*self._marks, *below])}</svg></div>"
        )

    def _y(self, value: float) -> float:
        return self._height * (1 - self._up.share(value))


def panels(found: Sequence[str], legend: str = "", least: int = 300) -> str:
    """Panels beside each other, as many as fit, each at least so many pixels wide; fewer on a phone."""
    return f'{legend}<div class="panels" style="--least:{least}px">{"".join(found)}</div>'


def stacked(*above: Panel) -> str:
    """Panels over one axis."""
    return f'<div class="stacked">{"".join(panel.html() for panel in above)}</div>'


def legend(entries: Sequence[tuple[str, str, str]]) -> str:
    """What marks mean: text, shape, classes; a shape that is "line" or "box" is one."""
    parts = []
    for text, shape_name, kind in entries:
        if shape_name == "line":
            drawn = f'<line class="{kind}" x1="0" x2="20" y1="7" y2="7"/>'
        elif shape_name == "box":
            drawn = f'<rect class="{kind}" x="2" y="2" width="16" height="10"/>'
        else:
            drawn = mark("10", "19" if shape_name == "more" else "7", shape_name, kind)
        parts.append(f'<span><svg width="20" height="14">{drawn}</svg>{escape(text)}</span>')
    return f'<p class="legend">{"".join(parts)}</p>'


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """A ratio and its interval in a row.

    :param low, high: 0 and infinity where there is no interval.
    :param kind: the class of its colour.
    """

    ratio: float
    low: float
    high: float
    shape: str
    kind: str
    hover: str = ""


@dataclass(frozen=True)
class Row:
    """A line of a plot of ratios: what is written on either side, and what is drawn between; or a heading alone.

    :param control: what the design itself makes of no difference, a ratio's interval; drawn as a band.
    """

    name: str
    text: str = ""
    drawn: tuple[Interval, ...] = ()
    heading: bool = False
    control: tuple[float, float] | None = None


def rows_of_ratios(rows: Sequence[Row], margin: float, axis: str, legend: str = "") -> str:
    """Ratios one below the other on one axis, beside 1 and the margin around it."""
    ends = [end for row in rows for one in row.drawn for end in (one.ratio, one.low, one.high)]
    ends += [end for row in rows for end in row.control or ()]
    scale = ratios(ends, margin)
    low, high = scale.share(1 / (1 + margin)), scale.share(1 + margin)
    band = f'<rect class="band" x="{_percent(low)}" width="{_percent(high - low)}" y="0" height="100%"/>'
    ticks = {_percent(scale.share(tick)): escape(scale.text(tick)) for tick in scale.ticks}
    lines = [("grid", x) for x in ticks] + [("one", _percent(scale.share(1)))]
    ground = "".join(f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>' for kind, x in lines)

    def row_of(kind: str, name: str, drawn: str, text: str) -> str:
        return (
            f'<div class="{kind}"><span class="who">{name}</span>'
            f'<span class="drawn"><svg class="area" width="100%" height="100%">{drawn}</svg></span>'
            f'<span class="what">{escape(text)}</span></div>'
        )

    found = []
    for row in rows:
        if row.heading:
            found.append(f'<div class="row heading"><span>{escape(row.name)}</span></div>')
        else:
            drawn = "".join(_interval(each, scale) for each in row.drawn)
            bands = (band if margin else "") + (_control(row.control, scale) if row.control else "")
            found.append(row_of("row", breakable(row.name), bands + ground + drawn, row.text))
    texts = (f'<text x="{x}" y="13" text-anchor="middle">{text}</text>' for x, text in ticks.items())
    found.append(row_of("row ticks", "", "".join(texts), axis))
    return f'{legend}<div class="rows">{"".join(found)}</div>'


def _control(ends: tuple[float, float], scale: Scale) -> str:
    low, high = (scale.share(min(max(end, scale.low), scale.high)) for end in ends)
    return f'<rect class="control" x="{_percent(low)}" width="{_percent(high - low)}" y="0" height="100%"/>'


def _interval(one: Interval, scale: Scale) -> str:
    if not scale.low <= one.ratio <= scale.high:
        return ""
    parts = []
    if one.low > 0 or math.isfinite(one.high):
        low, high = max(one.low, scale.low), min(one.high, scale.high)
        begin, end = _percent(scale.share(low)), _percent(scale.share(high))
        parts.append(f'<line class="thick {one.kind}" x1="{begin}" x2="{end}" y1="50%" y2="50%"/>')
        parts.append(mark(begin, "50%", "end" if one.low >= scale.low else "left", f"{one.kind} thick"))
        parts.append(mark(end, "50%", "end" if one.high <= scale.high else "right", f"{one.kind} thick"))
    parts.append(mark(_percent(scale.share(one.ratio)), "50%", one.shape, one.kind, one.hover))
    return "".join(parts)


# --- pieces of SVG --------------------------------------------------------------------------------


def mark(x: str, y: str, shape_name: str, kind: str, hover: str = "") -> str:
    """One of the page's marks at a place."""
    return f'<use href="#mark-{shape_name}" class="mark {kind}" x="{x}" y="{y}">{_title(hover)}</use>'


def _title(hover: str) -> str:
    return f"<title>{escape(hover)}</title>" if hover else ""


def _percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def _pixels(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
