"""What was saturated by contender: samples belong to the lap in whose load they lie wholly, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.plain_values import built, plain
from paddock.race.bottleneck import DISK, DRIVER_CPU, HEAP_FULL, NODE_CPU, Bottleneck
from paddock.sampling.records import ComponentUsage, DiskUsage, NodeCounters, ProcessUsage, Sample
from paddock.tournaments.laps import Attempt
from paddock.tournaments.model import Contender, Metric, Tournament
from paddock.tournaments.saturated import Recorded, contender_bottlenecks, known_as, read_recorded
from paddock.tournaments.store import Stored

MIB = 2**20
NOW = 1_790_000_000.0  # the time of day when the steady clock is 0


@dataclass(frozen=True)
class Turn:
    """A lap: when its load ran by the steady clock, on which cluster; what its record says beside that."""

    contender: str
    begin: float
    end: float
    cluster: str = "default"
    warm_up: bool = False
    record: Mapping[str, Any] | None = None

    def line(self, block: int) -> dict[str, Any]:
        """What the lap runner writes of it: a clock of its own ran a little before and after the load."""
        return {
            "level": self.contender,
            "block": block,
            "position": 1,
            "warm_up": self.warm_up,
            "cluster": self.cluster,
            "documents_sent": 1000,
            "documents_counted": 1000,
            "seconds": self.end - self.begin,
            "started_monotonic": self.begin - 0.02,
            "started_at": NOW + self.begin - 0.02,
            "ended_at": NOW + self.end,
            "merge_wait_seconds": 0.0,
            **(self.record or {}),
        }


def tournament(*names: str, **differences: Any) -> Tournament:
    """One of these contenders."""
    rate = Metric("docs/s", "docs/s", True)
    contenders = tuple(map(Contender, names))
    return Tournament(
        *("t", "", "apache", "settings", (), names[0], contenders, rate, False, 1000, 1000, 8, 1, 1, 0.03, 20.0),
        **differences,
    )


def an_attempt(turns: Sequence[Turn], race_id: str = "race", number: int = 1) -> Attempt:
    """A race with these laps."""
    attempt = Attempt(1, number, race_id, "esrally race", 0, NOW, 0.0, 0.0, 100.0, "done", "")
    for block, turn in enumerate(turns, 1):
        attempt.add(turn.line(block))
    return attempt


@dataclass
class Machine:
    """Samples of a machine on which nodes use as many cores as their cluster has in use at each moment.

    :param cores: cluster -> by how much its nodes' processor time grows per second, at a moment.
    :param step: seconds between samples; the first one is taken at ``begin``.
    """

    cores: Mapping[str, Any]
    nodes: int = 1
    step: float = 1.0
    begin: float = 0.0
    end: float = 60.0
    heap: float = 300.0
    disk: Any = None
    shipper: float | None = None
    elsewhere: bool = False

    def samples(self) -> list[Sample]:
        """From the first to the last."""
        found, moment = [], self.begin
        while moment <= self.end:
            found.append(self._sample(round(moment, 3)))
            moment += self.step
        return found

    def _sample(self, moment: float) -> Sample:
        nodes = {}
        for cluster, cores in self.cores.items():
            for number in range(self.nodes):
                used = ProcessUsage(1, spent(cores, moment) / self.nodes, 1400 * MIB, 0, 0)
                process = None if self.elsewhere else used
                nodes[f"id {cluster} {number}"] = NodeCounters(
                    f"{cluster}-{number}", None, int(self.heap * MIB), process=process, cluster=cluster
                )
        shipper = {} if self.shipper is None else {"shipper-rsyslog": usage(self.shipper * moment, self.shipper)}
        disks = {"vda": DiskUsage(spent(self.disk or (lambda _: 0.1), moment), 0, 0)}
        driver = usage(0.3 * moment, 0.9)
        clocks = {"time": NOW + moment, "seconds": moment - self.begin, "monotonic": moment}
        return Sample(
            **clocks,
            missed=0,
            problem=None,
            nodes=nodes,
            indices=None,
            steal_percent=0.0,
            driver=driver,
            busy_percent=60.0,
            components=shipper,
            disks=disks,
        )

    def recorded(self, processors: int = 8, cores: int = 2) -> Recorded:
        """What was recorded of it: nodes of a GiB of heap that may use ``cores``."""
        circumstances = [
            {
                "cluster": cluster,
                "processors": processors,
                "nodes": {
                    f"id {cluster} {number}": {
                        "name": f"{cluster}-{number}",
                        "os": {"allocated_processors": cores},
                        "jvm": {"mem": {"heap_max_in_bytes": 2**30}},
                    }
                    for number in range(self.nodes)
                },
            }
            for cluster in self.cores
        ]
        return Recorded(self.samples(), circumstances)


def usage(seconds: float, busiest: float) -> ComponentUsage:
    """A component of one process."""
    return ComponentUsage(1, round(seconds, 3), 50 * MIB, busiest, 0, 0, busiest)


def spent(rate: Any, moment: float) -> float:
    """The integral of a rate from 0 to a moment, exactly enough: rates change at tenths of seconds."""
    return round(sum(rate((step + 0.5) / 10) for step in range(round(moment * 10))) / 10, 6)


def look(turns: Sequence[Turn], machine: Machine, names: Sequence[str], **how: Any) -> dict[str, Bottleneck]:
    """What is found; it survives being kept."""
    attempt, beside = an_attempt(turns), machine.recorded(**how)
    laps = attempt.laps(tournament(*names))
    found = contender_bottlenecks(tournament(*names), [attempt], laps, lambda _: beside)
    assert {name: built(Bottleneck, plain(one), name) for name, one in found.items()} == found
    return found


def share(found: Bottleneck, kind: str) -> float | None:
    """The share nearest to its threshold of that kind."""
    return next((one.share for one in found.suspects if one.kind == kind), None)


def within(*spans: tuple[float, float], high: float, low: float) -> Any:
    """A rate that is high in these times and low in all others."""
    return lambda moment: high if any(begin <= moment < end for begin, end in spans) else low


# Laps of 6 s that take turns, with pauses; a's at its limit, b's not.
TURNS = [Turn("a", 2.3, 8.3), Turn("b", 10.3, 16.3), Turn("b", 18.3, 24.3), Turn("a", 26.3, 32.3)]
BUSY = within((2.3, 8.3), (26.3, 32.3), high=1.96, low=0.4)


def test_contenders_that_take_turns_on_one_node() -> None:
    """The one that fills the node is told so, the other is not, though they share the node and its samples."""
    found = look(TURNS, Machine({"default": BUSY}), ["a", "b"])
    assert known_as(found["a"]) == NODE_CPU
    assert share(found["a"], NODE_CPU) == pytest.approx(0.98)
    assert "the CPU of the node: 1.96 of 2 cores" in found["a"].sentence
    assert known_as(found["b"]) == "nothing seen"
    assert share(found["b"], NODE_CPU) == pytest.approx(0.2)
    # Samples at 3, 4 ... 8 lie within the first lap; what came before the first and after the last of them is nobody's.
    assert found["a"].end == 10.0


def test_two_nodes_side_by_side() -> None:
    """Each contender has a cluster of its own: what the other's node does in its laps is not its node's."""
    turns = [replace(turn, cluster="default" if turn.contender == "a" else "b") for turn in TURNS]
    merging = within((10.3, 16.3), (18.3, 24.3), high=1.99, low=0.1)  # a's node, while b has its laps
    machine = Machine({"default": merging, "b": within((10.3, 24.3), high=1.0, low=1.99)})
    found = look(turns, machine, ["a", "b"])
    assert share(found["a"], NODE_CPU) == pytest.approx(0.05)
    assert share(found["b"], NODE_CPU) == pytest.approx(0.5)
    assert {known_as(one) for one in found.values()} == {"nothing seen"}


def test_several_nodes_of_a_cluster() -> None:
    """Each is judged by itself; they are numbered, for their names may be somebody's."""
    found = look(TURNS, Machine({"default": within(high=0.0, low=7.6)}, nodes=4), ["a", "b"], processors=32)
    assert known_as(found["a"]) == NODE_CPU
    assert "the CPU of node 1: 1.90 of 2 cores; the CPU of node 2: 1.90 of 2 cores" in found["a"].sentence
    assert "default-0" not in json.dumps(plain(found))


