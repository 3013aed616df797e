"""Stands in for Rally in a tournament: writes the lap runner's journal for the laps it is asked for, in no time.

FAKE_LAPS holds JSON:
  rates         level -> docs/s; 10,000 for those not named
  noise         standard deviation of the log of a lap's rate; 0.05
  seed          of the noise, with the race id
  errors        race ids that fail after their laps, as Rally says it
  dies          race ids that fail before their first lap
  breaks        race id -> laps after which it fails
  cold          how many times as long a lap of the warm-up takes; 1
  void          level -> why each of its measured laps is void
  probe_problem level -> why the freshness probe of its laps ends early
  waited        seconds that each lap but the first waits for its phase of the refresh
  queries       level -> median of its searches in ms, where there are any; 4
  stop_short    race ids that end without their last block, as if nothing were wrong
  hang          race id -> laps after which it waits for ever, with a child that does so too
  pause         seconds between two laps
  heeded        whether it goes on after a measured block only when the tournament's journal has all its laps
  shares        whether laps tell how they went inside; true
  hits          level -> documents that its searches find; 7
  shippers      level -> what the lap's record says of the shipper that has sent it
  driver        level -> processor seconds of the load driver per second of load; 0.5 s a lap where not named
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path

# From the time of day to the steady clock of this machine.
MONOTONIC = time.monotonic() - time.time()


def main():
    behaviour = json.loads(os.environ.get("FAKE_LAPS", "{}"))
    options = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
    race_id = options["race-id"]
    folder = Path(os.environ["RALLY_HOME"]) / ".rally" / "benchmarks" / "races" / race_id
    folder.mkdir(parents=True)
    race = {"race-id": race_id, "rally-version": "fake"}
    (folder / "race.json").write_text(json.dumps(race))
    params = json.loads(options["track-params"])
    start = race_id.partition("-s")[2]
    broken = start in behaviour.get("dies", [])
    try:
        if not broken:
            broken = run(race_id, params, behaviour)
    except KeyboardInterrupt:
        sys.exit(130)
    if broken or start in behaviour.get("errors", []):
        print("[ERROR] Cannot race. The node is gone\n\nGetting further help:\n*****")
        sys.exit(64)
    race["results"] = {"op_metrics": [{"task": "laps", "error_rate": 0.0}]}
    (folder / "race.json").write_text(json.dumps(race))


def run(race_id, params, behaviour):
    """Write the laps; returns whether the race breaks down before it has run all of them."""
    start = race_id.partition("-s")[2]
    clock = time.time()
    number, grown = 0, {}
    for span in params.get("lap_starts") or [{"order": params["lap_order"], "warmup_blocks": params["warmup_blocks"]}]:
        orders = span["order"]
        if start in behaviour.get("stop_short", []):
            orders = orders[:-1]
        if number and number == behaviour.get("breaks", {}).get(start):
            return True
        while "ready_file" in span and not Path(span["ready_file"]).exists():
            if Path(params["lap_stop_file"]).exists():
                return False
            time.sleep(0.02)
        for block, order in enumerate(orders, start=1):
            if Path(params["lap_stop_file"]).exists():
                return False
            dropped = Path(params.get("lap_dropped_file", "/nowhere"))
            out = json.loads(dropped.read_text()) if dropped.exists() else []
            for position, level in enumerate(order, start=1):
                if level in out:
                    continue
                if number == behaviour.get("hang", {}).get(start):
                    time.sleep(600)
                if number == behaviour.get("breaks", {}).get(start):
                    return True
                number += 1
                rate = behaviour.get("rates", {}).get(level, 10_000.0) * noise(behaviour, race_id, number)
                if block <= params["warmup_blocks"]:
                    rate /= behaviour.get("cold", 1.0)
                seconds = params.get("lap_seconds") or params["lap_documents"] / rate
                documents = int(seconds * rate) if "lap_seconds" in params else params["lap_documents"]
                waited = behaviour.get("waited", 0.0) if number > 1 else 0.0
                clock += waited
                line = record(params, number, block, position, level, seconds, clock, behaviour, documents)
                if params.get("lap_growing"):
                    line |= {"documents_before": grown.get(level, 0), "merge_wait_seconds": 0.2}
                    line["index_figures"] = {"store_bytes": 100 * (grown.get(level, 0) + documents)}
                    grown[level] = grown.get(level, 0) + documents
                line |= {"rest_seconds": waited / 4, "wait_seconds": waited * 3 / 4, "start": span.get("start")}
                line["warm_up"] = block <= span["warmup_blocks"]
                with Path(params["lap_journal"]).open("a") as file:
                    file.write(json.dumps(line) + "\n")
                clock += seconds * 1.25
                time.sleep(behaviour.get("pause", 0.0))
            if behaviour.get("heeded") and block > span["warmup_blocks"]:
                wait_until_heard(Path(params["lap_journal"]), dropped)
    return False


def wait_until_heard(laps, dropped):
    """Until what was written is in the tournament's journal, and what it decided then is in the dropped file."""
    journal = laps.parent.parent / "journal.jsonl"
    written = sum(len(file.read_text().splitlines()) for file in laps.parent.glob("*.jsonl"))
    deadline = time.time() + 120
    while journal.read_text().count('"kind":"lap"') < written and time.time() < deadline:
        time.sleep(0.01)
    time.sleep(0.02)
    while journal.read_text().count('"kind":"dropped"') and not dropped.exists() and time.time() < deadline:
        time.sleep(0.01)


