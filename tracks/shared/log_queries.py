"""Four questions that somebody who reads logs asks, put to an index, and what an answer is, whoever gives it.

They are those of a published comparison of ways to store JSON application logs (kdgregory.com, 2018).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esrally import exceptions
from esrally.track.params import ParamSource

from shared.growth import added_documents
from shared.load_journal import append
from shared.paced_documents import checked_journal
from shared.request_contexts import unmeasured

TEXT_COUNT, TEXT_HITS, LATEST, PER_15_MINUTES = QUERIES = ("text-count", "text-hits", "latest-25", "per-15-minutes")
INDEX = "index"
TIME = "@timestamp"
LATEST_SIZE = 25
_PAGE = 5000  # hits of one response, where all are asked for; Elasticsearch allows 10,000
_SCROLL = "1m"
_QUARTER = "yyyy-MM-dd'T'HH:mm"  # as scans write the beginning of 15 minutes, in UTC


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    :param text: the word or words looked for anywhere in the text.
    :param field: the field that tells errors, None where the text alone does; ``values`` it has in errors.
    :param shown: the fields of the latest errors that are read, the time first.
    """

    text: str
    field: str | None
    values: tuple[str | int, ...]
    shown: tuple[str, ...]

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Asked:
        """What the operation's parameters ``text``, ``field``, ``values`` and ``shown`` say.

        :raises exceptions.InvalidSyntax: if they say nothing that can be looked for.
        """
        text, field, values = params["text"], params.get("field") or None, params.get("values")
        if not isinstance(text, str) or not text.strip() or "\n" in text:
            raise exceptions.InvalidSyntax(f"log_query_text must be a word or some, in one line, but is {text!r}.")
        plain = isinstance(values, list) and all(type(one) in (str, int) for one in values)
        if field and not (isinstance(field, str) and plain and values):
            raise exceptions.InvalidSyntax(
                f"log_query_values must be a JSON list of the values that {field!r} has in errors, such as "
                f'["ERROR"] or [500,503], but is {values!r}.'
            )
        return cls(text, field, tuple(values or ()) if field else (), tuple(params["shown"]))


@dataclass(frozen=True)
class Answer:
    """What came back, in a form in which two can be compared.

    :param number: documents that were found.
    :param items: the times of documents, newest first, or the quarters of an hour with what they count; not those of
        a mere number.
    """

    number: int
    items: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of the items: the same for the same ones in the same order."""
        return hashlib.sha256("\n".join(self.items).encode()).hexdigest()[:16]


def body(query: str, asked: Asked) -> dict[str, Any]:
    """The request that puts the question to an index."""
    # As Kibana asks for words: in all fields, whatever their type.
    text = {"multi_match": {"query": asked.text, "fields": ["*"], "type": "phrase", "lenient": True}}
    errors = {"terms": {asked.field: list(asked.values)}} if asked.field else text
    newest_first = [{TIME: "desc"}]
    if query == TEXT_COUNT:
        return {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": [text]}}}
    if query == TEXT_HITS:
        return {"size": _PAGE, "query": {"bool": {"filter": [text]}}, "sort": newest_first}
    found: dict[str, Any] = {"query": {"bool": {"filter": [errors]}}}
    if query == LATEST:
        return {**found, "size": LATEST_SIZE, "sort": newest_first, "_source": list(asked.shown)}
    quarters = {"field": TIME, "fixed_interval": "15m", "min_doc_count": 1, "format": _QUARTER}
    return {**found, "size": 0, "aggs": {"quarters": {"date_histogram": quarters}}}


def index_answer(query: str, pages: Sequence[Mapping[str, Any]]) -> Answer:
    """What an index has answered, in one response or in the pages of a scroll."""
    if query == TEXT_COUNT:
        return Answer(pages[0]["hits"]["total"]["value"])
    if query == PER_15_MINUTES:
        quarters = pages[0]["aggregations"]["quarters"]["buckets"]
        return quarters_answer(f"{one['key_as_string']} {one['doc_count']}" for one in quarters)
    return times_answer(str(hit["_source"][TIME]) for page in pages for hit in page["hits"]["hits"])


def times_answer(times: Any) -> Answer:
    """Documents by their times, in the order in which they came."""
    items = tuple(times)
    return Answer(len(items), items)


def quarters_answer(lines: Any) -> Answer:
    """Quarters of an hour, each a line with its beginning and how many documents it has, in any order."""
    items = tuple(sorted(lines))
    return Answer(sum(int(line.rpartition(" ")[2]) for line in items), items)


class LogQueryPlan(ParamSource):
    """What one task asks at one size of the data.

    Parameters: ``query`` (of QUERIES); those of :meth:`Asked.of`; ``growth-steps``, ``growth-step`` and those of
    :func:`shared.corpora.documents_to_index`, which say how many documents there are; ``warmup-iterations`` (how many
    runs measure nothing); ``journal`` (an absolute path, or None).
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        self.asked = Asked.of(params)
        self.journal = checked_journal(params.get("journal"))
        self.query = params["query"]
        self.available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        _, self.documents = added_documents(self.available, params)
        self._runs = 0

    def params(self) -> dict[str, Any]:
        """The parameters of one run."""
        first = self._runs == 0
        self._runs += 1
        return {
            **self._params,
            "plan": self,
            "first": first,
            "warm-up": self._runs <= self._params["warmup-iterations"],
        }

    def written(
        self, params: Mapping[str, Any], way: str, began: float, seconds: float, answer: Answer, **more: Any
    ) -> None:
        """Add a run to the journal, if there is one.

        :param began: seconds since 1970; ``seconds`` is how long it took.
        """
        if self.journal is None:
            return
        steps, query = self._params["growth-steps"], self.query
        if params["first"] and way == INDEX and query == QUERIES[0] and self._params["growth-step"] == steps[0]:
            append(self.journal, {"kind": "log-queries", "began": round(began, 3)})
        append(
            self.journal,
            {
                "kind": "log-query",
                "way": way,
                "query": query,
                "documents": self.documents,
                "warm_up": params["warm-up"],
                "began": round(began, 3),
                "seconds": round(seconds, 7),
                "number": answer.number,
                "items": len(answer.items),
                "digest": answer.digest,
                **more,
            },
        )


