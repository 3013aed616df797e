"""What the sampler writes is read back as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import FileError
from paddock.sampling import Sample, read_circumstances, read_samples, read_settings
from paddock.sampling.records import (
    Collections,
    DriverUsage,
    IndexCounters,
    MachineUsage,
    NodeCounters,
    ProcessUsage,
    sample_from_line,
)

numbers = st.integers(0, 2**53)
times = st.floats(0, 1e10)
nodes = st.builds(
    NodeCounters,
    name=st.text(),
    cpu_seconds=times,
    collectors=st.dictionaries(st.text(), st.builds(Collections, numbers, numbers), max_size=3),
    write_rejected=numbers,
    process=st.none() | st.builds(ProcessUsage, numbers, times, numbers, st.none() | numbers),
)
indices = st.builds(IndexCounters, uuid=st.text(), indexed=numbers, segment_bytes=st.none() | numbers)
samples = st.builds(
    Sample,
    time=times,
    seconds=times,
    missed=st.integers(0, 3),
    problem=st.none() | st.text(),
    nodes=st.none() | st.dictionaries(st.text(), nodes, max_size=3),
    indices=st.none() | st.dictionaries(st.text(), indices, max_size=3),
    machine=st.builds(MachineUsage, times, times, times),
    driver=st.builds(DriverUsage, numbers, times, numbers, times),
)


@given(samples)
def test_a_sample_survives_writing_and_reading(sample: Sample) -> None:
    """Whatever a sample holds, its line of JSON gives it back."""
    assert sample_from_line(json.loads(json.dumps(sample.as_line()))) == sample


def _line(seconds: float) -> str:
    sample = Sample(0, seconds, 0, None, None, None, MachineUsage(0, 0, 0), DriverUsage(0, 0, 0, 0))
    return json.dumps(sample.as_line()) + "\n"


def test_every_cut_of_the_file_can_be_read(tmp_path: Path) -> None:
    """Wherever a power cut tears the last line, the samples before it are there."""
    file = tmp_path / "samples.jsonl"
    whole = (_line(1) + _line(2)).encode()
    first = whole.index(b"\n") + 1
    for length in range(0, len(whole) + 1, 7):
        file.write_bytes(whole[:length])
        assert [sample.seconds for sample in read_samples(file)] == [1, 2][: (length >= first) + (length == len(whole))]


def test_no_file_means_no_samples(tmp_path: Path) -> None:
    """A race of which nothing was sampled is no error."""
    assert read_samples(tmp_path / "none") == []
    assert read_circumstances(tmp_path / "none") is None
    assert read_settings(tmp_path / "none") == {}


@pytest.mark.parametrize(
    "middle", ["{broken\n", "[]\n", '{"kind": "sample"}\n', '{"kind": "sample", "nodes": 1, "indices": {}}\n']
)
def test_damage_elsewhere_is_told_with_its_line(tmp_path: Path, middle: str) -> None:
    """Only the last line can have been torn: damage before it is not passed over."""
    file = tmp_path / "samples.jsonl"
    file.write_text(_line(1) + middle + _line(3))
    with pytest.raises(FileError) as error:
        read_samples(file)
    assert error.value.line == 2


def test_the_last_word_counts(tmp_path: Path) -> None:
    """Circumstances as written last; settings of every index as written last, deleted ones included."""
    file = tmp_path / "samples.jsonl"
    lines = [
        {"kind": "circumstances", "lucene_version": "9.5.0"},
        {"kind": "settings", "indices": {"a": {"uuid": "1"}}},
        {"kind": "circumstances", "lucene_version": "9.6.0"},
        {"kind": "settings", "indices": {"b": {"uuid": "2"}}},
        {"kind": "settings", "indices": {"b": {"uuid": "3"}}},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + _line(1))
    circumstances = read_circumstances(file)
    assert circumstances is not None
    assert circumstances["lucene_version"] == "9.6.0"
    assert read_settings(file) == {"a": {"uuid": "1"}, "b": {"uuid": "3"}}
    assert len(read_samples(file)) == 1