def test_several_load_drivers() -> None:
    """The busiest process of the laps' own records, on whichever machine: samples see this machine's alone."""
    drivers = [{"host": "here", "cpu_seconds": 1.2}, {"host": "there", "cpu_seconds": 5.7}]
    turns = [replace(turn, record={"drivers": drivers} if turn.contender == "a" else None) for turn in TURNS]
    found = look(turns, Machine({"default": within(high=0, low=0.4)}), ["a", "b"])
    assert known_as(found["a"]) == DRIVER_CPU
    assert share(found["a"], DRIVER_CPU) == pytest.approx(0.95)
    # b's records tell nothing of its driver; the 0.9 of the samples is that of whichever process was here.
    assert share(found["b"], DRIVER_CPU) is None
    assert any("No process of the load driver" in text for text in found["b"].unknown)


def test_the_disk_the_heap_and_the_shipper() -> None:
    """Each is found where it was put, in the laps of the contender that did it."""
    machine = Machine({"default": within(high=0, low=0.4)}, disk=within((2.3, 8.3), (26.3, 32.3), high=1.0, low=0.2))
    found = look(TURNS, machine, ["a", "b"])
    assert (known_as(found["a"]), known_as(found["b"])) == (DISK, "nothing seen")
    assert share(found["b"], DISK) == pytest.approx(0.2)
    collecting = [replace(turn, record={"node_gc_ms": 900 if turn.contender == "b" else 30}) for turn in TURNS]
    found = look(collecting, Machine({"default": within(high=0, low=0.4)}), ["a", "b"])
    assert (known_as(found["a"]), known_as(found["b"])) == ("nothing seen", HEAP_FULL)
    assert "15.0 % of the time in collections" in found["b"].sentence
    full = look(TURNS, Machine({"default": within(high=0, low=0.4)}, heap=950), ["a", "b"])
    assert known_as(full["a"]) == HEAP_FULL
    shipped = look(TURNS, Machine({"default": within(high=0, low=0.4)}, shipper=0.95), ["a", "b"])
    assert known_as(shipped["a"]) == "shipper-rsyslog CPU"


