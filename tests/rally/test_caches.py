"""The kernel's cache is dropped where that is permitted, and where it is not, the result says so."""

from __future__ import annotations

from pathlib import Path

from paddock.rally.caches import DROPPED, PAGE_CACHE, drop_caches
from paddock.tournaments.laps import Attempt
from paddock.tournaments.notes import page_cache_notes
from paddock.tournaments.store import History


def test_everything_is_dropped(tmp_path: Path) -> None:
    """Linux takes 3 for pages and what is known of folders and files."""
    switch = tmp_path / "drop_caches"
    switch.touch()
    assert drop_caches(switch) == DROPPED
    assert switch.read_text() == "3"


def test_where_it_is_not_permitted_the_reason_is_told_once(tmp_path: Path) -> None:
    """A folder in the switch's place refuses even root; one note for all starts, and none where it worked."""
    kept = drop_caches(tmp_path)
    assert kept.startswith(f"kept, because {tmp_path} cannot be written (")
    told = [{PAGE_CACHE: kept}, {PAGE_CACHE: kept}, {PAGE_CACHE: DROPPED}, {}]
    attempts = [Attempt(number, 1, "", "", 0, 0.0, None, 0.0, circumstances=one) for number, one in enumerate(told, 1)]
    history = History()
    history.attempts.extend(attempts)
    (note,) = page_cache_notes(history)
    assert note.startswith("The kernel's cache was kept, because ")
