"""The few questions that are asked of a cluster over HTTP, which only ever read; what a cluster says of itself."""

from __future__ import annotations

import json
import ssl
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import certifi
import urllib3

from paddock.errors import MachineError, UsageError
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


# Somebody's cluster may be far away, or busy.
PATIENCE = 10.0


def check_cluster(endpoint: Endpoint) -> None:
    """Ask a cluster who it is, before anything is made or started for a race against it.

    :raises MachineError: if nothing answers there, or not to us: certificate, login, an error.
    :raises UsageError: if what answers cannot be raced: no Elasticsearch, or a serverless one.
    """
    where = " or ".join(endpoint.urls)
    try:
        version = _ask(replace(endpoint, timeout=PATIENCE)).get("version")
    except Unreachable as error:
        raise MachineError(_not_reached(where, error.__cause__)) from None
    except BadAnswer as error:
        raise MachineError(_not_let_in(where, error, endpoint)) from None
    found = version if isinstance(version, dict) else {}
    if not found.get("number") or found.get("distribution"):  # OpenSearch names itself there
        raise UsageError(
            f"What answers at {where} is no Elasticsearch, or something between here and it answers in its place: "
            f"correct --target-hosts."
        )
    if found.get("build_flavor") == "serverless":
        raise UsageError(
            f"The cluster at {where} is serverless: it hides the nodes, their figures and most index settings, which "
            f"races are about. Take a cluster of nodes for --target-hosts."
        )


def lucene_version(endpoint: Endpoint) -> str:
    """The version of Lucene that the cluster tells, which Rally does not record; empty if it does not answer."""
    try:
        version = _ask(endpoint).get("version")
    except (Unreachable, BadAnswer):
        return ""
    return str(version.get("lucene_version") or "") if isinstance(version, dict) else ""


def _ask(endpoint: Endpoint) -> dict[str, Any]:
    cluster = Cluster(endpoint)
    try:
        return cluster.version()
    finally:
        cluster.close()


def _not_reached(where: str, cause: BaseException | None) -> str:
    """The sentence for a cluster from which no answer came."""
    if isinstance(cause, urllib3.exceptions.SSLError):
        reason = cause.args[0] if cause.args else None
        if isinstance(reason, ssl.SSLCertVerificationError) or "certificate" in str(cause).lower():
            return (
                f"The certificate of {where} cannot be verified ({getattr(reason, 'verify_message', '') or reason}): "
                f"name the file of its authority as ca_certs in the client options, or say verify_certs: false there."
            )
        return (
            f"What answers at {where} speaks no TLS that is understood here ({getattr(reason, 'reason', reason)}): "
            f"leave https:// and use_ssl out if it speaks plain HTTP."
        )
    if isinstance(cause, urllib3.exceptions.ProtocolError):
        return (
            f"What answers at {where} closes the connection without an answer: if it wants TLS, write https:// before "
            f"the host, or use_ssl: true into the client options."
        )
    # That no connection was made is a kind of timeout to urllib3.
    late = isinstance(cause, urllib3.exceptions.TimeoutError)
    if late and not isinstance(cause, urllib3.exceptions.NewConnectionError):
        return f"Nothing answers at {where} within {PATIENCE:.0f} s: start the cluster, or correct --target-hosts."
    reason = str(getattr(cause, "__context__", None) or cause or "no connection").rpartition("] ")[2]
    return f"Nothing answers at {where} ({reason}): start the cluster, or correct --target-hosts."


def _not_let_in(where: str, error: BadAnswer, endpoint: Endpoint) -> str:
    """The sentence for an answer other than the one that was asked for."""
    if error.status not in (401, 403):
        return f"What answers at {where} cannot be raced. {error} Look at the cluster, or correct --target-hosts."
    if endpoint.authorization or endpoint.client_certificate:
        return (
            f"The cluster at {where} refuses the login in the client options (HTTP status {error.status}): correct it, "
            f"or give its user the right to monitor the cluster."
        )
    return (
        f"The cluster at {where} wants a login (HTTP status {error.status}): put basic_auth_user and "
        f"basic_auth_password, or api_key, into a .json file for --client-options, or into the variable "
        f"PADDOCK_CLIENT_OPTIONS."
    )
