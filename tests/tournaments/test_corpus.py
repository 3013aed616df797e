"""A tournament on a corpus that is named: in its file or on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.imports import ImportOptions
from paddock.imports.run import import_corpus
from paddock.tournaments import TournamentOptions
from paddock.tournaments.command import run_tournament
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.races import race_options
from paddock.tournaments.schedule import make_schedule
from paddock.tournaments.store import Stored
from tests.corpora import imported


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tournament file that names a corpus."""
    path = tmp_path / "mine.yml"
    text = find_file("refresh-interval").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("documents:")]
    path.write_text("\n".join([*lines, "corpus: our-web"]) + "\n", encoding="utf-8")
    return path


def test_a_named_corpus_has_as_many_documents_as_it_has(file: Path) -> None:
    """Unless a number is given: an imported corpus has the number of its log."""
    tournament = read_tournament(file)
    assert (tournament.corpus, tournament.documents) == ("our-web", 0)
    assert read_tournament(file, TournamentOptions(documents=5_000_000)).documents == 5_000_000


def test_the_command_line_names_another(file: Path) -> None:
    """And the number in the file, which is of the file's corpus, does not hold for it."""
    imported.import_corpus("their-web", 1200)
    file.write_text(file.read_text() + "documents: 7000000\n")
    assert read_tournament(file).documents == 7_000_000
    tournament = read_tournament(file, TournamentOptions(corpus="their-web"))
    assert (tournament.corpus, tournament.documents) == ("their-web", 0)


def test_races_are_asked_for_the_corpus(file: Path) -> None:
    """As ./inv race would be, with --corpus and without --documents."""
    tournament = read_tournament(file)
    [start, *_] = make_schedule(tournament, 1)
    options = race_options(tournament, [start], TournamentOptions(), Stored("t"))
    assert (options.corpus, options.documents) == ("our-web", None)


@pytest.mark.parametrize("quick", [False, True])
def test_a_lap_is_no_longer_than_the_corpus_that_is_asked_for(quick: bool) -> None:
    """A log of one's own is often shorter than a lap of the file: it is loaded whole, and the report says so."""
    imported.import_corpus("their-web", 1200)
    tournament = read_tournament(find_file("refresh-interval"), TournamentOptions(corpus="their-web", quick=quick))
    assert tournament.lap_documents == 1200
    assert "Every lap loads all 1,200 documents of the corpus" in tournament.notes[-1]
    plain = read_tournament(find_file("refresh-interval"), TournamentOptions(quick=quick))
    fewer = read_tournament(find_file("refresh-interval"), TournamentOptions(documents=5000, quick=quick))
    assert (fewer.lap_documents, fewer.documents) == (5000, 5000)
    many = read_tournament(find_file("refresh-interval"), TournamentOptions(documents=9_000_000, quick=quick))
    assert (many.lap_documents, many.notes) == (plain.lap_documents, plain.notes)


def test_a_lap_that_does_not_fit_is_a_sentence(tmp_path: Path) -> None:
    """Before anything is started: only the corpus itself says how many documents it has."""
    log = tmp_path / "access.log"
    log.write_text('203.0.113.9 - - [05/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 7\n' * 3)
    import_corpus(ImportOptions((str(log),), "tiny"))
    with pytest.raises(UsageError, match=r"A lap of [\d,]+ documents does not fit the corpus of 3"):
        run_tournament("refresh-interval", TournamentOptions(corpus="tiny", dry_run=True))
