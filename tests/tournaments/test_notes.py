"""What is said beside a result: whether rates are steady, whether laps are long enough, how far the claim goes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from paddock.sampling.described import CLOCK
from paddock.tournaments.analysis import analyse
from paddock.tournaments.cautions import few_bulks, never_acted, short_laps
from paddock.tournaments.durations import Experience, identity
from paddock.tournaments.laps import DONE, Attempt
from paddock.tournaments.model import Contender, Lap, Tournament
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.store import History
from tests.tournaments.test_schedule import a_tournament

TWO = a_tournament(2, starts=1)


def a_record(
    block: int, level: str, seconds: float, shares: Sequence[float], void: str | None = None
) -> dict[str, Any]:
    """A line of the lap runner's journal: 100,000 documents in bulks of 1,000."""
    return {
        "block": block,
        "position": 1 if level == "a" else 2,
        "warm_up": block <= TWO.warmup_blocks,
        "level": level,
        "documents_sent": 100_000,
        "documents_counted": 100_000,
        "seconds": seconds,
        "started_at": 20.0 * block,
        "bulks": 100,
        "share_ms": [round(ms) for ms in shares],
        "void": void,
    }


def a_history(
    *starts: Callable[[int], float],
    blocks: int = 15,
    by_level: Mapping[str, Mapping[str, Any]] | None = None,
    **changes: Any,
) -> History:
    """Starts whose baseline takes that many seconds in each block, with some noise between its bulks.

    :param by_level: what differs in the lines of a contender.
    """
    chance, attempts = random.Random(4), []
    for number, seconds_of in enumerate(starts, 1):
        attempt = Attempt(number, 1, f"r{number}", "esrally race", 0, 0.0, None, 0.0, 1.0, DONE, "")
        for block in range(1, TWO.warmup_blocks + blocks + 1):
            for level in "ab":
                shares = [chance.gammavariate(50, 0.2 * seconds_of(block)) for _ in range(100)]
                record = {**a_record(block, level, sum(shares) / 1000, shares), **changes}
                attempt.add({**record, **(by_level or {}).get(level, {})})
        attempts.append(attempt)
    header = {"id": "t-1", "seed": 1, "at": 0.0}
    return History(header, attempts, stopped="all blocks done", last=1000.0)


def late_step(block: int) -> float:
    """Seconds of laps that take twice as long from the tenth block on."""
    return 5.0 if block < TWO.warmup_blocks + 10 else 10.0


def rates(history: History, tournament: Tournament = TWO) -> list[str]:
    """The notes on absolute rates."""
    return [note for note in analyse(history, tournament).notes if note.startswith("Absolute rates")]


def test_steady_rates_are_called_so() -> None:
    """Fifteen laps of a hundred bulks are 1,500 bulks of the baseline; warm-up and the other contender do not count."""
    (note,) = rates(a_history(lambda block: 5.0))
    assert note.startswith("Absolute rates: steady over 1,500 bulks of the baseline")


def test_rates_that_never_settle_are_called_so() -> None:
    """Slower near the end is no steady state; a loss that drowns in the noise between laps cannot be told."""
    (step,) = rates(a_history(late_step))
    assert step.startswith("Absolute rates: no steady state within 1,500 bulks of the baseline (still changing")
    assert step.endswith("ratios do not need one.")
    (loss,) = rates(a_history(lambda block: (5.0 if block % 3 else 8.0) * (1.0 if block < 11 else 1.1)))
    assert loss.startswith("Absolute rates: too noisy to tell whether 1,500 bulks of the baseline are steady")


def test_each_start_is_judged_by_itself() -> None:
    """JVMs with levels of their own are each steady; the one that is not is named."""
    two = replace(TWO, starts=2)
    (both,) = rates(a_history(lambda block: 5.0, lambda block: 8.0), two)
    assert both.startswith("Absolute rates: steady over 1,500 bulks of the baseline in 2 of 2 starts")
    unsteady, steady = rates(a_history(lambda block: 5.0, late_step), two)
    assert "no steady state within 1,500 bulks of the baseline in 1 of 2 starts" in unsteady
    assert "steady over 1,500 bulks of the baseline in 1 of 2 starts" in steady


def test_few_bulks_say_nothing_and_old_journals_are_silent() -> None:
    """Three laps have 300 bulks of the 400; a journal without the times of shares gives no sentence."""
    (note,) = rates(a_history(lambda block: 5.0, blocks=3))
    assert "300 bulks of the baseline are too few" in note
    assert rates(a_history(lambda block: 5.0, share_ms=None)) == []


