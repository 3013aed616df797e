"""The freshness probe: what it calls found, what it calls waiting, and quantiles that respect both."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import elasticsearch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.freshness import FreshnessProbe
from shared.quantiles import censored_quantile, quantile

from tests.tracks.lap_client import FakeElasticsearch

DURATIONS = st.lists(st.floats(0.001, 100), max_size=30)


def probe(client: FakeElasticsearch, seconds: float, refresh_after: float | None = None) -> dict[str, Any]:
    """Probe for so long; the markers sent until then become searchable after `refresh_after`."""

    async def run() -> dict[str, Any]:
        one = FreshnessProbe(client, "paddock-test-lap")
        with client.new_request_context():
            task = asyncio.create_task(one.run())
            if refresh_after is not None:
                await asyncio.sleep(refresh_after)
                client.searchable = list(client.markers)
                await asyncio.sleep(seconds - refresh_after)
            else:
                await asyncio.sleep(seconds)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        return one.record()

    return asyncio.run(run())


def test_time_from_acknowledged_to_found() -> None:
    """A marker that becomes searchable after 0.2 s has waited for at least that long, and not much longer."""
    record = probe(FakeElasticsearch(), 0.24 + 0.2, refresh_after=0.2)
    assert record["markers"] >= 1
    assert 0.15 <= record["found_seconds"][0] <= 0.44
    assert record["problem"] is None


def test_markers_never_found_are_waiting() -> None:
    """Nothing is made up for a marker that is not searchable when the load ends."""
    record = probe(FakeElasticsearch(), 0.2)
    assert record["found_seconds"] == []
    assert len(record["waiting_seconds"]) == record["markers"] >= 1
    assert 0.1 <= record["waiting_seconds"][0] <= 1
    assert record["p50"] is None
    assert record["p99"] is None


def test_refused_marker_ends_the_probe_alone() -> None:
    """A node too busy for a marker is no reason to void a lap: the probe says what happened and stops."""
    client = FakeElasticsearch()

    async def refuse(**_: Any) -> None:
        raise elasticsearch.ConnectionTimeout("too busy")

    client.index = refuse  # type: ignore[method-assign]
    record = probe(client, 0.05)
    assert record["problem"] == "Connection timed out"
    assert record["waiting_seconds"] == []


@pytest.mark.parametrize(
    ("found", "waiting", "share", "expected"),
    [
        ([1, 2, 3, 4], [], 0.5, 2),
        ([1, 2, 3, 4], [], 0.99, 4),
        ([1, 2], [5, 5], 0.5, 2),
        ([1], [5, 5, 5], 0.5, None),
        # Those cut off at once say nothing: of the two that were watched one ended at 1, one at 3.
        ([1, 3], [0.1, 0.1, 0.1], 0.5, 1),
        ([], [], 0.5, None),
    ],
)
def test_quantiles_of_what_was_cut_off(
    found: list[float], waiting: list[float], share: float, expected: float | None
) -> None:
    """Kaplan-Meier by hand on small cases."""
    assert censored_quantile(found, waiting, share) == expected


@given(found=DURATIONS, waiting=DURATIONS, share=st.floats(0.01, 0.99))
def test_waiting_longer_never_shortens(found: list[float], waiting: list[float], share: float) -> None:
    """One more marker that was never found cannot make the quantile smaller; where there is one, it was observed."""
    before = censored_quantile(found, waiting, share)
    after = censored_quantile(found, [*waiting, 1000.0], share)
    assert before is None or before in found
    assert after is None or (before is not None and after >= before)


@given(values=st.lists(st.floats(0, 1e6), min_size=1), share=st.floats(0, 1))
def test_quantile_lies_within(values: list[float], share: float) -> None:
    """Never outside the observations; the ends are the ends."""
    found = quantile(values, share)
    assert found is not None
    assert min(values) - 1e-6 <= found <= max(values) + 1e-6
    assert quantile(values, 0) == min(values)
    assert quantile(values, 1) == max(values)


def test_quantile_interpolates() -> None:
    """As numpy's default does."""
    assert quantile([4, 1, 2, 3], 0.5) == 2.5
    assert quantile([], 0.5) is None
