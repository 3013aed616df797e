"""Tells Rally about the runners, parameter sources, schedules and the preparation of all tracks."""

from __future__ import annotations

from typing import Any

from shared.corpora import FirstDocuments, UnpreparedCorpora
from shared.growth import GrownDocuments, GrowthDocuments
from shared.index_runners import ExpectedDocuments, FreshIndex, Settle, TracksIndex
from shared.lap import RunLap
from shared.lap_plan import LapPlan
from shared.paced_documents import ExpectedPacedDocuments, PacedDocuments
from shared.paced_schedule import PacedSchedule


def register(registry: Any) -> None:
    """Register everything under the names that the challenges use.

    :param registry: Rally's plugin registry, as it is passed to ``register`` in a ``track.py``.
    """
    registry.register_track_processor(UnpreparedCorpora())
    registry.register_param_source("fresh-index", TracksIndex)
    registry.register_param_source("first-documents", FirstDocuments)
    registry.register_param_source("expected-documents", ExpectedDocuments)
    registry.register_param_source("lap-plan", LapPlan)
    registry.register_param_source("paced-documents", PacedDocuments)
    registry.register_param_source("expected-paced-documents", ExpectedPacedDocuments)
    registry.register_param_source("growth-documents", GrowthDocuments)
    registry.register_param_source("grown-documents", GrownDocuments)
    registry.register_runner("fresh-index", FreshIndex(), async_runner=True)
    registry.register_runner("lap", RunLap(), async_runner=True)
    registry.register_runner("settle", Settle(), async_runner=True)
    registry.register_scheduler("paced", PacedSchedule)
