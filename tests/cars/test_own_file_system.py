"""The car variable data_size: the node's script mounts a file system that it alone sees, and that ends with it."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from esrally import exceptions

from paddock import paths
from paddock.cars import combine, load_cars
from paddock.errors import UsageError
from paddock.rally.privileges import namespaces_work


@pytest.fixture
def hooks() -> ModuleType:
    """The base configuration's hooks, as Rally loads them."""
    spec = importlib.util.spec_from_file_location("base_config", paths.CARS / "base" / "config.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def node(folder: Path, data: Path) -> Path:
    """An installation whose script writes into its data path and says how large that is and who it is."""
    script = folder / "bin" / "elasticsearch"
    script.parent.mkdir(parents=True)
    script.write_text(
        f'#!/bin/sh\necho "$1" > "{data}/a file"\nstat -f -c "%T %b %S" "{data}"\nid -u\n', encoding="utf-8"
    )
    script.chmod(0o755)
    return script


@pytest.mark.skipif(not namespaces_work(), reason="this kernel forbids user namespaces")
def test_the_node_alone_sees_its_file_system(tmp_path: Path, hooks: ModuleType) -> None:
    """It has that size, belongs to an ordinary user, takes the script's arguments, and leaves nothing outside."""
    data = tmp_path / "its data"
    script = node(tmp_path, data)
    variables = {"install_root_path": str(tmp_path), "data_paths": [str(data)], "data_size": "3m"}
    hooks.make_own_file_system(["a-car"], variables)
    done = subprocess.run([str(script), "an argument"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kind, blocks, size, user = done.stdout.split()
    assert (kind, int(blocks) * int(size), user) == ("tmpfs", 3 << 20, "1000")
    assert list(data.iterdir()) == []
    assert str(data).replace(" ", "\\040") not in Path("/proc/self/mountinfo").read_text()


def test_without_a_size_the_script_stays_as_it_is(tmp_path: Path, hooks: ModuleType) -> None:
    """The data lies where the data path says."""
    script = node(tmp_path, tmp_path)
    before = script.read_text()
    hooks.make_own_file_system([], {"install_root_path": str(tmp_path), "data_paths": [str(tmp_path)], "data_size": ""})
    assert script.read_text() == before


def test_a_machine_that_forbids_it(tmp_path: Path, hooks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installation ends with a sentence that names the way out."""
    node(tmp_path, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    variables = {"install_root_path": str(tmp_path), "data_paths": [str(tmp_path)], "data_size": "3m"}
    with pytest.raises(exceptions.SystemSetupError, match=r"data_size of 3m, and this machine .*full_disk_room"):
        hooks.make_own_file_system(["a-car"], variables)


@pytest.mark.parametrize("size", ["3", "0m", "much", "1.5g"])
def test_what_is_no_size_is_refused(size: str) -> None:
    """Before anything is started."""
    with pytest.raises(UsageError, match="is no size of a file system: write a number with m or g"):
        combine(["1gheap"], load_cars(), {"data_size": size})
