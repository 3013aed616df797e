"""A cluster over HTTP: where it answers, how to be let in, and the few questions that are asked of it, which only read.

Rally's own client is not used for it: it costs 0.2 s of CPU time and 22 MiB to import beside a node that starts, asks
``GET /`` first, without our timeout, and refuses a cluster that does not answer it, and prints warnings into the
progress display; its TargetHosts ends in a traceback, or in a host that does not exist, for half of what users mistype.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certifi
import urllib3

from paddock.errors import MachineError, UsageError
from paddock.plain_values import separated
from paddock.sampling.records import INDEX_FIGURES

DEFAULT_PORT = 9200
# Seconds; somebody's cluster may be far away, or busy, when it is asked who it is.
PATIENCE = 10.0

_NODE_PARTS = (
    "nodes.*.name,nodes.*.process.cpu.total_in_millis,nodes.*.jvm.uptime_in_millis,nodes.*.jvm.gc.collectors,"
    "nodes.*.jvm.mem.heap_used_in_bytes,nodes.*.thread_pool.write.rejected,nodes.*.indexing_pressure.memory.total.*rejections"
)
# The indices of a data stream are hidden; a pattern that begins with their dot finds them.
_INDICES = "*,.ds-paddock-*"
_INDEX_PARTS = ",".join(f"indices.*.{path}" for path in ("uuid", *INDEX_FIGURES.values()))
_INFO_PARTS = ",".join(
    f"nodes.*.{part}"
    for part in (
        *("name", "version", "build_flavor", "build_hash", "roles", "settings", "total_indexing_buffer"),
        *("plugins.name", "plugins.version", "thread_pool.write", "thread_pool.search", "process.id"),
        *("process.mlockall", "jvm.version", "jvm.vm_*", "jvm.start_time_in_millis", "jvm.input_arguments"),
        *("jvm.gc_collectors", "jvm.mem.heap_max_in_bytes", "os.name", "os.pretty_name", "os.version", "os.arch"),
        *("os.available_processors", "os.allocated_processors"),
    )
)


@dataclass(frozen=True)
class Endpoint:
    """Where one cluster answers and how to be let in; secrets stay out of every text.

    :param urls: base URLs without user names, for example ``http://127.0.0.1:39200``; the first that answers is used.
    :param authorization: the value of the Authorization header, or None.
    :param tls: what urllib3 is told of certificates; empty for its defaults.
    :param timeout: seconds to wait for a connection and for an answer.
    """

    urls: tuple[str, ...]
    authorization: str | None = field(default=None, repr=False)
    tls: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 2.0

    @classmethod
    def from_client_options(cls, hosts: str, options: Mapping[str, Any] | None = None) -> Endpoint:
        """The endpoint that Rally's ``--target-hosts`` and ``--client-options`` describe.

        :param hosts: "host:port,...", URLs, a JSON text or the name of a .json file as Rally takes them.
        :param options: Rally's client options; those that only concern Rally's own requests are ignored.
        :raises UsageError: if there is no host in it, or one with a password: Rally would not use it, but show it.
        """
        given = options or {}
        plain = _split(hosts)
        if not plain:
            raise UsageError("There is no host to sample: name at least one as host:port in --target-hosts.")
        encrypted = bool(given.get("use_ssl", False))
        # To urllib3 rather than to an SSL context of ours: only so are certificates for IP addresses checked.
        tls = {"cert_file": given.get("client_cert") or None, "key_file": given.get("client_key") or None}
        if given.get("verify_certs", True):
            tls |= {"cert_reqs": "CERT_REQUIRED", "ca_certs": given.get("ca_certs") or certifi.where()}
        else:
            tls["cert_reqs"] = "CERT_NONE"
        return cls(tuple(_url(host, encrypted) for host in plain), _authorization(given), tls)


def _split(hosts: str) -> list[str]:
    """The hosts of the default cluster; Rally's JSON names one list of hosts per cluster."""
    text = hosts.strip()
    if text.endswith(".json"):
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--target-hosts names a file that cannot be read: {error}.") from None
    if text.startswith("{"):
        try:
            named = json.loads(text)
        except json.JSONDecodeError as error:
            raise UsageError(f"--target-hosts is no valid JSON: {error}.") from None
        clusters = {name: [hosts] if isinstance(hosts, str) else hosts for name, hosts in named.items()}
        if not all(isinstance(one, list) and all(isinstance(host, str) for host in one) for one in clusters.values()):
            raise UsageError(
                '--target-hosts as JSON wants a list of hosts for each cluster: {"default": ["host:port"]}.'
            )
        for host in itertools.chain(*clusters.values()):
            _url(host, False)  # those of other clusters must hold no password either
        return clusters.get("default", [])
    return separated(text)