def noise(behaviour, race_id, number):
    """A factor around 1, from a checksum: the sum of twelve uniform numbers is nearly normal."""
    start = race_id.partition("-s")[2]
    digest = hashlib.sha256(f"{behaviour.get('seed', 1)}/{start}/{number}".encode()).digest()
    normal = sum(byte / 255 for byte in digest[:12]) - 6
    return 2.718281828 ** (behaviour.get("noise", 0.05) * normal)


def record(params, number, block, position, level, seconds, began, behaviour, documents):
    warm_up = block <= params["warmup_blocks"]
    void = None if warm_up else behaviour.get("void", {}).get(level)
    return {
        "lap": number,
        "block": block,
        "position": position,
        "warm_up": warm_up,
        "level": level,
        "documents": documents,
        "documents_sent": documents,
        "documents_counted": documents,
        "seconds": seconds,
        "started_at": began,
        "started_monotonic": began + MONOTONIC,
        "ended_at": began + seconds,
        "documents_per_second": [int(documents / seconds)] * int(seconds),
        "bulks": 100,
        "share_ms": [round(1000 * seconds / 100)] * 100 if behaviour.get("shares", True) else None,
        "driver_cpu_seconds": seconds * behaviour["driver"][level] if level in behaviour.get("driver", {}) else 0.5,
        **drivers(params, seconds, behaviour, level),
        "node_cpu_ms": 1000,
        "latency_ms": {"p50": 10.0, "p90": 15.0, "p99": 20.0, "max": 30.0},
        "index_figures": {"store_bytes": 100 * documents},
        "freshness": freshness(params, behaviour, level),
        "searches": searches(params, behaviour, level),
        "void": void,
        **({"shipper": behaviour["shippers"][level]} if level in behaviour.get("shippers", {}) else {}),
    }


def drivers(params, seconds, behaviour, level):
    """What each process did, where there are several: the first one three times as much as the others."""
    processes = params.get("driver_processes", 1)
    if processes == 1:
        return {}
    busy = seconds * behaviour.get("driver", {}).get(level, 0.1)
    return {"drivers": [{"cpu_seconds": busy * (3 if number == 0 else 1)} for number in range(processes)]}


def freshness(params, behaviour, level):
    """What a probe of eight markers says, or why it ended early."""
    if not params.get("freshness_probe"):
        return None
    problem = behaviour.get("probe_problem", {}).get(level)
    return {"p50": None if problem else 0.5, "p99": None, "markers": 8, "found_seconds": [0.5] * 8, "problem": problem}


def searches(params, behaviour, level):
    """Searches of a lap whose median is 4 ms unless behaviour says otherwise."""
    if not params.get("lap_searches"):
        return None
    median = behaviour.get("queries", {}).get(level, 4.0)
    queries = {"any": {"hits": behaviour.get("hits", {}).get(level, 7)}}
    return {
        "rounds": params["lap_searches"],
        "seconds": 1.0,
        "p50_ms": median,
        "p90_ms": 2 * median,
        "queries": queries,
    }


main()
