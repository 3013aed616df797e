"""Rally's scheduler for a paced load: when each client sends its next bulk.

Rally's own schedulers send the first bulk of every client at once and all further ones in step, eight at a time with
eight clients, and know one rate only. Here clients take turns, and the rate may change from phase to phase. A bulk is
due when its last document has come. Rally counts the latency of a bulk from that moment on, whenever it is sent.
"""

from __future__ import annotations

import random
import time
from typing import Any

from esrally import exceptions

from shared.load_journal import append_bulk, append_schedule
from shared.paced_documents import ClientDocuments


class PacedSchedule:
    """One client's schedule, for tasks whose parameter source is ``paced-documents``.

    Every request's meta-data gets the ``phase`` in which it was due, so that Rally's metrics store can tell the phases
    apart; with a journal, every request gets a line there.
    """

    def __init__(self, task: Any):
        self._task = task
        self._documents: ClientDocuments | None = None
        self._began = self._began_at = 0.0
        self._due = self._sent = 0.0
        self._arrived = 0.0
        self._issued = 0
        self._random = random.Random()  # noqa: S311 - no secret

    @property
    def parameter_source(self) -> ClientDocuments | None:
        """Rally sets this before the load begins."""
        return self._documents

    @parameter_source.setter
    def parameter_source(self, source: Any) -> None:
        if not isinstance(source, ClientDocuments):
            raise exceptions.InvalidSyntax(
                f"the schedule 'paced' of the task '{self._task.name}' needs the parameter source 'paced-documents'."
            )
        self._documents = source
        # The same arrivals in every race, so that races can be compared.
        self._random.seed(source.client)

    def before_request(self, now: float) -> None:
        """Rally sends a bulk."""
        self._sent = now - self._began

    def after_request(self, now: float, weight: int, unit: str, request_meta_data: dict[str, Any]) -> None:
        """Rally has the answer to it."""
        documents = self._known()
        phase = documents.plan.pace.phase_at(self._due).name
        request_meta_data["phase"] = phase
        if documents.plan.journal is not None:
            append_bulk(
                documents.plan.journal,
                began=self._began_at,
                client=documents.client,
                phase=phase,
                due=self._due,
                sent=self._sent,
                answered=now - self._began,
                documents=weight,
                success=bool(request_meta_data.get("success", True)),
            )

    def next(self, current: float) -> float:
        """The moment at which the next bulk is due, in seconds since the task began."""
        documents = self._known()
        plan = documents.plan
        if not self._began:
            self._begin(documents)
        if plan.arrivals == "poisson":
            # On the axis of documents, not of time: that keeps arrivals independent of each other at changing rates.
            documents_of_last = documents.issued - self._issued or plan.bulk_size
            self._arrived += self._random.expovariate(1.0) * documents_of_last * documents.clients
        else:
            turn = (documents.client + 1) * plan.bulk_size
            self._arrived = min(documents.issued * documents.clients + turn, plan.pace.documents)
        self._issued = documents.issued
        self._due = plan.pace.due(self._arrived)
        return self._due

    def _begin(self, documents: ClientDocuments) -> None:
        # Rally asks for the first moment right after it has started the clock from which it counts.
        self._began, self._began_at = time.perf_counter(), time.time()
        if documents.client == 0 and documents.plan.journal is not None:
            append_schedule(documents.plan.journal, self._began_at, documents.plan.pace)

    def _known(self) -> ClientDocuments:
        if self._documents is None:
            raise exceptions.RallyAssertionError("Rally has not told the schedule 'paced' its parameter source.")
        return self._documents

    def __str__(self) -> str:
        return "paced"
