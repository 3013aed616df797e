"""What a tournament teaches the plan of the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.errors import RaceError
from paddock.rally.nodes import Nodes
from paddock.tournaments import TournamentOptions
from paddock.tournaments.command import run_tournament
from paddock.tournaments.durations import (
    SECONDS_BETWEEN_LAPS,
    SECONDS_PER_RESTART,
    SIZE_SD,
    gather_experience,
    identity,
    searching,
)
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.plan import make_plan
from paddock.tournaments.store import find_tournament
from tests.tournaments.conftest import prepare_without_elasticsearch


def test_without_journals_the_model_holds() -> None:
    """Nothing has been run: nothing is known."""
    assert gather_experience().tournaments == 0
    assert gather_experience().block_sds == {}


def test_a_tournament_teaches_laps_pauses_and_noise(
    fake_laps: Callable[..., None], definition: Callable[..., Path]
) -> None:
    """Laps of 10,000 documents at 5,000 docs/s take 2 s, with 0.5 s between them; a damaged journal is passed over."""
    fake_laps(rates={"1s": 5_000, "30s": 5_000}, noise=0.05)
    file = definition(stop_early=False)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    learned = gather_experience()
    tournament = read_tournament(file)
    known = learned.lap_seconds[("apache", identity(tournament, tournament.contenders[0]), 10_000)]
    assert known == pytest.approx(2.0, rel=0.1)
    assert learned.between_laps == pytest.approx(0.5, rel=0.1)
    assert learned.block_sds == {"docs/s": pytest.approx(0.05 * 2**0.5, rel=0.6)}
    assert learned.tournaments == 1
    stored = find_tournament("latest")
    stored.journal.write_text("of no use any more")
    assert gather_experience() == learned  # what it taught was written down, so that nobody has to read it again
    (stored.folder / "lesson.json").write_text('{"by": "another version"}')
    assert gather_experience().tournaments == 0


def test_the_warm_up_takes_longer(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """Three of fifteen blocks with laps of 6 s instead of 2 s: the next plan has their minutes and their warm-up."""
    fake_laps(rates={"1s": 5_000, "30s": 5_000}, noise=0.0, cold=3.0)
    file = definition(stop_early=False)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    learned = gather_experience()
    plan = make_plan(read_tournament(file), 1, learned)
    assert plan.warmup_seconds == pytest.approx(3 * 2 * 6)
    assert plan.minutes * 60 - learned.per_start == pytest.approx(2 * (3 * 6 + 12 * 2 + 15 * 0.5), rel=0.02)


def test_nodes_with_limits_teach_of_themselves(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """The minutes of tournaments without limits stay what they were."""
    contenders = [{"name": "1s", "level": "1s"}, {"name": "30s", "level": "30s", "cars": ["1gheap", "limit-half-core"]}]
    file = definition(contenders=contenders, cars=["1gheap"], stop_early=False)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    learned = gather_experience()
    assert len(learned.lap_seconds) == 2
    (capped,) = learned.capped
    assert "limit-half-core" in capped[1]


def test_another_version_is_another_contender() -> None:
    """What laps of an old Elasticsearch took says nothing of those of a new one."""
    tournament = read_tournament(find_file("versions"))
    assert len({identity(tournament, contender) for contender in tournament.contenders}) == 3


def test_two_nodes_are_another_contender(definition: Callable[..., Path]) -> None:
    """Whether a contender asks for them, or the tournament for all."""
    one, two = (read_tournament(definition(nodes=number)) for number in (1, 2))
    assert identity(one, one.contenders[0]) != identity(two, two.contenders[0])


def test_variables_of_all_cars_are_another_contender(definition: Callable[..., Path]) -> None:
    """Whoever asks for them, a contender or the tournament for all."""
    plain, fewer = (read_tournament(definition(car_params=params)) for params in ({}, {"processors": 1}))
    assert identity(plain, plain.contenders[0]) != identity(fewer, fewer.contenders[0])


def test_two_starts_do_not_tell_how_much_starts_vary(
    fake_laps: Callable[..., None], definition: Callable[..., Path]
) -> None:
    """Their estimate is 0 as often as not, and the plan would promise what nobody can find."""
    fake_laps(noise=0.02)
    heaps = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
    for starts, known in ((2, False), (5, True)):
        file = definition(
            f"of-{starts}", challenge="settings", contenders=heaps, baseline="small", starts=starts, blocks=4
        )
        run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
        learned = gather_experience()
        assert "docs/s" in learned.block_sds
        assert ("docs/s" in learned.start_sds) is known


def test_nodes_that_did_not_start_teach_nothing(
    fake_laps: Callable[..., None], definition: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long they were waited for is not how long nodes take."""
    heaps = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
    failures = [True]

    def restart(_nodes: Nodes) -> None:
        if failures.pop() if failures else False:
            raise RaceError("The node small-0 did not start.")

    monkeypatch.setattr(Nodes, "restart", restart)
    file = definition(challenge="settings", contenders=heaps, baseline="small", starts=2, blocks=2, stop_early=False)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    assert gather_experience().restart == SECONDS_PER_RESTART


def test_noise_of_speeds_is_not_that_of_sizes(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """What a tournament about speed has taught says nothing of merged indices, whose sizes hardly differ; nor back."""
    quick = read_tournament(find_file("logsdb"), TournamentOptions(quick=True))
    assert make_plan(quick, 1).resolution.sd == SIZE_SD
    fake_laps(rates={"1s": 5_000, "30s": 5_000}, noise=0.2)
    file = definition(stop_early=False)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    learned = gather_experience()
    assert make_plan(quick, 1, learned).resolution.sd == SIZE_SD
    assert make_plan(read_tournament(file), 1, learned).resolution.sd == learned.block_sds["docs/s"] > 0.1


def test_waits_for_a_phase_are_not_learned(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """They are planned, and a tournament without a probe has none."""
    fake_laps(rates={"1s": 5_000, "30s": 5_000}, waited=7.0)
    run_tournament(
        str(definition(stop_early=False, freshness=True)), TournamentOptions(seed=1), prepare_without_elasticsearch
    )
    assert gather_experience().between_laps == pytest.approx(0.5, rel=0.1)


def test_searches_are_learned_apart(fake_laps: Callable[..., None], definition: Callable[..., Path]) -> None:
    """Pauses with searches in them say nothing of those without, and are known by what is searched and how often."""
    fake_laps(rates={"1s": 5_000, "30s": 5_000})
    file = definition(stop_early=False, searches=20, blocks=4)
    run_tournament(str(file), TournamentOptions(seed=1), prepare_without_elasticsearch)
    learned = gather_experience()
    key = searching(read_tournament(file))
    assert key == ("apache", 10_000, 20)
    assert learned.between_searching_laps == {key: pytest.approx(0.5, rel=0.1)}
    assert learned.between_laps == SECONDS_BETWEEN_LAPS
