"""The load driver's headroom in a tournament: what is measured of it, when, and what plan and result say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.corpora.record import CorpusRecord
from paddock.errors import FileError, MachineError
from paddock.race import RaceOptions
from paddock.race import headroom as measuring
from paddock.race.clusters import ClusterOptions
from paddock.race.headroom import Headroom, Shape
from paddock.race.options import PreparedRace
from paddock.reports.write import build, result_as_json, result_from_json
from paddock.tournaments import TournamentOptions
from paddock.tournaments import headroom as asking
from paddock.tournaments.command import load_result, run_tournament
from paddock.tournaments.durations import Experience, identity
from paddock.tournaments.headroom import (
    MOST_MEASURED,
    chosen,
    headroom_facts,
    headroom_sentence,
    known_headroom,
    measured_headroom,
)
from paddock.tournaments.model import Contender, Result
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.store import tournaments_folder
from tests.race.test_headroom import a_corpus, pushed
from tests.tournaments.conftest import prepare_without_elasticsearch
from tests.tournaments.test_schedule import a_tournament

SIZES = (100, 1000, 5000)
SHAPED = replace(
    a_tournament(3),
    baseline="100",
    contenders=tuple(Contender(str(size), {"bulk_size": size, "clients": 8}) for size in SIZES),
)


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusRecord:
    """A corpus that is there."""
    return a_corpus(tmp_path)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Shape]:
    """The shapes that are measured; the driver pushes 100 documents/s for each document of a bulk."""
    shapes: list[Shape] = []

    def measure(corpus: CorpusRecord, shape: Shape) -> Headroom:
        shapes.append(shape)
        return pushed(shape.bulk_size, shape.clients, 100.0 * shape.bulk_size)

    monkeypatch.setattr(measuring, "measure", measure)
    return shapes


def of_all(corpus: CorpusRecord) -> dict[str, CorpusRecord]:
    """The corpus of each contender."""
    return {contender.name: corpus for contender in SHAPED.contenders}


def test_every_shape_is_measured_once(corpus: CorpusRecord, asked: list[Shape]) -> None:
    """Before it nothing is known; two contenders with the same load share a measurement, and the next tournament it."""
    tournament = replace(SHAPED, contenders=(*SHAPED.contenders, Contender("again", {"bulk_size": 100, "clients": 8})))
    corpora = {contender.name: corpus for contender in tournament.contenders}
    assert known_headroom(tournament, corpora) == {}
    found = measured_headroom(tournament, corpora)
    assert asked == [Shape(size, 8) for size in SIZES]
    assert {name: one.shape.bulk_size for name, one in found.items()} == {
        **{str(size): size for size in SIZES},
        "again": 100,
    }
    assert measured_headroom(tournament, corpora) == known_headroom(tournament, corpora) == found
    assert len(asked) == 3


def test_of_a_grid_the_corners_are_measured(corpus: CorpusRecord, asked: list[Shape]) -> None:
    """Twelve shapes take four measurements; the others are reckoned."""
    grid = replace(
        SHAPED,
        contenders=tuple(
            Contender(f"{size}/{clients}", {"bulk_size": size, "clients": clients})
            for size in (100, 500, 1000, 5000)
            for clients in (1, 4, 8)
        ),
    )
    found = measured_headroom(grid, {one.name: corpus for one in grid.contenders})
    assert asked == [Shape(100, 1), Shape(100, 8), Shape(5000, 1), Shape(5000, 8)]
    assert len(found) == 12
    assert sum(one.reckoned for one in found.values()) == 8
    assert len(headroom_facts(found)) == 2


def test_few_shapes_are_all_chosen() -> None:
    """Up to the most that are measured; of more never more than the corners."""
    few = [Shape(size, 8) for size in range(1, MOST_MEASURED + 1)]
    assert chosen([*few, *few]) == few
    assert chosen([*few, Shape(9, 8)]) == [Shape(1, 8), Shape(9, 8)]


def test_time_is_bounded(corpus: CorpusRecord, asked: list[Shape], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each takes long, no further one is begun; what is known is used."""
    now = iter(range(0, 1000, 20))
    monkeypatch.setattr(asking.time, "monotonic", lambda: next(now))
    assert list(measured_headroom(SHAPED, of_all(corpus))) == ["100"]


