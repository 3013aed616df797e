"""Results survive JSON without loss, and damage is named."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import FileError, UsageError
from paddock.reports.write import FORMAT, read_result, result_as_json, result_from_json, write_report
from paddock.tournaments.model import Contender, Lap, Markers, Result
from tests.reports.results import ALL, result

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_NUMBERS = st.floats(allow_nan=False)


@pytest.mark.parametrize("name", ALL)
def test_round_trip_through_text(name: str) -> None:
    """What is read back equals what was written, infinite ends of intervals included."""
    before = ALL[name]()
    text = json.dumps(result_as_json(before), allow_nan=False)
    assert result_from_json(json.loads(text)) == before


@given(_TEXT, _PLAIN, st.dictionaries(_TEXT, _PLAIN, max_size=3), st.lists(_NUMBERS, max_size=4), st.none() | _TEXT)
def test_round_trip_of_anything(
    name: str, level: Any, params: dict[str, Any], rates: list[float], void: str | None
) -> None:
    """Any name, any JSON-like level and parameters, any numbers and reasons survive."""
    contenders = [Contender(name, level, ("a", name), params, {name: level})]
    lap = Lap(1, 1, 1, name, False, 10, 10, 1.0, 0.0, void, tuple(rates), {name: 1.0}, Markers((1.0,), ()))
    before = result(name, contenders, [lap])
    assert result_from_json(json.loads(json.dumps(result_as_json(before), allow_nan=False))) == before


def test_infinity_is_a_text() -> None:
    """JSON knows no infinity; files hold the documented text, which every reader can parse."""
    value = result_as_json(ALL["voids"]())
    verdict = value["result"]["main"]["verdicts"][1]
    assert (verdict["ratio"], verdict["high"]) == (None, "Infinity")
    assert math.isinf(result_from_json(value).main.verdicts[1].high)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda value: value.pop("format"), "This is no tournament result"),
        (lambda value: value.update(version=2), "version 2 of its format, and version 1 is understood here"),
        (lambda value: value["result"].pop("seed"), "result.seed is not there"),
        (lambda value: value["result"].update(seed="x"), "result.seed is not a whole number"),
        (lambda value: value["result"].update(seed=True), "result.seed is not a whole number"),
        (lambda value: value["result"].update(began="soon"), "result.began is not a number"),
        (lambda value: value["result"].update(laps={}), "result.laps is not a list"),
        (lambda value: value["result"]["laps"][0].update(void=3), "result.laps[0].void is not a text"),
        (lambda value: value["result"].update(circumstances=[]), "result.circumstances is not an object"),
        (lambda value: value.update(result=None), "result is not an object"),
    ],
)
def test_damage_is_named(change: Any, sentence: str) -> None:
    """A damaged result is refused with the place of the damage."""
    value = result_as_json(ALL["undecided"]())
    change(value)
    with pytest.raises(UsageError) as caught:
        result_from_json(value)
    assert sentence in str(caught.value)


def test_optional_fields_may_be_missing() -> None:
    """Fields that have a default in the model need not be in the file."""
    value = result_as_json(ALL["undecided"]())
    del value["result"]["laps"][0]["void"]
    assert result_from_json(value) == ALL["undecided"]()


def test_files_that_are_no_results(tmp_path: Path) -> None:
    """A missing file, one that is no JSON and one that is another's end in a sentence with the path."""
    for text in (None, "{", "[]", f'{{"format": "{FORMAT}", "version": 1, "result": {{}}}}'):
        file = tmp_path / "result.json"
        if text is not None:
            file.write_text(text)
        with pytest.raises(FileError, match=r"result\.json"):
            read_result(file)


def test_all_files_of_a_report(tmp_path: Path) -> None:
    """A report has five files, no temporary one is left, and the result in it can be read back."""
    before: Result = ALL["decided"]()
    paths = write_report(before, tmp_path / "report")
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [
        *("junit.xml", "laps.csv", "report.html", "report.md", "result.json")
    ]
    assert set(paths) == {"html", "markdown", "json", "csv", "junit"}
    assert read_result(paths["json"]) == before


def test_the_same_result_gives_the_same_files(tmp_path: Path) -> None:
    """A report made anew from its result is the same to the byte, plots included."""
    first = write_report(ALL["study"](), tmp_path / "first")
    again = write_report(read_result(first["json"]), tmp_path / "again")
    for form, path in first.items():
        assert path.read_bytes() == again[form].read_bytes(), form
