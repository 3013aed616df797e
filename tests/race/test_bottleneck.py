"""The bottleneck: found where it was put, not found where there is none, and honest of what nobody saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.paths import PROJECT
from paddock.plain_values import built, plain
from paddock.race import bottleneck
from paddock.race.bottleneck import (
    COMPONENT_CPU,
    DISK,
    DRIVER_CPU,
    HEAP_FULL,
    MACHINE_CPU,
    NODE_CPU,
    Allowed,
    Bottleneck,
    allowed,
    find_bottleneck,
)
from paddock.race.over_time import (
    BUSIEST,
    BUSIEST_THREAD,
    COLLECTION,
    DISK_BUSY,
    DRIVER,
    HEAP,
    MACHINE,
    MACHINE_BUSY,
    MEMORY,
    PROCESSORS,
    WRITTEN,
    OverTime,
    Series,
    over_time,
)
from paddock.race.resources import resources
from paddock.sampling.records import Collections, IndexCounters, ProcessUsage, Sample
from tests.race.scenes import Load, Scene

NODE, SHIPPER = "rally-node-0", "shipper"
# An idle race: nothing near its limit.
QUIET: Mapping[tuple[str, str], float] = {
    (PROCESSORS, NODE): 0.5,
    (MEMORY, NODE): 1400,
    (HEAP, NODE): 300,
    (COLLECTION, NODE): 0.01,
    (WRITTEN, NODE): 10,
    (PROCESSORS, DRIVER): 0.3,
    (MEMORY, DRIVER): 300,
    (BUSIEST, DRIVER): 0.2,
    (PROCESSORS, SHIPPER): 0.2,
    (MEMORY, SHIPPER): 30,
    (BUSIEST_THREAD, SHIPPER): 0.1,
    (DISK_BUSY, "vda"): 0.1,
    (MACHINE_BUSY, MACHINE): 55,
}
LIMITS = Allowed({NODE: 2.0, SHIPPER: 2.0}, {NODE: 2**30}, {}, 8.0)
SMALL = Allowed({NODE: 2.0}, {NODE: 2**30}, {}, 2.0)  # a machine of two cores


def race(changes: Mapping[tuple[str, str], float | None] | None = None, seconds: int = 20) -> OverTime:
    """A race whose first half is idle, and whose second half has these figures in each second."""
    figures = {**QUIET, **(changes or {})}
    half = seconds // 2
    return OverTime(
        ((0.0, float(seconds)),),
        tuple(
            Series(measure, name, "", (0.0,) * half + (value,) * (seconds - half))
            for (measure, name), value in figures.items()
            if value is not None
        ),
        NODE,
    )


def look(over: OverTime, limits: Allowed = LIMITS, paced: bool = False) -> Bottleneck:
    """What is found; it survives being kept."""
    found = find_bottleneck(over, limits, paced)
    assert found is not None
    assert built(Bottleneck, plain(found), "bottleneck") == found
    return found


def kinds(found: Bottleneck) -> set[str]:
    """What was saturated."""
    return {one.kind for one in found.suspects if one.saturated}


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({(PROCESSORS, NODE): 1.9}, NODE_CPU, "the CPU of rally-node-0: 1.90 of 2 cores"),
        ({(BUSIEST, DRIVER): 0.9}, DRIVER_CPU, "its busiest process 0.90 of 1 core"),
        ({(PROCESSORS, SHIPPER): 1.85}, COMPONENT_CPU, "the CPU of the shipper: 1.85 of 2 cores"),
        ({(BUSIEST_THREAD, SHIPPER): 0.99}, COMPONENT_CPU, "its busiest thread 0.99 of 1 core"),
        ({(MACHINE_BUSY, MACHINE): 99}, MACHINE_CPU, "99 % busy"),
        ({(DISK_BUSY, "vda"): 0.97}, DISK, "the disk vda: 97 % of the time at work"),
        ({(COLLECTION, NODE): 0.2}, HEAP_FULL, "20.0 % of the time in collections"),
        ({(HEAP, NODE): 950}, HEAP_FULL, "never less than 950 MiB of 1.00 GiB in use"),
    ],
)
def test_it_is_found_where_it_was_put(changes: Mapping[tuple[str, str], float], kind: str, words: str) -> None:
    """One of them at its limit, all others as in the quiet race: it alone is named, with its figures."""
    found = look(race(changes))
    assert kinds(found) == {kind}
    assert found.suspects[0].kind == kind
    assert words in found.sentence
    assert found.sentence.startswith("Saturated was")


def test_none_is_found_where_there_is_none() -> None:
    """The nearest is named with its threshold, and what the load waited for is left open."""
    found = look(race())
    assert kinds(found) == set()
    assert found.named == "nothing seen"
    assert found.sentence.startswith("None of what could be judged was saturated; the nearest to its limit was")
    assert "more clients" in found.sentence
    assert "A schedule set the pace" in look(race(), paced=True).sentence


@given(st.dictionaries(st.sampled_from(sorted(QUIET)), st.none() | st.floats(0, 200), max_size=len(QUIET)))
def test_what_is_named_is_what_reaches_its_threshold(changes: dict[tuple[str, str], float | None]) -> None:
    """Whatever the figures and whichever are missing: never more, never less, the nearest to its limit first."""
    found = look(race(changes))
    order = [one.share / one.threshold for one in found.suspects]
    assert order == sorted(order, reverse=True)
    for one in found.suspects:
        assert one.saturated == (one.share >= one.threshold)
    if found.suspects:
        assert ("Saturated was" in found.sentence) == bool(kinds(found))
    missing = {key for key, value in changes.items() if value is None}
    is_known_as_node = not {(HEAP, NODE), (COLLECTION, NODE)} <= missing
    assert (NODE_CPU in {one.kind for one in found.suspects}) == (
        is_known_as_node and (PROCESSORS, NODE) not in missing
    )


def test_the_first_half_does_not_count() -> None:
    """A node that warms up at its limit and then has little to do is not saturated."""
    over = OverTime(
        ((0.0, 20.0),),
        (
            Series(PROCESSORS, NODE, "", (2.0,) * 10 + (0.2,) * 10),
            Series(COLLECTION, NODE, "", (0.9,) * 10 + (0.0,) * 10),
            Series(MEMORY, NODE, "", (1400.0,) * 20),
        ),
        NODE,
    )
    assert kinds(look(over)) == set()
    assert (look(over).begin, look(over).end) == (10, 19)


def test_the_pauses_between_laps_do_not_count() -> None:
    """Laps of 4 s that use all of two cores, the last half a second of each without, and 3 s without documents each."""
    samples = Scene(90, [Load(7 * lap, [3000] * 4, uuid=f"lap {lap}") for lap in range(12)]).samples()
    moved: list[Sample] = []
    for one in samples:
        lap, second = divmod(one.seconds, 7)
        node = (one.nodes or {})["node"]
        process = replace(node.process or ProcessUsage(1, 0, 0), cpu_seconds=lap * 7 + 2 * min(second, 3.5))
        # A lap's index is deleted before the next.
        newest = {"apache": IndexCounters(f"lap {lap:g}", indexed=int(3000 * min(second, 4)))}
        moved.append(replace(one, nodes={"node": replace(node, process=process)}, indices=newest))
    over = over_time(moved)
    assert over is not None
    assert over.loads[:2] == ((0.0, 4.0), (7.0, 11.0))
    assert kinds(look(over)) == {NODE_CPU}
    assert resources(over).components[0].cpu_percent.steady == pytest.approx(200)


def test_a_node_that_stands_still_in_a_load_is_in_it() -> None:
    """Three seconds in which it collects and takes nothing: that is why, so they count."""
    samples = [
        replace(
            one,
            nodes={
                "node": replace((one.nodes or {})["node"], collectors={"old": Collections(1, stopped(one.seconds))})
            },
        )
        for one in Scene(30, [Load(2, [9000, 9000, 0, 0, 0] * 4)]).samples()
    ]
    over = over_time(samples)
    assert over is not None
    assert len(over.loads) == 1
    assert kinds(look(over)) >= {HEAP_FULL}


def stopped(seconds: float) -> int:
    """Milliseconds of collections until then: all of the last three of five seconds, from second 2 on."""
    rounds, rest = divmod(max(seconds - 2, 0), 5)
    return int(1000 * (3 * rounds + max(rest - 2, 0)))


def test_the_second_of_two_nodes_of_one_name_is_looked_at() -> None:
    """What was noted of the name is what each of them may use."""
    first, second = f"{NODE} (1)", f"{NODE} (2)"
    quiet = {key: value for key, value in QUIET.items() if key[1] != NODE}
    figures = {
        (measure, name): value for (measure, whose), value in QUIET.items() if whose == NODE for name in (first, second)
    }
    figures |= {**quiet, (PROCESSORS, second): 1.95}
    found = look(race({**dict.fromkeys((key for key in QUIET if key[1] == NODE), None), **figures}))
    assert [(one.kind, one.of) for one in found.suspects if one.saturated] == [(NODE_CPU, second)]
    assert not [text for text in found.unknown if "not noted" in text]


def test_a_limit_is_what_counts() -> None:
    """Half a core of a node that may use half a core is all of it, whatever the machine has; so are its writes."""
    held = allowed([told(2)], [{"node": NODE, "at most": {"cores": 0.5, "written": 11 * 2**20}}], 2)
    assert held.cores == {NODE: 0.5}
    assert kinds(look(race(), held)) == {NODE_CPU, DISK}
    shipper = allowed([told(2)], [{"node": SHIPPER, "at most": {"cores": 0.2}}], 2)
    assert look(race(), shipper).named == "shipper CPU"


def told(processors: int) -> dict[str, Any]:
    """What a node says of itself."""
    return {
        "nodes": {
            "x": {
                "name": NODE,
                "os": {"allocated_processors": processors},
                "jvm": {"mem": {"heap_max_in_bytes": 2**30}},
            }
        }
    }


def test_what_nodes_say_of_themselves_is_what_they_may_use() -> None:
    """The last that they said; nothing of one that says nothing."""
    assert allowed([told(1), told(2)], [], 4) == Allowed({NODE: 2.0}, {NODE: 2**30}, {}, 4.0)
    assert allowed([{"nodes": {"x": {"name": NODE}}}], [{"node": NODE}], 4).cores == {}


def test_of_nodes_elsewhere_little_is_claimed() -> None:
    """Their CPU is judged by what they say; that their disk and neighbours are not known is told, in a sentence."""
    over = over_time(Scene(60, [Load(4, [2000] * 40)], local=False).samples())
    assert over is not None
    found = look(over, Allowed({NODE: 2.0}, {}, {}, 2.0))
    assert kinds(found) == {NODE_CPU}
    assert any("runs on another machine" in text for text in found.unknown)
    assert any("heaps in use" in text for text in found.unknown)
    assert DISK not in {one.kind for one in found.suspects}


def test_what_was_not_noted_is_told() -> None:
    """Samples of an earlier version know no disk, no busy machine and no limits."""
    over = over_time(Scene(60, [Load(4, [2000] * 40)]).samples())
    assert over is not None
    found = look(over, Allowed())
    text = " ".join(found.unknown)
    assert "the disk is not judged" in text
    assert "How many processors rally-node-0 may use was not noted" in text
    assert "How busy this machine was altogether was not noted." in text


def test_a_machine_that_others_keep_busy() -> None:
    """Where the race's own components use little of what is used, that is said beside it."""
    theirs = look(race({(MACHINE_BUSY, MACHINE): 99}), SMALL)
    assert "none of the race's" in theirs.sentence
    ours = look(race({(MACHINE_BUSY, MACHINE): 99, (PROCESSORS, NODE): 1.3, (PROCESSORS, DRIVER): 0.5}), SMALL)
    assert kinds(ours) == {MACHINE_CPU}
    assert "none of the race's" not in ours.sentence