def test_what_cannot_be_measured_stops_nothing(
    corpus: CorpusRecord, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning, and no headroom; a corpus that is no file here, or that is not known, is passed over silently."""

    def refuse(corpus: CorpusRecord, shape: Shape) -> Headroom:
        raise MachineError("no port is free.")

    monkeypatch.setattr(measuring, "measure", refuse)
    assert measured_headroom(SHAPED, of_all(corpus)) == {}
    assert "What the load driver alone can push is not known: no port is free." in capsys.readouterr().err
    corpus.file.unlink()
    assert measured_headroom(SHAPED, of_all(corpus)) == measured_headroom(SHAPED, {}) == {}
    assert capsys.readouterr().err == ""


def test_the_sentence() -> None:
    """One shape for all, several, disturbed ones; nothing where nothing is known."""
    alike = {"a": pushed(5000, 8, 312_345.0), "b": pushed(5000, 8, 312_345.0)}
    assert headroom_sentence(alike, {"a": 30_000.0, "b": 37_000.0}) == (
        "The load driver alone pushes 310,000 docs/s (bulks of 5,000, 8 clients) into a sink: the fastest contender "
        "reached 12 % of it."
    )
    differing = {"a": pushed(100, 1, 24_400.0), "b": pushed(5000, 8, 312_345.0, others=0.31)}
    assert headroom_sentence(differing, {"a": 12_200.0, "b": 37_000.0}, expected=True) == (
        "The load driver alone pushes 24,000 docs/s (bulks of 100, 1 client) to 310,000 docs/s (bulks of 5,000, "
        "8 clients) into a sink: 'a' is expected to come nearest to its own limit, 50 % of 24,000 docs/s (measured "
        "while others had 31 % of the cores, so it may be more)."
    )
    assert headroom_sentence(alike, {}).endswith("(bulks of 5,000, 8 clients) into a sink.")
    assert headroom_sentence({}, {"a": 1.0}) == ""


def test_the_plan_says_what_is_known() -> None:
    """Measured figures take the place of the assumed ones; without them the dry run says when they will be there."""
    lap = {(SHAPED.track, identity(SHAPED, one), SHAPED.lap_documents): 10.0 for one in SHAPED.contenders}
    plan = make_plan(SHAPED, 1, Experience(lap_seconds=lap))
    assert "What the load driver alone can push is not measured yet" in render_plan(plan, orders=True)
    assert "load driver alone" not in render_plan(plan)
    known = {str(size): pushed(size, 8, 1000.0 * size) for size in SIZES}
    text = render_plan(replace(plan, headroom=known), orders=True)
    assert "'100' is expected to come nearest to its own limit, 10 % of 100,000 docs/s." in text
    assert "not measured yet" not in text
    near = {**known, "100": pushed(100, 8, 12_500.0)}
    assert "laps of '100' are expected to keep the load driver busy for 0.80 s" in render_plan(
        replace(plan, headroom=near)
    )


def _hold(corpus: CorpusRecord, file: Path, **options: Any) -> Result | None:
    """A tournament with the fake whose contenders have that corpus."""

    def prepare(race: RaceOptions, fetch: bool, clusters: Sequence[ClusterOptions] = ()) -> PreparedRace:
        return replace(prepare_without_elasticsearch(race, fetch, clusters), corpus=corpus)

    return run_tournament(str(file), TournamentOptions(**{"seed": 5, **options}), prepare)


def test_a_tournament_measures_before_its_first_race(
    corpus: CorpusRecord,
    asked: list[Shape],
    fake_laps: Callable[..., None],
    definition: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A dry run measures nothing; the tournament does, says so, and its result has the figures, in every form."""
    file = definition()
    assert _hold(corpus, file, dry_run=True) is None
    assert asked == []
    assert "not measured yet" in capsys.readouterr().out
    result = _hold(corpus, file)
    assert result is not None
    assert asked == [Shape(1000, 8)]
    told = capsys.readouterr().err
    assert told.index("Measuring what the load driver alone") < told.index("Start 1 of 1")
    assert "The load driver alone pushes 100,000 docs/s (bulks of 1,000, 8 clients) into a sink" in told
    assert result.headroom == {name: pushed(1000, 8, 100_000.0) for name in ("1s", "30s")}
    (note,) = [note for note in result.notes if note.startswith("The load driver alone pushes 100,000 docs/s")]
    assert "the fastest contender reached" in note
    assert load_result("latest") == result == result_from_json(json.loads(json.dumps(result_as_json(result))))
    (circumstances,) = [section for section in build(result).sections if section.heading == "Circumstances"]
    assert ("load driver alone, into a sink", headroom_facts(result.headroom)[0]) in circumstances.facts
    assert _hold(corpus, file, dry_run=True) is None
    assert "The load driver alone pushes 100,000 docs/s" in capsys.readouterr().out
    assert len(asked) == 1


def test_rates_near_the_headroom_are_no_equivalence(
    corpus: CorpusRecord,
    fake_laps: Callable[..., None],
    definition: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alike at three quarters of what the driver pushes alone: a caution, and no verdict; far below it there is one.

    Nothing is withheld for a figure that was measured while others had part of the machine.
    """
    fake_laps(noise=0.001)
    alone: dict[str, float] = {"rate": 1e9}
    monkeypatch.setattr(measuring, "measure", lambda corpus, shape: pushed(rate=alone["rate"]))
    free = _hold(corpus, definition())
    assert free is not None and free.main.verdicts[0].verdict == "equivalent"
    assert not any("hidden" in note for note in free.notes)
    fastest = max(one.median or 0.0 for one in free.main.absolutes)
    alone["rate"] = fastest / 0.75
    bound = _hold(replace(corpus, sha256="cd" * 32), definition("near"))
    assert bound is not None and bound.main.verdicts[0].verdict == "undecided"
    assert "load driver was the limit" in bound.main.verdicts[0].decide
    (note,) = [note for note in bound.notes if "may be hidden" in note]
    assert "up to 75 % of what the load driver alone pushes" in note
    monkeypatch.setattr(measuring, "measure", lambda corpus, shape: pushed(rate=alone["rate"], others=0.3))
    disturbed = _hold(replace(corpus, sha256="ef" * 32), definition("disturbed"))
    assert disturbed is not None and disturbed.main.verdicts[0].verdict == "equivalent"
    assert any("measured while others had 30 % of the cores" in note for note in disturbed.notes)


def test_a_journal_may_lack_it_and_may_be_damaged(
    corpus: CorpusRecord, asked: list[Shape], fake_laps: Callable[..., None], definition: Callable[..., Path]
) -> None:
    """Journals of before have none; of a damaged one the sentence names the file."""
    result = _hold(corpus, definition())
    assert result is not None
    journal = tournaments_folder() / result.id / "journal.jsonl"
    lines = journal.read_text().splitlines()
    header = json.loads(lines[0])

    def rewritten(changes: Mapping[str, Any]) -> None:
        first = {name: value for name, value in {**header, **changes}.items() if value is not None}
        journal.write_text("\n".join([json.dumps(first), *lines[1:], ""]))

    rewritten({"headroom": None})
    assert load_result(result.id) == replace(
        result, headroom={}, notes=tuple(note for note in result.notes if "load driver alone" not in note)
    )
    rewritten({"headroom": {"1s": 7}})
    with pytest.raises(FileError, match="damaged"):
        load_result(result.id)
