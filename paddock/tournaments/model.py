"""What passes between the layers of a tournament: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.costs import ContenderCost, Prices
from paddock.race.bottleneck import Bottleneck
from paddock.race.headroom import Headroom
from paddock.tournaments.published import Published

FASTER, SLOWER, EQUIVALENT, UNDECIDED = "faster", "slower", "equivalent", "undecided"
# As Rally has it: no 99th percentile of fewer than a hundred.
FEWEST_FOR_P99 = 100


@dataclass(frozen=True)
class Metric:
    """What the verdict is about.

    :param name: "docs/s", "node CPU s/M docs", "bulk p50 ms", "bytes/doc" ...
    :param higher_is_better: whether more of it is faster, cheaper, better.
    """

    name: str
    unit: str
    higher_is_better: bool


@dataclass(frozen=True)
class Contender:
    """One named configuration.

    :param level: what the block challenge is told of it (index settings, bulk size, clients, mapping), JSON-like.
    :param cars: cars and mixins, if it differs at the node; None for the tournament's own.
    :param track_params: track parameters of its races, if it differs there.
    :param version: the Elasticsearch of its nodes, if it differs there; None for the tournament's own. So are
        ``engine``, ``java``, ``data_path`` and ``nodes`` (how many the cluster has); ``car_params`` come on top.
    :param target_hosts: somebody's own cluster, which is not started; with ``client_options``, a file's name.
    :param own_cluster: whether it shares its cluster with nobody, even if another is made of the same.
    :param coordinates: its place in a grid: factor -> value; empty outside of grids.
    """

    name: str
    level: Any = None
    cars: tuple[str, ...] | None = None
    track_params: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    car_params: Mapping[str, Any] = field(default_factory=dict)
    engine: str | None = None
    java: str | None = None
    data_path: str | None = None
    nodes: int | None = None
    target_hosts: str | None = None
    client_options: str | None = None
    own_cluster: bool = False

    @property
    def level_object(self) -> Any:
        """As the block challenges want a level: a plain value that is its own name, or an object."""
        if self.level is None:
            return {"name": self.name}
        if isinstance(self.level, Mapping):
            return {"name": self.name, **self.level}
        return self.level if str(self.level) == self.name else {"name": self.name, "value": self.level}

    @property
    def differs_at_the_node(self) -> bool:
        """Whether it cannot share a node with every other contender."""
        made_of = (self.cars, self.version, self.engine, self.java, self.data_path, self.nodes, self.target_hosts)
        return any(one is not None for one in made_of) or bool(self.car_params) or self.own_cluster


@dataclass(frozen=True)
class Tournament:
    """A tournament file, read and checked.

    :param node_level: whether each contender is held apart, in starts of its own: then the unit is the start, and no
        lap is paired. Otherwise contenders that differ at the node have clusters side by side.
    :param baseline: name of the contender that the others are compared with.
    :param lap_documents: documents per lap; 0 where ``lap_seconds`` says how long it is.
    :param lap_seconds: of a slice of the load; None where documents end a lap.
    :param drop_caches: whether the kernel forgets what it has read from disks before every start of the nodes.
    :param growing: whether each contender keeps its own index through the laps of a start, which grows; else every lap
        has a fresh one.
    :param blocks: measured blocks per start (at most, if it may stop early).
    :param starts: launches of the node.
    :param margin: half-width of "equivalent", as a share (0.03 is 3 %).
    :param budget_minutes: it ends when the next start would exceed this.
    :param corpus: a recipe of the track or an imported corpus; None for the track's own.
    :param documents: size of the corpus; 0 for as many as the named corpus has.
    :param stop_early: whether the e-process may end it before all blocks are run.
    :param drop_decided: whether a contender of several that the e-process has decided gets no further laps; not where
        it may not end early.
    :param freshness: whether a freshness probe runs beside the load.
    :param searches: how often each of the track's queries is run after the load of a lap; 0 for no searches.
    :param force_merge: whether the index of a lap is merged to one segment per shard before it is weighed and searched.
    :param read_back: how many documents of a lap are read again and compared with what was sent; 0 for none.
    :param nodes: nodes that each cluster has; of a cluster that is there, at least.
    :param driver_processes: processes that send the load of a lap together.
    :param different_answers: why searches may find something else in one contender than in another; empty if they must
        not, and a lap in which they do is void.
    :param question: what it is to answer.
    :param notes: sentences of its author that belong beside its result.
    :param control: a twin of the baseline, which has laps in every block and is compared with nobody but the baseline:
        what the design itself makes of no difference. None for none.
    """

    name: str
    description: str
    track: str
    challenge: str
    cars: tuple[str, ...]
    baseline: str
    contenders: tuple[Contender, ...]
    metric: Metric
    node_level: bool
    documents: int
    lap_documents: int
    blocks: int
    warmup_blocks: int
    starts: int
    margin: float
    budget_minutes: float
    stop_early: bool = True
    freshness: bool = False
    searches: int = 0
    track_params: Mapping[str, Any] = field(default_factory=dict)
    car_params: Mapping[str, Any] = field(default_factory=dict)
    published: Published | None = None
    checksum: str = ""
    nodes: int = 1
    corpus: str | None = None
    different_answers: str = ""
    question: str = ""
    notes: tuple[str, ...] = ()
    force_merge: bool = False
    read_back: int = 0
    control: Contender | None = None
    driver_processes: int = 1
    drop_decided: bool = True
    on_target_hosts: bool = False
    growing: bool = False
    lap_seconds: float | None = None
    drop_caches: bool = False

    @property
    def is_there(self) -> bool:
        """Whether it is held on what is there already, all on one cluster or each on its own: no car makes it."""
        return self.on_target_hosts or all(one.target_hosts for one in self.contenders)

    @property
    def drops(self) -> bool:
        """Whether contenders may be dropped: of two alone, the decision ends it."""
        return self.stop_early and self.drop_decided and len(self.contenders) > 2

    def cars_of(self, contender: Contender) -> tuple[str, ...]:
        """The cars of its nodes: its own, or everybody's."""
        return self.cars if contender.cars is None else contender.cars

    def car_params_of(self, contender: Contender) -> dict[str, Any]:
        """The car variables of its nodes: everybody's, and its own over them."""
        return {**self.car_params, **contender.car_params}

    @property
    def raced(self) -> tuple[Contender, ...]:
        """Everybody who has laps: the contenders, and the control."""
        return self.contenders if self.control is None else (*self.contenders, self.control)