class AskIndex:
    """Puts one question to the index; of all hits, every page.

    Parameters: those of :class:`LogQueryPlan`, ``index`` and ``request-timeout`` (seconds).
    """

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Ask once; what the answer holds is looked at after its time has been taken."""
        plan: LogQueryPlan = params["plan"]
        asking = es.options(request_timeout=params["request-timeout"])
        began, asked = time.time(), body(plan.query, plan.asked)
        scroll = None
        with es.new_request_context() as context:
            asking.return_raw_response()
            if plan.query == TEXT_HITS:
                raw, scroll = await _all_pages(asking, params["index"], asked)
            else:
                cached = {"request_cache": "false"}
                raw = [await _raw(asking, f"/{params['index']}/_search", asked, cached)]
            seconds = context.request_end - context.request_start
        if scroll:
            with unmeasured(es):
                await asking.clear_scroll(scroll_id=scroll)
        pages = [json.loads(one) for one in raw]
        if any(page["timed_out"] or page["_shards"]["failed"] for page in pages):
            raise exceptions.RallyTaskAssertionError(
                f"The query '{plan.query}' was not answered by all shards of the index '{params['index']}': look into "
                f"the log of the node."
            )
        answer = index_answer(plan.query, pages)
        plan.written(params, INDEX, began, seconds, answer)
        return {"weight": 1, "unit": "ops", "success": True, "hits": answer.number}

    def __repr__(self) -> str:
        return "log-query"


async def _raw(es: Any, path: str, request: Mapping[str, Any], query: Mapping[str, str] | None = None) -> bytes:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    answer = await es.perform_request(method="POST", path=path, params=query, body=request, headers=headers)
    return bytes(answer.getvalue())


async def _all_pages(es: Any, index: str, request: Mapping[str, Any]) -> tuple[list[bytes], str]:
    """The responses with all hits, the last of them without any, and the id of the scroll."""
    pages = [await _raw(es, f"/{index}/_search", request, {"scroll": _SCROLL})]
    while True:
        # It stands at the beginning; to parse pages of megabytes would count as the query's time.
        scroll = str(json.loads(pages[-1][pages[-1].index(b":") + 1 : pages[-1].index(b",")]))
        if b'"hits":[]' in pages[-1][-200:]:
            return pages, scroll
        pages.append(await _raw(es, "/_search/scroll", {"scroll": _SCROLL, "scroll_id": scroll}))
