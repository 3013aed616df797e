"""Parameter source of the block challenges: one set of parameters per lap, in the order of the plan."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track.params import ParamSource

from shared.freshness import refresh_seconds
from shared.lap_crew import Crew, Follower
from shared.lap_dropped import read_dropped
from shared.lap_order import lap_orders, load_phases
from shared.lap_parsing import Pipeline, check_parsing, pipelines_of
from shared.lap_searches import Query, find_queries
from shared.lap_starts import Start, read_starts
from shared.levels import Level, read_levels, sorted_by, sorting_mappings
from shared.mapping_variants import mapping_variant
from shared.raw_documents import as_sent
from shared.rendezvous import Place, place
from shared.shipper_parsing import parsed_mappings
from shared.shipper_settings import ShipperSettings, check_groups, check_limited, shipper_settings

# Seconds; until the nodes of the next start are there, and between two looks.
READY_TIMEOUT = 3600.0
READY_INTERVAL = 0.1
# Documents of a lap that a clock ends.
_WITHOUT_END = 10**12


@dataclass(frozen=True)
class Lap:
    """One lap, ready to be run.

    :param number: of the lap, from 1.
    :param start: number of the start of the nodes that it belongs to, from 1; None in a race that is told of none.
    :param ready_file: it is not run before this file exists; None for no such wait.
    :param reconnects: whether it is the first lap on nodes that were started while the race was running.
    :param block: number of the block in its start, from 1, warm-up blocks included.
    :param position: in the block, from 1.
    :param cluster: Rally's name for the cluster that has the lap.
    :param body: settings and mapping of the index.
    :param documents: Rally's document sets.
    :param first_document: its number in the corpus, from 0.
    :param count: documents to index; with ``seconds`` the most that it may.
    :param seconds: after which it sends no further bulk: it is a slice of so long; None for all of its documents.
    :param grows: whether its level has an index of its own, which grows from lap to lap of a start; else it is fresh.
    :param phase: share of the refresh interval between the index's creation and its load, where a probe runs and the
        lap counts; None elsewhere.
    :param rest: seconds to wait before the index is created, ``wait`` between that and the load: together the same for
        all laps of a block, since a machine that has rested for longer may be faster.
    :param force_merge: whether the index is merged to one segment per shard before it is weighed and searched.
    :param read_back: how many documents are read again at the end and compared with what was sent.
    :param searches: how often each of the queries is run after the load.
    :param client_options: file with those of all clusters, where they want different ones; else None.
    :param journal: file to which the lap's record is added; None for none.
    :param sent: in which form its documents are sent, one of :data:`shared.raw_forms.FORMS`; None for as they stand in
        the corpus.
    :param shipper: what sends its documents in the place of Rally's own clients; then ``bulk_size`` and ``clients`` are
        its batch and its workers. None for these clients.
    """

    number: int
    start: int | None
    ready_file: Path | None
    reconnects: bool
    block: int
    position: int
    warm_up: bool
    level: str
    cluster: str
    index: str
    body: dict[str, Any]
    pipelines: Mapping[str, Any] | None
    health: str
    documents: tuple[Any, ...]
    first_document: int
    count: int
    bulk_size: int
    clients: int
    freshness_probe: bool
    phase: float | None
    rest: float
    wait: float
    force_merge: bool
    read_back: int
    searches: int
    queries: tuple[Query, ...]
    client_options: Path | None
    journal: Path | None
    grows: bool = False
    seconds: float | None = None
    shipper: ShipperSettings | None = None
    sent: str | None = None

    @property
    def documents_sent(self) -> tuple[Any, ...]:
        """Rally's document sets with the files that it sends; their paths are known once the race has begun."""
        return as_sent(self.documents, self.sent)