def _url(host: str, encrypted: bool) -> str:
    """The base URL of one host."""
    # Anywhere, for a password may hold what ends a host: '/', '?' or '#'. The host is not repeated for it.
    if "@" in host:
        raise UsageError(
            "A host in --target-hosts holds a user name or a password, which lists of processes, journals and reports "
            "would show: write host:port alone, and put basic_auth_user and basic_auth_password into a .json file for "
            "--client-options, or into the variable PADDOCK_CLIENT_OPTIONS."
        )
    try:
        parts = urlsplit(host if "://" in host else f"//{host}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    if not parts.hostname or port == 0 or parts.scheme not in ("", "http", "https"):
        raise UsageError("A host in --target-hosts cannot be understood: write host:port or https://host:port.")
    scheme = "https" if encrypted or parts.scheme == "https" else "http"
    # As Rally has it: 443 behind https://, 9200 elsewhere.
    port = port or (443 if parts.scheme == "https" else DEFAULT_PORT)
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{name}:{port}{parts.path.rstrip('/')}"


def _authorization(options: Mapping[str, Any]) -> str | None:
    key = options.get("api_key")
    if isinstance(key, str) and key:
        return f"ApiKey {key}"
    if isinstance(key, (list, tuple)) and len(key) == 2:
        return f"ApiKey {_base64(f'{key[0]}:{key[1]}')}"
    user, password = options.get("basic_auth_user"), options.get("basic_auth_password")
    if user and password is not None:
        return f"Basic {_base64(f'{user}:{password}')}"
    return None


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


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
    """

    def __init__(self, endpoint: Endpoint):
        self._urls = list(endpoint.urls)
        login = {"authorization": endpoint.authorization} if endpoint.authorization else {}
        if endpoint.tls.get("cert_reqs") == "CERT_NONE":
            # The user asked for it; a warning per connection in the middle of the progress display helps nobody.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._http = urllib3.PoolManager(
            num_pools=max(4, len(self._urls)),
            headers={"accept": "application/json", **login},
            retries=False,
            timeout=urllib3.Timeout(connect=endpoint.timeout, read=endpoint.timeout),
            **endpoint.tls,
        )

    def node_stats(self) -> dict[str, Any]:
        """Counters of all nodes."""
        return self._get(f"/_nodes/stats/process,jvm,thread_pool,indexing_pressure?filter_path={_NODE_PARTS}")

    def heaps(self) -> dict[str, Any]:
        """The heap in use of all nodes, as the circuit breaker sees it: anew each time, and nobody else's figure.

        Nodes renew the figures of ``jvm`` and ``process`` once a second at most: whoever asks for these takes the
        next look from the lap runner, which would have to wait for a figure that is not from before its lap's end.
        """
        return self._get(
            "/_nodes/stats/breaker?filter_path=nodes.*.name,nodes.*.breakers.parent.estimated_size_in_bytes"
        )

    def index_stats(self) -> dict[str, Any]:
        """Counters of the indices, without hidden ones but those of our tracks' data streams."""
        return self._get(
            f"/{_INDICES}/_stats/docs,store,indexing,merge,refresh,flush,segments,translog,search"
            f"?expand_wildcards=open&ignore_unavailable=true&filter_path={_INDEX_PARTS}"
        )

    def segments(self) -> dict[str, Any]:
        """Sizes of all segments: unlike the store sizes in _stats they are never 10 s old."""
        return self._get(
            f"/{_INDICES}/_segments?expand_wildcards=open&ignore_unavailable=true&filter_path="
            "indices.*.shards.*.routing.primary,indices.*.shards.*.segments.*.size_in_bytes"
        )

    def node_information(self) -> dict[str, Any]:
        """Versions and settings of all nodes."""
        return self._get(
            f"/_nodes/settings,jvm,os,process,plugins,thread_pool,indices?flat_settings=true&filter_path={_INFO_PARTS}"
        )

    def disks(self) -> dict[str, Any]:
        """The disks of all nodes, and what time it is there."""
        return self._get(
            "/_nodes/stats/fs?filter_path=nodes.*.timestamp,nodes.*.fs.total.total_in_bytes,"
            "nodes.*.fs.total.available_in_bytes"
        )

    def memory(self) -> dict[str, Any]:
        """Heap and memory of all nodes, and the limits of the control groups that they are in."""
        return self._get(
            "/_nodes/stats/os,jvm?filter_path=nodes.*.name,nodes.*.host,nodes.*.roles,nodes.*.jvm.mem.heap_max_in_bytes,"
            "nodes.*.os.mem.total_in_bytes,nodes.*.os.cgroup.memory.limit_in_bytes"
        )

    def shards(self) -> dict[str, Any]:
        """Every shard that is assigned: on which node, how large, how many documents; hidden indices included."""
        return self._get(
            "/_stats/store,docs?level=shards&expand_wildcards=open,hidden&ignore_unavailable=true&filter_path="
            "indices.*.shards.*.routing.primary,indices.*.shards.*.routing.node,"
            "indices.*.shards.*.store.size_in_bytes,indices.*.shards.*.docs.count"
        )

    def ingest_processors(self) -> dict[str, Any]:
        """The kinds of ingest processors that each node has."""
        return self._get("/_nodes/ingest?filter_path=nodes.*.name,nodes.*.ingest.processors.type")

    def version(self) -> dict[str, Any]:
        """What the root says: the only place that names the version of Lucene."""
        return self._get("/")

    def index_settings(self) -> dict[str, Any]:
        """Settings of the indices, defaults included."""
        return self._get(
            f"/{_INDICES}/_settings?include_defaults=true&flat_settings=true&expand_wildcards=open"
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
            answered, value = f"The cluster answered {path.split('?')[0]} with", None
            if answer.status != 200:
                raise BadAnswer(f"{answered} HTTP status {answer.status}.", answer.status)
            with contextlib.suppress(ValueError):
                value = json.loads(answer.data)
            if not isinstance(value, dict):
                raise BadAnswer(f"{answered} something that is no JSON object.", answer.status)
            return value
        raise Unreachable(f"No answer from the cluster ({type(cause).__name__}).") from cause


def check_cluster(endpoint: Endpoint) -> str:
    """Ask a cluster who it is, before anything is made or started for a race against it.

    :returns: the version of its Elasticsearch.
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
    return str(found["number"])


def lucene_version(endpoint: Endpoint) -> str:
    """The version of Lucene that the cluster tells, which Rally does not record; empty if it does not answer."""
    try:
        version = _ask(endpoint).get("version")
    except (Unreachable, BadAnswer):
        return ""
    return str(version.get("lucene_version") or "") if isinstance(version, dict) else ""


def ingest_processors(endpoint: Endpoint) -> dict[str, frozenset[str]]:
    """The kinds of ingest processors that each node has, by the node's name; nothing if the cluster does not tell."""
    cluster = Cluster(replace(endpoint, timeout=PATIENCE))
    try:
        nodes = cluster.ingest_processors().get("nodes", {})
    except (Unreachable, BadAnswer):
        return {}
    finally:
        cluster.close()
    return {
        str(node.get("name", key)): frozenset(one["type"] for one in node.get("ingest", {}).get("processors", ()))
        for key, node in nodes.items()
    }


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
        texts = str(cause).lower()
        if isinstance(reason, ssl.SSLCertVerificationError) or "certificate" in texts or "doesn't match" in texts:
            return _not_trusted(where, reason)
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


def _not_trusted(where: str, reason: Any) -> str:
    """The sentence for a certificate that cannot be verified; nothing was sent to whoever showed it."""
    said = str(getattr(reason, "verify_message", "") or reason)
    if "expired" in said or "not yet valid" in said:
        state = "has expired" if "expired" in said else "is not valid yet"
        return (
            f"The certificate of {where} {state}: have it renewed, or correct the clock of this machine; "
            f"verify_certs: false in the client options would go on without looking at it."
        )
    if "match" in said:
        return (
            f"The certificate of {where} is made out to another name ({said}): name the cluster in --target-hosts as "
            f"its certificate does."
        )
    return (
        f"The certificate of {where} cannot be verified ({said}): name the file of its authority as ca_certs in the "
        f"client options, or say verify_certs: false there."
    )


def _not_let_in(where: str, error: BadAnswer, endpoint: Endpoint) -> str:
    """The sentence for an answer other than the one that was asked for."""
    if error.status not in (401, 403):
        return f"What answers at {where} cannot be raced. {error} Look at the cluster, or correct --target-hosts."
    if endpoint.authorization or endpoint.tls.get("cert_file"):
        return (
            f"The cluster at {where} refuses the login in the client options (HTTP status {error.status}): correct it, "
            f"or give its user the right to monitor the cluster."
        )
    return (
        f"The cluster at {where} wants a login (HTTP status {error.status}): put basic_auth_user and "
        f"basic_auth_password, or api_key, into a .json file for --client-options, or into the variable "
        f"PADDOCK_CLIENT_OPTIONS."
    )
