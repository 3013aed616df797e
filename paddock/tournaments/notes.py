"""What has to be said beside a result: its machine and software, warm-up, void laps, failed starts, how it ended."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paddock.rally.caches import DROPPED, PAGE_CACHE
from paddock.sampling.described import CLOCK
from paddock.statistics.series import FEWEST_BULKS, FrontCut, Steadiness, SteadyState, steady_state
from paddock.statistics.starts import Units
from paddock.tournaments.cautions import (
    disturbance_notes,
    driver_bound,
    driver_loads,
    few_for_rates,
    median_rates,
    never_acted,
    short_laps,
)
from paddock.tournaments.clusters import together
from paddock.tournaments.growth import growth_notes, left_merges
from paddock.tournaments.headroom import headroom_sentence, recorded_headroom, shares, undisturbed
from paddock.tournaments.laps import CUT_OFF, DONE, FAILED, blocks_done
from paddock.tournaments.model import FEWEST_FOR_P99, Lap, Tournament
from paddock.tournaments.pairing import counting, pooled_freshness
from paddock.tournaments.store import BUDGET, FAILED_RACES, INTERRUPTED, History

SETTINGS = "index settings in force"
_CLOCK_TOLERANCE = 1.0  # seconds
_SECONDS = re.compile(r"(?:^|: )(-?[0-9]+\.[0-9])(?=;|$)")
# So many contenders that were dropped are named; the table has all.
_DROPPED_TOLD = 6


def recorded_circumstances(history: History) -> dict[str, str]:
    """Everything that the journal says of them, name -> text; where starts differ, all of it."""
    found: dict[str, list[str]] = {}
    for attempt in history.attempts:
        for name, text in attempt.circumstances.items():
            if text not in found.setdefault(name, []):
                found[name].append(text)
    machine = {name: str(text) for name, text in history.header.get("circumstances", {}).items()}
    return {name: "; ".join(texts) for name, texts in found.items()} | machine | settings_in_force(history)


def settings_in_force(history: History) -> dict[str, str]:
    """Index settings as the node itself told them: those of all contenders together, then what each has of its own."""
    known = _settings_by_contender(history)
    if not known:
        return {}
    each = [set(settings.items()) for settings in known.values()]
    common = set.intersection(*each)
    own = {name: set(settings.items()) - common for name, settings in sorted(known.items())}
    sets = {SETTINGS: common} | {f"{SETTINGS}, {name}": settings for name, settings in own.items()}
    return {
        name: ", ".join(f"{setting}: {value}" for setting, value in sorted(settings))
        for name, settings in sets.items()
        if settings
    }


def _settings_by_contender(history: History) -> dict[str, Mapping[str, str]]:
    return {
        record.lap.contender: record.settings
        for attempt in history.attempts
        for record in attempt.records
        if record.settings
    }


def all_notes(
    history: History,
    tournament: Tournament,
    laps: Sequence[Lap],
    pairs: Mapping[str, Units],
    cut: Sequence[FrontCut],
    stopped: str,
) -> tuple[str, ...]:
    """The sentences, the most important ones first.

    :param laps: all of ``laps_of(history.attempts, tournament)``.
    :param pairs: those of the metric of the verdict.
    """
    rates, headroom = median_rates(laps), recorded_headroom(history.header)
    return (
        *_void_laps(laps),
        *_starts(history, tournament),
        *_end(history, tournament, stopped),
        *(() if tournament.is_there else _reach(pairs)),  # it is not started anew
        *disturbance_notes(laps),
        *_cautions(history, tournament, laps, shares(undisturbed(headroom), rates)),
        *_clusters(tournament, history),
        *growth_notes(laps, tournament),
        *page_cache_notes(history),
        *_warm_up(history, tournament, cut),
        *_read_back(laps),
        *_freshness(laps, tournament),
        *filter(None, [headroom_sentence(headroom, rates)]),
        *_steadiness(history, tournament, laps),
        *tournament.notes,
    )


def page_cache_notes(history: History) -> Iterator[str]:
    """Where the kernel's cache could not be dropped, although the tournament asks for it."""
    kept = {text for attempt in history.attempts if (text := attempt.circumstances.get(PAGE_CACHE, "")) != DROPPED}
    for text in sorted(kept - {""}):
        yield f"The kernel's cache was {text}. What was read in earlier starts may still have been in memory."


