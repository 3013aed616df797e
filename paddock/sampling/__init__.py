"""The sampler that watches a race from beside it, once a second; docs/samples.md describes the lines it writes."""

from paddock.sampling.cluster import BadAnswer, Endpoint, Unreachable, check_cluster, ingest_processors, lucene_version
from paddock.sampling.described import described
from paddock.sampling.nodes import NodesObserver
from paddock.sampling.records import Sample, read_samples
from paddock.sampling.sampler import ClusterObserver, Sampler
from paddock.sampling.sizes import ClusterSizes, NodeSize, cluster_sizes

__all__ = [
    "BadAnswer",
    "ClusterObserver",
    "ClusterSizes",
    "Endpoint",
    "NodeSize",
    "NodesObserver",
    "Sample",
    "Sampler",
    "Unreachable",
    "check_cluster",
    "cluster_sizes",
    "described",
    "ingest_processors",
    "lucene_version",
    "read_samples",
]
