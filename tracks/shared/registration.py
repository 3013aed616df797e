"""Tells Rally about the runners, parameter sources and schedules of all tracks."""

from __future__ import annotations

from typing import Any

from shared.document_count import CheckDocumentCount, ExpectedDocuments
from shared.first_documents import FirstDocuments
from shared.growth import GrownDocuments, GrowthDocuments
from shared.health import WaitForHealth
from shared.lap import RunLap
from shared.lap_plan import LapPlan
from shared.paced_documents import ExpectedPacedDocuments, PacedDocuments
from shared.paced_schedule import PacedSchedule
from shared.settle import Settle


def register(registry: Any) -> None:
    """Register everything under the names that the challenges use.

    :param registry: Rally's plugin registry, as it is passed to ``register`` in a ``track.py``.
    """
    registry.register_param_source("first-documents", FirstDocuments)
    registry.register_param_source("expected-documents", ExpectedDocuments)
    registry.register_param_source("lap-plan", LapPlan)
    registry.register_param_source("paced-documents", PacedDocuments)
    registry.register_param_source("expected-paced-documents", ExpectedPacedDocuments)
    registry.register_param_source("growth-documents", GrowthDocuments)
    registry.register_param_source("grown-documents", GrownDocuments)
    registry.register_runner("check-document-count", CheckDocumentCount(), async_runner=True)
    registry.register_runner("wait-for-health", WaitForHealth(), async_runner=True)
    registry.register_runner("lap", RunLap(), async_runner=True)
    registry.register_runner("settle", Settle(), async_runner=True)
    registry.register_scheduler("paced", PacedSchedule)