@dataclass(frozen=True)
class Markers:
    """What the freshness probe saw in one lap.

    :param found: milliseconds from acknowledged to searchable, of each marker that was found.
    :param waiting: milliseconds since they were acknowledged, of those not found when the load ended.
    :param problem: why the probe ended before the load; then they tell no figure. None if it did not.
    """

    found: tuple[float, ...]
    waiting: tuple[float, ...]
    problem: str | None = None


@dataclass(frozen=True)
class Disturbance:
    """What else the machine of the load driver did while the load of a lap ran.

    :param cores: of that machine.
    :param nodes_here: nodes of the cluster that run on it, too; ``nodes_elsewhere`` run on others.
    :param steal: share of the time of all cores that the hypervisor gave to others, 0 to 1.
    :param others: cores that were busy with anything but the load driver and the nodes that run here.
    :param cpu_pressure, io_pressure, memory_pressure: share of the time in which some process of the machine waited for
        it, 0 to 1; None where the kernel does not tell.
    """

    cores: int
    nodes_here: int
    nodes_elsewhere: int
    steal: float
    others: float
    cpu_pressure: float | None = None
    io_pressure: float | None = None
    memory_pressure: float | None = None

    @property
    def taken(self) -> float:
        """Share of all cores that others had, be it on this machine or beside it, 0 to 1."""
        return self.steal + self.others / self.cores


@dataclass(frozen=True)
class Answer:
    """What a query found in a lap.

    :param hits: documents that match, all of them counted.
    :param digest: a checksum of what else of the answer depends on nothing but the documents; None if nothing does.
    """

    hits: int
    digest: str | None = None

    def contradicts(self, other: Answer) -> bool:
        """Whether the two cannot both be right about the same documents."""
        differing = None not in (self.digest, other.digest) and self.digest != other.digest
        return self.hits != other.hits or differing


