"""Which Lucene a cluster runs: Rally records the version of Elasticsearch, and not this one."""

from __future__ import annotations

from paddock.sampling.cluster import BadAnswer, Cluster, Unreachable
from paddock.sampling.endpoint import Endpoint


def lucene_version(endpoint: Endpoint) -> str:
    """The version that the cluster tells; empty if it does not answer."""
    cluster = Cluster(endpoint)
    try:
        version = cluster.version().get("version")
    except (Unreachable, BadAnswer):
        return ""
    finally:
        cluster.close()
    return str(version.get("lucene_version") or "") if isinstance(version, dict) else ""