class LapPlan(ParamSource):
    """Plans ``warmup-blocks`` plus ``blocks`` blocks, each with one lap of every level; or those of several starts.

    All laps of a block index the same documents of the corpus, those of the next block the ones that follow; slices of
    so many seconds begin with the same document. Where indices grow, a last call deletes them. No block
    is begun once the file ``stop-file`` exists, so that whoever watches the journal can end the race in good order.
    Levels that the file ``dropped-file`` names have no laps in the blocks that are begun after it was written. Whoever
    watches may also start the nodes anew between the laps of one start and those of the next.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        self.corpora = _bulk_corpora(track)  # Rally prepares the files of what it finds under this name
        self._stop_file = _absolute(params, "stop-file", "lap_stop_file")
        self._processes = _processes(params)
        self._dropped_file = _absolute(params, "dropped-file", "lap_dropped_file")
        self._dropped: frozenset[str] = frozenset()
        self._laps = list(_plan(track, self.corpora, params))
        self._next = 0
        self._kept = dict.fromkeys((lap.cluster, lap.index, lap.client_options) for lap in self._laps if lap.grows)
        self._crew: Crew | None = None
        if self._processes == 1:
            _check_folder(params)

    def partition(self, partition_index: int, total_partitions: int) -> ParamSource:
        """What one client of the task does: the first runs the laps, the others follow it."""
        if partition_index == 0:
            for level, shipper in {lap.level: lap.shipper for lap in self._laps if lap.shipper}.items():
                check_groups(shipper, level)  # which are on this machine, as the shippers are
        if self._processes == 1:
            return self
        where, secret = _place(self._params), self._params["secret"]
        if partition_index:
            return _Following(Follower(partition_index, self._processes, where, secret, self._laps))
        _check_folder(self._params)  # the journal is on the machine of the first client alone
        self._crew = Crew(where, secret, self._processes)
        return self

    @property
    def infinite(self) -> bool:
        """The plan ends."""
        return False

    @property
    def percent_completed(self) -> float:
        """Share of the laps that are done, 0 to 1."""
        return self._next / len(self._laps)

    def params(self) -> dict[str, Any]:
        """The next lap; after the last one of growing indices which of them to delete.

        Rally calls this in a thread in which nothing else runs, so it may wait here for nodes.

        :raises StopIteration: after the last one, or when a block is due and the stop file exists.
        :raises exceptions.RallyAssertionError: if the nodes of the next start are not there after an hour, or the
            dropped file holds something else than names.
        """
        if (lap := self._next_lap()) is not None:
            return {"lap": lap} if self._crew is None else {"lap": lap, "crew": self._crew}
        if self._kept and self._next:
            kept, self._kept = self._kept, {}
            return {"sweep": tuple(kept)}
        raise StopIteration

    def _next_lap(self) -> Lap | None:
        while self._next < len(self._laps):
            lap = self._laps[self._next]
            if lap.position == 1 and not self._begins_block(lap):
                return None
            self._next += 1
            if lap.level not in self._dropped:
                return lap
        return None

    def _begins_block(self, first: Lap) -> bool:
        """Wait for the nodes of its start, and see who has laps in it; a block that has begun stays as it is.

        :returns: whether there is to be such a block.
        """
        deadline = time.monotonic() + READY_TIMEOUT
        while not self._stopped() and first.ready_file is not None and not first.ready_file.exists():
            if time.monotonic() > deadline:
                raise exceptions.RallyAssertionError(
                    f"Start {first.start} was to begin once the file {first.ready_file} exists, and it never came."
                )
            time.sleep(READY_INTERVAL)
        if self._stopped():
            return False
        self._dropped = read_dropped(self._dropped_file)
        return True

    def _stopped(self) -> bool:
        return self._stop_file is not None and self._stop_file.exists()


class _Following:
    """The parameters of a client that follows: once, those of its whole race."""

    infinite = False
    percent_completed = None

    def __init__(self, follower: Follower) -> None:
        self._left = [follower]

    def params(self) -> dict[str, Any]:
        """The only ones.

        :raises StopIteration: when they were asked for before.
        """
        if not self._left:
            raise StopIteration
        return {"follower": self._left.pop()}


def _plan(track: Any, corpora: list[Any], params: dict[str, Any]) -> Iterator[Lap]:
    if params.get("growing") and (params["searches"] or params.get("force-merge") or params.get("read-back")):
        raise exceptions.InvalidSyntax(
            "lap_growing excludes lap_searches, lap_force_merge and lap_read_back, which look at the documents of one "
            "lap alone: leave them out."
        )
    levels = {level.name: level for level in read_levels(params["factor"], params["levels"])}
    documents = tuple(one for corpus in corpora for one in corpus.documents)
    available = sum(one.number_of_documents for one in documents)
    count = _documents_per_lap(available, params)
    journal = _absolute(params, "journal", "lap_journal")
    client_options = Path(params["client-options"]) if params.get("client-options") else None
    sorting = [field for level in levels.values() for field in sorted_by(level)]
    shippers = {name: _shipper(level, params) for name, level in levels.items()}
    check_limited(params.get("shipper") or {}, shippers.values())
    parsers = pipelines_of(levels.values())
    bodies = {
        name: _body(track, level, sorting, shippers[name], parsers.get(name), params["index"])
        for name, level in levels.items()
    }
    intervals = {name: refresh_seconds(body["settings"]) for name, body in bodies.items()}
    queries = find_queries(track, params["queries"]) if params["searches"] else ()
    seconds, grows = _seconds(params), bool(params.get("growing", False))
    places = {name: place for place, name in enumerate(levels, start=1)}
    if not grows and (new := [one.name for one in levels.values() if one.blocks_per_index is not None]):
        raise exceptions.InvalidSyntax(
            f"the level '{new[0]}' has blocks_per_index, and every lap has a fresh index: set lap_growing, too."
        )
    for name, one in shippers.items():
        check_parsing(one, track, levels[name], params)
    if seconds is not None and (read := [name for name, one in shippers.items() if one and one.input == "file"]):
        raise exceptions.InvalidSyntax(
            f"the level '{read[0]}' reads a file, which takes as much as the disk does in lap_seconds: feed its "
            f"shipper by TCP, or give lap_documents."
        )
    number = 0
    for start in read_starts(params):
        orders = lap_orders(list(levels), start.warmup_blocks + start.blocks, start.order, params["order-seed"])
        phases = _phases(start, params)
        for block, order in enumerate(orders):
            for position, name in enumerate(order, start=1):
                number += 1
                body, phase, shipper, parser = bodies[name], phases[block], shippers[name], parsers.get(name)
                wait, longest = ((phase or 0.0) * seconds for seconds in (intervals[name], max(intervals.values())))
                yield Lap(
                    number=number,
                    start=start.number,
                    ready_file=start.ready_file if block == 0 and position == 1 else None,
                    reconnects=start.ready_file is not None and block == 0,
                    block=block + 1,
                    position=position,
                    warm_up=block < start.warmup_blocks,
                    level=name,
                    cluster=levels[name].cluster,
                    index=f"{params['index']}-lap" + (_own_index(places[name], levels[name], block) if grows else ""),
                    body=body,
                    pipelines=_pipelines(params, parser),
                    health=params["health"] or ("yellow" if _replicas(body) else "green"),
                    documents=documents,
                    first_document=(block * count % available if seconds is None else block * available // len(orders)),
                    count=count,
                    bulk_size=(shipper and shipper.batch) or levels[name].bulk_size or params["bulk-size"],
                    clients=shipper.workers if shipper else levels[name].clients or params["bulk-clients"],
                    freshness_probe=params["freshness-probe"],
                    phase=phase,
                    rest=longest - wait,
                    wait=wait,
                    force_merge=params.get("force-merge", False),
                    read_back=params.get("read-back", 0),
                    searches=params["searches"],
                    queries=queries,
                    client_options=client_options,
                    journal=journal,
                    grows=grows,
                    seconds=seconds,
                    shipper=shipper,
                    sent=parser.sent if parser else None,
                )


def _shipper(level: Level, params: dict[str, Any]) -> ShipperSettings | None:
    """What sends a level's laps; its batch and its workers are those of Rally's clients where nothing is said."""
    batch, workers = level.bulk_size or params["bulk-size"], level.clients or params["bulk-clients"]
    return shipper_settings(level.shipper, params.get("shipper") or {}, batch, workers, level.name)


def _pipelines(params: Mapping[str, Any], parser: Pipeline | None) -> Mapping[str, Any] | None:
    """All that are put before a lap: those of the race, and the one that parses its documents."""
    given: Mapping[str, Any] | None = params.get("pipelines")
    return given if parser is None else {**(given or {}), parser.id(params["index"]): parser.definition}


def _own_index(place: int, level: Level, block: int) -> str:
    """What the name of a level's own index ends in; a new one where it has that after some blocks."""
    return f"-{place}" + (f"-{block // level.blocks_per_index + 1:06d}" if level.blocks_per_index else "")