@dataclass(frozen=True)
class Lap:
    """One lap as the lap runner wrote it, with its place in the tournament.

    :param counted: documents in its index after it; None where nobody has counted them.
    :param seconds: from the first bulk sent to the last one acknowledged.
    :param began: when its load began: seconds that the tournament had been running, breaks left out.
    :param void: why it does not count; None if it does.
    :param rates: documents indexed in each second of the lap.
    :param freshness: milliseconds from acknowledged to searchable: "p50", "p95", "p99", "n"; None where not probed.
    :param markers: the same one by one; None where not probed.
    :param disturbance: what else the machine did; None where the journal does not tell.
    :param prices: further figures by name: "node CPU s/M docs", "driver CPU s/M docs", "bytes/doc", "bulk p50 ms",
        "query p50 ms", ...
    :param bulks: that were sent; 0 where the journal does not tell.
    :param driver_load: processor seconds of the load driver per second of load, of several processes the busiest one's;
        it can use 1 at most. None if unknown.
    :param actions: how often the index did "refreshes", "flushes" and "merges" while the load ran; empty if unknown.
    :param answers: what each query of the lap's searches found.
    :param read_back: how many documents were read again, and by field how many differed from what was sent.
    :param documents_before: that its index had; None of a fresh one.
    :param merges_go_on: whether merges of a growing index went on when it was waited for them as long as its load took.
    :param index: what its index did until its merges had ended, replicas included: "refreshes", "refresh_ms",
        "merges", "merge_ms", "merge_bytes", "flushes", "flush_ms", and the "segments" that it had then; empty if
        unknown.
    """

    start: int
    block: int
    position: int
    contender: str
    warmup: bool
    documents: int
    counted: int | None
    seconds: float
    began: float
    void: str | None = None
    rates: tuple[float, ...] = ()
    freshness: Mapping[str, float] | None = None
    markers: Markers | None = None
    disturbance: Disturbance | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    bulks: int = 0
    driver_load: float | None = None
    actions: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    read_back: tuple[int, Mapping[str, int]] | None = None
    documents_before: int | None = None
    merges_go_on: bool = False
    index: Mapping[str, float] = field(default_factory=dict)

    @property
    def docs_per_second(self) -> float:
        """Documents sent / seconds."""
        return self.documents / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Verdict:
    """What can be said of one contender against the baseline, in one metric.

    :param ratio: contender / baseline of the metric's values; None if there are no pairs.
    :param low, high: interval of the ratio; 0 and infinity where n is too small.
    :param confidence: the one reached by the interval, 0 to 1.
    :param pairs: blocks (or starts) that count.
    :param p_value: Holm-adjusted.
    :param scope: "for this JVM", "for these JVMs" or "for the configuration".
    :param decide: what would decide it, a sentence; empty if it is decided.
    :param block_sd: standard deviation of the log ratios of blocks of one start, and ``start_sd`` of those of starts
        beyond that (statistics.starts.spread); None where there are too few.
    :param unit: what a pair is: "block" or "start".
    :param negligible: faster or slower, but the greater part of the interval lies within the margin of equivalence.
    :param dropped: the evidence decided it while others went on, and it had no further laps: the interval is a
        confidence sequence.
    """

    contender: str
    verdict: str
    ratio: float | None
    low: float
    high: float
    confidence: float
    pairs: int
    p_value: float
    scope: str
    decide: str = ""
    negligible: bool = False
    block_sd: float | None = None
    start_sd: float | None = None
    unit: str = "block"
    dropped: bool = False


@dataclass(frozen=True)
class Absolute:
    """Absolute values of one contender, for orientation beside the ratios.

    :param mean, median: None without a lap in which the metric was measured.
    :param sd: None with fewer than two such laps.
    :param laps: how many they are.
    """

    contender: str
    mean: float | None
    sd: float | None
    median: float | None
    laps: int


@dataclass(frozen=True)
class MetricResult:
    """Verdicts and absolute values in one metric.

    :param control: the verdict on the control, by itself; None without one.
    """

    metric: Metric
    verdicts: tuple[Verdict, ...]
    absolutes: tuple[Absolute, ...]
    control: Verdict | None = None


@dataclass(frozen=True)
class VoidStart:
    """A start that was given up after its races had failed; it may have died before its first lap."""

    number: int
    reason: str


@dataclass(frozen=True)
class Result:
    """A tournament's result; all that a report needs.

    :param main: the metric of the verdict; ``others`` the prices beside it.
    :param began: epoch seconds.
    :param seconds: how long it has been running, breaks left out.
    :param laps: all laps in the order of their running, warm-up and void ones included.
    :param notes: sentences on warm-up, void laps, early stopping, budget.
    :param circumstances: name -> text.
    :param commands: the esrally command lines, one per start.
    :param efficiency: measured load / wall time, first lap to last, 0 to 1; None if unknown.
    :param stopped: why it ended: "all blocks done", "decided", "budget", "interrupted".
    :param void_starts: starts whose races failed, in their order; laps that they had run are void.
    :param headroom: contender -> what the load driver alone pushes of its load; empty if it was not measured.
    :param prices: what money is reckoned with; None if nobody named any. One of ``others`` is then the cost.
    :param costs: of the contenders, in their order; of those whose laps tell it.
    :param bottlenecks: contender -> what was saturated in its laps; empty where no race was sampled.
    """

    id: str
    tournament: Tournament
    seed: int
    began: float
    seconds: float
    main: MetricResult
    others: tuple[MetricResult, ...]
    laps: tuple[Lap, ...]
    notes: tuple[str, ...]
    circumstances: Mapping[str, str]
    commands: tuple[str, ...]
    efficiency: float | None
    stopped: str
    void_starts: tuple[VoidStart, ...] = ()
    headroom: Mapping[str, Headroom] = field(default_factory=dict)
    prices: Prices | None = None
    costs: tuple[ContenderCost, ...] = ()
    bottlenecks: Mapping[str, Bottleneck] = field(default_factory=dict)
