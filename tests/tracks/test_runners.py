"""The tracks' own runners, with a client that answers what it is told to."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from esrally import exceptions
from shared.document_count import CheckDocumentCount
from shared.health import WaitForHealth
from shared.registration import register


class FakeClient:
    """Elasticsearch's client as far as the runners use it; remembers the calls."""

    def __init__(self, count: int = 0, health: list[dict[str, Any]] | None = None):
        self._count = count
        self._health = health or []
        self.calls: list[dict[str, Any]] = []
        self.cluster = self.indices = self

    def options(self, **options: Any) -> FakeClient:
        """Transport options; only remembered."""
        self.calls.append(options)
        return self

    async def exists(self, index: str) -> bool:
        """Whether there is an index: if it was given a health."""
        return bool(self._health)

    async def count(self, index: str) -> dict[str, int]:
        """Documents of the index."""
        self.calls.append({"index": index})
        return {"count": self._count}

    async def health(self, **request: Any) -> dict[str, Any]:
        """The answers one after another, the last one again and again."""
        self.calls.append(request)
        return self._health.pop(0) if len(self._health) > 1 else self._health[0]


def health(status: str, timed_out: bool) -> dict[str, Any]:
    """An answer of the health API."""
    return {"status": status, "timed_out": timed_out, "unassigned_shards": 1, "relocating_shards": 0}


def check(counted: int, enforce: bool) -> dict[str, Any]:
    """One check of an index that should have 10 documents."""
    params = {"index": "logs", "expected": 10, "enforce": enforce}
    return asyncio.run(CheckDocumentCount()(FakeClient(count=counted), params))


@pytest.mark.parametrize("enforce", [True, False])
def test_right_count_passes(enforce: bool) -> None:
    """The numbers are recorded with the race."""
    assert check(10, enforce) == {"weight": 1, "unit": "ops", "success": True, "expected": 10, "counted": 10}


@pytest.mark.parametrize(("counted", "difference"), [(7, "3 are missing"), (12, "2 are too many")])
def test_wrong_count_ends_the_race(counted: int, difference: str) -> None:
    """The sentence names the index, both numbers and the difference."""
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=f"'logs' has {counted} documents, but 10.*{difference}"
    ):
        check(counted, enforce=True)


def test_wrong_count_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Where the count cannot be known it is logged and recorded."""
    with caplog.at_level(logging.WARNING):
        assert check(7, enforce=False)["counted"] == 7
    assert "3 are missing" in caplog.text


def test_health_waits_until_it_is_reached() -> None:
    """An answer in time is success, after as many as it takes; the request waits for relocations, too."""
    client = FakeClient(health=[health("red", True), health("yellow", True), health("green", False)])
    result = asyncio.run(WaitForHealth()(client, {"index": "logs", "status": "green"}))
    assert result["cluster-status"] == "green"
    requests = [call for call in client.calls if "wait_for_status" in call]
    assert len(requests) == 3
    assert requests[0]["index"] == "logs"
    assert requests[0]["wait_for_no_relocating_shards"] is True


def test_health_gives_up_with_a_sentence() -> None:
    """An impossible health ends the race and says what it lacks."""
    client = FakeClient(health=[health("yellow", True)])
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r"'logs' is yellow after 0 s, but green was asked for \(1"
    ):
        asyncio.run(WaitForHealth()(client, {"index": "logs", "status": "green", "timeout": 0}))


def test_missing_index_ends_the_race_at_once() -> None:
    """Rally goes on after a refused create-index; without this, a minute later the sentence would name no cause."""
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match="'logs' does not exist: Elasticsearch refused to create"
    ):
        asyncio.run(WaitForHealth()(FakeClient(), {"index": "logs", "status": "green"}))


def test_everything_is_registered() -> None:
    """Rally gets what the challenges name, in the form that it demands: classes as sources, async runners."""

    class Registry:
        sources: dict[str, Any] = {}  # noqa: RUF012 - one registry, one test
        runners: dict[str, Any] = {}  # noqa: RUF012
        schedulers: dict[str, Any] = {}  # noqa: RUF012

        def register_param_source(self, name: str, source: Any) -> None:
            self.sources[name] = source

        def register_runner(self, name: str, runner: Any, **options: Any) -> None:
            assert options == {"async_runner": True}
            self.runners[name] = runner

        def register_scheduler(self, name: str, scheduler: Any) -> None:
            self.schedulers[name] = scheduler

    registry = Registry()
    register(registry)
    assert set(registry.sources) == {
        *("first-documents", "expected-documents", "lap-plan", "paced-documents", "expected-paced-documents"),
        *("growth-documents", "grown-documents"),
    }
    assert set(registry.schedulers) == {"paced"}
    assert {name: repr(runner) for name, runner in registry.runners.items()} == {
        "check-document-count": "check-document-count",
        "lap": "lap",
        "settle": "settle",
        "wait-for-health": "wait-for-health",
    }
