"""From a matplotlib figure to an SVG element for a page: its colours are the page's, its ids are its own."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Pixels. A phone of 390 pixels leaves the narrow width between its margins.
WIDE, NARROW = 960, 346
TEXT = 12.5

# Stand-ins that matplotlib writes into the SVG, where they become the style sheet's variables; so one file suits light
# and dark.
INK, MUTED, FAINT, BAND, HEAT, PAPER = (f"#0b0b0{digit}" for digit in range(1, 7))
SERIES = tuple(f"#0a00{number:02x}" for number in range(1, 9))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", ":", "-.")
_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    FAINT: "var(--faint)",
    BAND: "var(--band)",
    HEAT: "var(--heat)",
    PAPER: "var(--paper)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES, 1)},
}
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "paddock",
    "text.parse_math": False,  # a contender's name may hold dollar signs
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT,
    "axes.unicode_minus": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": TEXT,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "lines.linewidth": 1.6,
}
_REFERENCE = re.compile(r'(?:xlink:)?href="#([^"]+)"|url\(#([^)]+)\)')


def colour(number: int) -> str:
    """The colour of the series with that number, from 0; they repeat, so shapes and dashes have to differ too."""
    return SERIES[number % len(SERIES)]


def marker(number: int) -> str:
    """The shape of the series with that number, from 0."""
    return MARKERS[number % len(MARKERS)]


def dashes(number: int) -> str:
    """The line style of the series with that number, from 0: solid for the first eight colours, then dashed."""
    return DASHES[(number // len(SERIES)) % len(DASHES)]


def shortened(text: str, characters: int) -> str:
    """The text, cut to so many characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= characters else plain[: max(characters - 1, 1)] + "…"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in pixels."""
    return Figure(figsize=(width / 72, height / 72), dpi=72)


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in pixels, counted from the figure's upper left corner."""
    across, down = figure.get_figwidth() * 72, figure.get_figheight() * 72
    return figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))


def draw(identity: str, title: str, description: str, plot: Callable[[int], Figure]) -> tuple[str, str]:
    """The plot for a desktop and for a phone.

    :param identity: unique in the page; letters, digits and hyphens.
    :param plot: makes the figure for a width in pixels (the figure may be wider, then it scrolls).
    """
    with warnings.catch_warnings(), mpl.rc_context():
        # The reader's browser has glyphs that the font used for measuring lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        wide, narrow = (
            _svg(plot(width), f"{identity}-{name}", title, description)
            for width, name in ((WIDE, "wide"), (NARROW, "narrow"))
        )
    return wide, narrow


def _svg(figure: Figure, identity: str, title: str, description: str) -> str:
    FigureCanvasSVG(figure)
    target = io.StringIO()
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    width, height = round(figure.get_figwidth() * 72), round(figure.get_figheight() * 72)
    body = target.getvalue()
    body = body[body.index(">", body.index("<svg")) + 1 : body.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = _own_ids(body, identity).replace("xlink:href", "href")
    body = re.sub("#0[ab]0[0-9a-f]{3}", lambda found: _VARIABLES.get(found.group(), found.group()), body)
    body = re.sub(r"\n\s*", "\n", body).strip()
    return (
        f'<svg class="plot" role="img" aria-labelledby="{identity}-title {identity}-description" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<title id="{identity}-title">{escape(title)}</title>'
        f'<desc id="{identity}-description">{escape(description)}</desc>\n{body}\n</svg>'
    )


def _own_ids(body: str, identity: str) -> str:
    """Ids that something refers to get the plot's name in front, so that two plots in a page cannot mix; others go."""
    used = {first or second for first, second in _REFERENCE.findall(body)}

    def own(found: re.Match[str]) -> str:
        return f' id="{identity}-{found.group(1)}"' if found.group(1) in used else ""

    body = re.sub(r' id="([^"]*)"', own, body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{identity}-\1"', body)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{identity}-\1)", body)
