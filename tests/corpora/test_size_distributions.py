"""Sizes of documents: the recipes make the distributions that they name, to the byte."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.corpora.sized_text import exponential_weights, quantile_weights, size_weights

Distribution = Callable[[Any], Any]

DOCUMENTS = 20_000
LOGS = [
    *("logs", "logs-fixed", "logs-exponential", "logs-empirical"),
    *("logs-structured", "logs-structured-fixed", "logs-structured-exponential", "logs-structured-empirical"),
]


def uniform(low: float, high: float) -> Distribution:
    """The continuous distribution function."""
    return stats.uniform(low, high - low).cdf  # type: ignore[no-any-return]


def truncated_exponential(low: float, high: float, decay: float) -> Distribution:
    """The continuous distribution function."""
    return stats.truncexpon(decay, low, (high - low) / decay).cdf  # type: ignore[no-any-return]


def with_quantiles(points: list[int]) -> Distribution:
    """The distribution function; between bytes it is unique even where quantiles are equal."""
    return lambda sizes: np.interp(sizes, points, np.linspace(0, 1, len(points)))


def true_distribution(size: dict[str, Any]) -> Distribution:
    """The distribution function that a recipe's section `size` means, from SciPy."""
    ((kind, value),) = size.items()
    if kind == "fixed":
        return with_quantiles([value, value])
    if kind == "uniform":
        return uniform(*value)
    if kind == "exponential":
        return truncated_exponential(value["from"], value["to"], value["decay"])
    return with_quantiles(value)


def spread(distribution: Distribution) -> Distribution:
    """The distribution function of a size rounded to the nearest byte, plus a uniform number from -1/2 to 1/2.

    So much noise makes rounded sizes continuous again, as the Kolmogorov-Smirnov test wants them, and moves none of
    them to where another byte would be: the function is linear from half a byte below each size to half a byte above.
    """

    def function(values: Any) -> Any:
        below = np.floor(np.asarray(values) - 0.5) + 0.5
        low, high = distribution(below), distribution(below + 1)
        return low + (high - low) * (values - below)

    return function


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The sizes of the first documents of a recipe, made once."""
    known: dict[str, Any] = {}

    def of(name: str) -> Any:
        if name not in known:
            file = tmp_path_factory.mktemp("sizes") / name
            write_corpus(load_recipe(name), DOCUMENTS, 1, file)
            with file.open("rb") as lines:
                known[name] = np.array([len(line) for line in lines])
            file.unlink()
        return known[name]

    return of


@pytest.mark.parametrize("name", LOGS)
def test_sizes_follow_the_distribution(name: str, sizes: Callable[[str], Any]) -> None:
    """Kolmogorov-Smirnov over 20,000 documents: no evidence against the recipe's distribution, at 1 in 1,000."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, DOCUMENTS)
    result = stats.kstest(sizes(name) + noise, spread(true_distribution(load_recipe(name).content["size"])))
    assert result.pvalue > 0.001, result


def test_the_test_notices_a_wrong_distribution(sizes: Callable[[str], Any]) -> None:
    """A decay of 16 or 18 instead of 17, or one per cent of another length, is found out."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, DOCUMENTS)
    for wrong in (truncated_exponential(10_000, 64_000, 16), truncated_exponential(10_000, 64_000, 18)):
        assert stats.kstest(sizes("logs-exponential") + noise, spread(wrong)).pvalue < 1e-4
    assert stats.kstest(sizes("logs") + noise, spread(uniform(500, 5200))).pvalue < 1e-4


@pytest.mark.parametrize("name", ["logs-exponential", "logs-structured-exponential"])
def test_the_exponential_recipes_are_those_of_the_published_study(name: str, sizes: Callable[[str], Any]) -> None:
    """10 to 64 kB, 13.2 kB on average, and the smallest fifth below 11 kB."""
    made = sizes(name)
    assert 10_000 <= made.min() <= 10_010
    assert made.max() <= 64_000
    assert made.mean() == pytest.approx(13_176, rel=0.01)
    assert np.quantile(made, 0.2) < 11_000


@pytest.mark.parametrize("name", ["logs", "logs-structured"])
def test_the_uniform_recipes_reach_both_ends(name: str, sizes: Callable[[str], Any]) -> None:
    """0.5 to 5 kB, 2.75 kB on average."""
    made = sizes(name)
    assert 500 <= made.min() <= 505
    assert 4995 <= made.max() <= 5000
    assert made.mean() == pytest.approx(2750, rel=0.02)


@pytest.mark.parametrize("name", ["logs-fixed", "logs-structured-fixed"])
def test_the_fixed_recipes_have_one_size(name: str, sizes: Callable[[str], Any]) -> None:
    """Every document has exactly 2,000 bytes, its newline included."""
    assert set(sizes(name)) == {2000}


@given(low=st.integers(1, 500), width=st.integers(1, 500), decay=st.integers(1, 60))
def test_exponential_weights_are_exact(low: int, width: int, decay: int) -> None:
    """Every size has the probability that the formula gives to the byte around it."""
    weights = exponential_weights(low, low + width, decay)
    total = sum(weights.values())
    assert list(weights) == list(range(low, low + width + 1))

    def below(size: float) -> float:
        place = min(max((size - low) / width, 0), 1)
        return math.expm1(-decay * place) / math.expm1(-decay)

    for size, weight in weights.items():
        assert weight / total == pytest.approx(below(size + 0.5) - below(size - 0.5), rel=1e-9, abs=1e-13)


@given(points=st.lists(st.integers(1, 400), min_size=2, max_size=8).map(sorted).filter(lambda of: of[0] < of[-1]))
def test_quantile_weights_are_exact(points: list[int]) -> None:
    """Between two quantiles there is as much as between any other two, spread evenly."""
    weights = quantile_weights(points)
    total = sum(weights.values())
    expected: dict[int, float] = {}
    for low, high in itertools.pairwise(points):
        for size in range(low, high + 1):
            share = 1.0 if low == high else (0.5 if size in (low, high) else 1.0) / (high - low)
            expected[size] = expected.get(size, 0) + share / (len(points) - 1)
    assert {size: weight / total for size, weight in weights.items()} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "size",
    [
        {"uniform": [500, 400]},
        {"uniform": [500, 500]},
        {"quantiles": [100, 300, 200]},
        {"exponential": {"from": 100, "to": 100, "decay": 17}},
    ],
)
def test_what_is_no_range_is_refused(size: dict[str, Any]) -> None:
    """Falling or empty ranges end in a sentence."""
    with pytest.raises(ValueError, match="no range: they have to rise"):
        size_weights(size)
