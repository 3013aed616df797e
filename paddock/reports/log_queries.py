"""The part of a race's report on questions to an index and to scans: time over data, who wins from where on, money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddock import numbers
from paddock.costs import Prices
from paddock.race.log_queries import (
    INDEX,
    Against,
    Asked,
    LogQueries,
    Question,
    Way,
    agree,
    keeping,
    scan_costs,
)
from paddock.race.race_results import Trend
from paddock.race.summary import Summary
from paddock.reports.document import Plot, Section, Table
from paddock.reports.drawing import LONGEST, Panel, Scale, ink, legend, logarithmic, panels, shape, shortened, thousands

# kdgregory.com, 2018: what was published of each way, in words that can be compared.
PUBLISHED_GB_SCANNED = 0.005  # USD
_PUBLISHED = {True: "does not grow with the data", False: "grows with the data"}


def log_queries_headline(found: LogQueries) -> str:
    """What it came to, in two sentences."""
    parts = []
    for way in _scans(found):
        against = [(one, each) for one in found.questions for each in one.against if each.way == way]
        largest = max(each.compared[-1].size for _, each in against)
        ratios = [each.compared[-1].ratio for _, each in against if each.compared[-1].size == largest]
        won = sum(each.crossing.high is not None for _, each in against)
        sure = "too few runs to be sure"
        if all(one.is_known for _, each in against for one in each.compared):
            sure = f"which surely is faster for {won} of {numbers.plural(len(against), 'question')}"
        parts.append(
            f"At {largest:,.0f} documents a scan by {way} takes {numbers.ratio(min(ratios))} "
            f"to {numbers.ratio(max(ratios))} times as long as the index, {sure}."
        )
    told = " ".join([*parts, _agreement(found)]).strip()
    return told or "No question was asked of the index and of a scan at the same size: nothing can be compared."


def log_queries_section(found: LogQueries) -> Section:
    """Time over data, from which size on the index wins, and whether the answers are the same."""
    text = (
        "The same documents, asked in several ways: the index, and programs that go through gzipped files of all of "
        "them as often as they are asked (zgrep with what sorts and counts behind it; a small program that parses "
        "every line). The files were read just before, so the kernel had them in memory: a scan from a disk takes "
        "longer. Both axes are logarithmic: on the dotted line twice the data takes twice the time."
    )
    caution = (
        "An interval holds the median of the runs of this race, which came one after the other, and knows nothing of "
        "another race. Whoever looks for the latest documents can scan the newest file alone; here all are scanned. "
        "All hits of a text become more with the data, so an index takes longer to hand them over, too."
    )
    words = " ".join(_in_words(one) for one in found.questions)
    table = Table("Each way at each size", _HEADERS, tuple(_rows(found)), tuple(range(2, len(_HEADERS) - 1)))
    plot = Plot("log-queries", "Time to an answer over the size of the data", words, _over_size(found), table)
    tables = [_crossings(found), _growth(found)]
    items = [*_load_against_scans(found), *(text for one in found.questions for text in one.disagreements)]
    return Section(
        "Index against scan",
        (text, caution, _agreement(found)),
        plots=(plot,),
        tables=tuple(one for one in tables if one.rows),
        items=tuple(items),
    )


def _scans(found: LogQueries) -> list[str]:
    return list(dict.fromkeys(each.way for one in found.questions for each in one.against))


def _agreement(found: LogQueries) -> str:
    agreed, differ = (
        sum(one.agreed for one in found.questions),
        sum(len(one.disagreements) for one in found.questions),
    )
    if not agreed + differ:
        return ""
    if differ:
        return f"The answer was not the same as the index's in {differ} of {agreed + differ} cases."
    return f"All {agreed} answers of scans are those of the index."


def _in_words(question: Question) -> str:
    told = [
        f"{way.name} {_milliseconds(way.sizes[0].seconds.value)} ms at {way.sizes[0].documents:,} documents, "
        f"{_milliseconds(way.sizes[-1].seconds.value)} ms at {way.sizes[-1].documents:,}"
        for way in question.ways
        if way.sizes
    ]
    return f"{question.name}: {'; '.join(told)}."


def _milliseconds(seconds: float) -> str:
    return numbers.figure(seconds * 1000)


_GROWS = "grows with the data"
_HEADERS = (
    "question",
    "way",
    "documents",
    "median ms",
    "at least",
    "at most",
    "runs",
    "CPU s",
    "MB read",
    "found",
    "answer",
)


def _rows(found: LogQueries) -> Iterator[tuple[str, ...]]:
    for question in found.questions:
        ways = {way.name: {one.documents: one for one in way.sizes} for way in question.ways}
        for name, sizes in ways.items():
            for documents, one in sizes.items():
                index = ways.get(INDEX, {}).get(documents)
                yield _row(question.name, name, one, index)


def _row(question: str, way: str, one: Asked, index: Asked | None) -> tuple[str, ...]:
    same = numbers.NOTHING if index is None else "as the index" if agree(index, one) else "differs"
    return (
        question,
        way,
        f"{one.documents:,}",
        *map(_milliseconds, (one.seconds.value, one.seconds.low, one.seconds.high)),
        str(one.runs),
        numbers.figure(one.cpu_seconds),
        numbers.figure(one.read_bytes / 1e6) if one.read_bytes else "",
        " or ".join(dict.fromkeys(f"{number:,}" for number, _ in one.answers)),
        "" if way == INDEX else same,
    )


def _over_size(found: LogQueries) -> str:
    """A panel per question: medians with their intervals, and what would be proportional to the data."""
    sizes = [one for question in found.questions for way in question.ways for one in way.sizes]
    values = [value * 1000 for one in sizes for value in (one.seconds.low, one.seconds.high)]
    documents = sorted({one.documents for one in sizes})
    up = logarithmic(min(values) / 1.3, max(values) * 1.3, 5)
    across = Scale(documents[0] / 1.25, documents[-1] * 1.25, tuple(map(float, documents)), thousands, True)
    names = list(dict.fromkeys(way.name for question in found.questions for way in question.ways))
    drawn = []
    for number, question in enumerate(found.questions):
        title = shortened(question.name, LONGEST) + ("" if number else ", ms")
        panel = Panel(across, up, 200, title, "documents")
        for way in question.ways:
            _draw(panel, way, names.index(way.name), up.high)
        drawn.append(panel.html())
    entries = [(name, shape(number), ink(number)) for number, name in enumerate(names)]
    return panels(drawn, legend([*entries, ("proportional to the data", "line", "muted dotted")]), least=260)


def _draw(panel: Panel, way: Way, number: int, highest: float) -> None:
    points = [(float(one.documents), one.seconds.value * 1000) for one in way.sizes]
    if way.name != INDEX and points:
        first, start = points[0]
        panel.line([(at, rise) for at, _ in points if (rise := start * at / first) <= highest], "muted dotted")
    panel.line(points, ink(number))
    for one in way.sizes:
        low, high = one.seconds.low * 1000, one.seconds.high * 1000
        panel.line([(one.documents, low), (one.documents, high)], f"{ink(number)} thick")
        told = f"{numbers.figure(one.seconds.value * 1000)} ms ({numbers.figure(low)} to {numbers.figure(high)})"
        hover = f"{one.documents:,} documents, {way.name}: {told}"
        panel.mark(one.documents, one.seconds.value * 1000, shape(number), f"{ink(number)} small", hover)


def _crossings(found: LogQueries) -> Table:
    rows = []
    for question in found.questions:
        for one in question.against:
            last = one.compared[-1]
            rows.append(
                (
                    question.name,
                    one.way,
                    crossing_words(one),
                    numbers.ratio(last.ratio),
                    numbers.interval(*last.interval) if last.is_known else numbers.NOTHING,
                )
            )
    headers = ("question", "scan", "the index wins", "scan / index, largest size", "interval")
    return Table("From which size of the data on the index wins", headers, tuple(rows), (3,))


def crossing_words(against: Against) -> str:
    """From which size on the index wins, with its interval, or why that is not known."""
    found, sizes = against.crossing, [one.size for one in against.compared]
    if not all(one.is_known for one in against.compared):
        at = f"about {found.estimate:,.0f} documents, " if found.estimate else ""
        return f"{at}nothing is sure: an interval takes six runs of each (scan_iterations)"
    if found.high is None:
        beaten = against.compared[-1].sign < 0
        won = " and ".join(f"{one.size:,.0f}" for one in against.compared if one.sign > 0)
        return (
            f"not up to {sizes[-1]:,.0f} documents: {'the scan is faster' if beaten else 'nothing is sure there'}"
            f"{f', though the index wins at {won}' if won else ''}"
        )
    if found.high == sizes[0]:
        return f"at every size measured: below {sizes[0]:,.0f} documents nothing was measured"
    at = f"about {found.estimate:,.0f} documents " if found.estimate else ""
    if found.low is None:
        return f"{at}(surely from {found.high:,.0f} on; below that nothing is sure)".strip()
    return f"{at}(between {found.low:,.0f} and {found.high:,.0f})".strip()


def _growth(found: LogQueries) -> Table:
    """By how much time is multiplied when the data doubles, beside what was published."""
    rows = []
    for question in found.questions:
        for way in question.ways:
            ratio = numbers.ratio(way.trend.per_doubling) if way.trend else numbers.NOTHING
            span = numbers.interval(way.trend.low, way.trend.high) if way.trend else numbers.NOTHING
            rows.append((question.name, way.name, ratio, span, _measured(way.trend), _PUBLISHED[way.name == INDEX]))
    headers = ("question", "way", "twice the data takes", "interval", "measured", "published (kdgregory.com, 2018)")
    return Table("What becomes of the time when the data doubles", headers, tuple(rows), (2,))


def growth_of_ways(found: LogQueries) -> dict[str, str]:
    """What becomes of an index's time and of a scan's when the data doubles, over all questions, and what wins when."""
    told = {}
    for what, ways in (
        ("an index's time", [way for one in found.questions for way in one.ways if way.name == INDEX]),
        ("a scan's time", [way for one in found.questions for way in one.ways if way.name != INDEX]),
    ):
        factors = [way.trend.per_doubling for way in ways if way.trend]
        growing = sum(_measured(way.trend) == _GROWS for way in ways)
        if factors:
            least, most = numbers.ratio(min(factors)), numbers.ratio(max(factors))
            told[what] = f"{least} to {most} times as long for twice the data; {growing} of {len(ways)} surely grow"
    won = [f"{one.name} against {each.way}: {crossing_words(each)}" for one in found.questions for each in one.against]
    if any(one.disagreements for one in found.questions):
        told["answers"] = _agreement(found)
    return {**told, "the index wins": "; ".join(won)}


def _measured(trend: Trend | None) -> str:
    if trend is None:
        return "too few sizes: it takes three"
    if trend.low > 1:
        return _GROWS
    return "shrinks" if trend.high < 1 else "no growth to be seen"


def _load_against_scans(found: LogQueries) -> Iterator[str]:
    """How many scans take as long as it took to index what they go through."""
    if found.load_seconds is None:
        return
    for question in found.questions:
        told = []
        for one in question.against:
            saved = one.compared[-1].second.value - one.compared[-1].first.value
            if saved > 0 and one.compared[-1].size == found.largest:
                told.append(f"{numbers.figure(found.load_seconds / saved)} scans by {one.way}")
        if told:
            scans = " or ".join(told)
            yield (
                f"{question.name}: indexing took {numbers.figure(found.load_seconds)} s, the time that {scans} of the "
                f"largest size take more than the index."
            )


def log_query_costs(found: LogQueries, summary: Summary, prices: Prices | None) -> Section | None:
    """Scanning against keeping the index, in money; None without prices."""
    if prices is None:
        return None
    heading, kept = "Cost of asking", keeping(found, summary, prices)
    if kept is None:
        return Section(heading, ("Something that has a price was not measured in this race, so there is no cost.",))
    rows = []
    for one in scan_costs(found, prices, kept):
        pays = "never" if one.pays_from is None else numbers.figure(one.pays_from)
        amounts = (one.scan, one.raw, one.query)
        rows.append((one.question, one.way, *map(numbers.money, amounts), pays))
    headers = (
        "question",
        "scan",
        "a scan",
        "a scan by raw bytes",
        "a query, at most",
        "questions from which the index pays",
    )
    table = Table(f"Cost in {prices.currency} at the largest size", headers, tuple(rows), (2, 3, 4, 5))
    texts = (
        *prices.assumptions,
        f"To index these documents and keep the index for {kept.days:g} days costs {numbers.money(kept.index)} "
        f"{prices.currency}, to keep the gzipped files {numbers.money(kept.files)} {prices.currency}.",
        "A scan costs its processor time and the gigabytes that it reads, which are compressed; services that charge "
        "by the text before compression are in the next column. A query is taken to keep one processor busy as long "
        "as it lasts. Both sides grow with the data, so not its size decides but how often somebody asks: the last "
        f"column says from how many questions within these {kept.days:g} days on the index is the cheaper one.",
        f"Published: {PUBLISHED_GB_SCANNED:g} USD for a GB that is scanned."
        + (
            ""
            if prices.gigabyte_scanned
            else " This file of prices has no gigabyte_scanned, so scans cost processor time alone."
        ),
        *_daily(prices, kept.days),
    )
    return Section(heading, texts, tables=(table,))


def _daily(prices: Prices, days: float) -> Sequence[str]:
    if prices.scans_per_day is None:
        return ()
    return (f"The prices assume {prices.scans_per_day:g} questions a day, {prices.scans_per_day * days:,.0f} in all.",)
