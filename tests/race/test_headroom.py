"""What the load driver alone pushes: measured with Rally's own client, remembered for what it holds for, reckoned."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from paddock import paths
from paddock.corpora.record import FROM_RECIPE, CorpusRecord
from paddock.errors import MachineError
from paddock.race import headroom as measuring
from paddock.race.headroom import Headroom, Shape, between, ensure, measure, remembered
from tests.machine import wait_until


def a_corpus(folder: Path, documents: int = 400) -> CorpusRecord:
    """A corpus that Rally can read: a line for every document."""
    file = folder / "apache.json"
    file.write_text("".join(json.dumps({"number": number, "text": "x" * 200}) + "\n" for number in range(documents)))
    size = file.stat().st_size
    return CorpusRecord(file, "apache", "apache", FROM_RECIPE, "", 1, documents, size, 7, "ab" * 32, "2026", 0, {})


def pushed(bulk_size: int = 1000, clients: int = 8, rate: float = 100_000.0, **changes: Any) -> Headroom:
    """A headroom of that shape, measured while nobody else was there."""
    cpu = bulk_size / rate
    known = Headroom(Shape(bulk_size, clients), rate, 0.9 * rate, 350 * rate, cpu, cpu / bulk_size, 0.02)
    return replace(known, **changes)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Headroom]:
    """What is measured, in the place of loads; the first is given first, and then it is gone."""
    found: list[Headroom] = []
    monkeypatch.setattr(measuring, "measure", lambda corpus, shape: found.pop(0))
    return found


@pytest.mark.parametrize("shape", [Shape(100, 2), Shape(100, 3, 2), Shape(100, 1, 2)], ids=str)
def test_the_load_of_a_lap_is_sent_to_a_sink(tmp_path: Path, shape: Shape) -> None:
    """Programs, real HTTP: figures that belong together, of a corpus that begins anew when it is at its end.

    Of several processes those that have a client push together.
    """
    corpus = a_corpus(tmp_path)
    found = measure(corpus, shape, warm_up=0.05, seconds=0.2, rounds=2)
    assert found.shape == shape
    assert found.docs_per_second >= found.slowest_docs_per_second > 0
    assert found.bytes_per_second / found.docs_per_second == pytest.approx(
        corpus.bytes / corpus.documents + len('{"index": {"_index": "sink-lap"}}\n'), rel=0.01
    )
    assert found.cpu_seconds_per_bulk == pytest.approx(100 * found.cpu_seconds_per_document)
    assert 0 <= found.others <= 1
    assert not found.reckoned


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    """A corpus that is gone: a sentence with what the program said, and no sink is left."""
    corpus = a_corpus(tmp_path)
    corpus.file.unlink()
    with pytest.raises(MachineError, match=r"could not load the sink: FileNotFoundError.*apache\.json"):
        measure(corpus, Shape(100, 2), warm_up=0, seconds=0.1, rounds=1)


def test_what_several_processes_push_is_added_up() -> None:
    """Their rates, however long the round of each took; clients are spread as a lap spreads them."""
    one = {"documents": 100, "bulks": 10, "bytes": 1000, "cpu_seconds": 0.5, "seconds": 1.0}
    both = measuring._together([one, {**one, "documents": 300, "seconds": 2.0}])
    assert both["documents"] / both["seconds"] == pytest.approx(100 + 150)
    assert (both["bulks"], both["bytes"], both["cpu_seconds"]) == (20, 2000, 1.0)
    assert [measuring._spread(Shape(100, clients, 3)) for clients in (1, 3, 8)] == [[1], [1, 1, 1], [3, 3, 2]]


def test_a_kill_leaves_nothing(tmp_path: Path) -> None:
    """Whoever measures is killed: sink and load end by themselves."""
    corpus = a_corpus(tmp_path)
    words = [
        "from pathlib import Path; from paddock.race.headroom import CorpusRecord, Shape, measure",
        f"made = ('apache', 'apache', 'recipe', '', 1, {corpus.documents}, {corpus.bytes}, 7, 'ab', '2026', 0, {{}})",
        f"measure(CorpusRecord(Path({str(corpus.file)!r}), *made), Shape(100, 2), rounds=600)",
    ]
    measuring_process = subprocess.Popen([sys.executable, "-c", "\n".join(words)], cwd=paths.PROJECT)
    try:
        mine = psutil.Process(measuring_process.pid)
        wait_until(lambda: any("paddock.race.driver_load" in one.cmdline() for one in mine.children()))
        programs = mine.children()
    finally:
        measuring_process.kill()
        measuring_process.wait()
    assert len(programs) == 2
    wait_until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in programs))


def test_it_is_measured_once(tmp_path: Path, measured: list[Headroom]) -> None:
    """And remembered, every shape by itself."""
    corpus = a_corpus(tmp_path)
    assert remembered(corpus) == {}
    measured += [pushed(), pushed(100)]
    assert ensure(corpus, Shape(1000, 8)) == ensure(corpus, Shape(1000, 8)) == pushed()
    assert ensure(corpus, Shape(100, 8)) == pushed(100)
    assert remembered(corpus) == {Shape(1000, 8): pushed(), Shape(100, 8): pushed(100)}
    assert list(paths.state_folder().iterdir()) == [paths.state_folder() / "headroom.json"]


def test_it_holds_for_corpus_machine_and_software(
    tmp_path: Path, measured: list[Headroom], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another corpus of that name, another processor or another Rally: measured again, and nothing is forgotten."""
    corpus = a_corpus(tmp_path)
    measured += [pushed(rate=1.0), pushed(rate=2.0), pushed(rate=3.0), pushed(rate=4.0)]
    assert ensure(corpus, Shape(1000, 8)).docs_per_second == 1
    assert ensure(replace(corpus, sha256="cd" * 32), Shape(1000, 8)).docs_per_second == 2
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(measuring, "circumstances", lambda _: {"CPU": "another", "cores": "64"})
        assert ensure(corpus, Shape(1000, 8)).docs_per_second == 3
    with monkeypatch.context() as newer:
        newer.setattr(measuring, "_software", lambda: "Rally 3")
        assert ensure(corpus, Shape(1000, 8)).docs_per_second == 4
    assert ensure(corpus, Shape(1000, 8)).docs_per_second == 1


