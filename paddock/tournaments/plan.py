"""The plan of a tournament: schedule, minutes, the smallest difference that it resolves; and as a person reads it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paddock import numbers
from paddock.advice import shards_per_heap
from paddock.cars import combine, known_cars, large_heap, large_heaps_together, this_machine
from paddock.console import table
from paddock.files import gibibytes
from paddock.race.drivers import idle_processes
from paddock.race.headroom import Headroom
from paddock.statistics.evidence import fewest_pairs
from paddock.statistics.signed_rank import fewest_differences, smallest_difference
from paddock.statistics.starts import FEWEST_STARTS
from paddock.tournaments import durations
from paddock.tournaments.cautions import driver_bound, few_bulks, few_for_rates, short_laps
from paddock.tournaments.clusters import clusters_of, distinct, runs_side_by_side, together
from paddock.tournaments.durations import Experience, driver_load, phase_seconds
from paddock.tournaments.growth import fewest_documents, growing_cautions
from paddock.tournaments.headroom import headroom_sentence, shares, undisturbed
from paddock.tournaments.load_shape import load_shape, shards, ships
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.pairing import ALPHA, rivals
from paddock.tournaments.schedule import Start, make_schedule
from paddock.tournaments.thresholds import unreached_thresholds


@dataclass(frozen=True)
class Resolution:
    """What a number of units can tell apart.

    :param ratio: the smallest ratio above 1 that is found with a probability of 80 %; infinite if none is.
    :param units: how many pairs are compared.
    :param unit: "block" or "start".
    :param needed: how many there must be before anything can be decided.
    :param sd: assumed standard deviation of the log ratios.
    """

    ratio: float
    units: int
    unit: str
    needed: int
    sd: float


@dataclass(frozen=True)
class Plan:
    """A tournament that is ready to be run.

    :param seconds: expected, per start.
    :param fits: how many of the starts fit the budget.
    :param warmup_seconds: expected of the load of one start's warm-up; of several clusters, that of the one with least.
    :param lap_seconds: expected of the load of a lap, the median of the contenders.
    :param headroom: contender -> what the load driver alone pushes of its load, where that is known.
    """

    tournament: Tournament
    seed: int
    schedule: tuple[Start, ...]
    seconds: tuple[float, ...]
    fits: int
    warmup_seconds: float
    lap_seconds: float
    resolution: Resolution
    experience: Experience
    headroom: Mapping[str, Headroom] = field(default_factory=dict)

    @property
    def minutes(self) -> float:
        """Expected, of those starts that fit the budget."""
        return sum(self.seconds[: self.fits]) / 60

    @property
    def warmup_documents(self) -> int:
        """Documents of one start's warm-up; of several clusters, those of the one with fewest."""
        laps = self.tournament.warmup_blocks * min(map(len, together(self.tournament)))
        return laps * fewest_documents(self.tournament, self.experience)


def make_plan(tournament: Tournament, seed: int, experience: Experience | None = None) -> Plan:
    """Plan the tournament; the schedule depends on tournament and seed alone, the rest on experience as well."""
    experience = experience or Experience()
    schedule = make_schedule(tournament, seed)
    seconds = tuple(durations.start_seconds(tournament, start, experience) for start in schedule)
    fits = _fitting(tournament, schedule, seconds)
    laps = {one.name: durations.lap_seconds(tournament, one, experience) for one in tournament.raced}
    cold = {one.name: durations.warmup_lap_seconds(tournament, one, experience) for one in tournament.raced}
    # What one cluster is asked for warms no other.
    per_block = min(sum(cold[name] for name in names) for names in together(tournament))
    return Plan(
        tournament,
        seed,
        schedule,
        seconds,
        fits,
        per_block * tournament.warmup_blocks,
        statistics.median(laps[one.name] for one in tournament.contenders),
        _resolution(tournament, schedule[:fits], seconds, experience),
        experience,
    )


def _fitting(tournament: Tournament, schedule: tuple[Start, ...], seconds: tuple[float, ...]) -> int:
    """Starts that end before the budget does, in whole groups; always the first group."""
    budget = tournament.budget_minutes * 60
    spent, fits = 0.0, 0
    for group in sorted({start.group for start in schedule}):
        members = [start.number for start in schedule if start.group == group]
        spent += sum(seconds[number - 1] for number in members)
        if fits and spent > budget:
            break
        fits = members[-1]
    return fits