def test_a_container_may_use_less_than_the_machine_has() -> None:
    """Two cores of 64: the machine has nothing to do, and what may be used of it is used up."""
    figures = {(MACHINE_BUSY, MACHINE): 4.0, (PROCESSORS, NODE): 1.5, (PROCESSORS, DRIVER): 0.5}
    found = look(race(figures), SMALL)
    assert kinds(found) == {MACHINE_CPU}
    assert "2.20 of the 2 cores that may be used here" in found.sentence


def test_nothing_to_look_at() -> None:
    """A load of less than a second has no second half."""
    assert find_bottleneck(race(seconds=0), LIMITS) is None


def test_the_documented_thresholds_are_those_that_are_used() -> None:
    """The table in docs/reports.md says them to people."""
    text = (PROJECT / "docs" / "reports.md").read_text(encoding="utf-8")
    table = text[text.index("### What was saturated") : text.index("The thresholds lie below 100 %")]
    rows = {
        cells[1].strip(): cells[4].strip()
        for line in table.splitlines()
        if (cells := line.split("|"))[0] == "" and len(cells) > 4
    }
    told = {
        "node CPU": [bottleneck.BUSY_CPU],
        "driver CPU": [bottleneck.BUSY_DRIVER],
        "component CPU": [bottleneck.BUSY_CPU],
    }
    told |= {"machine's processors": [bottleneck.BUSY_MACHINE], "disk": [bottleneck.BUSY_DISK]}
    told |= {"heap": [bottleneck.MUCH_COLLECTION, bottleneck.FULL_HEAP]}
    assert {name: rows[name] for name in told} == {
        name: ", ".join(f"{100 * share:.0f} %" for share in shares) for name, shares in told.items()
    }


def test_every_kind_has_a_meaning() -> None:
    """A sentence for each, so that no finding stands without what follows from it."""
    assert set(bottleneck._MEANS) == {NODE_CPU, DRIVER_CPU, COMPONENT_CPU, MACHINE_CPU, DISK, HEAP_FULL}