def test_a_disturbed_measurement_is_tried_again(tmp_path: Path, measured: list[Headroom]) -> None:
    """Whenever it is asked for, until the machine was quiet; the least disturbed one is kept."""
    corpus = a_corpus(tmp_path)
    measured += [pushed(rate=5.0, others=0.4), pushed(rate=3.0, others=0.6), pushed(rate=9.0, others=0.0)]
    assert [ensure(corpus, Shape(1000, 8)).docs_per_second for _ in range(4)] == [5, 5, 9, 9]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: '{"measured": 7}',
        lambda text: text.replace('"docs_per_second"', '"docs"'),
        lambda text: text.replace("100000.0", "0"),
        lambda text: text.replace("100000.0", '"NaN"'),
        lambda text: text.replace('"bulk_size": 1000', '"bulk_size": 0'),
    ],
)
def test_a_damaged_file_is_measured_again(tmp_path: Path, measured: list[Headroom], damage: Any) -> None:
    """Whatever became of it: nothing is known, and then it is known again."""
    corpus, file = a_corpus(tmp_path), paths.state_folder() / "headroom.json"
    measured += [pushed(), pushed()]
    ensure(corpus, Shape(1000, 8))
    file.write_text(damage(file.read_text()))
    assert remembered(corpus) == {}
    assert ensure(corpus, Shape(1000, 8)) == pushed()
    assert remembered(corpus) == {Shape(1000, 8): pushed()}


def test_shapes_between_are_reckoned() -> None:
    """A bulk costs 4 ms and 10 us a document: 100 and 5,000 tell that of 1,000, with the nearest number of clients."""
    rates = {size: size / (0.004 + 1e-5 * size) for size in (100, 1000, 5000)}
    known = {one.shape: one for one in (pushed(size, 8, rates[size]) for size in (100, 5000))}
    known |= {one.shape: one for one in (pushed(size, 1, rates[size] / 2) for size in (100, 5000))}
    for clients, share in ((6, 1.0), (8, 1.0), (2, 0.5)):
        found = between(known, Shape(1000, clients))
        assert found is not None and found.reckoned
        assert found.docs_per_second == pytest.approx(share * rates[1000])
        assert found.cpu_seconds_per_bulk == pytest.approx((0.004 + 0.01) / share)
        assert found.bytes_per_second == pytest.approx(350 * found.docs_per_second)
    assert between(known, Shape(10, 8)) is None
    assert between(known, Shape(1000, 8, 2)) is None
    assert between({}, Shape(1000, 8)) is None
