"""Tells Rally about the runners, parameter sources, schedules and the preparation of all tracks."""

from __future__ import annotations

import logging
import os
from importlib import metadata
from typing import Any

from esrally.utils import console

from shared.corpora import FirstDocuments, UnpreparedCorpora
from shared.full_disk import FullDisk, FullDiskPlan
from shared.growth import GrownDocuments, GrowthDocuments
from shared.index_runners import ExpectedDocuments, FreshIndex, Settle, TracksIndex
from shared.lap import RunLap
from shared.lap_plan import LapPlan
from shared.lap_secret import LapSecret
from shared.log_queries import AskIndex, LogQueryPlan
from shared.paced_documents import ExpectedPacedDocuments, PacedDocuments
from shared.paced_schedule import PacedSchedule
from shared.raw_documents import RawDocuments
from shared.replay_source import ReplayDocuments, ReplayedDocuments, ReplayQueries, ReplaySchedule
from shared.replay_times import ReplayTimes
from shared.request_journal import journalled_runners
from shared.restore_proof import ProofPlan, RestoreProof
from shared.scan import RunScan, ScanPlan
from shared.sent_once import BulkOnce, QueryOnce
from shared.sustained import ExpectedSustainedDocuments, RolledIndex, RollOver, SustainedDocuments

# The Rally that these tracks were made for and are tested with; pyproject.toml pins it.
MADE_FOR = "2.13.0"
_SAID = "PADDOCK_OTHER_RALLY_SAID"


def register(registry: Any) -> None:
    """Register everything under the names that the challenges use.

    :param registry: Rally's plugin registry, as it is passed to ``register`` in a ``track.py``.
    """
    mention_other_rally(metadata.version("esrally"))
    registry.register_track_processor(UnpreparedCorpora())
    registry.register_track_processor(RawDocuments())
    registry.register_track_processor(LapSecret())
    registry.register_track_processor(ReplayTimes())
    registry.register_param_source("fresh-index", TracksIndex)
    registry.register_param_source("first-documents", FirstDocuments)
    registry.register_param_source("expected-documents", ExpectedDocuments)
    registry.register_param_source("lap-plan", LapPlan)
    registry.register_param_source("paced-documents", PacedDocuments)
    registry.register_param_source("expected-paced-documents", ExpectedPacedDocuments)
    registry.register_param_source("growth-documents", GrowthDocuments)
    registry.register_param_source("grown-documents", GrownDocuments)
    registry.register_param_source("full-disk", FullDiskPlan)
    registry.register_param_source("log-query", LogQueryPlan)
    registry.register_param_source("log-scan", ScanPlan)
    registry.register_param_source("sustained-documents", SustainedDocuments)
    registry.register_param_source("expected-sustained-documents", ExpectedSustainedDocuments)
    registry.register_param_source("roll-over", RolledIndex)
    registry.register_param_source("replay-documents", ReplayDocuments)
    registry.register_param_source("replay-queries", ReplayQueries)
    registry.register_param_source("replayed-documents", ReplayedDocuments)
    registry.register_param_source("proof-plan", ProofPlan)
    registry.register_runner("fresh-index", FreshIndex(), async_runner=True)
    registry.register_runner("lap", RunLap(), async_runner=True)
    registry.register_runner("settle", Settle(), async_runner=True)
    registry.register_runner("roll-over", RollOver(), async_runner=True)
    registry.register_runner("restore-proof", RestoreProof(), async_runner=True)
    registry.register_runner("full-disk", FullDisk(), async_runner=True)
    registry.register_runner("log-query", AskIndex(), async_runner=True)
    registry.register_runner("log-scan", RunScan(), async_runner=True)
    registry.register_scheduler("paced", PacedSchedule)
    runners = {"bulk": BulkOnce(), "search": QueryOnce(), **journalled_runners(os.environ)}
    for operation, runner in runners.items():
        registry.register_runner(operation, runner, async_runner=True)
    registry.register_scheduler("replay", ReplaySchedule)


def mention_other_rally(version: str) -> None:
    """Say, once, that the tracks were made for another Rally.

    No reason to refuse: they take a few things from inside Rally (its bulk runner, its readers of corpora), which may
    well be the same there.
    """
    # Rally loads a track in a dozen processes; all descend from the first one that does.
    if version == MADE_FOR or os.environ.get(_SAID):
        return
    os.environ[_SAID] = version
    console.warn(
        f"These tracks were made for Rally {MADE_FOR} and are tested with it; this is Rally {version}. Most of it will "
        f"work; where a race fails, try again with esrally=={MADE_FOR}.",
        logger=logging.getLogger(__name__),
    )
