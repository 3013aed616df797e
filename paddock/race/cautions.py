"""What makes a race's figures doubtful, as sentences that say what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddock.plain_values import known
from paddock.race.summary import BulkTask, Figure, Missing, RequestTask, WholeRace
from paddock.sampling.records import Sample

# Above this share of a core the load driver itself may be what limits the throughput: each of its processes is one
# Python interpreter that cannot use more than one core.
BUSY_DRIVER = 0.8
# Of the machine's time; beyond it the neighbours are in the figures.
MUCH_STEAL_PERCENT = 5.0
FEWEST_RATES = 5
# A load that ends later than this share of its schedule, or is slower by it, has not kept its pace. Random arrivals end
# a few per cent sooner or later than planned.
BEHIND = 0.05


def cautions(
    bulk_tasks: Sequence[BulkTask],
    request_tasks: Sequence[RequestTask],
    race: WholeRace,
    samples: Sequence[Sample],
    reachable: bool,
) -> tuple[str, ...]:
    """All warnings, the gravest first.

    :param samples: those taken while documents were indexed.
    :param reachable: whether the sampler ever had an answer from the cluster.
    """
    return (
        *_errors([*bulk_tasks, *request_tasks]),
        *_refused(race),
        *_documents(bulk_tasks, race),
        *_pace(bulk_tasks),
        *_measuring(bulk_tasks, samples, reachable),
        *_surroundings(bulk_tasks, race),
    )


def _errors(tasks: Sequence[BulkTask | RequestTask]) -> Iterator[str]:
    for task in tasks:
        rate = known(task.error_rate)
        if rate:
            yield (
                f"{_share(rate)} of the requests of '{task.name}' failed: its figures do not count. "
                "Look for the cause in Rally's log and the node's."
            )


def _refused(race: WholeRace) -> Iterator[str]:
    if _positive(race.rejections):
        yield (
            f"Elasticsearch rejected {race.rejections:,.0f} requests because it could not keep up: "
            "use fewer bulk clients or smaller bulks."
        )
    if _positive(race.index_failed):
        yield f"Elasticsearch could not index {race.index_failed:,.0f} documents: look into the node's log."


def _documents(bulk_tasks: Sequence[BulkTask], race: WholeRace) -> Iterator[str]:
    for task in bulk_tasks:
        expected, indexed = task.expectation.documents, known(task.documents)
        if expected is not None and indexed is not None and indexed != expected:
            yield (
                f"'{task.name}' indexed {indexed:,.0f} documents, but {expected:,} were to be sent: "
                "its figures do not count unless the difference is wanted."
            )
    indexed_in_all = [known(task.documents) for task in bulk_tasks]
    counted = known(race.documents_counted)
    # After several tasks the indices of the earlier ones may be gone.
    only = indexed_in_all[0] if len(indexed_in_all) == 1 else None
    if only is not None and counted is not None and counted != only:
        yield (
            f"{only:,.0f} documents were indexed, but {counted:,.0f} were counted in the end: "
            "they replaced each other, were lost, or the last of them had not been refreshed yet."
        )


def _pace(bulk_tasks: Sequence[BulkTask]) -> Iterator[str]:
    for task in bulk_tasks:
        wanted, scheduled, took = task.expectation.rate, task.expectation.scheduled_seconds, known(task.seconds)
        remedy = (
            "where latency is far above service time, bulks waited to be sent. Lower the rate, or use more clients if "
            "the nodes are not busy."
        )
        reached = known(task.rate) or known(task.reported_rate)
        if scheduled is not None and took is not None and took > scheduled + max(1.0, BEHIND * scheduled):
            yield (
                f"'{task.name}' was to end after {scheduled:,.0f} s and ended after {took:,.0f} s, so it did not keep "
                f"its pace: {remedy}"
            )
        elif scheduled is None and wanted is not None and reached is not None and reached < (1 - BEHIND) * wanted:
            yield (
                f"'{task.name}' indexed {reached:,.0f} docs/s and was to index {wanted:,.0f}, so it did not keep its "
                f"pace: {remedy}"
            )


def _measuring(bulk_tasks: Sequence[BulkTask], samples: Sequence[Sample], reachable: bool) -> Iterator[str]:
    if not reachable:
        yield "The cluster never answered the sampler: only what Rally itself reports is known."
        return
    missed = sum(1 for sample in samples if sample.missed)
    if missed:
        yield (
            f"{missed} of the {len(samples)} samples taken under load are incomplete, because the cluster did not "
            "answer in time: the rates within a second are smoothed there."
        )
    for task in bulk_tasks:
        if task.expectation.incidental:
            continue
        if isinstance(task.error_rate, Missing):
            yield (
                f"'{task.name}' ended within its warm-up, so Rally counted neither errors nor service times: "
                "shorten the warm-up (--params warmup_time_period:2) or index more documents (--documents)."
            )
        elif not isinstance(task.documents, Missing) and task.rates < FEWEST_RATES:
            yield (
                f"'{task.name}' ran too short for a median: {task.rates} full seconds after the warm-up, at least "
                f"{FEWEST_RATES} are needed. Index more documents."
            )


def _surroundings(bulk_tasks: Sequence[BulkTask], race: WholeRace) -> Iterator[str]:
    for task in bulk_tasks:
        busiest, steal = known(task.driver_busiest), known(task.steal_percent)
        if busiest is not None and busiest > BUSY_DRIVER:
            yield (
                f"A process of the load driver used {100 * busiest:.0f} % of a core during '{task.name}': "
                "it may be what limits the throughput. Use another machine, or several, to drive the load."
            )
        if steal is not None and steal > MUCH_STEAL_PERCENT:
            yield (
                f"The hypervisor took {steal:.0f} % of the machine's time during '{task.name}': "
                "repeat the race when the neighbours are quieter."
            )
    if _positive(race.merges_running):
        yield (
            f"Merges were still running at the end ({race.merges_running:,.0f}): "
            "CPU time, size and segments are not final."
        )


def _positive(figure: Figure) -> bool:
    return bool(known(figure))


def _share(rate: float) -> str:
    return f"{100 * rate:.3g} %"
