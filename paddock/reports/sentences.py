"""Verdicts in sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from paddock import numbers
from paddock.reports import figures
from paddock.statistics.starts import Scope
from paddock.tournaments.model import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Metric,
    MetricResult,
    Result,
    Tournament,
    Verdict,
)

# More than these are counted in the headline instead of named.
NAMED_CONTENDERS = 4
_DECISIONS = 6
NEGLIGIBLE = ", perhaps negligibly"
DROPPED = "decided, no further laps since"


def word(metric: Metric, verdict: str) -> str:
    """The verdict in a word that fits the metric: only rates and times are faster or slower."""
    if "docs/s" in (metric.name, metric.unit) or metric.unit == "ms":
        return verdict
    words = ("cheaper", "dearer") if metric.name.startswith("cost ") else ("better", "worse")
    return dict(zip((FASTER, SLOWER), words, strict=True)).get(verdict, verdict)


def said_of(metric: Metric, verdict: Verdict) -> str:
    """The verdict of one contender in words: "slower, perhaps negligibly" if the margin holds most of its interval."""
    return word(metric, verdict.verdict) + (NEGLIGIBLE if verdict.negligible else "")


# What a ratio of a metric means to somebody who does not know its name: what a contender does, the same of it, less of
# it, more of it, and for what.
_IN_WORDS = {
    "bytes/doc": ("takes", "as much disk", "less disk", "more disk", ""),
    "docs/s": ("indexes", "as fast", "slower", "faster", ""),
    "query p50 ms": ("needs", "as long", "less time", "more time", " for a query"),
}


def headline(result: Result) -> str:
    """The tournament's answer in one sentence; where it is about disk, what is saved and at what price."""
    bargains = list(_bargains(result))
    if bargains and len(bargains) == len(result.main.verdicts):
        return " ".join(bargains)
    return " ".join([_verdicts(result, names_best=not bargains), *bargains])


def _bargains(result: Result) -> Iterator[str]:
    """What each contender that takes less disk saves and costs; where they are many, the one that takes least."""
    if result.main.metric.name != "bytes/doc":
        return
    smaller = [one for one in result.main.verdicts if one.verdict == FASTER and one.ratio is not None]
    if len(result.main.verdicts) > NAMED_CONTENDERS:
        smaller = sorted(smaller, key=lambda one: one.ratio or 0.0)[:1]
    for verdict in smaller:
        prices = [
            _in_words(measured.metric, found)
            for measured in result.others
            for found in measured.verdicts
            if measured.metric.name in _IN_WORDS and found.contender == verdict.contender and found.ratio is not None
        ]
        disk = _in_words(result.main.metric, verdict, f" than {result.tournament.baseline}")
        yield f"{verdict.contender} {_listed([disk, *prices])}."


def _in_words(metric: Metric, verdict: Verdict, than: str = "") -> str:
    """A ratio and its interval, for example "takes 45 % less disk (44 to 46 %)"."""
    verb, same, less, more, of = _IN_WORDS[metric.name]
    low, high = verdict.low, verdict.high
    if low <= 0 or math.isinf(high):
        said = less if (verdict.ratio or 0.0) < 1 else more
        return f"{verb} {_percent(verdict.ratio)} {said}{of}{than} (too few pairs for an interval)"
    if low <= 1 <= high:
        span = f"{_percent(low)} {less} to {_percent(high)} {more}"
        if verdict.verdict != EQUIVALENT:
            return f"{verb} {span}{of}{than} (undecided)"
        return f"{verb} about {same}{of}{than} ({span})"
    near, far = sorted((low, high), key=lambda limit: abs(limit - 1))
    begin, end = _percent(near), _percent(far)
    if begin == end:
        begin, end = (f"{100 * abs(limit - 1):.1f} %" for limit in (near, far))
    limits = f"{begin.removesuffix(' %')} to {end}"
    return f"{verb} {_percent(verdict.ratio)} {less if high < 1 else more}{of}{than} ({limits})"


