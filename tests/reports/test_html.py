"""The HTML report: whole in itself, accessible, safe against what names hold."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from paddock.reports.document import render_html, render_markdown
from paddock.reports.write import build
from paddock.tournaments.model import Contender, Result
from tests.reports.results import ALL, result, simulated, study_grid

VOID_TAGS = {"meta", "link", "br", "wbr", "hr", "img", "input"}
HOSTILE = "<script>alert('x')</script> \"&amp; $\\frac{1}$ | `x`"


class Page(HTMLParser):
    """What a page consists of: its elements with their parents, its texts by id."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.texts: dict[str, str] = {}
        self.text = ""
        self._open: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found, tuple(name for name, _ in self._open)))
        if tag not in VOID_TAGS:
            self._open.append((tag, found.get("id")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(name for name, _ in self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        for _, identity in self._open:
            if identity:
                self.texts[identity] = self.texts.get(identity, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]


def page(of: Result) -> tuple[str, Page]:
    """The report as text and as what it consists of."""
    text = render_html(build(of))
    return text, Page(text)


@functools.cache
def page_of(name: str) -> tuple[str, Page]:
    """The report of one of the results that all tests share; drawing one takes a second or two."""
    return page(ALL[name]())


@pytest.mark.parametrize("name", ALL)
def test_every_plot_has_words_and_a_table(name: str) -> None:
    """Each plot is an image with title and description in words, in a figure that has its table in details."""
    text, parsed = page_of(name)
    drawings = [drawing for drawing in parsed.all("div") if drawing.get("role") == "img"]
    assert drawings
    for drawing in drawings:
        title, description = (drawing["aria-labelledby"] or "").split()
        assert parsed.texts[title].strip()
        assert len(parsed.texts[description]) > 40
    for figure in re.findall(r"<figure.*?</figure>", text, re.DOTALL):
        assert figure.count('role="img"') == 1
        assert re.search(r"<details>.*<table>.*<tbody>\s*<tr>.*</details>", figure, re.DOTALL)


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_fetched(name: str) -> None:
    """No address of anything outside: no script, no link, no image, no import, and the browser is told so."""
    text, parsed = page_of(name)
    for tag, attributes, _ in parsed.elements:
        assert tag not in ("script", "link", "img", "iframe", "object", "image", "foreignobject")
        for attribute in ("src", "href", "xlink:href", "data", "action"):
            assert (attributes.get(attribute) or "#").startswith("#"), attributes
        assert not any(attribute.startswith("on") for attribute in attributes)
    assert "@import" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert "content=\"default-src 'none';" in text.replace("&#39;", "'")


@pytest.mark.parametrize("name", ALL)
def test_ids_are_unique_and_references_lead_somewhere(name: str) -> None:
    """Two plots in one page cannot take each other's marks and clip paths."""
    text, parsed = page_of(name)
    ids = [attributes["id"] for _, attributes, _ in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text):
        assert (reference[0] or reference[1]) in ids


@pytest.mark.parametrize("name", ALL)
def test_light_and_dark(name: str) -> None:
    """Both colour schemes set every variable, and no plot has a colour of its own."""
    text, _ = page_of(name)
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", text)) - {
        "--tone",
        "--least",
        "--strength",
    }  # those that elements bring along
    assert used
    for variable in used:
        assert f"{variable}:" in light, variable
        assert f"{variable}:" in dark.split("}")[0], variable
    for drawing in re.findall(r"<figure.*?</figure>", text, re.DOTALL):
        shapes = re.sub(r'href="#[^"]*"|url\(#[^)]*\)', "", drawing)
        assert not re.findall(r"#[0-9a-fA-F]{6}", shapes)


def test_hostile_names_are_only_text() -> None:
    """Names with markup, formulas and Markdown appear as they are and start nothing."""
    speeds = {HOSTILE: 20_000.0, f"{HOSTILE} 2": 25_000.0}
    contenders = [Contender(name) for name in speeds]
    one = result(HOSTILE, contenders, simulated(speeds, blocks=6), [HOSTILE], description=HOSTILE)
    one = replace(one, circumstances={HOSTILE: HOSTILE}, commands=(f"esrally race {HOSTILE} ```",))
    text, parsed = page(one)
    assert "<script" not in text
    assert not parsed.all("script")
    assert HOSTILE in parsed.text
    markdown = render_markdown(build(one))
    before_commands = markdown.split("````")[0]
    assert "\\<script\\>" in before_commands
    assert not re.search(r"(?<!\\)[<>`&]", before_commands)
    header = next(line for line in markdown.splitlines() if line.startswith("| contender"))
    rows = [line for line in markdown.splitlines() if line.startswith("| \\<script")]
    assert rows
    assert rows[0].replace("\\|", "").count("|") == header.count("|")


def test_names_in_any_script() -> None:
    """Glyphs that the font used for measuring lacks are no reason to fail or to warn."""
    speeds = {"基准": 20_000.0, "🚀 быстро": 25_000.0}
    _, parsed = page(result("各種", [Contender(name) for name in speeds], simulated(speeds, blocks=6)))
    assert "🚀 быстро" in parsed.text


def test_a_tournament_without_a_lap() -> None:
    """Interrupted before the first lap, there is still a report, and it says that nothing can be said."""
    contenders = [Contender("a"), Contender("b")]
    text, parsed = page(replace(result("early", contenders, []), commands=(), efficiency=None))
    assert "Nothing can be said: no contender has a valid pair with the baseline a." in parsed.text
    assert "No lap was run." in parsed.text
    assert "<figure" not in text


def test_a_study_of_a_grid_stands_beside_the_measurement() -> None:
    """Published and measured maps of mean and standard deviation, and both in the line charts, with their figures."""
    one = study_grid()
    published = one.tournament.published
    assert published is not None
    _, parsed = page(one)
    names = [attributes.get("id") for attributes in parsed.all("figure")]
    maps = [f"heat-{name}-1" for name in ("published-mean", "mean", "published-sd", "sd", "ratio")]
    assert names[names.index(maps[0]) :][:7] == [*maps, "lines-across-1", "lines-down-1"]
    for name, mean in published.figures.items():
        assert (f"{mean:,.0f}" in parsed.texts["heat-published-mean-1"]) is (name not in published.excluded)
    for chart in ("lines-across-1", "lines-down-1"):  # both tables have a row per number of clients
        assert "Published: " in parsed.texts[chart]
        assert "Measured here: " in parsed.texts[chart]
        assert "2, published" in parsed.texts[chart]
        assert "2, measured here" in parsed.texts[chart]


@pytest.mark.parametrize(
    ("figure", "name", "printed"),
    [
        ("heat-published-mean-1", "clients 2, bulk 16", "99999"),
        ("heat-published-sd-1", "clients 4, bulk 16", "186936.7"),
    ],
)
def test_misprints_are_marked_and_kept_out(figure: str, name: str, printed: str) -> None:
    """A misprint's cell has a mark instead of a figure, its reason is told, and it is nobody's highest or lowest."""
    (plot,) = [plot for section in build(study_grid()).sections for plot in section.plots if plot.name == figure]
    cells = [cell for row in plot.table.rows for cell in row[1:]]
    assert cells.count("†") == 1
    assert f"† {name}: Printed as {printed}" in plot.reading
    assert f"† {name}: Printed as {printed}" in plot.description
    assert "NaN" not in plot.description
    assert "186,9" not in plot.description
    assert plot.drawn.count(">†</td>") == 1


def test_seconds_of_laps_too_short_are_not_made_up() -> None:
    """A cell whose laps hold no two whole seconds has no standard deviation between them, and a sentence says so."""
    section = next(section for section in build(study_grid()).sections if section.heading == "bulk size x clients")
    (plot,) = [plot for plot in section.plots if plot.name == "heat-sd-1"]
    assert [cell for row in plot.table.rows for cell in row[1:]].count("-") == 1
    shares, short = section.paragraphs
    assert shares.startswith("The standard deviation between seconds is 30 % of the mean as published and ")
    assert short.startswith("The laps of 1 cell do not hold two whole seconds in all")
    assert "empty cells have laps without two whole seconds in all" in plot.reading


@pytest.mark.parametrize("name", ["grid"])
def test_grids_have_both_heat_maps_and_both_line_charts(name: str) -> None:
    """Mean, standard deviation and ratio per cell, and lines over either factor, with the numbers in the cells."""
    one = ALL[name]()
    _, parsed = page(one)
    names = [attributes.get("id") for attributes in parsed.all("figure")]
    assert {"heat-mean-1", "heat-sd-1", "heat-ratio-1", "lines-across-1", "lines-down-1"} <= set(names)
    for absolute in one.main.absolutes:
        assert f"{absolute.mean:,.0f}" in parsed.texts["heat-mean-1"]
        assert f"{absolute.sd:,.0f}" in parsed.texts["heat-sd-1"]