def test_merges_after_a_load_are_in_the_collections_share() -> None:
    """What was counted until the merges had ended is set against all of that time, and against all nodes."""
    record = {"node_gc_ms": 1200, "merge_wait_seconds": 6.0}
    turns = [replace(turn, record=record) for turn in TURNS]
    found = look(turns, Machine({"default": within(high=0, low=0.4)}, nodes=2), ["a", "b"])
    told = [one.share for one in found["a"].suspects if one.kind == HEAP_FULL]
    assert told == pytest.approx([0.05, 300 / 1024, 300 / 1024])


def test_nodes_on_other_machines() -> None:
    """Their processor time is that of the laps' records, and that it holds the merges is said."""
    turns = [replace(turn, record={"node_cpu_ms": 23_000, "merge_wait_seconds": 0.2}) for turn in TURNS]
    found = look(turns, Machine({"default": within(high=0, low=0)}, nodes=2, elsewhere=True), ["a", "b"])
    assert share(found["a"], NODE_CPU) == pytest.approx(23 / 6.2 / 4)
    assert "the CPU of the 2 nodes: 3.71 of 4 cores, waiting for merges included" in found["a"].sentence
    assert any("run on another machine" in text for text in found["a"].unknown)


def test_laps_that_are_too_short_are_told_so() -> None:
    """No two samples within a lap: no name, but the figures that the laps themselves have."""
    turns = [Turn("a", 2.3 + 3 * n, 3.2 + 3 * n, record={"driver_cpu_seconds": 0.8}) for n in range(9)]
    found = look([*turns, Turn("b", 40.2, 46.2)], Machine({"default": within(high=0, low=1.99)}), ["a", "b"])
    assert (found["a"].end, known_as(found["a"])) == (0.0, "no whole sample")
    assert "the longest of which took 0.9 s; longer laps" in found["a"].sentence
    assert share(found["a"], DRIVER_CPU) == pytest.approx(0.8 / 0.9)
    assert share(found["a"], NODE_CPU) is None
    assert known_as(found["b"]) == NODE_CPU


def test_a_sampler_that_ended_early_is_no_short_lap() -> None:
    """Long laps without samples are told from short ones."""
    found = look(TURNS, Machine({"default": BUSY}, end=9), ["a", "b"])
    assert known_as(found["a"]) == NODE_CPU
    assert known_as(found["b"]) == "no whole sample"
    assert "the sampler ended early" in found["b"].sentence


