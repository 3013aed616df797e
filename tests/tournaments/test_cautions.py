"""Laps during which the machine was busy with something else: which are named, how, and that they stay in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddock.tournaments.cautions import disturbance_notes, disturbed_laps
from paddock.tournaments.model import Disturbance, Lap

QUIET = Disturbance(cores=4, nodes_here=1, nodes_elsewhere=0, steal=0.01, others=0.1, io_pressure=0.02)


def some_laps(*different: Disturbance | None, contender: str = "a", quiet: Disturbance | None = QUIET) -> list[Lap]:
    """Nine quiet laps of a contender, then one with each of these."""
    return [
        Lap(1, block, 1, contender, False, 1000, 1000, 5.0, 10.0 * block, disturbance=one)
        for block, one in enumerate([*[quiet] * 9, *different], 1)
    ]


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        ({"steal": 0.08}, "steal 8 %"),
        ({"others": 0.5}, "0.50 cores busy with others"),
        ({"io_pressure": 0.3}, "waiting for disks 30 %"),
        ({"memory_pressure": 0.3}, None),
        ({"steal": 0.05}, None),
        ({"others": 0.25}, None),
        ({"io_pressure": 0.1}, None),
        ({"cpu_pressure": 0.9}, None),
    ],
)
def test_a_lap_far_outside_is_named_by_its_sign(change: dict[str, float], sign: str | None) -> None:
    """Above the absolute floor, which harmless figures of a quiet machine stay below; what is unknown is no sign."""
    found = disturbed_laps(some_laps(replace(QUIET, **change)))
    assert [(one.lap.block, one.signs) for one in found] == ([(10, (sign,))] if sign else [])


def test_waiting_for_memory_is_a_sign_where_the_kernel_tells() -> None:
    """A machine that swaps is no longer the one that the others were run on."""
    known = replace(QUIET, memory_pressure=0.0)
    (found,) = disturbed_laps(some_laps(replace(known, memory_pressure=0.3), quiet=known))
    assert found.signs == ("waiting for memory 30 %",)


def test_contenders_are_looked_at_one_by_one() -> None:
    """A contender that makes the disk wait in every lap is not disturbed; a lap of it that goes beyond that is."""
    busy = replace(QUIET, io_pressure=0.5)
    laps = [*some_laps(), *some_laps(replace(busy, io_pressure=0.9), contender="b", quiet=busy)]
    assert [(one.lap.contender, one.lap.block) for one in disturbed_laps(laps)] == [("b", 10)]


def test_laps_that_do_not_count_are_not_looked_at() -> None:
    """Neither warm-up nor void laps, nor those of a journal that does not tell."""
    (lap,) = some_laps(replace(QUIET, steal=0.5))[-1:]
    for one in (replace(lap, warmup=True), replace(lap, void="errors"), replace(lap, disturbance=None)):
        assert not disturbed_laps([*some_laps(), one])
    assert list(disturbance_notes(some_laps(quiet=None))) == []


def test_notes_name_the_laps_and_whose_machine_it_was() -> None:
    """One sentence for all of them, the first five by name; another where nodes run on machines that nobody watched."""
    loud = replace(QUIET, steal=0.1, others=2.0)
    (one,) = disturbance_notes(some_laps(loud))
    assert one.startswith("1 lap was disturbed far more than the others of the same contender, and counts all the same")
    assert one.endswith(": start 1 block 10 'a' (steal 10 %, 2.00 cores busy with others).")
    laps = [*some_laps(loud, loud, loud), *some_laps(loud, loud, loud, contender="b")]
    (several,) = disturbance_notes(laps)
    assert several.startswith("6 laps were disturbed")
    assert several.endswith("; 1 more.")
    away = replace(QUIET, nodes_here=0, nodes_elsewhere=3)
    (where,) = disturbance_notes(some_laps(quiet=away))
    assert where.startswith("Disturbances are those of the load driver's machine")


@pytest.mark.parametrize(("others", "told"), [(0.3, False), (2.0, True)])
def test_a_machine_that_is_shared_all_the_time_is_told(others: float, told: bool) -> None:
    """No lap is far outside where all are disturbed, and absolute rates are what was left of the machine."""
    notes = list(disturbance_notes(some_laps(quiet=replace(QUIET, others=others))))
    assert (
        notes
        == [
            "The machine was shared: others had 51 % of its cores during the median lap, 51 % to 51 % in all of them. "
            "Absolute rates are those of what was left."
        ]
        * told
    )
