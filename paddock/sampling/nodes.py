"""Looks at the nodes of all clusters of a tournament's race, and asks them for nothing that the lap runner asks for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.sampling import records
from paddock.sampling.cluster import BadAnswer, Cluster, Endpoint, Unreachable
from paddock.sampling.machine import DiskMeter, NodeProcesses
from paddock.sampling.records import NodeCounters
from paddock.sampling.sampler import Reading

_REAL_MEMORY = "indices.breaker.total.use_real_memory"


@dataclass
class _Watched:
    """A cluster, and what is known of its nodes.

    :param told: the circumstances that were written last, by node id.
    :param here: ids of the nodes that run on this machine.
    """

    name: str
    cluster: Cluster
    processes: NodeProcesses = field(default_factory=NodeProcesses)
    told: Mapping[str, Any] = field(default_factory=dict)
    here: set[str] = field(default_factory=set)


class NodesObserver:
    """Nodes that run here are told by the kernel: processor time, memory, disks; all of them tell the heap in use.

    Collections, and the processor time of nodes elsewhere, are in the laps' own records.

    :param endpoints: by Rally's names of the clusters.
    :param processors: that this machine lets us use; stands in the circumstances.
    """

    def __init__(self, endpoints: Mapping[str, Endpoint], processors: int) -> None:
        self._watched = [_Watched(name, Cluster(endpoint)) for name, endpoint in endpoints.items()]
        self._processors = processors
        self._disks = DiskMeter()

    def read(self) -> Reading:
        """Ask now: first the clusters, then the kernel, so that all of its figures are of one moment.

        A cluster that does not answer has no nodes in this reading.
        """
        reading, answers = Reading(0.0), []
        for one in self._watched:
            try:
                answers.append((one, self._ask(one, reading)))
            except (BadAnswer, Unreachable) as error:
                if one.told:
                    reading.failed(error)
        reading.moment = time.monotonic()
        reading.nodes = {
            node_id: node
            for one, answer in answers
            for node_id, node in self._nodes(one, answer).items()
            if node.process or node_id not in one.here  # one that has ended may still have answered
        }
        reading.disks = self._disks.read()
        return reading

    def close(self) -> None:
        """Close the connections."""
        for one in self._watched:
            one.cluster.close()

    def _ask(self, one: _Watched, reading: Reading) -> Mapping[str, Any]:
        """The heaps of its nodes; who they are is asked again where they are others, or have been started anew."""
        answer: Mapping[str, Any] = one.cluster.heaps().get("nodes", {})
        if answer and (answer.keys() != one.told.keys() or one.processes.read().keys() != one.here):
            information = one.cluster.node_information()
            one.here = one.processes.find(information)
            one.told = records.circumstances(information, None)["nodes"]
            self._disks.find(node for each in self._watched for key, node in each.told.items() if key in each.here)
            reading.news.append(
                {"kind": "circumstances", "cluster": one.name, "processors": self._processors, "nodes": one.told}
            )
        return answer

    def _nodes(self, one: _Watched, answer: Mapping[str, Any]) -> dict[str, NodeCounters]:
        used = one.processes.read()
        return {
            node_id: NodeCounters(
                name=str(value.get("name", node_id)),
                cpu_seconds=None,
                heap_bytes=self._heap(one, node_id, value),
                process=used.get(node_id),
                cluster=one.name,
            )
            for node_id, value in answer.items()
        }

    def _heap(self, one: _Watched, node_id: str, value: Mapping[str, Any]) -> int:
        """Bytes in use; 0, which is unknown, where the breaker adds up what requests have reserved instead."""
        settings = one.told.get(node_id, {}).get("settings", {})
        if str(settings.get(_REAL_MEMORY, "true")) != "true":
            return 0
        return records.number_at(value, "breakers.parent.estimated_size_in_bytes")