def test_void_laps_have_no_part_in_it() -> None:
    """Fifteen void laps leave nothing to be judged."""
    assert rates(a_history(lambda block: 5.0, void="errors")) == []


def test_short_laps_are_told_before_and_afterwards() -> None:
    """The median of the laps that count, what it means, and how many documents would make it 4 s."""
    notes = analyse(a_history(lambda block: 1.7), TWO).notes
    (note,) = [note for note in notes if note.startswith("Laps took 1.7 s (median)")]
    assert "fresh index" in note
    assert "lap_documents: 240000 would" in note
    assert not any(note.startswith("Laps took") for note in analyse(a_history(lambda block: 5.0), TWO).notes)
    text = render_plan(make_plan(a_tournament(2, lap_documents=10_000), 1))
    assert "Caution: laps are expected to take 0." in text
    assert "laps are expected" not in render_plan(make_plan(a_tournament(2, lap_documents=200_000), 1))


@pytest.mark.parametrize(("seconds", "documents", "enough"), [(2.0, 100_000, 200_000), (0.6, 20_000, 140_000)])
def test_enough_documents_are_rounded_up(seconds: float, documents: int, enough: int) -> None:
    """Two digits, never less than what is needed."""
    assert f"lap_documents: {enough} would" in (short_laps(seconds, documents, "took") or "")


def test_clients_without_bulks_are_told_before() -> None:
    """20 bulks on 8 clients leave a sixth of their turns empty, as few as 100 on 10 say nothing."""
    said = few_bulks(20_000, {"eight": (1000, 8), "two": (1000, 2)})
    assert said == (
        "laps of 'eight' have less than 10 bulks for each client, and up to 17 % of the clients' turns stay empty in "
        "those of 'eight': lap_documents: 80000 would be enough."
    )
    assert few_bulks(100_000, {"ten": (1000, 10)}) is None
    assert "Caution: laps of 'a' and 'b' have less than 10 bulks" in render_plan(
        make_plan(a_tournament(2, lap_documents=20_000), 1)
    )


def test_small_bulks_are_expected_to_keep_the_driver_busy() -> None:
    """By what a sink took of it in the time that a lap lasts, until its load has been measured here."""
    small = Contender("b", {"bulk_size": 10})
    tournament = replace(TWO, contenders=(Contender("a"), small))
    key = (tournament.track, identity(tournament, small), tournament.lap_documents)
    reckoned = Experience(lap_seconds={key: 35.3})
    expected = "Caution: laps of 'b' are expected to keep the load driver busy for 0.91 s of every second"
    assert expected in render_plan(make_plan(tournament, 1, reckoned))
    measured = Experience(lap_seconds={key: 35.3}, driver_load={key: 0.3})
    assert "load driver" not in render_plan(make_plan(tournament, 1, measured))


def test_a_setting_that_never_acted_is_named() -> None:
    """30 s without a refresh in laps of 5 s; not an interval that is switched off, nor one that all have."""

    def said(a: str, b: str, refreshes: int) -> list[str]:
        lines = {
            "a": {"settings": {"index.refresh_interval": a}, "load_actions": {"refreshes": 5}},
            "b": {"settings": {"index.refresh_interval": b}, "load_actions": {"refreshes": refreshes}},
        }
        history = a_history(lambda block: 5.0, by_level=lines)
        return [note for note in analyse(history, TWO).notes if "never acted" in note]

    assert said("1s", "30s", 0) == [
        "index.refresh_interval never acted in the laps of 'b': there were no refreshes while they ran, so the result "
        "says nothing of what those cost; longer laps (lap_documents) would."
    ]
    assert [said("1s", "30s", 1), said("1s", "-1", 0), said("30s", "30s", 0)] == [[], [], []]


def test_a_setting_that_acted_now_and_then_is_not_said_to_have_never_acted() -> None:
    """In fewer than half of the laps: there were some, and their median is none all the same."""
    some = [
        Lap(1, block, 1, "a", False, 1000, 1000, 5.0, 10.0 * block, actions={"flushes": int(block == 3)})
        for block in range(1, 9)
    ]
    never = [replace(lap, contender="b", actions={"flushes": 0}) for lap in some]
    settings = {"a": {"index.translog.flush_threshold_size": "1gb"}, "b": {}}
    first, second = never_acted([*some, *never], settings)
    assert first.startswith("index.translog.flush_threshold_size never acted in the laps of 'b': there were no flushes")
    assert second.startswith("index.translog.flush_threshold_size acted in fewer than half of the laps of 'a'")


