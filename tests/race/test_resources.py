"""The resource record: means and windows of the load alone, of every component, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.plain_values import Missing, built, known, plain
from paddock.race.over_time import ALL_NODES, DRIVER, MEMORY, PROCESSORS, WRITTEN, OverTime, Series, over_time
from paddock.race.resources import WINDOW_SECONDS, Resources, resources, steady
from tests.race.scenes import Load, Scene


def made(cores: list[float | None], *loads: tuple[float, float]) -> OverTime:
    """One node with these cores in each second."""
    return OverTime(loads, (Series(PROCESSORS, "node", "node_cores", tuple(cores)),), "node")


def test_windows_of_a_load_of_which_all_is_known() -> None:
    """A minute of half a core with half a minute of two cores in its middle; what comes after it does not count.

    Nor does, of the second half, the second in which the load ended.
    """
    cores = [0.5] * 15 + [2.0] * 30 + [0.5] * 15 + [9.0] * 40
    (node,) = resources(made(list(cores), (0.0, 60.0))).components
    assert node.cpu_percent.average == pytest.approx(125)
    assert node.cpu_percent.peak == pytest.approx(200)
    assert node.cpu_percent.steady == pytest.approx(100 * (15 * 2.0 + 14 * 0.5) / 29)


def test_a_short_load_is_one_window() -> None:
    """Of ten seconds the highest window is all of them, not a second of its own."""
    (node,) = resources(made([1.0] * 9 + [3.0], (0.0, 10.0))).components
    assert node.cpu_percent.peak == node.cpu_percent.average == pytest.approx(120)
    assert node.cpu_percent.steady == pytest.approx(100)


def test_several_loads_have_windows_and_halves_of_their_own() -> None:
    """What lies between them is in none; the second half is that of each."""
    over = made([1.0] * 10 + [8.0] * 30 + [2.0] * 10, (0.0, 10.0), (40.0, 50.0))
    assert steady(over) == ((5, 9), (45, 49))
    found = resources(over)
    assert found.seconds == 20
    assert found.components[0].cpu_percent.peak == pytest.approx(200)
    assert found.components[0].cpu_percent.average == pytest.approx(150)


@given(
    st.lists(st.none() | st.floats(0, 64), min_size=1, max_size=150),
    st.floats(0, 40),
    st.floats(0, 150),
)
def test_a_peak_is_never_below_the_average(cores: list[float | None], begin: float, length: float) -> None:
    """Whatever is missing and wherever the load lies: least second <= average <= peak <= largest second."""
    over = made(cores, (begin, begin + length))
    use = resources(over).components[0].cpu_percent
    inside = [100 * value for value in over.series[0].within((begin, begin + length))]
    if not inside:
        assert isinstance(use.average, Missing)
        return
    average, peak = known(use.average), known(use.peak)
    assert average is not None
    assert peak is not None
    assert min(inside) - 1e-6 <= average
    assert peak <= max(inside) + 1e-6
    assert average <= peak + 1e-6 or len(inside) > WINDOW_SECONDS


def test_of_a_real_scene_every_component_is_told() -> None:
    """Nodes, the driver; bytes from the first document to the end; several nodes one by one and together."""
    samples = Scene(60, [Load(4, [2000] * 40)]).samples()
    both = [
        replace(one, nodes={**(one.nodes or {}), "b": replace((one.nodes or {})["node"], name="rally-node-1")})
        for one in samples
    ]
    over = over_time(both)
    assert over is not None
    found = resources(over)
    assert [one.name for one in found.components] == ["rally-node-0", "rally-node-1", ALL_NODES, DRIVER]
    node, _, together, driver = found.components
    assert node.cpu_percent.steady == pytest.approx(200)
    assert together.cpu_percent.peak == pytest.approx(400)
    assert driver.cpu_percent.average == pytest.approx(50)
    assert driver.busiest_percent == pytest.approx(40)
    assert node.written_bytes == pytest.approx(56 * 10**6)
    assert isinstance(node.read_bytes, Missing)  # the scene's kernel does not tell
    assert isinstance(node.busiest_percent, Missing)
    assert built(Resources, plain(found), "resources") == found
    assert [len(row) for row in found.rows] == [len(found.headers)] * 4


def test_of_nodes_elsewhere_memory_and_disk_are_not_known() -> None:
    """Their processor time is what they say themselves; the rest says why it is missing."""
    over = over_time(Scene(60, [Load(4, [2000] * 40)], local=False).samples())
    assert over is not None
    node = resources(over).components[0]
    assert known(node.cpu_percent.average) is not None
    assert isinstance(node.memory_bytes.peak, Missing)
    assert "another machine" in node.memory_bytes.peak.reason
    assert isinstance(node.written_bytes, Missing)


def test_bytes_are_those_of_all_known_seconds() -> None:
    """A second of which nothing is known adds nothing."""
    series = (Series(PROCESSORS, "a", "", (1.0,) * 4), Series(WRITTEN, "a", "", (1.0, None, 2.0, 0.5)))
    found = resources(OverTime(((0.0, 2.0),), (*series, Series(MEMORY, "a", "", (None, 5.0, 7.0, 9.0))), "a"))
    assert found.components[0].written_bytes == 3.5 * 2**20
    assert found.components[0].memory_bytes.average == 5.0 * 2**20
