"""The record of a lap: every key that it can have, why the lap may not count, and what Rally notes of it."""

from __future__ import annotations

from typing import Any

from shared.lap_crew import Crew
from shared.lap_load import Load
from shared.lap_plan import Lap


def circumstances(lap: Lap, crew: Crew | None = None) -> dict[str, Any]:
    """The record of a lap before it is run: every key that it can have."""
    return {
        "lap": lap.number,
        "start": lap.start,
        "block": lap.block,
        "position": lap.position,
        "warm_up": lap.warm_up,
        "level": lap.level,
        "cluster": lap.cluster,
        "index": lap.index,
        "bulk_size": lap.bulk_size,
        "clients": lap.clients,
        "first_document": lap.first_document,
        "documents": lap.count if lap.seconds is None else None,
        "refresh_phase": lap.phase,
        "rest_seconds": round(lap.rest, 3),
        "wait_seconds": round(lap.wait, 3),
        **({} if crew is None or lap.shipper else {"drivers": None}),
        **({} if lap.shipper is None else {"shipper": None}),
        **(dict.fromkeys(("documents_before", "merges_go_on")) | {"slice_seconds": lap.seconds} if lap.grows else {}),
        **dict.fromkeys(
            (
                *("settings", "started_at", "started_monotonic", "ended_at", "seconds"),
                *("documents_sent", "documents_acknowledged", "documents_counted", "bulks", "errors", "rejections"),
                *("reasons", "took_ms", "latency_ms", "documents_per_second", "share_ms", "driver_cpu_seconds"),
                *("node_cpu_ms", "node_gc_ms", "node_written_bytes", "node_peak_memory_bytes", "node_rejections"),
                *("merge_wait_seconds", "load_actions"),
                *("force_merge_seconds", "index_figures", "disturbance", "freshness", "searches", "read_back", "void"),
            )
        ),
    }


def reasons_against(lap: Lap, load: Load, record: dict[str, Any], merge_timeout: float) -> list[str]:
    """Why the lap does not count; empty if it does."""
    problems = []
    reasons = f" ({' | '.join(load.reasons)})" if load.reasons else ""
    if load.errors:
        problems.append(f"{load.errors} documents were refused or got no answer{reasons}")
    # A shipper sends again what was rejected: what came of it is counted.
    if lap.shipper is None and (load.rejections or record["node_rejections"]):
        refused = max(load.rejections, record["node_rejections"])
        problems.append(f"{refused} bulks were rejected because a node was too busy")
    if lap.seconds is None and load.documents_sent != lap.count:
        problems.append(f"{load.documents_sent} documents were sent instead of {lap.count}")
    if lap.shipper is not None and record["documents_counted"] != load.documents_sent:
        problems.append(_loss(lap.shipper.name, load.documents_sent, record["documents_counted"]))
    elif record["documents_counted"] != load.documents_sent:
        problems.append(f"{load.documents_sent} documents were sent, but the index has {record['documents_counted']}")
    if record["merge_wait_seconds"] is None:
        problems.append(f"merges had not ended after {merge_timeout:g} s")
    return problems


def _loss(shipper: str, generated: int, counted: int) -> str:
    """What came of the documents that a shipper was given, where not each of them came once."""
    given = f"{shipper} was given {generated:,} documents, and {counted:,} were counted"
    if counted < generated:
        return f"{given}: {generated - counted:,} were lost ({(generated - counted) / generated:.2%})"
    return f"{given}: {counted - generated:,} came twice"


def sample_of(es: Any, lap: Lap, load: Load, record: dict[str, Any]) -> dict[str, Any]:
    """What Rally notes of the lap."""
    if load.seconds is None:
        # Rally subtracts these times, whatever has happened.
        es.on_request_start()
        es.on_request_end()
    sample = {
        "weight": load.documents_acknowledged,
        "unit": "docs",
        "throughput": load.documents_acknowledged / load.seconds if load.seconds else 0.0,
        "success": record["void"] is None,
        "level": lap.level,
        "block": lap.block,
        "lap": lap.number,
    }
    if record["void"]:
        sample |= {"error-type": "void-lap", "error-description": record["void"]}
    return sample