def _resolution(
    tournament: Tournament, schedule: tuple[Start, ...], seconds: tuple[float, ...], experience: Experience
) -> Resolution:
    alpha = ALPHA / (len(tournament.contenders) - 1)
    needed = fewest_differences(alpha)
    groups = len({start.group for start in schedule})
    block_sd = experience.block_sds.get(tournament.metric.name) or durations.assumed_block_sd(tournament)
    if tournament.node_level:
        sd = math.sqrt(block_sd**2 / tournament.blocks + 2 * durations.START_SD**2)
        return Resolution(smallest_difference(groups, sd, alpha=alpha), groups, "start", needed, sd)
    # As starts.index_level counts: enough starts are the units, otherwise all blocks are pooled.
    if groups >= max(FEWEST_STARTS, needed):
        known = experience.start_sds.get(tournament.metric.name, durations.START_PAIR_SD)
        of_start = known if runs_side_by_side(tournament) else 0.0
        sd = math.sqrt(block_sd**2 / tournament.blocks + of_start**2)
        return Resolution(smallest_difference(groups, sd, alpha=alpha), groups, "start", needed, sd)
    share = min(1.0, tournament.budget_minutes * 60 / seconds[0]) if groups == 1 else 1.0
    blocks = max(1, int(groups * tournament.blocks * share))
    return Resolution(smallest_difference(blocks, block_sd, alpha=alpha), blocks, "block", needed, block_sd)


_CONTENDERS_SHOWN = 16
_BLOCKS_SHOWN = 3


def render_plan(plan: Plan, orders: bool = False) -> str:
    """The whole plan.

    :param orders: also the order of every block of every start, for --dry-run.
    """
    lines = [f"{plan.tournament.name}: {plan.tournament.question}", "", *_setup(plan.tournament), ""]
    lines += [_contenders(plan.tournament), "", *_schedule(plan)]
    own = any(not ships(plan.tournament, one) for one in plan.tournament.contenders)
    if orders and not plan.headroom and own:
        lines += ["What the load driver alone can push is not measured yet: that is done before the first race."]
    lines += [*cautions(plan), f"Seed {plan.seed}.", ""]
    lines += ["Order:", *(_orders(plan, None if orders else _BLOCKS_SHOWN))]
    return "\n".join(lines)


def resolvable(plan: Plan) -> str:
    """What the budget can tell apart, a sentence."""
    resolution = plan.resolution
    if math.isinf(resolution.ratio):
        return (
            f"Nothing can be decided with {_count(resolution.units, resolution.unit)} of each: at least "
            f"{resolution.needed} are needed. It shows that everything works, and first figures."
        )
    return (
        f"Differences of {numbers.change(resolution.ratio).lstrip('+')} and more are found with a probability of 80 % "
        f"({_count(resolution.units, resolution.unit)}, log ratios with a standard deviation of {resolution.sd:.2g}); "
        f"smaller ones probably stay undecided."
    )


def _setup(tournament: Tournament) -> Iterator[str]:
    cars = f"cars {','.join(tournament.cars) or 'of each contender'}, " if not tournament.is_there else ""
    yield f"Track {tournament.track}, challenge {tournament.challenge}, {cars}metric {tournament.metric.name}."
    if runs_side_by_side(tournament):
        yield _clusters(tournament)
    if tournament.driver_processes > 1:
        yield f"The load of a lap is sent by {tournament.driver_processes} processes together."
    if tournament.track_params:
        yield f"Track parameters: {', '.join(f'{name} {value}' for name, value in tournament.track_params.items())}."


def _clusters(tournament: Tournament) -> str:
    """How many clusters are alive at once, and how much memory their heaps take together."""
    clusters = distinct(clusters_of(tournament))
    started = [one for one in clusters if not one.target_hosts]
    if not started:
        return f"{_count(len(clusters), 'cluster')} that are there already, raced side by side."
    heaps = [combine(one.car, known_cars(), one.car_params).heap_bytes * one.nodes for one in started]
    nodes = sum(one.nodes for one in started)
    side_by_side = ", alive side by side" if len(started) > 1 else ""
    return (
        f"{_count(len(started), 'cluster')} with {_count(nodes, 'node')} in all{side_by_side}: their heaps take "
        f"{gibibytes(sum(heaps))} of {gibibytes(this_machine().memory_bytes)}."
    )


