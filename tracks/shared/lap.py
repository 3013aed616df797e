"""Runner of the block challenges: one call is one lap, from a fresh index, or one that grows, to the end of merges."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import elasticsearch
from esrally import exceptions

from shared.disturbance import Disturbance
from shared.freshness import FreshnessProbe
from shared.index_runners import WaitForHealth
from shared.lap_crew import Crew, Follower, others_cpu_seconds
from shared.lap_documents import bulks, sources
from shared.lap_figures import (
    figures_since,
    index_actions,
    index_figures,
    last_node_figures,
    node_figures,
    settings_in_force,
    wait_for_merges,
)
from shared.lap_journal import append_lap
from shared.lap_load import Load, index_documents
from shared.lap_plan import Lap
from shared.lap_record import circumstances, reasons_against, sample_of
from shared.lap_searches import SearchFailed, search
from shared.node_processes import NodeProcesses, local_nodes
from shared.own_clients import OwnClients
from shared.ownership import SomebodyElses, delete_own, marked, put_pipelines
from shared.read_back import read_back
from shared.rendezvous import Lost
from shared.request_contexts import unmeasured
from shared.shipper_lap import Shipment

MERGE_TIMEOUT = 600.0
# Seconds for nodes that were started while the race was running to answer.
ANSWER_TIMEOUT = 120.0
_PATIENCE = 600  # seconds for refreshing or deleting an index


class RunLap:
    """Runs a lap, adds its record to the journal, and goes on after a void lap unless no node answers any more.

    Rally's own sample of the call is the load alone: its service time goes from the first bulk sent to the last one
    answered, its throughput is that of the lap.
    """

    # Rally hands the clients of all its clusters to a runner with this name.
    multi_cluster = True

    def __init__(self, merge_timeout: float = MERGE_TIMEOUT) -> None:
        self.logger = logging.getLogger(__name__)
        self._merge_timeout = merge_timeout
        self._own = OwnClients()
        # Clusters and indices of earlier laps. A bulk that arrives after a void lap's index was deleted makes it anew,
        # without the mark: it is ours all the same.
        self._made: set[tuple[str, str]] = set()
        # Indices that grow, with the start of the nodes in which they were made.
        self._growing: dict[tuple[str, str], int | None] = {}

    async def __call__(self, clients: Mapping[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """Run one lap.

        :param clients: Rally's clients by the name of their cluster.
        :raises exceptions.RallyAssertionError: if its cluster is none of those of the race, or no node of it answers
            any more, or a process of the load driver is gone; the lap is in the journal all the same.
        :raises shared.ownership.SomebodyElses: if what is there under the name of the lap's index is not the tracks'.
        """
        if "follower" in params:
            return await _follow(clients, self._own, params["follower"])
        if "sweep" in params:
            return await self._sweep(clients, params["sweep"])
        lap: Lap = params["lap"]
        crew: Crew | None = params.get("crew")
        if crew is not None:
            await crew.meet()
        if lap.cluster not in clients:
            raise exceptions.RallyAssertionError(
                f"The level '{lap.level}' runs on the cluster '{lap.cluster}', but --target-hosts names "
                f"{', '.join(clients)} only."
            )
        es = await self._own.of(lap.cluster, clients, lap.client_options)
        load, record = Load(), circumstances(lap, crew)
        shipment = None if lap.shipper is None else Shipment(es, lap)
        problems: list[str] = []
        foreign: SomebodyElses | None = None
        lost = False
        try:
            load = await self._run(es, lap, crew, shipment, record, problems)
        except SomebodyElses as error:
            foreign = error
            problems.append(str(error))
        except Lost as error:
            problems.append(str(error))
            lost = True
        except exceptions.RallyTaskAssertionError as error:
            problems.append(str(error))
        except elasticsearch.ApiError as error:
            problems.append(f"Elasticsearch refused a request: {error}")
        except elasticsearch.TransportError as error:
            problems.append(f"Elasticsearch did not answer: {error.message}")
        finally:
            if shipment is not None:
                record["shipper"] = shipment.record(record["documents_counted"])
                shipment.close(keep=bool(problems))
        gone = bool(problems) and not await self._clean_up(es, lap)
        if gone:
            problems.append("no node answers any more")
        record["void"] = "; ".join(problems) or None
        if lap.journal is not None:
            append_lap(lap.journal, record)
        if foreign:
            raise foreign
        if gone:
            raise exceptions.RallyAssertionError(
                f"Lap {lap.number} ({lap.level}): {record['void']}. See the log of the node for the reason."
            )
        if lost:
            raise exceptions.RallyAssertionError(
                f"Lap {lap.number} ({lap.level}): {record['void']}, and no lap can be run without it. See Rally's log "
                f"for the reason."
            )
        if problems:
            self.logger.warning("Lap %d (%s) is void: %s", lap.number, lap.level, record["void"])
        return sample_of(es, lap, load, record)

    async def _run(
        self,
        es: Any,
        lap: Lap,
        crew: Crew | None,
        shipment: Shipment | None,
        record: dict[str, Any],
        problems: list[str],
    ) -> Load:
        with unmeasured(es):
            if lap.reconnects:
                await _answering(es)
            there = await self._standing(es, lap)
            if there is None:
                await self._delete(es, lap)
            if shipment is not None:
                await shipment.prepare()
            await asyncio.sleep(lap.rest)
            if there is None:
                await put_pipelines(es, lap.pipelines)
                mappings = marked(lap.body["mappings"])
                await es.indices.create(index=lap.index, settings=lap.body["settings"], mappings=mappings)
                self._made.add((lap.cluster, lap.index))
                self._growing[lap.cluster, lap.index] = lap.start
            await WaitForHealth()(es, {"index": lap.index, "status": lap.health})
            record["settings"] = await settings_in_force(es, lap.index)
            if crew is not None and shipment is None:
                await crew.prepare(lap)
            # Refreshes come at fixed times after the index was created: the load begins at a phase of its own.
            await asyncio.sleep(lap.wait)
            if shipment is not None:
                await shipment.look()
            nodes, elsewhere = await local_nodes(es)
            done_before = await index_actions(es, lap.index)
            # Not read again before the end: the nodes would then answer that with figures up to a second old. After the
            # searches of the lap before they may still answer with figures from before those.
            before = await (node_figures(es) if lap.searches else last_node_figures(es))
            processes = NodeProcesses(nodes, elsewhere)
        load, probe = await self._load(es, lap, crew, shipment, record, problems, Disturbance(nodes, elsewhere))
        with unmeasured(es):
            if shipment is not None:
                # Each marker of the probe was one to the index, too.
                record["bulks"] = load.bulks = await shipment.end() - (probe.arrived if probe else 0)
            done = await index_actions(es, lap.index)
            record["load_actions"] = {name: done[name] - done_before[name] for name in done}
            await es.options(request_timeout=_PATIENCE).indices.refresh(index=lap.index)
            record["documents_counted"] = await _count(es, lap.index, probe) - (there.documents if there else 0)
            if lap.grows:
                record["documents_before"] = there.documents if there else 0
            waited = await self._merged(es, lap, load, record)
            if lap.force_merge and waited is not None:
                record["force_merge_seconds"] = await _force_merge(es, lap.index)
            figures = await index_figures(es, lap.index)
            record["index_figures"] = figures_since(there.figures, figures) if there else figures
            after = await node_figures(es)
            record["node_cpu_ms"] = after["cpu_ms"] - before["cpu_ms"]
            record["node_gc_ms"] = after["gc_ms"] - before["gc_ms"]
            record.update({f"node_{name}": value for name, value in processes.record().items()})
            record["node_rejections"] = after["rejections"] - before["rejections"]
            problems.extend(reasons_against(lap, load, record, self._merge_timeout))
            if lap.searches and not problems:
                try:
                    record["searches"] = await search(
                        es, lap.index, lap.queries, lap.searches, probe.names if probe else ()
                    )
                except SearchFailed as error:
                    problems.append(str(error))
            if lap.read_back and not problems:
                documents = sources(lap.documents, lap.first_document, lap.count)
                raw = sources(lap.documents_sent, lap.first_document, lap.count) if lap.sent else None
                record["read_back"] = await read_back(es, lap.index, documents, lap.read_back, raw)
            if not lap.grows:
                await self._delete(es, lap)
        return load

    async def _merged(self, es: Any, lap: Lap, load: Load, record: dict[str, Any]) -> float | None:
        """Wait for merges; of a slice no longer than it took, because throttled ones may take ten times as long."""
        patience = self._merge_timeout
        if lap.grows:
            patience = min(patience, load.seconds or patience)
        waited = await wait_for_merges(es, lap.index, patience)
        if lap.grows:
            record["merges_go_on"] = waited is None
            waited = patience if waited is None else waited
        record["merge_wait_seconds"] = waited
        return waited

    async def _standing(self, es: Any, lap: Lap) -> Standing | None:
        """What the index of earlier laps of this start holds; None if the lap is to have a fresh one."""
        if not lap.grows or self._growing.get((lap.cluster, lap.index), "") != lap.start:
            return None
        if not await es.indices.exists(index=lap.index):
            return None
        # That of a void lap may not have been refreshed.
        await es.options(request_timeout=_PATIENCE).indices.refresh(index=lap.index)
        return Standing((await es.count(index=lap.index))["count"], await index_figures(es, lap.index))

    async def _sweep(self, clients: Mapping[str, Any], kept: tuple[tuple[str, str, Any], ...]) -> dict[str, Any]:
        """Delete the indices that grew; Rally notes it as a call in which nothing was indexed."""
        for cluster, index, client_options in kept:
            if (cluster, index) in self._made:
                es = await self._own.of(cluster, clients, client_options)
                with unmeasured(es):
                    await es.options(ignore_status=404, request_timeout=_PATIENCE).indices.delete(index=index)
        return _nothing(next(iter(clients.values())))

    async def _delete(self, es: Any, lap: Lap) -> None:
        """Delete the index of the lap; without a look at whose it is where this race has made it."""
        with unmeasured(es):
            if (lap.cluster, lap.index) in self._made:
                await es.options(ignore_status=404, request_timeout=_PATIENCE).indices.delete(index=lap.index)
            else:
                await delete_own(es, lap.index)

    async def _clean_up(self, es: Any, lap: Lap) -> bool:
        """Delete what a void lap may have left, but no index that grows; returns whether there is a node to do so."""
        try:
            if lap.grows:
                with unmeasured(es):
                    await es.indices.exists(index=lap.index)
            else:
                await self._delete(es, lap)
        except (elasticsearch.ApiError, SomebodyElses):
            return True
        except elasticsearch.TransportError:
            return False
        return True

    async def _load(
        self,
        es: Any,
        lap: Lap,
        crew: Crew | None,
        shipment: Shipment | None,
        record: dict[str, Any],
        problems: list[str],
        machine: Disturbance,
    ) -> tuple[Load, FreshnessProbe | None]:
        series = f"{lap.number}-" if lap.grows else ""
        probe = FreshnessProbe(es, lap.index, series) if lap.freshness_probe else None
        started, started_monotonic, driver = time.time(), time.monotonic(), os.times()
        async with probe or nullcontext():
            if shipment is not None:
                load, parts = await shipment.load(probe, problems), []
            elif crew is None:
                sent = index_documents(es, bulks(*_documents(lap)), lap.clients, seconds=lap.seconds)
                load, parts = await sent, []
            else:
                load, parts = await crew.load(es, lap)
            ended, spent = time.time(), os.times()
            beside = others_cpu_seconds(parts) if shipment is None else shipment.cpu_seconds
            disturbance = machine.record(beside)
        if crew is not None and shipment is None:
            es.on_request_end()  # the load ends with the last bulk of all, not of this process
            record["drivers"] = [part.record() for part in parts]
        record.update(
            started_at=started,
            started_monotonic=round(started_monotonic, 3),
            ended_at=ended,
            seconds=load.seconds,
            documents_sent=load.documents_sent,
            documents_acknowledged=load.documents_acknowledged,
            bulks=load.bulks,
            errors=load.errors,
            rejections=load.rejections,
            reasons=load.reasons,
            took_ms=load.took_ms,
            latency_ms=load.latency_ms(),
            documents_per_second=load.documents_per_second(),
            share_ms=load.share_ms(),
            driver_cpu_seconds=round(
                spent.user
                + spent.system
                - (driver.user + driver.system)
                + sum(part.cpu_seconds for part in parts[1:])
                + (shipment.generator_cpu_seconds if shipment else 0.0),
                3,
            ),
            disturbance=disturbance,
            freshness=probe.record() if probe else None,
        )
        return load, probe

    def __repr__(self) -> str:
        return "lap"


@dataclass(frozen=True)
class Standing:
    """What a growing index holds before a lap.

    :param documents: all of them, markers of earlier probes included.
    :param figures: as :func:`shared.lap_figures.index_figures` has them.
    """

    documents: int
    figures: Mapping[str, int]


async def _follow(clients: Mapping[str, Any], own: OwnClients, follower: Follower) -> dict[str, Any]:
    """The race of a client that follows; Rally notes it as one call of the warm-up in which nothing was done."""
    await follower.run(clients, own)
    return _nothing(next(iter(clients.values())))


def _nothing(es: Any) -> dict[str, Any]:
    """What Rally notes of a call that indexes nothing."""
    es.on_request_start()
    es.on_request_end()
    return {"weight": 0, "unit": "docs", "throughput": 0.0, "success": True}


def _documents(lap: Lap) -> tuple[Any, ...]:
    return lap.documents_sent, lap.first_document, lap.count, lap.bulk_size, lap.index


async def _count(es: Any, index: str, probe: FreshnessProbe | None) -> int:
    """Documents of the load in the index: all but the markers of the probe."""
    count: int = (await es.count(index=index))["count"]
    if probe is None or not probe.names:
        return count
    markers = await es.count(index=index, query={"ids": {"values": probe.names}})
    return count - int(markers["count"])


async def _force_merge(es: Any, index: str) -> float:
    """Merge every shard to one segment; the seconds that it took, with the refresh that lets go of the merged ones."""
    started = time.monotonic()
    patient = es.options(request_timeout=_PATIENCE, max_retries=0)
    await patient.indices.forcemerge(index=index, max_num_segments=1)
    await patient.indices.refresh(index=index)
    return round(time.monotonic() - started, 3)


async def _answering(es: Any) -> None:
    """Wait for nodes that have just been started; the client's connections are still those to the ones before them."""
    deadline = time.monotonic() + ANSWER_TIMEOUT
    while not await es.ping() and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