def _phases(start: Start, params: dict[str, Any]) -> list[float | None]:
    """The phase of the refresh at which the loads of each block begin; None where nothing is probed."""
    # A lap of the warm-up teaches nothing of freshness: it does not wait.
    warm_up: list[float | None] = [None] * start.warmup_blocks
    if not params["freshness-probe"]:
        return warm_up + [None] * start.blocks
    return [*warm_up, *load_phases(start.blocks, start.phases, params["order-seed"])]


def _body(
    track: Any, level: Level, sorting: list[str], shipper: ShipperSettings | None, parser: Pipeline | None, index: str
) -> dict[str, Any]:
    if not track.indices:
        raise exceptions.InvalidSyntax(
            "every lap has an index of its own, which no data stream can be: leave data_stream out, or race a "
            "challenge that loads once, such as ingest or ingest-and-search."
        )
    body = track.indices[0].body
    mappings = sorting_mappings(level, mapping_variant(level.mapping or "track", body["mappings"]), sorting)
    if shipper is not None:
        mappings = parsed_mappings(shipper.parsing, mappings)
    settings = {**body["settings"], **level.settings}
    if parser is not None:
        mappings = parser.used_by(index, settings, mappings)
    return {"settings": {name: value for name, value in settings.items() if value is not None}, "mappings": mappings}