def _contenders(tournament: Tournament) -> str:
    rows = [
        [contender.name, "baseline" if contender.name == tournament.baseline else "", _differs(tournament, contender)]
        for contender in tournament.contenders[:_CONTENDERS_SHOWN]
    ]
    if tournament.control is not None:
        rows.append([tournament.control.name, "control", "nothing: a twin of the baseline"])
    text = str(table(("contender", "", "differs in"), rows))
    more = len(tournament.contenders) - _CONTENDERS_SHOWN
    return f"{text}\n... and {more} more." if more > 0 else text


def _differs(tournament: Tournament, contender: Contender) -> str:
    parts = []
    if contender.cars is not None:
        parts.append(f"cars {','.join(contender.cars)}")
    if contender.version is not None:
        parts.append(f"Elasticsearch {contender.version}")
    node = {"engine": contender.engine, "Java": contender.java, "data path": contender.data_path}
    node |= {"hosts": contender.target_hosts, **contender.car_params}
    parts += [f"{name} {value}" for name, value in node.items() if value is not None]
    if contender.nodes is not None:
        parts.append(_count(contender.nodes, "node"))
    if contender.own_cluster and not parts:
        parts.append("a cluster of its own")
    level = contender.level_object
    if isinstance(level, dict):
        shown = {**level.get("settings", {}), **{key: level[key] for key in level if key not in ("name", "settings")}}
        lists = {name: ", ".join(value) if isinstance(value, list) else value for name, value in shown.items()}
        parts += [f"{name} {value}" for name, value in lists.items()]
    else:
        parts.append(f"{tournament.challenge} {level}")
    parts += [f"{name} {value}" for name, value in contender.track_params.items()]
    return "; ".join(parts) or "nothing"


def _schedule(plan: Plan) -> Iterator[str]:
    tournament = plan.tournament
    if tournament.node_level:
        yield (
            f"{_count(tournament.starts, 'start')} of each of {len(tournament.raced)} contenders, in coin-flip "
            f"order; in each {_count(tournament.warmup_blocks, 'lap')} of warm-up and {tournament.blocks} that count."
        )
    else:
        yield (
            f"{_count(tournament.starts, 'start')} with {_count(tournament.warmup_blocks, 'block')} of warm-up and "
            f"{tournament.blocks} that count, each with one lap of every contender in coin-flip order."
        )
    searches = f", then runs each query {tournament.searches} times" if tournament.searches else ""
    merged = ", merges it to one segment per shard" if tournament.force_merge else ""
    what = f"indexes {tournament.lap_documents:,} documents"
    if tournament.lap_seconds is not None:
        what = f"is a load of {tournament.lap_seconds:g} s"
    index = "into a fresh index"
    if tournament.growing:
        index = "into its contender's own index, which grows through the start"
    yield f"A lap {what} {index}{merged}{searches}."
    known = plan.experience.tournaments
    source = f"from {_count(known, 'earlier tournament')} here" if known else "a guess: none has been run here yet"
    yield f"About {plan.minutes:.0f} minutes ({source}); the budget is {tournament.budget_minutes:g}."
    waiting = sum(phase_seconds(tournament, start) for start in plan.schedule[: plan.fits]) / 60
    if waiting >= 1:
        yield (
            f"About {waiting:.0f} of these minutes are waits: freshness is probed, so each load begins at a phase of "
            f"its own between two refreshes."
        )
    yield resolvable(plan)
    if plan.headroom:
        yield headroom_sentence(plan.headroom, _expected_rates(plan), expected=True)