def _void_laps(laps: Sequence[Lap]) -> Iterator[str]:
    reasons = Counter((lap.contender, lap.void) for lap in laps if lap.void is not None and not lap.warmup)
    for (contender, reason), number in reasons.items():
        yield f"{number} {'lap' if number == 1 else 'laps'} of '{contender}' do not count: {reason}."
    warmup = sum(lap.void is not None for lap in laps if lap.warmup)
    if warmup:
        yield f"{warmup} laps of the warm-up were void, too."


def _read_back(laps: Sequence[Lap]) -> Iterator[str]:
    """Which fields of documents came back otherwise than they were sent, and where none did."""
    same = []
    for name in sorted({lap.contender for lap in laps if lap.read_back}):
        told = [lap.read_back for lap in counting(laps, name) if lap.read_back]
        documents = sum(read for read, _ in told)
        fields = Counter[str]()
        for _, differing in told:
            fields.update(differing)
        if fields:
            listed = ", ".join(f"{field} in {number:,}" for field, number in fields.most_common(5))
            more = f" and {len(fields) - 5} fields more" if len(fields) > 5 else ""
            yield f"Of {documents:,} documents of '{name}' that were read again, not all came as sent: {listed}{more}."
        elif documents:
            same.append(f"{documents:,} of '{name}'")
    if same:
        yield f"All documents that were read again came as they had been sent: {', '.join(same)}."


def _starts(history: History, tournament: Tournament) -> Iterator[str]:
    void = history.void_starts(tournament)
    for number in sorted({attempt.start for attempt in history.attempts}):
        attempts = history.attempts_of(number)
        failed = [attempt for attempt in attempts if attempt.outcome == FAILED]
        if number in void:
            yield f"Start {number} is void: {void[number]}"
        elif failed and attempts[-1].outcome == DONE:
            yield f"Start {number} failed and was tried again: {failed[-1].reason}"
        elif failed:
            done = blocks_done(history.attempts, tournament, number)
            yield f"The race of start {number} failed after block {done} of {tournament.blocks}: {failed[-1].reason}"
        cut_off = [attempt for attempt in attempts if attempt.outcome == CUT_OFF]
        if cut_off and attempts[-1].outcome == DONE:
            times = "once" if len(cut_off) == 1 else f"{len(cut_off)} times"
            yield f"Start {number} was cut off {times} and went on with a node that was started and warmed up anew."


def _end(history: History, tournament: Tournament, stopped: str) -> Iterator[str]:
    sequences = (
        "intervals are confidence sequences, valid whenever one looks, and wider than those of a fixed number of blocks"
    )
    if history.decided:
        yield f"It ended early, because the evidence sufficed (e-process): {sequences}."
    elif history.dropped:
        known = {name: f"'{name}' after {pairs}" for name, pairs in history.dropped.items()}
        listed = ", ".join([*known.values()][:_DROPPED_TOLD])
        more = f" and {len(known) - _DROPPED_TOLD} more" if len(known) > _DROPPED_TOLD else ""
        yield (
            f"Decided while others went on (e-process), with no further laps since: {listed}{more} pairs. In all "
            f"metrics their {sequences}."
        )
    if stopped == BUDGET:
        yield f"It ended because the budget of {tournament.budget_minutes:g} minutes was used up."
    if stopped == FAILED_RACES:
        meaning = "" if tournament.node_level else f": {sequences}"
        yield f"It is shorter than planned, because races failed{meaning}."
    if stopped == INTERRUPTED:
        yield (
            f"It has not come to its end, and what was seen may be why: {sequences}. --resume goes on with the same "
            f"plan."
        )


