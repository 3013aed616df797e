"""The freshness probe: what it calls found, what it calls waiting, and quantiles that respect both."""

from __future__ import annotations

import asyncio
import random
import statistics
from collections.abc import Sequence
from typing import Any

import elasticsearch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.freshness import FEWEST_FOR_P99, FreshnessProbe
from shared.lap_order import load_phases
from shared.quantiles import censored_quantile, quantile

from tests.tracks.lap_client import FakeElasticsearch, meta

DURATIONS = st.lists(st.floats(0.001, 100), max_size=30)


async def until(happened: Any) -> None:
    """Let the probe go on until something has happened."""
    while not happened():
        await asyncio.sleep(0)


def probed(client: FakeElasticsearch, load: Any) -> dict[str, Any]:
    """What the probe says of a load, which is called with it."""

    async def run() -> dict[str, Any]:
        with client.new_request_context():
            async with FreshnessProbe(client, "paddock-test-lap") as probe:
                await load(probe)
        return probe.record()

    return asyncio.run(run())


def test_time_from_acknowledged_to_found() -> None:
    """A marker that becomes searchable 0.2 s after it was acknowledged is not found sooner."""
    client = FakeElasticsearch()

    async def load(probe: FreshnessProbe) -> None:
        await until(lambda: client.markers)
        await asyncio.sleep(0.2)
        client.searchable = client.markers[:1]
        await until(lambda: probe.record()["found_seconds"])

    record = probed(client, load)
    assert record["found_seconds"][0] >= 0.19
    assert record["p50"] is not None
    assert record["problem"] is None


def test_markers_never_found_are_waiting() -> None:
    """Nothing is made up for a marker that is not searchable when the load ends."""
    client = FakeElasticsearch()

    async def load(_: FreshnessProbe) -> None:
        await until(lambda: client.markers)
        await asyncio.sleep(0.1)

    record = probed(client, load)
    assert record["found_seconds"] == []
    assert len(record["waiting_seconds"]) == record["markers"] >= 1
    assert record["waiting_seconds"][0] >= 0.09
    assert record["p50"] is None
    assert record["p99"] is None


def test_a_marker_that_is_not_answered_keeps_nobody_waiting() -> None:
    """A bulk may hold a marker up for seconds: the others are sent, looked for and found meanwhile."""
    client = FakeElasticsearch()
    released, sent = asyncio.Event(), []

    async def index(id: str, **_: Any) -> None:  # noqa: A002 - the client's name
        sent.append(id)
        if len(sent) == 1:
            await released.wait()
        client.searchable.append(id)

    client.index = index  # type: ignore[method-assign]

    async def load(probe: FreshnessProbe) -> None:
        await until(lambda: probe.record()["found_seconds"])
        assert len(sent) >= 2
        assert sent[0] not in client.searchable
        asyncio.get_running_loop().call_later(0.05, released.set)

    record = probed(client, load)
    assert record["problem"] is None
    # The first one came after the load had ended: it was sent, so it is counted in the index, and says nothing else.
    assert client.searchable[-1] == sent[0]
    assert record["markers"] == len(sent)
    assert len(record["found_seconds"]) + len(record["waiting_seconds"]) == len(sent) - 1


@pytest.mark.parametrize("what", ["index", "search"])
def test_a_refusal_ends_the_probe_alone_and_is_told(what: str) -> None:
    """A node too busy for the probe is no reason to void a lap; what was seen until then makes no figure."""
    client = FakeElasticsearch()
    error = elasticsearch.ApiError("too many\nrequests", meta(429), {})

    async def refuse(**_: Any) -> None:
        raise error

    setattr(client, what, refuse)

    async def load(probe: FreshnessProbe) -> None:
        await until(lambda: probe.record()["problem"])

    record = probed(client, load)
    words = {"index": "a marker was not indexed", "search": "markers could not be searched for"}
    assert record["problem"].startswith(f"{words[what]}: ApiError(429, 'too many")
    assert "\n" not in record["problem"]
    assert (record["p50"], record["p99"]) == (None, None)


def test_what_the_probe_does_wrong_itself_is_not_hidden() -> None:
    """Only the cluster's refusals are expected; a mistake of ours is an error of the race."""
    client = FakeElasticsearch()

    async def index(**_: Any) -> None:
        raise KeyError("a mistake")

    client.index = index  # type: ignore[method-assign]

    async def load(_: FreshnessProbe) -> None:
        await asyncio.sleep(0.01)

    with pytest.raises(KeyError, match="a mistake"):
        probed(client, load)


@pytest.mark.parametrize(("markers", "told"), [(FEWEST_FOR_P99 - 1, False), (FEWEST_FOR_P99, True)])
def test_a_99th_percentile_needs_a_hundred_markers(markers: int, told: bool) -> None:
    """Of fewer the largest would be called so."""
    probe = FreshnessProbe(FakeElasticsearch(), "paddock-test-lap")
    probe._found = [0.01 * number for number in range(markers)]
    record = probe.record()
    assert record["p50"] is not None
    assert (record["p99"] is not None) is told


def median_seen(seconds: float, interval: float, phases: Sequence[float], chance: random.Random) -> float | None:
    """The median that the probe tells of laps whose loads begin at these phases.

    Index and load are up to 200 ms apart without any wait; the probe looks every 50 ms.
    """
    found, waiting = [], []
    for phase in phases:
        age = phase * interval + chance.uniform(0, 0.2)
        sent = 0.0
        while sent < seconds:
            noticed = -(age + sent) % interval + chance.uniform(0, 0.05)
            (found if sent + noticed <= seconds else waiting).append(min(noticed, seconds - sent))
            sent += chance.uniform(0.25, 0.75)
    return censored_quantile(found, waiting, 0.5)


@pytest.mark.parametrize(
    ("seconds", "interval", "at_once"), [(9.9, 5, 3.27), (1.9, 1, 0.71), (55, 30, 20.7), (40, 30, 16.0)]
)
def test_loads_at_every_phase_of_the_refresh_tell_the_truth(seconds: float, interval: float, at_once: float) -> None:
    """The median wait is half an interval. Loads that begin with the index tell another one, by up to 40 %.

    Forty laps ten times over; the phases are those of the plan. What is left is half of a look (25 ms) and chance.
    """
    chance = random.Random(3)
    biased, told = (
        statistics.fmean(median_seen(seconds, interval, phases, chance) or 0.0 for phases in ten)
        for ten in ([[0.0] * 40] * 10, [load_phases(40, None, seed) for seed in range(10)])
    )
    assert biased == pytest.approx(at_once, rel=0.03)
    assert told == pytest.approx(interval / 2 + 0.025, rel=0.02)


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
