"""--version, --engine and --java become what Rally has to be told."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddock import paths
from paddock.engine import archive, choose, choose_engine
from paddock.errors import MachineError, UsageError


@pytest.fixture(autouse=True)
def tar_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a Python that is new enough; the old ones have a test of their own."""
    monkeypatch.setattr(choose, "TAR_WORKS", True)


@contextmanager
def quiet(_description: str, _total: int) -> Iterator[Callable[[int], None]]:
    """Progress that nobody looks at."""
    yield lambda _amount: None


def an_archive(folder: Path, *names: str) -> Path:
    """A .tar.gz with empty files of those names."""
    path = folder / "engine.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return path


def test_an_archive_at_hand_goes_into_rallys_cache(tmp_path: Path) -> None:
    """--engine PATH: version read from inside, copied once, Rally led to it offline."""
    source = an_archive(tmp_path, "elasticsearch-8.9.1/lib/elasticsearch-8.9.1.jar")
    engine = choose_engine(None, str(source), None, quiet)
    assert (engine.kind, engine.version, engine.offline) == ("archive", "8.9.1", True)
    assert engine.archive.parent == paths.distributions_folder()
    assert engine.archive.read_bytes() == source.read_bytes()
    assert engine.car_params["jdk.unbundled.release_url"].endswith(engine.archive.name)
    assert engine.runtime_jdk == "21"


def test_an_archive_with_a_jdk_runs_on_it(tmp_path: Path) -> None:
    """Elastic's own tarball brings its JDK; Rally's word for it is "bundled"."""
    source = an_archive(tmp_path, "elasticsearch-8.9.1/lib/elasticsearch-8.9.1.jar", "elasticsearch-8.9.1/jdk/bin/java")
    engine = choose_engine(None, str(source), None, quiet)
    assert (engine.runtime_jdk, engine.environment) == ("bundled", {})


def test_the_official_engine_leaves_the_download_to_rally() -> None:
    """--engine official: nothing is fetched here, and Rally may go to the network."""
    engine = choose_engine("8.15.0", "official", None, quiet)
    assert (engine.version, engine.offline, engine.archive, engine.runtime_jdk) == ("8.15.0", False, None, "bundled")
    assert "#" not in engine.car_params["jdk.bundled.release_url"]


@pytest.mark.parametrize(
    ("version", "engine", "sentence"),
    [
        ("8.8", "official", "write it in full"),
        (None, "/nowhere/engine.tar.gz", "there is no file /nowhere"),
        (None, "oficial", "'embedded', 'official' or the path"),
        ("7.0.0", None, "not available embedded"),
    ],
)
def test_wrong_choices_end_in_a_sentence(version: str | None, engine: str | None, sentence: str) -> None:
    """Each mistake says what to write instead."""
    with pytest.raises(UsageError, match=sentence):
        choose_engine(version, engine, None, quiet)


def test_archives_that_are_none_are_named(tmp_path: Path) -> None:
    """No Elasticsearch inside, no archive at all, another version, a zip: a sentence each."""
    empty = an_archive(tmp_path, "something/else")
    with pytest.raises(UsageError, match="holds no Elasticsearch"):
        choose_engine(None, str(empty), None, quiet)
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(b"no archive")
    with pytest.raises(UsageError, match="cannot be read as an archive"):
        choose_engine(None, str(broken), None, quiet)
    other = an_archive(tmp_path, "elasticsearch-8.9.1/lib/elasticsearch-8.9.1.jar")
    with pytest.raises(UsageError, match=r"holds Elasticsearch 8\.9\.1, not 8\.8\.2"):
        choose_engine("8.8.2", str(other), None, quiet)
    zipped = tmp_path / "engine.zip"
    zipped.write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"is no \.tar\.gz"):
        choose_engine(None, str(zipped), None, quiet)


def test_on_an_old_python_tarballs_are_refused_and_the_embedded_engine_is_a_zip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rally cannot unpack tar files on Python 3.11.2 (Debian 12's own): said at once, and led round for the default."""
    monkeypatch.setattr(choose, "TAR_WORKS", False)
    monkeypatch.setattr(archive, "TAR_WORKS", False)
    source = an_archive(tmp_path, "elasticsearch-8.9.1/lib/elasticsearch-8.9.1.jar")
    for wanted in ("official", str(source)):
        with pytest.raises(MachineError, match=r"cannot unpack .* on Python .*PADDOCK_PYTHON"):
            choose_engine(None, wanted, None, quiet)
    engine = choose_engine(None, None, None, quiet, fetch=False)
    assert engine.archive.name == "paddock-elasticsearch-8.8.2.zip"
    assert engine.car_params["jdk.bundled.release_url"] == engine.archive.as_uri()