def _reach(pairs: Mapping[str, Units]) -> Iterator[str]:
    """How far the claim goes, where that is less far than one might think: once if it is the same for all."""
    caveats = {name: of.caveat for name, of in pairs.items() if of.caveat and of.differences}
    same = len(set(caveats.values())) == 1
    for name, caveat in list(caveats.items())[: 1 if same else None]:
        yield caveat if same else f"'{name}': {caveat[0].lower()}{caveat[1:]}"


def _cautions(
    history: History, tournament: Tournament, laps: Sequence[Lap], shares: Mapping[str, float]
) -> Iterator[str]:
    yield from never_acted(laps, _settings_by_contender(history))
    seconds = [lap.seconds for lap in counting(laps)]
    sentences = (
        driver_bound(driver_loads(laps), shares, tournament.driver_processes),
        short_laps(statistics.median(seconds), tournament.lap_documents, "took") if seconds else None,
        left_merges(laps, tournament),
    )
    yield from (f"{text[0].upper()}{text[1:]}" for text in sentences if text)
    if tournament.different_answers and any(lap.answers for lap in laps):
        yield f"Searches need not find the same in all contenders: {tournament.different_answers}"


def _clusters(tournament: Tournament, history: History) -> Iterator[str]:
    """What a comparison of clusters that are there is one of, and whose clock is another."""
    hosts = {one.target_hosts: one.name for one in reversed(tournament.contenders) if one.target_hosts}
    if len(hosts) > 1:
        names = [f"'{name}'" for name in reversed(hosts.values())]
        # Whether two addresses are one machine cannot be known from here.
        yield (
            f"{', '.join(names[:-1])} and {names[-1]} are clusters that were there: unless they stand on machines that "
            f"they share, a difference is one of the machines, of their neighbours and of the network between them and "
            f"here, too, not of Elasticsearch alone."
        )
    off = {text for attempt in history.attempts if (text := attempt.circumstances.get(CLOCK, ""))}
    if any(abs(float(number)) > _CLOCK_TOLERANCE for text in off for number in _SECONDS.findall(text)):
        yield (
            f"Clocks differ from that of this machine ({CLOCK}: {'; '.join(sorted(off))}): no figure of a lap uses "
            f"theirs, but the times in the logs of their nodes are shifted."
        )


def _warm_up(history: History, tournament: Tournament, cut: Sequence[FrontCut]) -> Iterator[str]:
    sharing = together(tournament)
    warmed = [found for names in sharing if (found := _warm_up_of(history, names))]
    if warmed:
        seconds, documents = (min(one[place] for one in warmed) for place in (0, 1))
        few = few_for_rates(seconds, documents)
        least = "" if len(sharing) == 1 else "at least "
        yield (
            f"Warm-up per launch of a node: {least}{seconds:.0f} s of load and {documents:,.0f} documents, not counted"
            f"{f', {few}' if few else ''}."
        )
    if blocks := sum(one.blocks for one in cut):
        limit = (
            " At least once that is as many as may be cut: the warm-up may have been longer."
            if any(one.at_limit for one in cut)
            else ""
        )
        yield f"MSER cut {blocks} further blocks at the front, for all contenders together.{limit}"


def _warm_up_of(history: History, names: Sequence[str]) -> tuple[float, float] | None:
    """Seconds of load and documents that warmed the nodes of those contenders, per launch; None without any."""
    launches = [
        [record.lap for record in attempt.records if record.lap.warmup and record.lap.contender in names]
        for attempt in history.attempts
    ]
    if not (number := sum(map(bool, launches))):
        return None
    laps = [lap for launch in launches for lap in launch]
    return sum(lap.seconds for lap in laps) / number, sum(lap.documents for lap in laps) / number


