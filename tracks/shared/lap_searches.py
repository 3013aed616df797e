"""The searches of a lap: each of the track's queries, again and again, once the load and its merges have ended.

After the rounds that are timed comes one that is not, in which every query is asked for what it finds, exactly: laps
that have indexed the same documents must find the same, or the faster one may just be wrong.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import elasticsearch
from esrally import exceptions
from esrally.driver import runner

from shared.lap_load import error_text
from shared.quantiles import quantile

# Lucene keeps the matches of a filter once it has seen it up to five times; the first search after a refresh also
# builds what grouping by a keyword needs.
WARM_UP_ROUNDS = 5
# Aggregations whose buckets are estimates, or samples of what each shard finds best.
_ESTIMATES = {
    *("auto_date_histogram", "categorize_text", "diversified_sampler", "frequent_item_sets", "random_sampler"),
    *("rare_terms", "sampler", "significant_terms", "significant_text", "variable_width_histogram"),
}


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


@dataclass(frozen=True)
class Findings:
    """What a query finds.

    :param hits: documents that match, exactly, those of the freshness probe left out.
    :param digest: a checksum of what else is the same in all answers from the same documents; None if nothing is.
    """

    hits: int
    digest: str | None


async def search(
    es: Any, index: str, queries: Sequence[Query], rounds: int, markers: Sequence[str] = ()
) -> dict[str, Any]:
    """Run every query ``rounds`` times, one after the other, after rounds of warm-up that do not count.

    A round has each query once, so that a stall of the machine is shared out among the queries and moves no median.

    :param markers: ids of documents that are not the load's.
    :returns: milliseconds: per query median and 90th percentile of the service time and of the server's own figure,
        and the geometric means of the service times over all queries; and what each query finds.
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
    found = {
        query.name: {**_figures(answers[query.name]), **asdict(await _findings(once, index, query, markers))}
        for query in queries
    }
    return {
        "rounds": rounds,
        "warm_up_rounds": WARM_UP_ROUNDS,
        "seconds": round(seconds, 3),
        **{name: round(overall([one[name] for one in found.values()]), 3) for name in ("p50_ms", "p90_ms", "p95_ms")},
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
        except (elasticsearch.ApiError, elasticsearch.TransportError) as error:
            raise _failure(query, error) from error
        service_ms = 1000 * (context.request_end - context.request_start)
    _check(query, answer["timed_out"], answer["shards"]["failed"])
    return Answer(service_ms, answer["took"], answer["hits"])


def _figures(answers: Sequence[Answer]) -> dict[str, Any]:
    """Of one query."""
    service, took = [one.service_ms for one in answers], [one.took_ms for one in answers]
    times = {
        "p50_ms": quantile(service, 0.5),
        "p90_ms": quantile(service, 0.9),
        "p95_ms": quantile(service, 0.95),
        "took_p50_ms": quantile(took, 0.5),
        "took_p90_ms": quantile(took, 0.9),
    }
    hits = [one.hits for one in answers]
    return {
        **{name: round(value, 3) for name, value in times.items()},
        "timed_hits_min": min(hits),
        "timed_hits_max": max(hits),
    }


async def _findings(es: Any, index: str, query: Query, markers: Sequence[str]) -> Findings:
    """Ask once more, for every hit to be counted; the timed searches leave that to the track's own query."""
    body = {**query.params["body"], "track_total_hits": True, "_source": False}
    if markers:
        asked = body.get("query", {"match_all": {}})
        body["query"] = {"bool": {"must": [asked], "must_not": [{"ids": {"values": list(markers)}}]}}
    params = {**query.params.get("request-params", {}), "request_cache": "false"}
    params.pop("track_total_hits", None)
    try:
        answer = await es.perform_request("GET", f"/{index}/_search", params=params, body=body)
    except (elasticsearch.ApiError, elasticsearch.TransportError) as error:
        raise _failure(query, error) from error
    _check(query, answer["timed_out"], answer["_shards"]["failed"])
    return Findings(answer["hits"]["total"]["value"], digest(body, answer))


def digest(body: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """A checksum of those parts of an answer that depend on nothing but the documents; None if there are none.

    These are the keys of buckets with their numbers of documents, and the values by which hits are sorted: of several
    hits with the same value any may be shown, but it is the same value. Left out are scores and places (``_score``,
    ``_doc``: each shard has its own) and metrics (percentiles and numbers of different values are estimates, sums of
    fractions depend on their order). An answer whose terms were cut off on each shard before they were added up
    (``doc_count_error_upper_bound``) is an estimate as well, and has no checksum.
    """
    parts = dict(_objects(answer.get("aggregations", {})))
    asked = dict(_objects(body.get("aggs") or body.get("aggregations") or {}))
    if any(one.get("doc_count_error_upper_bound") for one in parts.values()) or any(
        _ESTIMATES & set(one) for one in asked.values()
    ):
        return None
    # The place of a bucket has its key in it, not its number: which of two equal ones comes first is left to chance.
    buckets = {place: one["doc_count"] for place, one in parts.items() if place.endswith("]") and "doc_count" in one}
    sorting = body.get("sort") or []
    fields = [name for one in (sorting if isinstance(sorting, list) else [sorting]) for name in _names(one)]
    by_fields = bool(fields) and not any(field.startswith("_") for field in fields)
    values = [hit.get("sort") for hit in answer["hits"]["hits"]] if by_fields else []
    if not buckets and not values:
        return None
    text = json.dumps([buckets, values], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _names(sorting: Any) -> list[str]:
    """The fields of one criterion, which is an object or a name."""
    return list(sorting) if isinstance(sorting, Mapping) else [str(sorting).partition(":")[0]]


def _objects(parent: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All objects below one, each with its place: names, and where they are in a list their keys in brackets."""
    for name, part in parent.items():
        keyed = isinstance(part, Mapping) and name == "buckets"
        children = part.items() if keyed else enumerate(part) if isinstance(part, list) else [(None, part)]
        for key, child in children:
            if isinstance(child, Mapping):
                shown = json.dumps(child.get("key", key), sort_keys=True)
                at = f"{place}/{name}" if key is None else f"{place}/{name}[{shown}]"
                yield at, child
                yield from _objects(child, at)


def _failure(query: Query, error: elasticsearch.ApiError | elasticsearch.TransportError) -> SearchFailed:
    if isinstance(error, elasticsearch.ApiError):
        return SearchFailed(
            f"the search '{query.name}' was refused: HTTP status {error.status_code}, {error_text(error)}"
        )
    return SearchFailed(f"the search '{query.name}' got no answer: {error.message}")


def _check(query: Query, timed_out: bool, failed: int) -> None:
    """Refuse an answer that is one in part."""
    if timed_out:
        raise SearchFailed(f"the search '{query.name}' timed out, and was answered in part only")
    if failed:
        raise SearchFailed(f"the search '{query.name}' failed on {failed} shards")
