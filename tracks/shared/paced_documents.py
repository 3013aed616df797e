"""Parameter source of a paced load: exactly the documents that its schedule asks for, each client its own share.

Rally's own source can repeat a corpus, but then ends with whatever bulk the clock cuts off. Here the documents decide
when the load is over: every one that was due is sent, however late, and their number is known beforehand.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.track.params import BulkIndexParamSource, ParamSource

from shared.corpora import documents_to_index, first_of
from shared.pace import Pace, read_pace

ARRIVALS = ("even", "poisson")


class PacedDocuments(BulkIndexParamSource):
    """Bulks for a paced load.

    Parameters as for Rally's ``bulk``, and ``phases`` (see :func:`shared.pace.read_pace`), ``documents-in-a-bulk`` (of
    which ``bulk-size`` is the most), ``arrivals`` ("even" or "poisson"), ``journal`` (an absolute path, or none) and
    those of :func:`shared.corpora.documents_to_index`, which say what is repeated as often as needed.
    """

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, {**params, "bulk-size": _bulk_size(params)}, **kwargs)
        check_rates(params.get("rates", {}))
        self.arrivals = _one_of_arrivals(params["arrivals"])
        self.journal = checked_journal(params.get("journal"))
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in self.corpora)
        self.pace = pace_of(available, params)
        # Only what is read changes: self.corpora still describes the files, which Rally checks before the race.
        self.param_source.corpora = repeated(self.corpora, documents_to_index(available, params), self.pace.documents)

    def partition(self, partition_index: int, total_partitions: int) -> ClientDocuments:
        """The share of one client."""
        # A copy each: Rally's clients in one process take turns at one reader, and so would not know what is theirs.
        share = copy.copy(self.param_source)
        share.partitions = []
        share.partition(partition_index, total_partitions)
        return ClientDocuments(self, share, partition_index, total_partitions)


class ClientDocuments:
    """The bulks of one client, and what its scheduler has to know.

    :param plan: the source that all clients have in common.
    :param share: Rally's own parameter source for this client alone.
    :param client: its number, from 0.
    :param clients: how many there are.
    """

    infinite = False

    def __init__(self, plan: PacedDocuments, share: Any, client: int, clients: int):
        self.plan = plan
        self.client = client
        self.clients = clients
        self.issued = 0
        self._share = share

    @property
    def percent_completed(self) -> float:
        """Share of the bulks that are issued, 0 to 1."""
        done: float = self._share.percent_completed
        return done

    def params(self) -> dict[str, Any]:
        """The next bulk.

        :raises StopIteration: after the last one.
        """
        bulk: dict[str, Any] = self._share.params()
        self.issued += bulk["bulk-size"]
        return bulk


class ExpectedPacedDocuments(ParamSource):
    """Adds ``expected``, the number of documents that the paced load sends, to the parameters of ``settle``."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        available = sum(corpus.number_of_documents(source_format="bulk") for corpus in track.corpora)
        self._expected = pace_of(available, params).documents

    def params(self) -> dict[str, Any]:
        """The parameters of one check."""
        return {**self._params, "expected": self._expected}


def pace_of(available: int, params: Mapping[str, Any]) -> Pace:
    """The pace of a load, made short where Rally's test mode has left only a few documents.

    :param available: documents in the corpora.
    """
    pace = read_pace(params["phases"])
    in_test_mode = available < params["corpus-documents"]
    return pace.shortened_to(available) if in_test_mode and available < pace.documents else pace


def repeated(corpora: list[Any], selected: int, count: int) -> list[Any]:
    """The corpora's first ``selected`` documents over and over, until they are ``count``."""
    whole, rest = divmod(count, selected)
    return [*(whole * first_of(corpora, selected)), *(first_of(corpora, rest) if rest else [])]


def check_rates(rates: Mapping[str, Any]) -> None:
    """Refuse more than one rate.

    :param rates: rates by the names of the track's parameters; None where one is not given.
    :raises exceptions.InvalidSyntax: with those that are given.
    """
    given = [f"{name} ({value})" for name, value in rates.items() if value is not None]
    if len(given) > 1:
        raise exceptions.InvalidSyntax(f"{' and '.join(given)} exclude each other: set one of them.")


def _bulk_size(params: Mapping[str, Any]) -> Any:
    most, wanted = params["bulk-size"], max(params["documents-in-a-bulk"], 1)
    return min(most, wanted) if isinstance(most, int) else most  # which Rally then refuses


def _one_of_arrivals(value: Any) -> str:
    if value not in ARRIVALS:
        raise exceptions.InvalidSyntax(f"arrivals must be {' or '.join(ARRIVALS)}, but is {value!r}.")
    return str(value)


def checked_journal(value: Any) -> Path | None:
    """The path of a load's journal, or None; raises exceptions.InvalidSyntax if nothing can be written there."""
    if value is None:
        return None
    path = Path(value)
    if not path.is_absolute() or not path.parent.is_dir():
        raise exceptions.InvalidSyntax(
            f"load_journal must be an absolute path in a folder that exists, because Rally's workers run in folders "
            f"of their own, but is '{path}'."
        )
    return path
