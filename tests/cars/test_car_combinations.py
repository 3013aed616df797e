"""Putting cars together: order, contradictions, parameters from the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cars import combine, load_cars
from paddock.errors import UsageError
from paddock.plain_values import separated

CARS = load_cars()
ONE_OF_EACH = [
    ["1gheap", "16gheap", "defaults"],
    ["index-buffer-10", "index-buffer-40"],
    ["gc-g1", "gc-parallel", "gc-z"],
    ["mmap-allowed", "mmap-forbidden"],
    ["processors-1", "processors-8"],
    ["memory-lock"],
    ["data-path-shm"],
]


def test_what_comes_of_a_combination() -> None:
    """Values of car and mixins, and the base configuration's defaults for the rest."""
    combination = combine(["c4-large", "index-buffer-30", "gc-parallel", "memory-lock", "data-path-shm"], CARS)
    assert combination.heap_bytes == 1920 * 2**20
    assert combination.processors == 2
    assert combination.garbage_collector == "parallel"
    assert combination.memory_lock is True
    assert combination.data_paths == (Path("/dev/shm/paddock-node-data"),)  # noqa: S108
    assert combination.variables["index_buffer_size"] == "30%"
    assert combination.variables["allow_mmap"] == "true"


def test_defaults() -> None:
    """Rally's default car is the base configuration as it is."""
    combination = combine(["defaults"], CARS)
    assert (combination.heap_bytes, combination.processors, combination.garbage_collector) == (2**30, None, "g1")
    assert (combination.memory_lock, combination.data_paths) == (False, ())


def test_the_car_comes_first() -> None:
    """Names are brought into one order, the car with the base configuration first."""
    combination = combine(["processors-1", "index-buffer-30", "1gheap"], CARS)
    assert combination.names == ("1gheap", "index-buffer-30", "processors-1")
    assert combination.name == "1gheap,index-buffer-30,processors-1"


@given(st.data())
def test_the_order_of_names_does_not_matter(data: st.DataObject) -> None:
    """Any order of any car and any mixins that go together yields the same combination."""
    names = [data.draw(st.sampled_from(ONE_OF_EACH[0]))]
    names += [name for group in ONE_OF_EACH[1:] if (name := data.draw(st.sampled_from([None, *group])))]
    shuffled = data.draw(st.permutations(names))
    assert combine(shuffled, CARS) == combine(names, CARS)
    assert sorted(combine(shuffled, CARS).names) == sorted(names)


def test_an_unknown_car() -> None:
    """The nearest names are offered."""
    with pytest.raises(
        UsageError, match=r"There is no car '1gheep'. Did you mean '1gheap'.*\./inv cars lists them all"
    ):
        combine(["1gheep"], CARS)


def test_the_same_car_twice() -> None:
    """Named twice is a slip, even where it would change nothing."""
    with pytest.raises(UsageError, match="The car 'gc-z' is named twice"):
        combine(["1gheap", "gc-z", "gc-z"], CARS)


def test_only_mixins() -> None:
    """Without a base configuration there is nothing to start; the sentence shows a line that works."""
    with pytest.raises(UsageError, match=r"only 'index-buffer-30' and 'gc-z'") as error:
        combine(["index-buffer-30", "gc-z"], CARS)
    example = str(error.value).rstrip(".").split()[-1]
    assert combine(separated(example), CARS).names == ("1gheap", "gc-z", "index-buffer-30")


def test_no_car_at_all() -> None:
    """An empty list is refused with the same advice."""
    with pytest.raises(UsageError, match="only nothing: add a heap car, for example 1gheap"):
        combine([], CARS)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["1gheap", "4gheap"],
            "'1gheap' and '4gheap' contradict each other: heap_size is 1g in the one and 4g in the other",
        ),
        (["1gheap", "gc-g1", "gc-z"], "'gc-g1' and 'gc-z' contradict each other: garbage_collector is g1 .* z"),
        (["c4-large", "processors-4"], "'c4-large' and 'processors-4' contradict each other: processors is 2 .* 4"),
        (["c4-large", "4gheap"], "'c4-large' and '4gheap' contradict each other: heap_size is 1920m"),
        (["1gheap", "mmap-forbidden", "mmap-allowed"], "allow_mmap is false in the one and true in the other"),
        (["1gheap", "index-buffer-10", "index-buffer-20"], "index_buffer_size is 10% in the one and 20% in the other"),
    ],
)
def test_contradictions(names: list[str], sentence: str) -> None:
    """Two cars that set one variable to different values are named, with the variable and both values."""
    with pytest.raises(UsageError, match=sentence):
        combine(names, CARS)


def test_agreement_is_no_contradiction() -> None:
    """Two cars may say the same; defaults says nothing and goes with any."""
    assert combine(["c4-large", "processors-2"], CARS).processors == 2
    assert combine(["defaults", "4gheap"], CARS).heap_bytes == 4 * 2**30


def test_different_base_configurations() -> None:
    """Rally would append the one's elasticsearch.yml to the other's."""
    other = replace(CARS["defaults"], name="other", bases=("another",))
    with pytest.raises(UsageError, match="'1gheap' and 'other' have different base configurations"):
        combine(["1gheap", "other"], {**CARS, "other": other})


def test_parameters_win() -> None:
    """--car-params come before every car, as in Rally; its Python values are understood."""
    given_parameters = {"heap_size": "3g", "processors": 3, "memory_lock": True, "data_paths": "/mnt/nvme/node"}
    combination = combine(["1gheap", "processors-1"], CARS, given_parameters)
    assert (combination.heap_bytes, combination.processors, combination.memory_lock) == (3 * 2**30, 3, True)
    assert combination.data_paths == (Path("/mnt/nvme/node"),)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"heap_sice": "1g"}, "There is no car parameter 'heap_sice'. Did you mean 'heap_size'"),
        ({"heap_size": "1gb"}, "The car parameter heap_size is wrong: '1gb' is no size"),
        ({"processors": 0}, "The car parameter processors is wrong: '0' is no number"),
        ({"data_paths": ["/a"]}, "The car parameter data_paths is wrong: .* write one absolute path"),
    ],
)
def test_wrong_parameters(parameters: dict, sentence: str) -> None:
    """A parameter that no car knows, or an impossible value, is a sentence and no dead node."""
    with pytest.raises(UsageError, match=sentence):
        combine(["1gheap"], CARS, parameters)


@given(st.lists(st.from_regex(r"[a-z0-9-]+", fullmatch=True)), st.sampled_from([",", ", ", " ,", ",,"]))
def test_names_on_the_command_line(names: list[str], separator: str) -> None:
    """Splitting undoes joining, whatever spaces and empty parts stand between."""
    assert separated(separator.join(names)) == names
