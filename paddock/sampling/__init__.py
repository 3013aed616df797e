"""The sampler that watches a race from beside it, once a second; docs/samples.md describes the lines it writes."""

from paddock.sampling.cluster import Endpoint, check_cluster, lucene_version
from paddock.sampling.described import described
from paddock.sampling.records import Sample, read_samples
from paddock.sampling.sampler import Sampler

__all__ = ["Endpoint", "Sample", "Sampler", "check_cluster", "described", "lucene_version", "read_samples"]