def cautions(plan: Plan) -> Iterator[str]:
    """What its reader should know before it is held, a sentence each; what may spoil it begins with "Caution:"."""
    tournament = plan.tournament
    left_out = len(plan.schedule) - plan.fits
    if plan.seconds[0] > tournament.budget_minutes * 60:
        whole = "it is held to its end" if tournament.node_level else "it will end early, between two blocks"
        others = ", and no other is held" if left_out else ""
        yield f"Caution: one start takes longer than the budget; {whole}{others}."
    elif left_out:
        yield f"Caution: only {plan.fits} of {len(plan.schedule)} starts fit the budget; --budget gives more minutes."
    several = not tournament.node_level and len(together(tournament)) > 1
    least = " for the cluster with least of it" if several else ""
    if few := few_for_rates(plan.warmup_seconds, plan.warmup_documents):
        yield (
            f"Caution: the warm-up of a start is about {plan.warmup_seconds:.0f} s and {plan.warmup_documents:,} "
            f"documents{least}, {few}."
        )
    for one in tournament.contenders:
        # Where all have as many nodes, what leaves one idle is what is compared: replicas, for example.
        if one.nodes is not None and one.nodes > (held := shards(tournament, one)):
            yield (
                f"Caution: '{one.name}' has {one.nodes} nodes and an index of {numbers.plural(held, 'shard')}, "
                f"replicas included: {numbers.plural(one.nodes - held, 'node')} will hold nothing of it; "
                f"number_of_shards or number_of_replicas in track_params give them something."
            )
    yield from (f"Caution: {text}" for text in _lap_cautions(plan) if text)
    yield from (f"Advice: {text}" for text in _advice(tournament))
    alpha = ALPHA / len(rivals(tournament))
    needed = max(FEWEST_STARTS, fewest_differences(alpha))
    if tournament.starts < needed and not tournament.node_level and not tournament.is_there:
        single = tournament.starts == 1
        launched = "One start" if single else f"{tournament.starts} starts"
        jvms = "that JVM" if single else "their JVMs"
        yield f"{launched}: what is found holds for {jvms}; --starts {needed} makes it a claim about the configuration."
    if tournament.stop_early and plan.resolution.units >= fewest_pairs(alpha):
        alone = " A contender for which it does sooner gets no further laps." if tournament.drops else ""
        yield f"It ends early if the evidence suffices for all.{alone}"


def _lap_cautions(plan: Plan) -> Iterator[str | None]:
    tournament = plan.tournament
    yield short_laps(plan.lap_seconds, tournament.lap_documents, "are expected to take")
    yield from growing_cautions(tournament, plan.experience)
    yield from unreached_thresholds(tournament, plan.experience)
    shapes = {one.name: load_shape(tournament, one) for one in tournament.contenders}
    yield few_bulks(fewest_documents(tournament, plan.experience), shapes)
    headroom = undisturbed(plan.headroom)
    # A shipper is fed by another program than the one that is known.
    own = [one for one in tournament.contenders if not ships(tournament, one)]
    loads = {one.name: driver_load(tournament, one, plan.experience, headroom.get(one.name)) for one in own}
    yield driver_bound(loads, shares(headroom, _expected_rates(plan)), tournament.driver_processes, expected=True)
    yield idle_processes(tournament.driver_processes, {one.name: load_shape(tournament, one)[1] for one in own})


def _advice(tournament: Tournament) -> Iterator[str]:
    """What Elastic would say of the nodes; not of the size of shards, for those of a lap are no log of anybody's."""
    clusters = {name: one for name, one in clusters_of(tournament).items() if not one.target_hosts}
    made = {one.name: combine(one.car, known_cars(), one.car_params) for one in clusters.values()}
    nodes = [made[one.name].heap_bytes for one in distinct(clusters) for _ in range(one.nodes)]
    told = [None if tournament.node_level else large_heaps_together(nodes, this_machine())]
    told += [large_heap(one, this_machine()) for one in made.values()]
    many = (
        shards_per_heap(
            shards(tournament, contender) / cluster.nodes,
            made[cluster.name].heap_bytes,
            f"A node of '{contender.name}'",
            cluster.version,
        )
        for contender in tournament.contenders
        if (cluster := clusters.get(contender.name))
    )
    told.append(next(filter(None, many), None))  # of the first; what is said of others is the same
    yield from dict.fromkeys(sentence for sentence in told if sentence)


def _expected_rates(plan: Plan) -> dict[str, float]:
    """Docs/s of the contenders, as far as one can tell."""
    tournament, experience = plan.tournament, plan.experience
    seconds = {one.name: durations.lap_seconds(tournament, one, experience) for one in tournament.contenders}
    documents = {one.name: durations.lap_documents(tournament, one, experience) for one in tournament.contenders}
    return {name: documents[name] / one for name, one in seconds.items()}


def _orders(plan: Plan, most: int | None) -> Iterator[str]:
    if plan.tournament.node_level:
        for group in sorted({start.group for start in plan.schedule}):
            names = [start.contenders[0] for start in plan.schedule if start.group == group]
            yield f"  starts of group {group}: {' | '.join(names)}"
        return
    for start in plan.schedule if most is None else plan.schedule[:1]:
        for number, order in enumerate(start.orders[:most], start=1):
            shown = " | ".join(order) if len(order) <= _CONTENDERS_SHOWN or most is None else f"{len(order)} laps"
            warm_up = " (warm-up)" if number <= start.warmup_blocks else ""
            yield f"  start {start.number}, block {number}{warm_up}: {shown}"
    if most is not None:
        yield "  ... (--dry-run shows all of it)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
