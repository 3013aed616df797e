"""A published study beside what was measured: every ratio that was published, with its finding; pure.

Nothing is tuned until it agrees: a finding says what was measured, whatever was published.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paddock import numbers
from paddock.tournaments.model import EQUIVALENT, UNDECIDED, MetricResult, Result, Verdict
from paddock.tournaments.published import claimed

# What a measurement says of a published ratio.
SAME, OPPOSITE, OPEN = "same direction", "opposite direction", "undecided here"
NO_EFFECT, NO_EFFECT_IN_EITHER, ONLY_HERE, NOT_MEASURED = (
    *("no effect here", "no effect in either", "an effect only here", "not measured"),
)


@dataclass(frozen=True)
class Compared:
    """One published ratio beside the measured one.

    :param metric: the name of the metric here; ``unit`` that of the published ``figure``, None where there is none.
    :param claimed: the published ratio to the study's baseline.
    :param mean: of the contender's laps, None without any.
    :param ratio: the measured ratio, None without a pair; with its interval, 0 to infinity where that is unknown.
    :param scope: for what it holds: "for this JVM", "for the configuration"...
    :param finding: SAME, OPPOSITE, OPEN and so on.
    """

    contender: str
    metric: str
    unit: str
    figure: float | None
    claimed: float
    mean: float | None
    ratio: float | None
    low: float
    high: float
    confidence: float
    pairs: int
    scope: str
    finding: str

    @property
    def beside_published(self) -> str:
        """Whether the interval leaves the published ratio out, and where that is then; empty if it does not."""
        if self.ratio is None or self.low <= self.claimed <= self.high:
            return ""
        return "smaller than published" if self.high < self.claimed else "larger than published"


def compared(result: Result) -> tuple[Compared, ...]:
    """Every published ratio of a result, the metric of the verdict first; none without a study."""
    published, baseline = result.tournament.published, result.tournament.baseline
    if published is None:
        return ()
    found = list(_compared(result, result.main, published.unit, published.figures, published.ratios_to(baseline)))
    measured = {one.metric.name: one for one in (result.main, *result.others)}
    for other in published.others:
        if other.metric in measured:
            ratios = claimed(other.figures, other.ratios, baseline)
            found += _compared(result, measured[other.metric], other.unit, other.figures, ratios)
    return tuple(found)


def _compared(
    result: Result, measured: MetricResult, unit: str, figures: Mapping[str, float], ratios: Mapping[str, float]
) -> Iterable[Compared]:
    verdicts = {one.contender: one for one in measured.verdicts}
    means = {one.contender: one.mean for one in measured.absolutes}
    for contender in result.tournament.contenders:
        name = contender.name
        if name == result.tournament.baseline or ratios.get(name, 0) <= 0:
            continue
        verdict = verdicts.get(name)
        known = verdict is not None and verdict.ratio is not None and verdict.ratio > 0
        yield Compared(
            contender=name,
            metric=measured.metric.name,
            unit=unit,
            figure=figures.get(name),
            claimed=ratios[name],
            mean=means.get(name),
            ratio=verdict.ratio if verdict is not None and known else None,
            low=verdict.low if verdict is not None and known else 0.0,
            high=verdict.high if verdict is not None and known else math.inf,
            confidence=verdict.confidence if verdict is not None else 0.0,
            pairs=verdict.pairs if verdict is not None else 0,
            scope=verdict.scope if verdict is not None else "",
            finding=finding(verdict, ratios[name], result.tournament.margin),
        )


def finding(verdict: Verdict | None, published: float, margin: float) -> str:
    """Whether a measurement shows the effect that was published.

    :param published: the ratio to the baseline; within the margin of 1 it says that there is no effect.
    """
    if verdict is None or verdict.ratio is None:
        return NOT_MEASURED
    if verdict.verdict == UNDECIDED:
        return OPEN
    small = abs(math.log(published)) <= math.log1p(margin)
    if verdict.verdict == EQUIVALENT:
        return NO_EFFECT_IN_EITHER if small else NO_EFFECT
    if small:
        return ONLY_HERE
    return SAME if (published > 1) == (verdict.ratio > 1) else OPPOSITE


def agreement(found: Iterable[Compared]) -> str:
    """How often measurements show what was published, in a sentence; empty without any to compare."""
    counts = Counter(one.finding for one in found if one.finding != NOT_MEASURED)
    if not counts:
        return ""
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"Of {numbers.plural(counts.total(), 'published ratio')} that can be compared: {listed}."
