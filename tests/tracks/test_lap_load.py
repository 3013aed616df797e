"""How a lap's load is told by equal shares of its documents."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.lap_load import MOST_SHARES, Load


def loaded(*answers: tuple[float, int]) -> Load:
    """A load whose first bulk was sent at 10 s, answered at these seconds after it with so many documents."""
    load = Load(first_sent=10.0, documents_acknowledged=sum(documents for _, documents in answers))
    load.acknowledgements = [(10.0 + at, documents) for at, documents in answers]
    return load


def test_equal_bulks_are_the_shares() -> None:
    """With bulks of one size each share is the time since the answer before, in whatever order they were noted."""
    assert loaded((0.5, 100), (0.2, 100), (0.6, 100)).share_ms() == [200, 300, 100]


def test_a_short_last_bulk_does_not_distort_it() -> None:
    """A single document that is left over has no share of its own."""
    shares = loaded((1.0, 100), (2.0, 100), (3.0, 1)).share_ms()
    assert shares == pytest.approx([670, 670, 1660], abs=1)


def test_many_bulks_are_thinned() -> None:
    """A lap of tiny bulks has 400 shares, of which each is as long as the bulks in it."""
    shares = loaded(*((0.01 * (number + 1), 16) for number in range(1000))).share_ms()
    assert len(shares) == MOST_SHARES
    assert set(shares) == {25}


def test_nothing_acknowledged_has_no_shares() -> None:
    """No bulk, or none with a document that was taken."""
    assert loaded().share_ms() == []
    assert loaded((1.0, 0)).share_ms() == []


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5000)), max_size=900))
def test_shares_add_up_to_the_load(answers: list[tuple[float, int]]) -> None:
    """Whatever the answers: as many shares as bulks, 400 at most, none negative, together the time to the last one."""
    shares = loaded(*answers).share_ms()
    taken = [at for at, documents in answers if documents]
    assert len(shares) == (min(len(answers), MOST_SHARES) if taken else 0)
    assert all(share >= 0 for share in shares)
    assert sum(shares) == pytest.approx(1000 * max(taken, default=0), abs=1)


ANSWERS = st.lists(st.tuples(st.floats(0, 50), st.floats(0, 9), st.integers(0, 900)), max_size=40)


def sent(answers: list[tuple[float, float, int]]) -> Load:
    """A load of bulks that were sent at these seconds, took so long, and had so many documents."""
    load = Load()
    for at, seconds, documents in answers:
        load.add_times(at, at + seconds)
        load.bulks += 1
        load.documents_sent += documents
        load.documents_acknowledged += documents
        load.acknowledgements.append((at + seconds, documents))
    return load


@given(st.lists(ANSWERS, min_size=1, max_size=4))
def test_what_processes_sent_together_is_as_if_one_had(parts: list[list[tuple[float, float, int]]]) -> None:
    """Quantiles, seconds, rates and shares of the raw answers of all, however they were dealt out."""
    whole = sent([answer for part in parts for answer in part])
    merged = Load()
    for part in parts:
        merged.add(sent(part))
    assert merged == whole
    for figure in ("latency_ms", "documents_per_second", "share_ms"):
        assert getattr(merged, figure)() == getattr(whole, figure)()
    assert merged.seconds == whole.seconds


@given(ANSWERS, st.floats(-1e6, 1e6))
def test_another_clock_changes_times_alone(answers: list[tuple[float, float, int]], by: float) -> None:
    """A load of another machine's clock, sent as JSON: durations stay what they were, to the microsecond."""
    load = sent(answers)
    told = Load(**json.loads(json.dumps(asdict(load.shifted(by))))).shifted(-by)
    assert told.bulks == load.bulks
    assert told.latencies == pytest.approx(load.latencies, abs=1e-6)
    assert (told.seconds is None) == (load.seconds is None)
    if load.seconds is not None:
        assert told.seconds == pytest.approx(load.seconds, abs=1e-5)
    assert [documents for _, documents in told.acknowledgements] == [
        documents for _, documents in load.acknowledgements
    ]


def test_reasons_and_a_lost_connection_are_those_of_all() -> None:
    """Three different reasons are kept, and one lost connection is the load's."""
    load = Load(reasons=["a", "b"], errors=2)
    load.add(Load(reasons=["b", "c", "d"], errors=3, rejections=1, lost_connection=True))
    assert (load.reasons, load.errors, load.rejections, load.lost_connection) == (["a", "b", "c"], 5, 1, True)