def test_the_reach_of_a_claim_is_told() -> None:
    """Blocks of few starts are pooled, and the result says what a claim about the configuration would take."""
    one = analyse(a_history(lambda block: 5.0), TWO).notes
    assert "One start: a claim about the configuration needs 6." in one
    two = analyse(a_history(lambda block: 5.0, lambda block: 5.0), replace(TWO, starts=2)).notes
    assert "Blocks of 2 starts pooled: a claim about the configuration needs 6 starts." in two


def test_a_contender_without_laps_has_no_absolute_values() -> None:
    """Null, not zero: nothing was measured."""
    history = a_history(lambda block: 5.0, by_level={"b": {"void": "errors"}})
    a, b = analyse(history, TWO).main.absolutes
    assert a.laps == 15
    assert a.mean is not None
    assert (b.mean, b.sd, b.median, b.laps) == (None, None, None, 0)


def test_fields_that_do_not_come_back_as_sent_are_named() -> None:
    """Over all laps that count, the most frequent first; and of which contenders all came back."""
    same = {"documents": 10, "same": 10, "fields": {}}
    field = {"sent": "x", "read": "y"}
    other = {"documents": 10, "same": 4, "fields": {"at": {"documents": 2, **field}, "tags": {"documents": 6, **field}}}
    history = a_history(lambda _: 2.0, blocks=3, by_level={"a": {"read_back": same}, "b": {"read_back": other}})
    notes = analyse(history, TWO).notes
    assert [note for note in notes if "read again" in note] == [
        "Of 30 documents of 'b' that were read again, not all came as sent: tags in 18, at in 6.",
        "All documents that were read again came as they had been sent: 30 of 'a'.",
    ]


def test_the_warm_up_is_that_of_one_node() -> None:
    """A node of its own gets the laps of its contender alone, whatever runs beside it; so the plan promises."""
    apart = replace(TWO, contenders=(TWO.contenders[0], replace(TWO.contenders[1], own_cluster=True)))
    history = a_history(lambda block: 5.0)
    for tournament, laps in ((TWO, 2), (apart, 1)):
        (note,) = [note for note in analyse(history, tournament).notes if note.startswith("Warm-up per launch")]
        documents = laps * TWO.warmup_blocks * 100_000
        assert f" and {documents:,} documents, not counted" in note
        plan = make_plan(tournament, 1)
        assert plan.warmup_documents == laps * TWO.warmup_blocks * tournament.lap_documents


def there(hosts: Mapping[str, str], clock: str = "0.0") -> list[str]:
    """The notes on clusters of a tournament whose contenders are those, with a clock so far ahead of ours."""
    contenders = tuple(Contender(name, target_hosts=one) for name, one in hosts.items())
    history = a_history(lambda block: 5.0)
    history.attempts[0].circumstances[CLOCK] = clock
    notes = analyse(history, replace(TWO, contenders=contenders)).notes
    return [note for note in notes if "clusters that were there" in note or note.startswith("Clocks")]


def test_clusters_that_were_there_are_compared_with_all_that_is_around_them() -> None:
    """Their machines and the network are part of it; not where all contenders are one cluster, or are started."""
    (note,) = there({"a": "x:1", "b": "y:1"})
    assert note.startswith("'a' and 'b' are clusters that were there: unless they stand on machines that they share,")
    assert "a difference is one of the machines, of their neighbours and of the network" in note
    assert there({"a": "x:1", "b": "x:1"}) == []
    assert not [note for note in analyse(a_history(lambda block: 5.0), TWO).notes if "were there" in note]


@pytest.mark.parametrize("told", ["-2.4", "a: 0.1; b: 12.0"])
def test_clocks_that_differ_are_told(told: str) -> None:
    """No figure depends on them; whoever reads a node's log does."""
    notes = there({"a": "x:1", "b": "x:1"}, told)
    assert len(notes) == 1
    assert f"(clock ahead of ours, s: {told}): no figure of a lap uses theirs" in notes[0]
    assert there({"a": "x:1", "b": "x:1"}, "a: -0.9; b: 1.0") == []