def _freshness(laps: Sequence[Lap], tournament: Tournament) -> Iterator[str]:
    """Why a figure of freshness is missing; nothing where it was not probed."""
    ended = Counter(
        (lap.contender, lap.markers.problem) for lap in counting(laps) if lap.markers and lap.markers.problem
    )
    for (contender, problem), number in ended.items():
        yield (
            f"The freshness probe ended early in {number} {'lap' if number == 1 else 'laps'} of '{contender}', because "
            f"{problem}: {'it counts' if number == 1 else 'they count'} for speed, but not for freshness."
        )
    pooled = pooled_freshness(laps, [contender.name for contender in tournament.contenders])
    if few := [f"'{one.contender}' ({one.markers})" for one in pooled if not one.enough_for("p99")]:
        yield (
            f"There is no 99th percentile of freshness for {', '.join(few)}: it takes {FEWEST_FOR_P99} markers, and "
            f"about two are sent in a second of load."
        )
    if tournament.metric.name == "freshness p99 ms" and not any((lap.freshness or {}).get("p99") for lap in laps):
        yield (
            f"No lap has a figure in {tournament.metric.name}: it takes {FEWEST_FOR_P99} markers in one lap, which is "
            f"about 50 s of load. Make lap_documents larger, or compare freshness p50 ms."
        )


@dataclass(frozen=True)
class _Start:
    """The baseline's laps of one start, strung together: the bulks that they had, and what their throughput says.

    :param cut: share of them that belongs to a warm-up, 0 to 1.
    """

    number: int
    bulks: int
    cut: float
    state: SteadyState


def _steadiness(history: History, tournament: Tournament, laps: Sequence[Lap]) -> Iterator[str]:
    """Judged for each start by itself, because each JVM has its own level; nothing where the journal does not tell."""
    bulks: Counter[int] = Counter()
    series: dict[int, list[float]] = {}
    records = [record for attempt in history.attempts for record in attempt.records]
    for lap, record in zip(laps, records, strict=True):
        counts = not lap.warmup and lap.void is None
        if lap.contender == tournament.baseline and counts and record.seconds_per_document:
            bulks[lap.start] += lap.bulks
            series.setdefault(lap.start, []).extend(record.seconds_per_document)
    found = []
    for number, values in sorted(series.items()):
        state = steady_state(values)
        found.append(_Start(number, bulks[number], state.cut / len(values), state))
    for steadiness in (Steadiness.NOT_STEADY, Steadiness.UNDECIDED, Steadiness.STEADY, Steadiness.TOO_SHORT):
        if members := [one for one in found if one.state.steadiness is steadiness]:
            where = "" if len(found) == 1 else f" in {len(members)} of {len(found)} starts"
            least, most = min(one.bulks for one in members), max(one.bulks for one in members)
            which = f"{least:,}{'' if least == most else f' to {most:,}'} bulks of the baseline"
            yield f"Absolute rates: {_said_of(steadiness, members, which, where)}"


def _said_of(steadiness: Steadiness, members: Sequence[_Start], bulks: str, where: str) -> str:
    if steadiness is Steadiness.TOO_SHORT:
        return f"{bulks}{where} are too few to tell whether they are steady; {FEWEST_BULKS} are needed."
    if steadiness is Steadiness.STEADY:
        longest = max(one.cut for one in members)
        cut = f", but for a warm-up of the first {longest:.0%} at most" if longest else ""
        return f"steady over {bulks}{where}{cut}."
    changes = [
        ("" if len(members) == 1 else f"start {one.number}: ")
        + (
            "still changing after half of them"
            if one.state.change is None
            else f"the second half {one.state.change:+.1%} docs/s against the first"
        )
        for one in members
    ]
    if steadiness is Steadiness.NOT_STEADY:
        return f"no steady state within {bulks}{where} ({'; '.join(changes)}); ratios do not need one."
    return f"too noisy to tell whether {bulks}{where} are steady ({'; '.join(changes)}, maybe by chance)."
