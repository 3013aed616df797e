"""Asks the cluster for one sample at a time, and notices when something about it has changed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddock.sampling import answers
from paddock.sampling.cluster import BadAnswer, Cluster, Unreachable
from paddock.sampling.processes import NodeProcesses
from paddock.sampling.records import IndexCounters, NodeCounters

# Settings may be changed at any time, but seldom are; new indices are looked at at once.
_SETTINGS_SECONDS = 5.0


@dataclass(frozen=True)
class Reading:
    """What the cluster said this time.

    :param moment: the monotonic clock in the middle of the question for the indices.
    :param missed: questions that failed; 0 as long as the cluster has not answered for the first time.
    :param news: lines to be written: the circumstances or the settings, whenever they are not what they were.
    """

    moment: float
    missed: int = 0
    problem: str | None = None
    nodes: Mapping[str, NodeCounters] | None = None
    indices: Mapping[str, IndexCounters] | None = None
    news: tuple[dict[str, Any], ...] = ()


class ClusterObserver:
    """One cluster over time."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster
        self._processes = NodeProcesses()
        self._met = False
        self._uptimes: dict[str, float] = {}
        self._circumstances: dict[str, Any] | None = None
        self._settings: dict[str, Any] = {}
        self._settings_of: set[str] = set()
        self._settings_read = 0.0

    def read(self) -> Reading:
        """Ask now; never raises because of what the cluster does."""
        attempt = _Attempt(time.monotonic())
        try:
            self._ask(attempt)
        except Unreachable as error:
            # Further questions would only wait for their timeouts as well.
            if self._met:
                attempt.failed(error)
        return attempt.reading()

    def _ask(self, attempt: _Attempt) -> None:
        try:
            node_answer = self._cluster.node_stats()
            uptimes = {node: value.uptime_seconds for node, value in answers.nodes(node_answer, {}).items()}
            if self._circumstances is None or self._others_than_before(uptimes):
                self._look_around(attempt)
            self._uptimes = uptimes
            attempt.nodes = answers.nodes(node_answer, self._processes.read())
            self._met = True
        except BadAnswer as error:
            attempt.failed(error)
        try:
            asked = time.monotonic()
            stats = self._cluster.index_stats()
            attempt.moment = (asked + time.monotonic()) / 2
            attempt.indices = answers.indices(stats, None)
            attempt.indices = answers.indices(stats, self._cluster.segments())
            self._look_at_settings(attempt, attempt.indices)
        except BadAnswer as error:
            attempt.failed(error)

    def _others_than_before(self, uptimes: Mapping[str, float]) -> bool:
        """Whether nodes have come, gone or been started anew."""
        return set(uptimes) != set(self._uptimes) or any(
            uptime < self._uptimes[node] for node, uptime in uptimes.items()
        )

    def _look_around(self, attempt: _Attempt) -> None:
        information = self._cluster.node_information()
        self._processes.find(information)
        try:
            version = self._cluster.version()
        except BadAnswer:
            # A distribution may lack the root; then the version of Lucene stays unknown.
            version = None
        circumstances = answers.circumstances(information, version)
        if circumstances != self._circumstances:
            self._circumstances = circumstances
            attempt.news.append({"kind": "circumstances", **circumstances})

    def _look_at_settings(self, attempt: _Attempt, indices: Mapping[str, IndexCounters]) -> None:
        uuids = {index.uuid for index in indices.values()}
        now = time.monotonic()
        if not uuids or (uuids == self._settings_of and now - self._settings_read < _SETTINGS_SECONDS):
            return
        settings = answers.settings(self._cluster.index_settings())
        self._settings_of, self._settings_read = uuids, now
        if settings != self._settings:
            self._settings = settings
            attempt.news.append({"kind": "settings", "indices": settings})


class _Attempt:
    """A reading in the making: what was answered before something failed is kept."""

    def __init__(self, moment: float):
        self.moment = moment
        self.nodes: dict[str, NodeCounters] | None = None
        self.indices: dict[str, IndexCounters] | None = None
        self.news: list[dict[str, Any]] = []
        self._missed = 0
        self._problem: str | None = None

    def failed(self, error: Exception) -> None:
        """Count a question without a usable answer."""
        self._missed += 1
        self._problem = str(error)

    def reading(self) -> Reading:
        """What came of it."""
        return Reading(self.moment, self._missed, self._problem, self.nodes, self.indices, tuple(self.news))
