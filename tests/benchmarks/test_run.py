"""The benchmark as a whole, small: who is measured, how often, and what is left behind."""

from __future__ import annotations

import os
import statistics
import sys
from collections import Counter
from pathlib import Path

import pytest
from invoke import Exit

from benchmarks import catalogue, run
from benchmarks.model import ALL_CORES, DISK, ONE_CORE, PADDOCK, Benchmark, Comparison, Measurement, Sample
from benchmarks.report import BEGIN, END, as_values, inserted, markdown, ratios, render
from benchmarks.tasks import bench_corpus
from benchmarks.workers import BLOCK, Answer, Worker, run_dd, run_together
from paddock.errors import MachineError
from paddock.paths import data_folder

ECHO = """
import json, os, sys
print(json.dumps({"version": ",".join(map(str, sorted(os.sched_getaffinity(0))))}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    answer = {"documents": request["documents"], "bytes": 7, "seconds": float(sys.argv[1])}
    print(json.dumps(answer), flush=True)
"""


def echo(seconds: float) -> Worker:
    """A worker that does nothing and says that it took so long; its version is the cores that it may use."""
    cores = sorted(os.sched_getaffinity(0))
    return Worker("echo", [sys.executable, "-c", ECHO, str(seconds)], cores[-1:])


def test_workers_are_bound_and_run_together() -> None:
    """Each keeps to its cores; together they have made the sum, and the slowest counts."""
    with echo(1) as first, echo(2.5) as second:
        assert first.version == str(max(os.sched_getaffinity(0)))
        assert run_together([first, second], 10, [None, Path("x")]) == Answer(20, 14, 2.5)


@pytest.mark.parametrize("program", ["raise SystemExit('no such module')", "print('hello')", ""])
def test_a_worker_that_fails_gets_a_sentence(program: str) -> None:
    """Its last words are in it, if it had any."""
    with pytest.raises(MachineError, match=r"The generator odd failed .* --peers"):
        Worker("odd", [sys.executable, "-c", program], sorted(os.sched_getaffinity(0)))


def test_dd_writes_what_it_reports(tmp_path: Path) -> None:
    """Zeros, in blocks of 8 MiB; a folder that does not exist gets a sentence."""
    answer = run_dd("dd buffered", 3 * BLOCK + 5, tmp_path / "zeros")
    assert answer.bytes == (tmp_path / "zeros").stat().st_size == 3 * BLOCK
    assert answer.seconds > 0
    with pytest.raises(MachineError, match="dd cannot write"):
        run_dd("dd buffered", BLOCK, tmp_path / "nowhere" / "zeros")


def test_every_generator_runs_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paddock, a peer and dd in every mode and round; what cannot be had is left out with its reason."""

    def no_go() -> None:
        raise MachineError("There is no Go.")

    monkeypatch.setattr(catalogue, "prepare_peers", lambda: Path(sys.executable))
    monkeypatch.setattr(catalogue, "build_elastic", no_go)
    monkeypatch.setattr(run, "_PROFILED", 6000)
    monkeypatch.setattr(run, "_MOST_ON_DISK", 16 << 20)
    done: list[int] = []
    found = run.benchmark(["json", "elastic"], rounds=2, recipes=["apache"], seconds=0.02, advance=done.append)
    assert done == [1, 1]
    assert found.absent == {"elastic": "There is no Go."}
    (comparison,) = found.comparisons
    modes = [ONE_CORE, ALL_CORES, DISK] if len(os.sched_getaffinity(0)) > 1 else [ONE_CORE, DISK]
    expected = {(generator, mode): 2 for generator in (PADDOCK, "json") for mode in modes}
    expected |= {("dd direct", DISK): 2, ("dd buffered", DISK): 2}
    assert Counter((each.generator, each.mode) for each in comparison.measurements) == expected
    assert all(each.bytes and each.seconds > 0 for each in comparison.measurements)
    assert [sample.generator for sample in comparison.samples] == [PADDOCK, "json"]
    assert not list(data_folder("paddock-bench").iterdir())
    text = markdown(found)
    assert "Not measured: elastic" in text
    assert "| Paddock " in text
    assert "one core" in render(found)


def a_benchmark() -> Benchmark:
    """Paddock at 300, 100 and 200 MB/s, a peer at 30, 50 and 10."""
    measurements = [
        Measurement(number, generator, ONE_CORE, 1000, rate * 1_000_000, 1.0)
        for generator, speeds in ((PADDOCK, (300, 100, 200)), ("orjson", (30, 50, 10)))
        for number, rate in enumerate(speeds, 1)
    ]
    sample = Sample(PADDOCK, 5, 300.0, {"path": 4})
    comparison = Comparison("apache", {PADDOCK: "1", "orjson": "3"}, (sample,), tuple(measurements))
    return Benchmark("2026-01-05T10:00:00+00:00", {"cores": "2"}, 1.5, 3, 1, {}, (comparison,))


def test_ratios_are_of_the_same_round() -> None:
    """10, 2 and 20, not 200 / 30: what disturbs a round disturbs both."""
    found = a_benchmark()
    assert ratios(found.comparisons[0], "orjson", ONE_CORE) == [10, 2, 20]
    values = as_values(found)["comparisons"][0]
    assert values["megabytes_per_second"]["paddock, one core"] == statistics.median([300, 100, 200])
    assert values["paddock_ratio"] == {"orjson, one core": [10, 2, 20]}
    for text in (render(found), markdown(found)):
        assert "10.0 (2.00 to 20.0)" in text
        assert "other work was running" in text


def test_tables_replace_those_of_a_page() -> None:
    """What stands around the marks stays, and putting them in again changes nothing."""
    page = f"# Title\n{BEGIN}\nold\n{END}\nmore\n"
    new = inserted(page, "| new |\n")
    assert new == f"# Title\n{BEGIN}\n| new |\n{END}\nmore\n"
    assert inserted(new, "| new |\n") == new


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}\n{BEGIN}\n", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"])
def test_a_page_without_marks_is_left_alone(page: str) -> None:
    """Neither overwritten nor appended to."""
    with pytest.raises(ValueError, match="has to have one line"):
        inserted(page, "tables\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"into": "/nowhere/page.md"}, "cannot be read"),
        ({"peers": "polar"}, r"no generator 'polar'.*'polars'"),
        ({"rounds": 0}, r"--rounds wants a whole number from 1 on"),
    ],
)
def test_the_command_refuses_what_cannot_be_meant(options: dict, sentence: str) -> None:
    """Unknown peers and no rounds; nothing is installed or run."""
    with pytest.raises(Exit, match=sentence):
        bench_corpus.body(None, **options)