def _replicas(body: dict[str, Any]) -> int:
    return int(body["settings"].get("index.number_of_replicas") or 0)


def _documents_per_lap(available: int, params: dict[str, Any]) -> int:
    count: int = params["documents"]
    if params.get("growing"):
        # What goes on for longer than the corpus begins it again; in test mode a corpus is enough.
        count = _WITHOUT_END if params.get("seconds") else count
        return min(count, available) if available < params["corpus-documents"] else count
    # Compared with the whole corpus: in test mode fewer are available, and that is no mistake of the user.
    if count > params["corpus-documents"]:
        raise exceptions.InvalidSyntax(
            f"lap_documents is {count}, but the corpus has {params['corpus-documents']} documents: ask for fewer, "
            f"or give a larger corpus with corpus_file, corpus_documents and corpus_bytes."
        )
    return min(count, available)


def _seconds(params: dict[str, Any]) -> float | None:
    """Of a slice; None if documents end it."""
    seconds = params.get("seconds")
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise exceptions.InvalidSyntax(f"lap_seconds must be above 0, but is {seconds!r}.")
    if not params.get("growing"):
        raise exceptions.InvalidSyntax("lap_seconds are slices of a load into growing indices: set lap_growing, too.")
    return float(seconds)


def _bulk_corpora(track: Any) -> list[Any]:
    corpora = [corpus.filter(source_format="bulk") for corpus in track.corpora]
    for corpus in corpora:
        for documents in corpus.documents:
            if documents.includes_action_and_meta_data:
                raise exceptions.InvalidSyntax(
                    f"the corpus '{corpus.name}' brings its own action lines, which name another index than a lap's: "
                    f"use a corpus without them."
                )
    return corpora


def _check_folder(params: dict[str, Any]) -> None:
    journal = _absolute(params, "journal", "lap_journal")
    if journal is not None and not journal.parent.is_dir():
        raise exceptions.InvalidSyntax(f"the folder of lap_journal ({journal.parent}) does not exist: create it first.")


def _processes(params: dict[str, Any]) -> int:
    count = params.get("driver-processes", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise exceptions.InvalidSyntax(f"driver_processes must be a whole number from 1 on, but is {count!r}.")
    if count > 1:
        _place(params)
    return count


def _place(params: dict[str, Any]) -> Place:
    try:
        return place(params.get("driver-rendezvous"), params.get("secret", ""))
    except ValueError as error:
        raise exceptions.InvalidSyntax(str(error)) from None


def _absolute(params: dict[str, Any], name: str, shown: str) -> Path | None:
    if params.get(name) is None:
        return None
    path = Path(params[name])
    if not path.is_absolute():
        raise exceptions.InvalidSyntax(
            f"{shown} must be an absolute path, because Rally's workers run in folders of their own, but is '{path}'."
        )
    return path