def test_warm_up_and_void_laps_tell_nothing() -> None:
    """Only laps that count: a warm-up at the limit makes nobody saturated."""
    turns = [replace(TURNS[0], warm_up=True), *TURNS[1:3], replace(TURNS[3], record={"void": "documents are missing"})]
    assert set(look(turns, Machine({"default": BUSY}), ["a", "b"])) == {"b"}


def test_races_without_samples_have_no_finding() -> None:
    """As those of an earlier version: nothing is said rather than that laps are too short."""
    attempt = an_attempt(TURNS)
    laps = attempt.laps(tournament("a", "b"))
    assert contender_bottlenecks(tournament("a", "b"), [attempt], laps, lambda _: Recorded(())) == {}


def test_several_races_of_a_tournament() -> None:
    """Each has clocks and counters of its own, even smaller ones than the race before, as after a restart."""
    first = an_attempt(TURNS, "first")
    second = an_attempt([replace(turn, begin=turn.begin - 1, end=turn.end - 1) for turn in TURNS], "second", 2)
    laps = [*first.laps(tournament("a", "b")), *second.laps(tournament("a", "b"))]
    beside = {
        "first": Machine({"default": BUSY}).recorded(),
        "second": Machine({"default": within((1.3, 7.3), (25.3, 31.3), high=1.96, low=0.4)}, begin=0.5).recorded(),
    }
    found = contender_bottlenecks(tournament("a", "b"), [first, second], laps, beside.__getitem__)
    assert share(found["a"], NODE_CPU) == pytest.approx(0.98)
    assert share(found["b"], NODE_CPU) == pytest.approx(0.2)
    assert found["a"].end == pytest.approx(20.0)


def test_limits_of_a_node_count() -> None:
    """A node of a cluster with limits is judged by these, under its own name."""
    beside = replace(
        Machine({"default": within(high=0, low=0.48)}).recorded(),
        limits=[{"node": "default-0", "at most": {"cores": 0.5}}],
    )
    attempt = an_attempt(TURNS)
    laps = attempt.laps(tournament("a", "b"))
    found = contender_bottlenecks(tournament("a", "b"), [attempt], laps, lambda _: beside)
    assert "0.48 of 0.5 cores" in found["a"].sentence


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.3, 9), st.floats(0.05, 2)), min_size=1, max_size=12),
    st.floats(0, 1),
    st.floats(0.3, 2.5),
    st.booleans(),
)
def test_nobody_gets_what_is_anothers(
    plan: list[tuple[str, float, float]], begin: float, step: float, side_by_side: bool
) -> None:
    """Whatever the lengths of laps and pauses and wherever samples fall: each contender has its own figure, exactly.

    In its laps a contender uses cores that nobody else uses, and between laps a fourth rate runs: any share of a sample
    that is attributed wrongly changes the mean.
    """
    rates, turns, moment = {"a": 0.5, "b": 1.1, "c": 1.7}, [], 1.0
    for name, length, pause in plan:
        first, last = round(moment, 1), round(moment + length, 1)
        turns.append(Turn(name, first, last, name if side_by_side else "default"))
        moment = last + max(round(pause, 1), 0.1)

    def at(name: str | None) -> Any:
        return lambda when: next(
            (rates[one.contender] for one in turns if one.begin <= when < one.end and name in (None, one.contender)),
            1.95,
        )

    # Within a tenth of a second, by which the rates change, samples are at its ends.
    begin, step = round(begin, 1), max(round(step, 1), 0.3)
    clusters = {name: at(name) for name in rates} if side_by_side else {"default": at(None)}
    machine = Machine(clusters, begin=begin, step=step, end=moment + 2)
    turned = [replace(turn, record={"started_monotonic": turn.begin, "started_at": NOW + turn.begin}) for turn in turns]
    found = look(turned, machine, ["a", "b", "c"])
    times = [sample.monotonic or 0.0 for sample in machine.samples()]
    for name, one in found.items():
        # A sample at the very end of a lap may be in it or not.
        for margin, wrong in ((1e-6, float.__gt__), (-1e-6, float.__lt__)):
            own = [(t.begin - margin, t.end + margin) for t in turns if t.contender == name]
            inside = [[at for at in times if first <= at <= last] for first, last in own]
            seconds = float(sum(part[-1] - part[0] for part in inside if part))
            assert not wrong(one.end, seconds + 10 * margin)
        assert (share(one, NODE_CPU) is None) == (one.end == 0)
        if one.end:
            assert share(one, NODE_CPU) == pytest.approx(rates[name] / 2, abs=1e-4)


