"""Paddock: Rally tracks, cars and tournaments for log workloads on Elasticsearch."""

__version__ = "0.1.0"
