"""Results of tournaments, made anew from the journal at any time."""

from __future__ import annotations

from paddock.errors import FileError
from paddock.tournaments.analysis import analyse
from paddock.tournaments.model import Result
from paddock.tournaments.store import Stored, find_tournament


def load_result(tournament_id: str) -> Result:
    """The result of that tournament ("latest" for the latest), finished or not, analysed as this version does it.

    :raises UsageError: if there is no such tournament.
    """
    return result_of(find_tournament(tournament_id))


def result_of(stored: Stored) -> Result:
    """The result of a stored tournament.

    :raises FileError: if its journal is damaged.
    """
    history = stored.history()
    try:
        return analyse(history, stored.tournament(history))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"this journal is damaged ({type(error).__name__}: {error}): restore it, or begin a tournament anew."
        raise FileError(stored.journal, problem) from error