def test_what_is_read_is_what_was_written(rally_home: Path) -> None:
    """Samples and circumstances of a race in its tournament's folder; a file of another version is none."""
    stored = Stored("20261122-000000-t")
    assert read_recorded(stored, "race") == Recorded([], [], [])
    machine = Machine({"default": BUSY}, end=2)
    file = stored.samples_file("race")
    file.parent.mkdir(parents=True)
    beside = machine.recorded()
    told = [{"kind": "circumstances", **one} for one in beside.circumstances]
    file.write_text("".join(json.dumps(line) + "\n" for line in [*told, *(one.as_line() for one in beside.samples)]))
    read = read_recorded(stored, "race")
    assert read.samples == beside.samples
    assert read.circumstances == told
    file.write_text('{"kind": "sample", "something": "else"}\n')
    assert read_recorded(stored, "race") == Recorded(())


def test_a_cluster_that_never_answered_is_not_judged() -> None:
    """Samples without its nodes are none of its own, whatever the machine did meanwhile."""
    found = look([*TURNS, Turn("c", 34.3, 40.3, "silent")], Machine({"default": BUSY}), ["a", "b", "c"])
    assert known_as(found["a"]) == NODE_CPU
    assert (known_as(found["c"]), found["c"].end) == ("no whole sample", 0.0)
    assert "its nodes did not answer" in found["c"].sentence


def test_a_shipper_is_held_to_what_it_is_pinned_to() -> None:
    """To the processors of its own contender's level; another contender's shipper, which has ended, is not told."""
    level = {"shipper": "rsyslog", "shipper_processors": "0"}
    held = tournament("a", "b")
    held = replace(held, contenders=(Contender("a", level), Contender("b", {**level, "shipper_processors": None})))
    attempt, beside = an_attempt(TURNS), Machine({"default": within(high=0, low=0.4)}, shipper=0.85).recorded()
    ended = {"shipper-syslog-ng": replace(usage(7, 0), processes=0)}
    samples = [replace(one, components={**one.components, **ended}) for one in beside.samples]
    beside = replace(beside, samples=samples)
    found = contender_bottlenecks(held, [attempt], attempt.laps(held), lambda _: beside)
    told = {name: [(each.of, each.used) for each in one.suspects] for name, one in found.items()}
    assert ("shipper-rsyslog", "0.85 of 1 cores") in told["a"]
    assert ("shipper-rsyslog", "0.85 of 8 cores") in told["b"]
    assert "syslog-ng" not in str(told)


@given(st.floats(0, 2), st.floats(0.1, 60), st.floats(0, 2), st.floats(-0.2, 0.2))
def test_what_surely_is_load_is_load(before: float, seconds: float, after: float, step: float) -> None:
    """Wherever the load lay between the two looks at the clock: what is taken for it lies inside, if anything is.

    A step of the time of day meanwhile may only make it less, or move it by the step itself.
    """
    began = 1000.0
    line = {"started_monotonic": began, "started_at": NOW, "ended_at": NOW + before + seconds + after + step}
    attempt = Attempt(1, 1, "race", "esrally race", 0, NOW, 0.0, 0.0)
    attempt.add({**Turn("a", 0, seconds).line(1), **line, "seconds": seconds})
    window = attempt.records[0].load
    if window is not None:
        backwards = max(-step, 0.0)
        assert window[0] >= began + before - backwards - 1e-4
        assert window[1] <= began + before + seconds + 1e-4
    elif abs(step) < 0.04:
        assert before + after + step >= seconds - 1e-4


def test_a_journal_from_before_has_no_such_times() -> None:
    """A lap without the steady clock, or of which nothing was measured, has samples of nobody."""
    attempt = Attempt(1, 1, "race", "esrally race", 0, NOW, 0.0, 0.0)
    attempt.add({**Turn("a", 1, 5).line(1), "started_monotonic": None})
    attempt.add({**Turn("a", 1, 5).line(2), "seconds": None})
    assert [record.load for record in attempt.records] == [None, None]
