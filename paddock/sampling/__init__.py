"""The sampler that watches a race from beside it, once a second; docs/samples.md describes the lines it writes."""

from paddock.sampling.endpoint import Endpoint
from paddock.sampling.reader import read_circumstances, read_samples, read_settings
from paddock.sampling.records import Sample
from paddock.sampling.sampler import Sampler
from paddock.sampling.versions import check_cluster, lucene_version

__all__ = [
    "Endpoint",
    "Sample",
    "Sampler",
    "check_cluster",
    "lucene_version",
    "read_circumstances",
    "read_samples",
    "read_settings",
]
