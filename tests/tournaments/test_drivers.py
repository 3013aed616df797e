"""A tournament whose laps are loaded by several processes: what it asks of a race, reckons with, and says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.race import drivers
from paddock.tournaments import TournamentOptions
from paddock.tournaments.cautions import driver_bound
from paddock.tournaments.durations import Experience, driver_load, identity
from paddock.tournaments.files import read_tournament
from paddock.tournaments.plan import make_plan, render_plan
from tests.tournaments.conftest import counted, hold

Write = Callable[..., Path]
Behave = Callable[..., None]


def test_the_file_the_option_and_the_machine_say_how_many(definition: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option wins over the file, and the file over what the cores would make of it."""
    monkeypatch.setattr(drivers, "cores", lambda: 8)
    file, asked = definition(driver_processes=3), TournamentOptions(driver_processes=2)
    assert read_tournament(file).driver_processes == 3
    assert read_tournament(file, asked).driver_processes == 2
    assert read_tournament(definition()).driver_processes == 4
    assert read_tournament(definition(track_params={"bulk_indexing_clients": 3})).driver_processes == 3
    monkeypatch.setattr(drivers, "cores", lambda: 2)
    assert read_tournament(definition()).driver_processes == 1


def test_wrong_numbers_are_refused(definition: Write) -> None:
    """As an option, and as a track parameter that would go past the plan."""
    with pytest.raises(UsageError, match="--driver-processes must be a whole number from 1 to 64, but is 65"):
        read_tournament(definition(), TournamentOptions(driver_processes=65))
    with pytest.raises(UsageError, match="'driver_processes' is set by the tournament itself"):
        read_tournament(definition(), TournamentOptions(params={"driver_processes": 2}))


def test_a_tournament_with_two(
    fake_laps: Behave, definition: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The race is asked for two, circumstances name them, and what counts is the load of the busiest."""
    monkeypatch.setattr(drivers, "rallys_processes", lambda: 2)
    fake_laps(driver={"1s": 0.1, "30s": 0.3})
    result = hold(definition(), driver_processes=2)
    told = capsys.readouterr()
    assert "The load of a lap is sent by 2 processes together." in told.err + told.out
    assert result.circumstances["load driver"] == "2 processes"
    assert '"driver_processes": 2' in str(result.commands)
    loads = {lap.contender: lap.driver_load for lap in counted(result)}
    assert loads == {"1s": pytest.approx(0.3), "30s": pytest.approx(0.9)}
    assert any(
        "Laps of '30s' kept a process of the load driver's 2 busy for 0.90 s of every second" in note
        for note in result.notes
    )


def test_one_process_is_not_spoken_of(fake_laps: Behave, definition: Write) -> None:
    """Nothing is as it was not."""
    result = hold(definition())
    assert "load driver" not in result.circumstances
    assert "driver_processes" not in str(result.commands)


def test_what_is_expected_of_each_process(definition: Write) -> None:
    """Half as much of two; of more than there are clients as much as of so many; other laps than those of one."""
    one: Any = read_tournament(definition(track_params={"bulk_indexing_clients": 4}))
    alone = driver_load(one, one.contenders[0], Experience())
    for processes, share in ((2, 2), (4, 4), (8, 4)):
        several = replace(one, driver_processes=processes)
        assert driver_load(several, one.contenders[0], Experience()) == pytest.approx(alone / share)
        assert identity(several, one.contenders[0]) != identity(one, one.contenders[0])
    text = render_plan(make_plan(replace(one, driver_processes=8), 1))
    assert "Caution: laps of '1s' have 4 clients for 8 processes of the load driver" in text
    assert "for 4 processes" not in render_plan(make_plan(replace(one, driver_processes=4), 1))


def test_a_limit_of_one_and_of_several() -> None:
    """The sentence says which core it is that has no more to give."""
    one, several = driver_bound({"a": 0.8}, {}), driver_bound({"a": 0.8}, {}, 3)
    assert one is not None
    assert several is not None
    assert "kept the load driver busy for 0.80 s of every second (most: 'a'), and one process is all that it is" in one
    assert "kept a process of the load driver's 3 busy for 0.80 s of every second" in several
    assert driver_bound({"a": 0.69}, {}, 3) is None
