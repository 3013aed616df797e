"""The logarithm through a line of a grid, and its knee: found where they are known, and not where nothing can be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.statistics.curves import find_knee, fit_logarithm

_SIZES = st.lists(st.integers(1, 5000), min_size=3, max_size=12, unique=True)


@given(_SIZES, st.floats(-1e4, 1e4), st.floats(-1e4, 1e4).filter(lambda slope: abs(slope) > 1e-3))
def test_a_logarithm_is_found_again(sizes: list[int], offset: float, slope: float) -> None:
    """Points on one give it back, and are explained whole."""
    fitted = fit_logarithm([(size, offset + slope * math.log(size)) for size in sizes])
    assert fitted is not None
    scale = abs(offset) + abs(slope) * 10
    assert fitted.slope == pytest.approx(slope, abs=1e-6 * scale)
    assert fitted.at(sizes[0]) == pytest.approx(offset + slope * math.log(sizes[0]), abs=1e-6 * scale)
    assert fitted.explained == pytest.approx(1, abs=1e-6)


@given(_SIZES, st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=12))
def test_no_other_logarithm_is_nearer(sizes: list[int], values: list[float]) -> None:
    """Least squares: a small change of offset or slope is never nearer to the points."""
    points = [(float(size), value) for size, value in zip(sizes, values, strict=False)]
    fitted = fit_logarithm(points)
    assert fitted is not None
    assert 0 <= fitted.explained <= 1

    def left(offset: float, slope: float) -> float:
        return sum((y - offset - slope * math.log(x)) ** 2 for x, y in points)

    least = left(fitted.offset, fitted.slope)
    for change in (-0.1, 0.1):
        assert left(fitted.offset + change, fitted.slope) >= least - 1e-6 * (1 + least)
        assert left(fitted.offset, fitted.slope + change) >= least - 1e-6 * (1 + least)


def test_two_points_are_no_curve() -> None:
    """Any curve meets two points: a fit would explain everything and say nothing."""
    assert fit_logarithm([(16, 850.0), (32, 1700.0)]) is None
    assert fit_logarithm([(16, 850.0), (16, 860.0), (32, 1700.0)]) is None


def test_the_knee_is_where_little_is_left_to_gain() -> None:
    """The fewest workers and the smallest batch within 5 % of the best; two cells where each takes less of one."""
    means = {(1, 16): 400, (1, 500): 980, (2, 125): 970, (4, 125): 990, (4, 500): 1000, (4, 16): 700}
    knee = find_knee({(float(workers), float(batch)): float(mean) for (workers, batch), mean in means.items()})
    assert knee is not None
    assert (knee.best, knee.highest) == ((4, 500), 1000)
    assert knee.near == ((1, 500), (2, 125))
    assert find_knee({}) is None
    assert find_knee({(1.0, 1.0): 0.0}) is None


_CELLS = st.dictionaries(st.tuples(st.integers(1, 9), st.integers(1, 9)), st.floats(1, 100), min_size=1)


@given(_CELLS)
def test_nothing_within_reach_takes_less_than_the_knee(cells: dict[tuple[float, float], float]) -> None:
    """Each cell of the knee is near the best, and every near cell takes as much of both as one of them at least."""
    knee = find_knee(cells, 0.05)
    assert knee is not None
    near = [cell for cell, value in cells.items() if value >= 0.95 * max(cells.values())]
    assert set(knee.near) <= set(near)
    for cell in near:
        assert any(one[0] <= cell[0] and one[1] <= cell[1] for one in knee.near)
