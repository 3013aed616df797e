"""Reading a team's ini files: the ones of this project, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from esrally.mechanic import team

from paddock import paths
from paddock.cars import load_cars
from paddock.errors import FileError

BASE = "[variables]\nheap_size = 1g\ngarbage_collector = g1\n"
CAR = "[meta]\ndescription = A car.\ntype = car\n\n[config]\nbase = base\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A team's folder with one base configuration."""
    (tmp_path / "cars" / "base").mkdir(parents=True)
    (tmp_path / "cars" / "base" / "config.ini").write_text(BASE)
    return tmp_path / "cars"


def test_the_cars_that_there_must_be() -> None:
    """The heap cars, the mixins and the profiles of the studies are there, with their heaps and processors."""
    cars = load_cars()
    assert {"defaults", "512mheap", "1gheap", "2gheap", "4gheap", "8gheap", "16gheap"} <= set(cars)
    assert {f"index-buffer-{share}" for share in (10, 20, 30, 40)} <= set(cars)
    assert {"gc-g1", "gc-parallel", "gc-z", "mmap-allowed", "mmap-forbidden", "memory-lock", "data-path-shm"} <= set(
        cars
    )
    assert {f"processors-{count}" for count in (1, 2, 4, 8)} <= set(cars)
    profiles = {
        "m1-small": (870 * 2**20, "1"),
        "c4-large": (1920 * 2**20, "2"),
        "c4-2xlarge": (7680 * 2**20, "8"),
        "i5-2520m": (8 * 2**30, "4"),
        "i3-laptop": (4 * 2**30, "4"),
        "k8s-1cpu-2gib": (2**30, "1"),
    }
    for name, (heap, processors) in profiles.items():
        assert (cars[name].heap_bytes, cars[name].variables["processors"]) == (heap, processors)
    assert cars["defaults"].heap_bytes == cars["1gheap"].heap_bytes == 2**30


def test_names_say_what_is_set() -> None:
    """Heap cars, buffer, processor and collector mixins set the value that their name carries."""
    cars = load_cars()
    for car in cars.values():
        if car.name.endswith("heap"):
            assert car.variables == {"heap_size": car.name.removesuffix("heap")}
        for prefix, variable, unit in (
            ("index-buffer-", "index_buffer_size", "%"),
            ("processors-", "processors", ""),
            ("gc-", "garbage_collector", ""),
        ):
            if car.name.startswith(prefix):
                assert car.variables == {variable: car.name.removeprefix(prefix) + unit}


def test_rally_reads_the_same() -> None:
    """Rally's own loader finds the same cars with the same types, descriptions, variables and defaults."""
    cars = load_cars()
    loader = team.CarLoader(str(paths.PROJECT))
    assert set(loader.car_names()) == set(cars)
    for name, car in cars.items():
        theirs = loader.load_car(name)
        assert (theirs.type, theirs.description) == (car.kind, car.description)
        assert (theirs.variables, theirs.config_base_variables) == (car.variables, car.defaults)


def test_mixins_only_set_variables() -> None:
    """A mixin with templates would append to the base's files, where a key must not stand twice."""
    for car in load_cars().values():
        assert (car.kind == "mixin") == (not car.bases)
        if car.kind == "mixin":
            assert car.variables


def test_cars_come_first_and_by_heap(folder: Path) -> None:
    """The order is one for people: cars by heap, then mixins."""
    (folder / "zz.ini").write_text(f"{CAR}[variables]\nheap_size = 512m\n")
    (folder / "bb.ini").write_text(CAR)
    (folder / "aa.ini").write_text("[meta]\ndescription = M.\ntype = mixin\n[variables]\ngarbage_collector = z\n")
    assert list(load_cars(folder)) == ["zz", "bb", "aa"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("description = A car.\n", 1, r"before the first \[section\]"),
        (f"{CAR}[variables]\nheap_size = 1g\nheap_size = 2g\n", 9, "'heap_size' stands here twice"),
        (f"{CAR}[config]\nbase = base\n", 7, r"'\[config\]' stands here twice"),
        (f"{CAR}nonsense\n", 7, "no 'key = value'"),
        (f"{CAR}[variables]\nheap_size = $\n", 8, "lone '\\$'"),
        (f"{CAR}[variables]\nheap_size = ${{other}}\n", 8, "names what is not there"),
        (f"{CAR}[variables]\nheap_sise = 1g\n", 8, "knows the variable 'heap_sise'. Did you mean 'heap_size'?"),
        (f"{CAR}[variables]\nheap_size = huge\n", 8, "heap_size: 'huge' is no size"),
        (CAR.replace("type = car", "type = bus"), 3, "'bus' is no type: write car or mixin"),
        (CAR.replace("description = A car.\n", ""), None, "there is no description"),
        (CAR.replace("base = base", "base = best"), 6, "there is no base configuration 'best'"),
        (CAR.replace("base = base", ""), 3, "a car has no base configuration here: add"),
        (CAR.replace("type = car", "type = mixin"), 3, "a mixin must not have a base configuration"),
    ],
)
def test_mistakes(folder: Path, text: str, line: int | None, problem: str) -> None:
    """Each mistake in an ini file is named in one sentence, with file and line."""
    path = folder / "wrong.ini"
    path.write_text(text)
    with pytest.raises(FileError, match=problem) as error:
        load_cars(folder)
    assert (error.value.path, error.value.line) == (path, line)


def test_a_mistake_in_the_base_configuration(folder: Path) -> None:
    """The defaults are checked like a car's own variables."""
    (folder / "base" / "config.ini").write_text("[variables]\ngarbage_collector = cms\n")
    with pytest.raises(FileError, match="write one of g1") as error:
        load_cars(folder)
    assert (error.value.path.name, error.value.line) == ("config.ini", 2)


def test_a_file_that_cannot_be_read(folder: Path) -> None:
    """Bytes that are no UTF-8 are a sentence, not a traceback."""
    (folder / "wrong.ini").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="cannot be read"):
        load_cars(folder)
