"""The 95th percentile from the journal of requests, found by Rally's own figures of the same race."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paddock.plain_values import Missing, known
from paddock.race import race_results
from paddock.race.race_results import TaskResult
from paddock.race.requests import SentRequest, percentile, possible_warmups, read_requests, with_p95
from paddock.rally.request import JOURNAL_VARIABLE
from tests.race.scenes import RallyTask, Request, race_json

WARMUP = 10.0


def bulks(
    seconds: float, clients: int, chance: random.Random, began: float = 0.0, reading: float = 0.03
) -> tuple[list[Request], list[SentRequest]]:
    """A load as Rally's clients send it: what Rally records, warm-up by its own rule, and what the journal has.

    :param reading: seconds that each client reads before its first bulk, which the clients after it wait for.
    """
    recorded, journal = [], []
    for client in range(clients):
        start = began + reading * client
        now = start + reading * chance.uniform(0.7, 1.3)
        answered = start
        while now - start < seconds:
            took = 0.08 * chance.lognormvariate(0, 0.4)
            recorded.append(Request(now - began, took * 1000, answered - start < WARMUP))
            journal.append(SentRequest("bulk", f"7-{client}", 1000 + now, took * 1000))
            answered = now + took
            now = answered + chance.uniform(0.0005, 0.003)
    return recorded, journal


def searches(
    iterations: int, began: float, chance: random.Random, client: str, scale: float = 5.0
) -> tuple[list[Request], list[SentRequest]]:
    """One client's searches, 50 of them warm-up."""
    recorded, journal, now = [], [], began
    for number in range(50 + iterations):
        took = scale * chance.lognormvariate(0, 0.3)
        recorded.append(Request(now - began, took, number < 50))
        journal.append(SentRequest("search", client, 1000 + now, took))
        now += took / 1000 + 0.001
    return recorded, journal


def told(tasks: Sequence[RallyTask], journal: Sequence[SentRequest]) -> list[TaskResult]:
    """The tasks of that race with what the journal tells."""
    warmups = possible_warmups({}, {"warmup_time_period": WARMUP, "search_warmup_iterations": 50})
    return with_p95(race_results.tasks(race_json(tasks)), journal, warmups)


def true_p95(requests: Sequence[Request]) -> float:
    """Of those that Rally counts."""
    return float(np.quantile([one.milliseconds for one in requests if not one.warmup], 0.95))


@pytest.mark.parametrize("seed", range(12))
def test_of_a_load_it_is_that_of_what_rally_counted(seed: int) -> None:
    """Eight clients whose warm-ups end at other moments, which the journal does not tell."""
    recorded, journal = bulks(30, 8, random.Random(seed))
    (task,) = told([RallyTask("bulk", "docs/s", recorded)], journal)
    assert known(task.requests.service_times.p95) == pytest.approx(true_p95(recorded), rel=0.02)


def test_of_searches_it_is_exact_and_each_task_has_its_own() -> None:
    """Eight queries one after the other, alike but for chance, after a load; none gets another's."""
    chance = random.Random(5)
    recorded, journal = bulks(14, 4, chance)
    tasks, expected, now = [RallyTask("bulk", "docs/s", recorded)], [], 20.0
    for number in range(8):
        of, lines = searches(100, now, chance, f"{7 + number % 2}-{number}")
        tasks.append(RallyTask(f"query-{number}", "ops/s", of))
        journal += lines
        expected.append(true_p95(of))
        now += 3.0
    chance.shuffle(journal)
    _, *queries = told(tasks, journal)
    assert [known(one.requests.service_times.p95) for one in queries] == pytest.approx(expected, rel=1e-9)


def test_several_clients_of_a_search_are_one_task() -> None:
    """Each has its own warm-up; a join point later the next task begins."""
    chance = random.Random(6)
    both = [searches(100, 1.0 + 0.01 * one, chance, f"7-{one}") for one in range(2)]
    recorded = [request for of, _ in both for request in of]
    journal = [line for _, lines in both for line in lines]
    other, more = searches(100, 9.0, chance, "7-2", scale=5.1)
    first, second = told([RallyTask("a", "ops/s", recorded), RallyTask("b", "ops/s", other)], [*journal, *more])
    assert known(first.requests.service_times.p95) == pytest.approx(true_p95(recorded))
    assert known(second.requests.service_times.p95) == pytest.approx(true_p95(other))


