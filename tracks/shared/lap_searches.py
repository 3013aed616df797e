"""The searches of a lap: each of the track's queries, again and again, once the load and its merges have ended."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import elasticsearch
from esrally import exceptions
from esrally.driver import runner

from shared.lap_load import error_text
from shared.quantiles import quantile

# Lucene keeps the matches of a filter once it has seen it up to five times; the first search after a refresh also
# builds what grouping by a keyword needs.
WARM_UP_ROUNDS = 5


@dataclass(frozen=True)
class Query:
    """One of the track's search operations.

    :param params: what Rally's own search runner is told, but for the index.
    """

    name: str
    params: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One answered search.

    :param service_ms: milliseconds from sending it to the end of its answer, as the client sees it.
    :param took_ms: milliseconds that the server says.
    """

    service_ms: float
    took_ms: int
    hits: int


class SearchFailed(Exception):
    """A search was refused, timed out, or was answered in part; says which and why."""


def find_queries(track: Any, names: Sequence[str]) -> tuple[Query, ...]:
    """The track's search operations of these names.

    Rally keeps a track's operations only in the tasks of its challenges; those of all challenges are there, whichever
    is raced.

    :raises exceptions.InvalidSyntax: if no challenge runs one of them.
    """
    operations = {
        leaf.operation.name: leaf.operation
        for challenge in track.challenges
        for task in challenge.schedule
        for leaf in task
        if leaf.operation.type == "search" and "body" in leaf.operation.params
    }
    missing = [name for name in names if name not in operations]
    if missing or not names:
        wanted = f"the query '{missing[0]}'" if missing else "queries"
        raise exceptions.InvalidSyntax(
            f"lap_searches needs {wanted}, and no challenge of the track has a search task for it: name the track's "
            f"queries in search_queries at the top of track.json, and leave --include-tasks and --exclude-tasks out."
        )
    return tuple(Query(name, operations[name].params) for name in names)


async def search(es: Any, index: str, queries: Sequence[Query], rounds: int) -> dict[str, Any]:
    """Run every query ``rounds`` times, one after the other, after rounds of warm-up that do not count.

    A round has each query once, so that a stall of the machine is shared out among the queries and moves no median.

    :returns: milliseconds: per query median and 90th percentile of the service time and of the server's own figure,
        and the geometric means of the service times over all queries.
    :raises SearchFailed: at the first search that fails.
    """
    # Without this the client would send a search that got no answer again, and say nothing of it.
    once = es.options(max_retries=0)
    run = runner.Query()
    answers: dict[str, list[Answer]] = {query.name: [] for query in queries}
    began = time.perf_counter()
    for number in range(WARM_UP_ROUNDS + rounds):
        for query in queries:
            answer = await _ask(once, run, index, query)
            if number >= WARM_UP_ROUNDS:
                answers[query.name].append(answer)
    seconds = time.perf_counter() - began
    found = {name: _figures(given) for name, given in answers.items()}
    return {
        "rounds": rounds,
        "warm_up_rounds": WARM_UP_ROUNDS,
        "seconds": round(seconds, 3),
        **{name: round(overall([one[name] for one in found.values()]), 3) for name in ("p50_ms", "p90_ms")},
        "queries": found,
    }


def overall(times: Sequence[float]) -> float:
    """One figure for all queries: the geometric mean of theirs.

    Queries differ a hundredfold. In their arithmetic mean the slowest would be all that counts; the geometric mean
    changes by as much whichever query becomes 10 % slower, and its ratio is the mean of the queries' ratios.
    """
    return statistics.geometric_mean(times)


async def _ask(es: Any, run: Any, index: str, query: Query) -> Answer:
    # The runner takes what it needs out of its parameters, so it gets a copy each time.
    params = {**query.params, "index": index, "cache": False, "detailed-results": True}
    params["request-params"] = dict(query.params.get("request-params", {}))
    with es.new_request_context() as context:
        try:
            answer = await run(es, params)
        except elasticsearch.ApiError as error:
            raise SearchFailed(
                f"the search '{query.name}' was refused: HTTP status {error.status_code}, {error_text(error)}"
            ) from error
        except elasticsearch.TransportError as error:
            raise SearchFailed(f"the search '{query.name}' got no answer: {error.message}") from error
        service_ms = 1000 * (context.request_end - context.request_start)
    if answer["timed_out"]:
        raise SearchFailed(f"the search '{query.name}' timed out, and was answered in part only")
    if answer["shards"]["failed"]:
        raise SearchFailed(f"the search '{query.name}' failed on {answer['shards']['failed']} shards")
    return Answer(service_ms, answer["took"], answer["hits"])


def _figures(answers: Sequence[Answer]) -> dict[str, Any]:
    """Of one query."""
    service, took = [one.service_ms for one in answers], [one.took_ms for one in answers]
    times = {
        "p50_ms": quantile(service, 0.5),
        "p90_ms": quantile(service, 0.9),
        "took_p50_ms": quantile(took, 0.5),
        "took_p90_ms": quantile(took, 0.9),
    }
    return {**{name: round(value, 3) for name, value in times.items()}, "hits": answers[-1].hits}
