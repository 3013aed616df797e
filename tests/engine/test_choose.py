"""--version, --engine and --java become what Rally has to be told."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddock import paths
from paddock.engine import choose, choose_engine, download
from paddock.engine.versions import DEFAULT_VERSION
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


def test_whether_a_node_can_parse_is_seen_before_it_is_started(tmp_path: Path) -> None:
    """Elastic's tarball has the module of ingest processors; an archive is looked into; ours has not."""
    jar, module = "elasticsearch-9.2.4/lib/elasticsearch-9.2.4.jar", "elasticsearch-9.2.4/modules/ingest-common/one.jar"
    assert choose_engine(None, str(an_archive(tmp_path, jar, module)), None, quiet).ingest
    assert not choose_engine(None, str(an_archive(tmp_path, jar)), None, quiet).ingest
    assert choose_engine(None, "official", None, quiet).ingest
    assert not choose_engine(None, None, None, quiet, fetch=False).ingest


def test_the_official_engine_leaves_the_download_to_rally() -> None:
    """--engine official: nothing is fetched here, and Rally may go to the network."""
    engine = choose_engine("8.15.0", "official", None, quiet)
    assert (engine.version, engine.offline, engine.archive, engine.runtime_jdk) == ("8.15.0", False, None, "bundled")
    assert "#" not in engine.car_params["jdk.bundled.release_url"]


def a_java(folder: Path, version: str) -> Path:
    """A Java of that version, as far as it tells."""
    binary = folder / version / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    binary.chmod(0o755)
    return folder / version


@pytest.mark.parametrize("version", ["6.8.0", "7.10.2", "7.16.3", "10.0.0", "81.7.0"])
def test_what_rally_and_the_cars_cannot_drive_is_refused_before_a_download(tmp_path: Path, version: str) -> None:
    """Both as --engine official and as an archive at hand, with the versions that can be raced."""
    source = an_archive(tmp_path, f"elasticsearch-{version}/lib/elasticsearch-{version}.jar")
    for wanted, engine in ((version, "official"), (None, str(source))):
        with pytest.raises(UsageError, match=rf"{version} cannot be raced: .* from 7\.17\.0 to 9\.x"):
            choose_engine(wanted, engine, None, quiet)
    assert not paths.distributions_folder().exists()


@pytest.mark.parametrize(
    ("version", "java", "accepted"),
    [("9.0.0", "17.0.15", False), ("9.2.0", "21.0.8", True), ("9.2.0", "25", True), ("8.19.4", "17.0.15", True)],
)
def test_from_9_on_elasticsearch_wants_java_21(tmp_path: Path, version: str, java: str, accepted: bool) -> None:
    """A Java that was asked for is refused if it is older, and accepted from 21 on."""
    source = an_archive(tmp_path, f"elasticsearch-{version}/lib/elasticsearch-{version}.jar")
    home = str(a_java(tmp_path, java))
    for engine in ("official", str(source)):
        if accepted:
            assert choose_engine(version, engine, home, quiet).java.version == java
        else:
            with pytest.raises(UsageError, match=r"is Java 17\.0\.15, but this Elasticsearch runs on 21 to 25"):
                choose_engine(version, engine, home, quiet)


def test_an_archive_of_9_without_a_jdk_passes_an_old_java_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAVA_HOME of 17, which 8.x would run on, gives way to the embedded JRE."""
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, "17.0.15")))
    for version, expected in (("9.2.0", 21), ("8.19.4", 17)):
        source = an_archive(tmp_path, f"elasticsearch-{version}/lib/elasticsearch-{version}.jar")
        assert choose_engine(None, str(source), None, quiet).java.major == expected


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
    monkeypatch.setattr(download, "TAR_WORKS", False)
    source = an_archive(tmp_path, "elasticsearch-8.9.1/lib/elasticsearch-8.9.1.jar")
    for wanted in ("official", str(source)):
        with pytest.raises(MachineError, match=r"cannot unpack .* on Python .*PADDOCK_PYTHON"):
            choose_engine(None, wanted, None, quiet)
    engine = choose_engine(None, None, None, quiet, fetch=False)
    assert engine.archive.name == f"paddock-elasticsearch-{DEFAULT_VERSION}.zip"
    assert engine.car_params["jdk.bundled.release_url"] == engine.archive.as_uri()