def test_searches_beside_a_load_are_a_task_of_their_own() -> None:
    """Both at once, and clients of the load that begin after the first search."""
    chance = random.Random(11)
    recorded, journal = bulks(20, 4, chance, reading=0.2)
    of, lines = searches(300, 0.3, chance, "8-0")
    load, search = told([RallyTask("bulk", "docs/s", recorded), RallyTask("a", "ops/s", of)], [*journal, *lines])
    assert known(load.requests.service_times.p95) == pytest.approx(true_p95(recorded), rel=0.02)
    assert known(search.requests.service_times.p95) == pytest.approx(true_p95(of))


def test_a_journal_that_is_not_whole_tells_nothing() -> None:
    """Requests from another machine, or a race of elsewhere: no figure, and a sentence; never that of another task."""
    chance = random.Random(7)
    recorded, journal = searches(100, 0.0, chance, "7-1")
    (task,) = told([RallyTask("a", "ops/s", recorded)], journal[::2])
    assert isinstance(task.requests.service_times.p95, Missing)
    assert "does not have what Rally counted" in task.requests.service_times.p95.reason
    other, lines = searches(100, 5.0, chance, "7-2")
    first, second = told([RallyTask("a", "ops/s", recorded), RallyTask("b", "ops/s", other)], lines)
    assert isinstance(first.requests.service_times.p95, Missing)
    assert known(second.requests.service_times.p95) == pytest.approx(true_p95(other))


def test_without_a_journal_the_reason_is_said() -> None:
    """As of a race of plain Rally's; one that brings a 95th percentile itself keeps it."""
    recorded, journal = searches(100, 0.0, random.Random(8), "7-1")
    (task,) = told([RallyTask("a", "ops/s", recorded)], [])
    assert isinstance(task.requests.service_times.p95, Missing)
    assert "no journal" in task.requests.service_times.p95.reason
    times = replace(task.requests.service_times, p95=4.0)
    kept = replace(task, requests=replace(task.requests, service_times=times))
    assert with_p95([kept], journal, {})[0] == kept


def test_few_requests_have_none() -> None:
    """Nineteen are too few, as a hundred are needed for the 99th."""
    recorded, journal = searches(19, 0.0, random.Random(9), "7-1")
    (task,) = told([RallyTask("a", "ops/s", recorded)], journal)
    assert isinstance(task.requests.service_times.p95, Missing)
    assert "takes 20 requests" in task.requests.service_times.p95.reason


def test_percentiles_are_rallys() -> None:
    """Interpolated as Rally does it."""
    from esrally.metrics import InMemoryMetricsStore

    values = sorted(random.Random(1).uniform(1, 9) for _ in range(137))
    for share in (0, 50, 90, 95, 99, 100):
        assert percentile(values, share) == pytest.approx(InMemoryMetricsStore.percentile_value(values, share))


def test_a_journal_is_read(tmp_path: Path) -> None:
    """A torn line, and one that is something else, are passed over; no file is no request."""
    file = tmp_path / "requests.jsonl"
    assert read_requests(file) == ()
    line = {"operation": "bulk", "client": "7-0", "sent": 1.5, "milliseconds": 12.25}
    file.write_text(f'{json.dumps(line)}\n[1]\n{{"operation": "bu', encoding="utf-8")
    assert read_requests(file) == (SentRequest("bulk", "7-0", 1.5, 12.25),)


def test_both_sides_name_the_same_variable() -> None:
    """What runs inside Rally imports nothing of Paddock, so the name stands there, too."""
    text = (Path(__file__).parents[2] / "tracks" / "shared" / "request_journal.py").read_text(encoding="utf-8")
    assert f'VARIABLE = "{JOURNAL_VARIABLE}"' in text
