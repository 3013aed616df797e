"""The values of a car's variables: what is accepted, and the sentence for what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cars import parse_size
from paddock.cars.files import check_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512m", 512 * 2**20), ("1g", 2**30), ("1G", 2**30), (" 2k ", 2048), ("7", 7), ("3b", 3), ("1t", 2**40)],
)
def test_sizes(text: str, expected: int) -> None:
    """Units are powers of 1024, as for the JVM."""
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "g", "1.5g", "-1g", "0m", "1gb", "one", "1 g", "1g1", "٣g"])
def test_no_sizes(text: str) -> None:
    """Anything else gets a sentence that quotes it and shows how to write it."""
    with pytest.raises(ValueError, match=r"is no size: write a whole number above 0 and a unit") as error:
        parse_size(text)
    assert f"'{text}'" in str(error.value)


@given(st.integers(min_value=1, max_value=10**9), st.sampled_from("bkmgt"), st.booleans())
def test_sizes_scale_with_their_number(number: int, unit: str, upper: bool) -> None:
    """A size is its number times its unit, whatever the case of the unit."""
    assert parse_size(f"{number}{unit.upper() if upper else unit}") == number * parse_size(f"1{unit}")


@given(st.text(max_size=12))
def test_parsing_a_size_never_fails_otherwise(text: str) -> None:
    """Any text yields a positive number or a ValueError, nothing else."""
    try:
        assert parse_size(text) > 0
    except ValueError as error:
        assert "is no size" in str(error)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("heap_size", "512m"),
        ("garbage_collector", "z"),
        ("index_buffer_size", "30%"),
        ("index_buffer_size", "12.5%"),
        ("index_buffer_size", "512mb"),
        ("allow_mmap", "false"),
        ("memory_lock", "true"),
        ("processors", ""),
        ("processors", "8"),
        ("data_paths", "/mnt/disk/node"),
        ("release.cache", "whatever"),
    ],
)
def test_possible_values(variable: str, value: str) -> None:
    """What the ini files and users write passes; variables without a rule are free."""
    check_value(variable, value)


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("heap_size", "1gb", "is no size"),
        ("heap_size", "1m", "does not start below 64m"),
        ("garbage_collector", "cms", "write one of g1, parallel, z"),
        ("index_buffer_size", "0%", "is no index buffer"),
        ("index_buffer_size", "130%", "is no index buffer"),
        ("index_buffer_size", "30", "is no index buffer"),
        ("allow_mmap", "yes", "neither true nor false"),
        ("memory_lock", "", "neither true nor false"),
        ("processors", "0", "is no number of processors"),
        ("processors", "1.5", "is no number of processors"),
        ("data_paths", "data", "is no data path"),
        ("data_paths", "/", "is no data path"),
        ("data_paths", "//", "is no data path"),
        ("data_paths", "/a,/b", "is no data path"),
    ],
)
def test_impossible_values(variable: str, value: str, problem: str) -> None:
    """Each gets a sentence that says what would be possible."""
    with pytest.raises(ValueError, match=problem):
        check_value(variable, value)
