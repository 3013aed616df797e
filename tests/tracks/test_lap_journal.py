"""The journal: whole lines, whatever was there before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shared.lap_journal import append_lap


def test_lines_are_added(tmp_path: Path) -> None:
    """One line per lap, in their order, and nothing else."""
    path = tmp_path / "laps.jsonl"
    for number in (1, 2):
        append_lap(path, {"lap": number, "level": "größer"})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["lap"] for line in lines] == [1, 2]


def test_torn_line_spoils_only_itself(tmp_path: Path) -> None:
    """What a crash has cut off is ended, so that the next lap has a line of its own."""
    path = tmp_path / "laps.jsonl"
    append_lap(path, {"lap": 1})
    with path.open("a", encoding="utf-8") as file:
        file.write('{"lap":2,"lev')
    append_lap(path, {"lap": 3})
    assert path.read_text(encoding="utf-8").splitlines() == ['{"lap":1}', '{"lap":2,"lev', '{"lap":3}']


def test_no_invalid_json(tmp_path: Path) -> None:
    """NaN is no JSON: better no line than one that nobody can read."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        append_lap(tmp_path / "laps.jsonl", {"seconds": float("nan")})
    assert not (tmp_path / "laps.jsonl").exists()
