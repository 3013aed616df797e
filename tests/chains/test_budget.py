"""Minutes for every step, and forms of tournaments that fit them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.chains import budget
from paddock.chains.budget import Demand
from paddock.errors import UsageError
from paddock.tournaments.durations import Experience
from paddock.tournaments.files import find_file, read_tournament

STEPS = [Demand("a", 40, 5), Demand("b", 20, 4), Demand("c", 20, 6, weight=2)]
LAST = Demand("last", 20, 5)


def test_minutes_go_by_what_is_expected_and_by_weight() -> None:
    """With time enough: in proportion, and all of it."""
    assert budget.split(120, STEPS, LAST) == pytest.approx({"a": 40, "b": 20, "c": 40, "last": 20})


def test_nobody_gets_less_than_can_decide_anything() -> None:
    """The least comes first, the others share what is left."""
    minutes = budget.split(20.5, [Demand("a", 90, 5), Demand("b", 2, 4)], LAST)
    assert minutes["b"] == 4
    assert minutes["last"] == 5
    assert minutes["a"] == pytest.approx(11.5)


def test_the_latest_steps_get_none_where_time_is_short() -> None:
    """The last tournament is kept, because it alone is a claim."""
    assert set(budget.split(14.5, STEPS, LAST)) == {"a", "b", "last"}
    assert set(budget.split(10.5, STEPS, LAST)) == {"a", "last"}
    assert set(budget.split(8, STEPS, LAST)) == {"a"}
    assert set(budget.split(8, STEPS, LAST, found=True)) == {"last"}
    assert budget.split(4, STEPS, LAST) == {}


@given(
    st.floats(0.1, 500),
    st.lists(st.tuples(st.floats(0.5, 100), st.floats(0.1, 1), st.floats(0.1, 5)), min_size=1, max_size=6),
)
def test_a_split_keeps_to_the_budget(minutes: float, told: list[tuple[float, float, float]]) -> None:
    """Never more than there is, never less for a step than it needs."""
    demands = [
        Demand(str(number), expected, expected * share, weight) for number, (expected, share, weight) in enumerate(told)
    ]
    found = budget.split(minutes, demands, LAST)
    assert sum(found.values()) <= minutes * 1.000001
    assert all(found[one.name] >= one.least * 0.999999 for one in (*demands, LAST) if one.name in found)


def test_a_budget_that_is_too_short_is_refused_with_what_would_do() -> None:
    """Before anything runs, in one sentence."""
    with pytest.raises(UsageError, match=r"3 minutes is too short for the first step 'a'.*--budget 10, or 20 for all"):
        budget.check(3, STEPS, LAST)
    with pytest.raises(UsageError, match=r"too short for the first step 'a', which need.*--budget 5\."):
        budget.check(3, STEPS[:1], None)
    budget.check(10, STEPS, LAST)


@pytest.mark.parametrize("name", ["heap", "grid-bulk-size-clients", "refresh-interval"])
@pytest.mark.parametrize("minutes", [15, 40, 200])
def test_a_form_fits_its_minutes(name: str, minutes: float) -> None:
    """Whatever the minutes, all starts of the form are expected to end in them, or it is the smallest there is."""
    tournament = replace(read_tournament(find_file(name)), control=None)
    plan = budget.fitting(tournament, minutes, Experience())
    least = budget.demand(name, tournament, 1, Experience()).least
    assert plan.fits == len(plan.schedule) or least > minutes
    assert plan.minutes <= minutes or least > minutes


def test_more_minutes_tell_more() -> None:
    """With enough minutes it is a claim about the configuration, and twice of them never tell less."""
    tournament = replace(read_tournament(find_file("heap")), control=None)
    plans = [budget.fitting(tournament, minutes, Experience()) for minutes in (40, 80, 160)]
    sds = [plan.resolution.ratio for plan in plans]
    assert sds == sorted(sds, reverse=True)
    assert plans[-1].tournament.starts == 7
    assert plans[-1].resolution.unit == "start"
