"""The runners that write down every request: Rally's own, with the service time that Rally measures."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from esrally.client.context import RequestContextHolder
from esrally.driver.runner import BulkIndex, Query
from shared.registration import register
from shared.request_journal import VARIABLE, JournalledRunner, journalled_runners


class Client(RequestContextHolder):
    """Rally's client, as far as it measures."""


class Waits:
    """A runner that asks twice, and takes its time before and after."""

    def __init__(self, fails: bool = False):
        self.fails = fails

    async def __aenter__(self) -> Waits:
        return self

    async def __aexit__(self, *_: object) -> bool:
        return False

    async def __call__(self, es: Client, params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        for _ in range(2):
            es.on_request_start()
            await asyncio.sleep(params["seconds"])
            es.on_request_end()
        if self.fails:
            raise RuntimeError("refused")
        await asyncio.sleep(0.01)
        return {"weight": 7, "unit": "docs"}


async def ran(runner: JournalledRunner, es: Client, seconds: float = 0.02) -> tuple[Any, float]:
    """What the runner gives back, and the service time that Rally sees around it."""
    with es.new_request_context() as context:
        async with runner:
            answer = await runner(es, {"seconds": seconds})
    return answer, (context.request_end - context.request_start) * 1000


def lines(file: Path) -> list[dict[str, Any]]:
    """The journal."""
    return [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]


def test_the_journal_has_the_service_time_that_rally_measures(tmp_path: Path) -> None:
    """To the digit, and in what Rally gets nothing is changed; each of Rally's clients has a number."""
    file = tmp_path / "requests.jsonl"
    runner = JournalledRunner("bulk", Waits(), file)
    first, second = Client(), Client()
    before = time.time()
    found = [asyncio.run(ran(runner, es)) for es in (first, second, first)]
    assert [answer for answer, _ in found] == [{"weight": 7, "unit": "docs"}] * 3
    assert [line["milliseconds"] for line in lines(file)] == [milliseconds for _, milliseconds in found]
    one, two, three = (line["client"] for line in lines(file))
    assert one == three != two
    assert all(before <= line["sent"] <= time.time() for line in lines(file))


def test_a_request_that_fails_is_one(tmp_path: Path) -> None:
    """Rally counts it, too, and gets to see the error."""
    file = tmp_path / "requests.jsonl"
    with pytest.raises(RuntimeError, match="refused"):
        asyncio.run(ran(JournalledRunner("search", Waits(fails=True), file), Client()))
    assert [line["operation"] for line in lines(file)] == ["search"]


class Registry:
    """What Rally lets a track register."""

    def __init__(self) -> None:
        self.runners: dict[str, Any] = {}

    def register_runner(self, operation: str, runner: Any, **_: Any) -> None:
        self.runners[operation] = runner

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_more: None


def test_nothing_is_written_unless_a_journal_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With plain Rally the runners are Rally's; with the variable both are called what Rally calls them."""
    monkeypatch.delenv(VARIABLE, raising=False)
    plain = Registry()
    register(plain)
    assert isinstance(plain.runners["bulk"], BulkIndex)
    assert isinstance(plain.runners["search"], Query)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "requests.jsonl"))
    journalled = Registry()
    register(journalled)
    assert all(isinstance(journalled.runners[name], JournalledRunner) for name in ("bulk", "search"))
    assert str(journalled.runners["bulk"]) == "bulk-index"
    assert journalled_runners({VARIABLE: ""}) == {}
