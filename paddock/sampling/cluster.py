"""The few questions that the sampler asks a cluster over HTTP; it only ever reads."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import certifi
import urllib3

from paddock.sampling.endpoint import Endpoint

_NODE_PARTS = (
    "nodes.*.name,nodes.*.process.cpu.total_in_millis,nodes.*.jvm.uptime_in_millis,nodes.*.jvm.mem.heap_used_in_bytes,"
    "nodes.*.jvm.gc.collectors,nodes.*.thread_pool.write,nodes.*.indexing_pressure.memory.total.*rejections"
)
_INDEX_PARTS = ",".join(
    f"indices.*.{part}"
    for part in (
        "uuid",
        "primaries.docs.count",
        "primaries.store.size_in_bytes",
        "primaries.indexing.index_total",
        "primaries.indexing.index_failed",
        "primaries.indexing.index_time_in_millis",
        "total.store.size_in_bytes",
        "total.merges.current",
        "total.merges.total",
        "total.merges.total_docs",
        "total.merges.total_time_in_millis",
        "total.refresh.total",
        "total.refresh.total_time_in_millis",
        "total.flush.total",
        "total.flush.total_time_in_millis",
        "total.segments.count",
        "total.translog.size_in_bytes",
        "total.search.query_total",
    )
)
_INFO_PARTS = (
    "nodes.*.name,nodes.*.host,nodes.*.version,nodes.*.build_flavor,nodes.*.build_hash,nodes.*.roles,nodes.*.settings,"
    "nodes.*.os,nodes.*.process,nodes.*.jvm,nodes.*.thread_pool.write,nodes.*.thread_pool.search,"
    "nodes.*.total_indexing_buffer,nodes.*.plugins.name,nodes.*.plugins.version"
)


class Unreachable(Exception):
    """Nobody answered: no connection, or no answer in time; its cause is what the last host that was tried did."""


class BadAnswer(Exception):
    """There was an answer, but not the one that was asked for; ``status`` is that of HTTP."""

    def __init__(self, text: str, status: int):
        super().__init__(text)
        self.status = status


class Cluster:
    """One cluster, asked through the first of its hosts that answers.

    Every method raises Unreachable or BadAnswer; their texts hold no secrets.

    :param endpoint: where it is.
    :param indices: which indices are of interest, as Elasticsearch writes patterns ("logs-*,apache").
    """

    def __init__(self, endpoint: Endpoint, indices: str = "*"):
        self._urls = list(endpoint.urls)
        self._indices = quote(indices, safe="*,-")
        headers = {"accept": "application/json"}
        if endpoint.authorization:
            headers["authorization"] = endpoint.authorization
        self._http = urllib3.PoolManager(
            num_pools=max(4, len(self._urls)),
            headers=headers,
            retries=False,
            timeout=urllib3.Timeout(connect=endpoint.timeout, read=endpoint.timeout),
            **_tls(endpoint),
        )

    def node_stats(self) -> dict[str, Any]:
        """Counters of all nodes."""
        return self._get(f"/_nodes/stats/process,jvm,thread_pool,indexing_pressure?filter_path={_NODE_PARTS}")

    def index_stats(self) -> dict[str, Any]:
        """Counters of the indices, without hidden ones."""
        return self._get(
            f"/{self._indices}/_stats/docs,store,indexing,merge,refresh,flush,segments,translog,search"
            f"?expand_wildcards=open&ignore_unavailable=true&filter_path={_INDEX_PARTS}"
        )

    def segments(self) -> dict[str, Any]:
        """Sizes of all segments: unlike the store sizes in _stats they are never 10 s old."""
        return self._get(
            f"/{self._indices}/_segments?expand_wildcards=open&ignore_unavailable=true&filter_path="
            "indices.*.shards.*.routing.primary,indices.*.shards.*.segments.*.size_in_bytes"
        )

    def node_information(self) -> dict[str, Any]:
        """Versions and settings of all nodes."""
        return self._get(
            f"/_nodes/settings,jvm,os,process,plugins,thread_pool,indices?flat_settings=true&filter_path={_INFO_PARTS}"
        )

    def version(self) -> dict[str, Any]:
        """What the root says: the only place that names the version of Lucene."""
        return self._get("/")

    def index_settings(self) -> dict[str, Any]:
        """Settings of the indices, defaults included."""
        return self._get(
            f"/{self._indices}/_settings?include_defaults=true&flat_settings=true&expand_wildcards=open"
            "&ignore_unavailable=true&filter_path=*.settings,*.defaults.index*"
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.clear()

    def _get(self, path: str) -> dict[str, Any]:
        cause: Exception | None = None
        for _ in self._urls:
            try:
                answer = self._http.request("GET", self._urls[0] + path, redirect=False)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                cause = error
                self._urls.append(self._urls.pop(0))
                continue
            return _parsed(path, answer.status, answer.data)
        raise Unreachable(f"No answer from the cluster ({type(cause).__name__}).") from cause


def _parsed(path: str, status: int, body: bytes) -> dict[str, Any]:
    question = path.split("?")[0]
    if status != 200:
        raise BadAnswer(f"The cluster answered {question} with HTTP status {status}.", status)
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadAnswer(f"The cluster answered {question} with something that is no JSON object.", status)
    return value


def _tls(endpoint: Endpoint) -> dict[str, Any]:
    """Left to urllib3 rather than to an SSL context of ours: only so are certificates for IP addresses checked."""
    options: dict[str, Any] = {"cert_file": endpoint.client_certificate, "key_file": endpoint.client_key}
    if endpoint.verify_certificates:
        return {**options, "cert_reqs": "CERT_REQUIRED", "ca_certs": endpoint.authorities or certifi.where()}
    if any(url.startswith("https://") for url in endpoint.urls):
        # The user asked for it; a warning per connection in the middle of the progress display helps nobody.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return {**options, "cert_reqs": "CERT_NONE"}