def _percent(ratio: float | None) -> str:
    """How far a ratio is from 1, without its sign."""
    return numbers.change(ratio).lstrip("+-")


def _verdicts(result: Result, names_best: bool) -> str:
    """The verdicts in one sentence.

    :param names_best: whether it tells of the largest gain, where contenders are only counted.
    """
    found, baseline = result.main.verdicts, result.tournament.baseline
    if all(verdict.ratio is None for verdict in found):
        return f"Nothing can be said: no contender has a valid pair with the baseline {baseline}."
    if len(found) == 1:
        said = _clause(result.main, found[0], baseline)
    else:
        said = _grouped(result) if len(found) <= NAMED_CONTENDERS else _counted(result, names_best)
    return f"{said}{_reach(result)}."


def _reach(result: Result) -> str:
    """For whom the verdicts hold, where that is not the configuration: what a JVM is lucky in, another is not.

    Sizes of indices have no luck.
    """
    decided = {one.scope for one in result.main.verdicts if one.verdict in (FASTER, SLOWER, EQUIVALENT)}
    said = sorted(decided - {Scope.CONFIGURATION.value})
    if not said or result.main.metric.name == "bytes/doc":
        return ""
    if result.tournament.is_there:  # nobody starts another
        alone = result.tournament.on_target_hosts
        return ", for this cluster as it runs" if alone else ", for these clusters as they run"
    return f", {said[0]}"


def _grouped(result: Result) -> str:
    """The headline of a few contenders: those with the same verdict together."""
    metric, baseline = result.main.metric, result.tournament.baseline
    known = [verdict for verdict in result.main.verdicts if verdict.ratio is not None]
    clauses = []
    for kind, join in ((FASTER, "than"), (SLOWER, "than"), (EQUIVALENT, "to"), (UNDECIDED, "against")):
        for negligible in (False, True):
            named = [
                f"{one.contender} ({numbers.change(one.ratio)})"
                for one in known
                if (one.verdict, one.negligible) == (kind, negligible)
            ]
            if named:
                said = f"{word(metric, kind)} {join} {baseline} in {metric.name}{NEGLIGIBLE if negligible else ''}"
                clauses.append(f"{_listed(named)} {'is' if len(named) == 1 else 'are'} {said}")
    silent = [verdict.contender for verdict in result.main.verdicts if verdict.ratio is None]
    if silent:
        pairs_of = "it has" if len(silent) == 1 else "they have"
        clauses.append(f"{_listed(silent)} cannot be compared, because {pairs_of} no valid pair")
    return "; ".join(clauses)


def _clause(measured: MetricResult, verdict: Verdict, baseline: str) -> str:
    """What is said of one contender in the headline."""
    name, said = verdict.contender, word(measured.metric, verdict.verdict)
    if verdict.ratio is None:
        return f"{name} cannot be compared, because it has no valid pair"
    value = f"{numbers.ratio(verdict.ratio)} times its {measured.metric.name} ({_limits(verdict)})"
    if verdict.verdict == EQUIVALENT:
        return f"{name} is equivalent to {baseline}: {value}"
    if verdict.verdict == UNDECIDED:
        return f"{name} against {baseline} is undecided: {value}"
    return f"{name} is {said} than {baseline}{NEGLIGIBLE if verdict.negligible else ''}: {value}"


def _limits(verdict: Verdict) -> str:
    if numbers.interval(verdict.low, verdict.high) == numbers.UNBOUNDED:
        return "too few pairs for an interval"
    return f"{numbers.confidence(verdict.confidence)} interval {numbers.interval(verdict.low, verdict.high)}"


