"""Limits as cars say them: lists of CPUs, forms, and what contradicts itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cars import combine, load_cars
from paddock.errors import UsageError
from paddock.limits import Limits, cpu_list, cpus_in
from paddock.limits.asked import HIGHEST_CPU

CARS = load_cars()


@given(st.sets(st.integers(0, HIGHEST_CPU), min_size=1, max_size=40))
def test_lists_of_cpus_are_read_as_they_are_written(cpus: set[int]) -> None:
    """Whatever the CPUs, and no list is longer than their numbers one by one."""
    text = cpu_list(cpus)
    assert cpus_in(text) == tuple(sorted(cpus))
    assert len(text) <= len(",".join(map(str, sorted(cpus))))


@given(st.text(alphabet="0123456789-, x", max_size=12))
def test_whatever_is_written_is_a_list_or_a_sentence(text: str) -> None:
    """No other error, and what is read is read the same again."""
    try:
        cpus = cpus_in(text)
    except ValueError as error:
        assert "is no list of CPUs: write their numbers" in str(error)
    else:
        assert cpus_in(cpu_list(cpus)) == cpus


@pytest.mark.parametrize(("text", "cpus"), [("0-3,5", (0, 1, 2, 3, 5)), ("1", (1,)), (" 2 , 0-1", (0, 1, 2))])
def test_lists_of_cpus(text: str, cpus: tuple[int, ...]) -> None:
    """As the kernel writes them, with blanks at most."""
    assert cpus_in(text) == cpus


def limits(*names: str, **variables: object) -> Limits:
    """Of those cars."""
    return combine(names or ("1gheap",), CARS, variables).limits


def test_no_car_but_the_profiles_has_limits() -> None:
    """The cars as they were take what the machine has."""
    with_limits = {car.name for car in CARS.values() if car.kind == "car" and limits(car.name)}
    assert with_limits == {"m1-small", "c4-large", "c4-2xlarge", "i5-2520m", "i3-laptop", "k8s-1cpu-2gib"}
    assert not Limits()


def test_profiles_name_what_they_bind() -> None:
    """Cores and memory of the machine, and a pod the time that its quota gives it."""
    assert limits("m1-small") == Limits(cores=1, memory_bytes=1740 << 20)
    assert limits("c4-2xlarge") == Limits(cores=8, memory_bytes=15 << 30)
    assert limits("k8s-1cpu-2gib") == Limits(quota=1.0, memory_bytes=2 << 30)
    assert limits("m1-small", "no-limits") == Limits()
    assert limits("m1-small", limit_cores="") == Limits(memory_bytes=1740 << 20)


def test_all_limits_can_be_written() -> None:
    """As --car-params gives them: numbers are numbers there."""
    told = limits(
        limit_cpus="0-1,3", limit_cpu_quota=0.5, limit_memory="2g", limit_disk_read="20m", limit_disk_write="1g"
    )
    assert told == Limits(None, (0, 1, 3), 0.5, 2 << 30, 20 << 20, 1 << 30)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"limit_cpus": "two"}, "limit_cpus is wrong: 'two' is no list of CPUs"),
        ({"limit_cpus": "3-1"}, "'3-1' is no list of CPUs"),
        ({"limit_cores": 0}, "'0' is no number of cores: write 1 or more"),
        ({"limit_cores": 1.5}, "'1.5' is no number of cores"),
        (
            {"limit_cpu_quota": "half"},
            "'half' is no share of processor time: write cores' worth of it",
        ),
        ({"limit_cpu_quota": 0.01}, "'0.01' is too small a share of processor time: a node needs 0.1 to start"),
        ({"limit_memory": "much"}, "'much' is no size: write a whole number above 0 and a unit"),
        ({"limit_disk_write": -1}, "limit_disk_write is wrong: '-1' is no size"),
        ({"limits": "maybe"}, "'maybe' is neither on nor off"),
        ({"limit_cores": 1, "limit_cpus": "0"}, r"says how many cores \(limit_cores 1\) and which \(limit_cpus 0\)"),
        ({"limit_cores": 1, "limit_cpu_quota": 2}, "has a quota of 2 cores and 1 to use it on"),
        ({"limit_memory": "1100m"}, r"heap of 1.0 GiB and a limit of 1.1 GiB .* make limit_memory 1280m or more"),
        ({"limit_core": 1}, "Did you mean 'limit_cores'"),
    ],
)
def test_what_cannot_be_is_refused(variables: dict[str, object], sentence: str) -> None:
    """One sentence each, and no quota, core or size is rounded to one that can."""
    with pytest.raises(UsageError, match=sentence):
        limits(**variables)


def test_the_least_memory_that_is_advised_is_taken() -> None:
    """The remedy works."""
    assert limits(limit_memory="1280m").memory_bytes == 1280 << 20
    assert limits("m1-small", limit_memory="1126m").memory_bytes == 1126 << 20