def _counted(result: Result, names_best: bool) -> str:
    """The headline of many contenders."""
    metric, found = result.main.metric, result.main.verdicts
    counts = Counter(verdict.verdict for verdict in found)
    texts = {
        FASTER: f"{word(metric, FASTER)} than the baseline {result.tournament.baseline}",
        SLOWER: word(metric, SLOWER),
    }
    parts = []
    for verdict in (FASTER, SLOWER, EQUIVALENT, UNDECIDED):
        if number := counts[verdict]:
            slight = sum(one.negligible for one in found if one.verdict == verdict)
            perhaps = f" ({slight} of them{NEGLIGIBLE[1:]})" if slight else ""
            parts.append(f"{number} {'is' if number == 1 else 'are'} {texts.get(verdict, verdict)}{perhaps}")
    against = "" if counts[FASTER] else f"against {result.tournament.baseline} "
    first = f"Of {len(found)} contenders {against}{_listed(parts)}"
    if names_best and (best := figures.winner(result)):
        first += (
            f"; the largest gain is that of {best.contender}: {numbers.ratio(best.ratio)} times "
            f"the baseline's {metric.name} ({_limits(best)})"
        )
    return first


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def of_verdict(measured: MetricResult, verdict: Verdict, baseline: str) -> str:
    """Everything about one verdict, in sentences."""
    clause, pairs = _clause(measured, verdict, baseline), numbers.plural(verdict.pairs, "pair")
    dropped = f" ({DROPPED})" if verdict.dropped else ""
    return f"{clause}; {pairs}{dropped}, {verdict.scope}. {verdict.decide}".rstrip()


def of_control(measured: MetricResult) -> tuple[str, ...]:
    """What the control came to, a sentence; none without one, or without a pair of its laps."""
    control = measured.control
    if control is None or control.ratio is None:
        return ()
    limits = numbers.interval(control.low, control.high)
    told = f" ({limits})" if limits != numbers.UNBOUNDED else ""
    return (
        f"The control, a twin of the baseline, came to {numbers.ratio(control.ratio)}{told}: so much is made of no "
        f"difference at all.",
    )


def decisions(measured: MetricResult) -> tuple[str, ...]:
    """What would decide the undecided: contenders that need the same share a sentence, and after a few it is enough."""
    needs: dict[str, list[str]] = {}
    for verdict in measured.verdicts:
        if verdict.decide:
            needs.setdefault(verdict.decide, []).append(verdict.contender)
    texts = [
        f"{', '.join(names) if len(names) <= NAMED_CONTENDERS else numbers.plural(len(names), 'contender')}: {need}"
        for need, names in needs.items()
    ]
    left = len(texts) - _DECISIONS
    return (*texts[:_DECISIONS], f"... and {left} more, which the table lists.") if left > 0 else tuple(texts)


def setup(tournament: Tournament) -> str:
    """What was asked, and what was run on what."""
    named = ", ".join(tournament.cars) or "Rally's default car"
    cars = "" if tournament.is_there else f", cars {named}"
    said = (tournament.question, tournament.description)
    asked = dict.fromkeys(text if text.endswith((".", "?", "!")) else f"{text}." for text in said if text)
    return " ".join([*asked, f"Track {tournament.track}, challenge {tournament.challenge}{cars}."])


def course(result: Result) -> str:
    """How the tournament went: amount, time, efficiency, end."""
    counted, void = len(figures.counting_laps(result)), len(figures.void_laps(result))
    warmup = sum(1 for lap in result.laps if lap.warmup and lap.void is None)
    starts = len({lap.start for lap in result.laps})
    run = "in one run" if result.tournament.is_there else f"in {numbers.plural(starts, 'start')} of the node"
    load = numbers.share(result.efficiency)
    measured = "" if result.efficiency is None else f"; {load} of the time from first to last lap was measured load"
    return (
        f"{numbers.plural(counted, 'lap')} counted, {numbers.plural(warmup, 'warm-up lap')} and "
        f"{numbers.plural(void, 'void lap')} did not, {run}. It began at "
        f"{numbers.moment(result.began)}, took {numbers.duration(result.seconds)} and ended because of: "
        f"{result.stopped}{measured}."
    )
