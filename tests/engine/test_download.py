"""The embedded engine's download against a server on loopback: checked, once, and nothing half-made."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import io
import multiprocessing
import os
import socket
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddock import paths
from paddock.engine import download
from paddock.engine.versions import DEFAULT_VERSION, RELEASES, Release
from paddock.errors import MachineError, UsageError
from tests.machine import PATIENCE


def a_zip() -> bytes:
    """A zip with the layout of an Elasticsearch distribution."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("elasticsearch-1.2.3/", "")
        archive.writestr("elasticsearch-1.2.3/bin/elasticsearch", "#!/bin/sh\n")
        archive.writestr("elasticsearch-1.2.3/lib/elasticsearch-1.2.3.jar", os.urandom(300_000))
        archive.writestr("elasticsearch-1.2.3/plugins/", "")
    return buffer.getvalue()


ZIP = a_zip()
SHA512 = hashlib.sha512(ZIP).hexdigest()
RELEASE = Release("1.2.3", SHA512, root_plugin=None)


class Server(http.server.ThreadingHTTPServer):
    """Serves one zip; ``sends`` decides what really goes over the wire."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str] = []
        self.body = ZIP
        self.stall = False
        self.stalled = threading.Event()
        self.over = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET for the zip and nothing else."""

    server: Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        if not self.path.endswith((".zip", ".jar")) or "1.2.3" not in self.path:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(ZIP)))
        self.end_headers()
        if self.server.stall:
            self.wfile.write(self.server.body[: len(ZIP) // 2])
            self.wfile.flush()
            self.server.stalled.set()
            self.server.over.wait()
            return
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A mirror of Maven Central on loopback, for a Python on which Rally can unpack tar files."""
    monkeypatch.setattr("paddock.engine.download.TAR_WORKS", True)
    with Server() as serving:
        serving.daemon_threads = True
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        monkeypatch.setenv("PADDOCK_MAVEN_REPOSITORY", f"http://127.0.0.1:{serving.server_port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield serving
        serving.over.set()
        serving.shutdown()


@contextmanager
def quiet(_description: str, _total: int) -> Iterator[Callable[[int], None]]:
    """Progress that nobody looks at."""
    yield lambda _amount: None


def nothing_half_made() -> bool:
    """No archive, no record, no temporary folder."""
    left = [*paths.distributions_folder().glob("*"), *(paths.state_folder() / "downloads").glob("fetch-*")]
    return left == []


def zips(server: Server) -> int:
    """How often the zip was asked for."""
    return sum(path.endswith(".zip") for path in server.requests)


def test_an_old_python_gets_the_zip_itself(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Rally cannot unpack tar files, its cache gets Elastic's zip, byte for byte."""
    monkeypatch.setattr("paddock.engine.download.TAR_WORKS", False)
    archive = download.fetch(RELEASE, quiet)
    assert archive.name == "paddock-elasticsearch-1.2.3.zip"
    assert archive.read_bytes() == ZIP


def test_the_archive_is_repacked_with_executable_scripts(server: Server) -> None:
    """Rally gets a .tar.gz in its cache whose bin/elasticsearch can run, under the name that our cars ask for."""
    archive = download.fetch(RELEASE, quiet)
    assert archive == paths.distributions_folder() / "paddock-elasticsearch-1.2.3.tar.gz"
    with tarfile.open(archive) as packed:
        assert packed.getmember("elasticsearch-1.2.3/bin/elasticsearch").mode == 0o755
        assert packed.getmember("elasticsearch-1.2.3/plugins").isdir()


def test_it_is_downloaded_once_and_progress_adds_up(server: Server) -> None:
    """A second call asks nothing of the network; the first reports every byte."""
    received: list[int] = []

    @contextmanager
    def counting(description: str, total: int) -> Iterator[Callable[[int], None]]:
        assert description == "Downloading elasticsearch-1.2.3.zip"
        assert total == len(ZIP)
        yield received.append

    download.fetch(RELEASE, counting)
    download.fetch(RELEASE, counting)
    assert sum(received) == len(ZIP)
    assert zips(server) == 1


def test_a_corrupted_download_is_thrown_away(server: Server) -> None:
    """A wrong checksum is said, nothing is kept, and the next call succeeds."""
    server.body = ZIP[:-1] + bytes([ZIP[-1] ^ 1])
    with pytest.raises(MachineError, match=r"1\.2\.3 is damaged .*call again"):
        download.fetch(RELEASE, quiet)
    assert nothing_half_made()
    server.body = ZIP
    assert download.fetch(RELEASE, quiet).is_file()


def test_a_download_that_breaks_off_leaves_nothing(server: Server) -> None:
    """A connection that ends early is an error, not an archive."""
    server.body = ZIP[: len(ZIP) // 2]
    with pytest.raises(MachineError, match=r"damaged|could not be downloaded"):
        download.fetch(RELEASE, quiet)
    assert nothing_half_made()


def test_without_a_network_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network on the first race: one sentence with the way out."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PADDOCK_MAVEN_REPOSITORY", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(MachineError, match=r"could not be downloaded .*refused.* network.*--engine PATH"):
            download.fetch(RELEASE, quiet)
    assert nothing_half_made()


@pytest.mark.parametrize(
    "mirror",
    [
        *("me:secret@host/x", "//me:secret@host/x", "ftp://me:secret@host/x", "https://me:secret@", "/a/folder"),
        *("http://me:se#secret@127.0.0.1/x", "http://me:se/secret@127.0.0.1/x", "http://me:secret@[::1/x"),
        "http://me:secret@host:port/x",
    ],
)
def test_a_mirror_that_is_no_url_is_a_sentence_without_its_password(
    mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is misspelt may hold a password in any place."""
    monkeypatch.setenv("PADDOCK_MAVEN_REPOSITORY", mirror)
    with pytest.raises(UsageError, match=r"PADDOCK_MAVEN_REPOSITORY is no URL such as .*%23") as error:
        download.fetch(RELEASE, quiet)
    assert "secret" not in str(error.value)
    assert nothing_half_made()


def test_an_answer_without_sense_is_a_sentence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that answers everything with an empty page."""

    def empty_page(self: Handler) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    monkeypatch.setattr(Handler, "do_GET", empty_page)
    with pytest.raises(MachineError, match=r"mirror http.* has no Elasticsearch 1\.2\.3"):
        download.fetch(RELEASE, quiet)


def test_a_version_that_the_mirror_lacks_is_named(server: Server) -> None:
    """404 from the mirror names the mirror and the version."""
    with pytest.raises(MachineError, match=r"mirror http.* has no Elasticsearch 9\.9\.9"):
        download.fetch(Release("9.9.9", "0"), quiet)


def test_a_full_disk_is_said_before_the_download(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little room: nothing is asked of the network."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": 2**20})())
    with pytest.raises(MachineError, match=r"needs 500 MiB .*RALLY_HOME"):
        download.fetch(RELEASE, quiet)
    assert server.requests == []


def test_a_folder_that_cannot_be_written_to_is_said_before_the_download(server: Server) -> None:
    """A cache that is mounted read-only, say: the sentence names it and the way out, and nothing is downloaded."""
    paths.benchmarks_folder().mkdir(parents=True)
    paths.distributions_folder().symlink_to("/proc/self")  # where not even root can make a file
    with pytest.raises(MachineError, match=r"benchmarks/distributions, where an Elasticsearch is put, .*RALLY_HOME"):
        download.fetch(RELEASE, quiet)
    assert server.requests == []


def _fetch_in_child(_: int) -> str:
    return str(download.fetch(RELEASE, quiet))


def test_two_processes_at_once_download_once(server: Server) -> None:
    """The second process waits for the first and finds its archive."""
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert len(set(pool.map(_fetch_in_child, range(3)))) == 1
    assert zips(server) == 1


def test_after_kill_9_half_way_the_next_fetch_starts_clean(server: Server) -> None:
    """A killed download leaves no archive, and what it left is removed by the next one."""
    server.stall = True
    program = (
        "from tests.engine.test_download import RELEASE, quiet, ZIP\n"
        "import sys; from paddock.engine import download; from paddock.engine.versions import Release\n"
        "download.fetch(Release('1.2.3', sys.argv[1], None), quiet)"
    )
    child = subprocess.Popen([sys.executable, "-c", program, RELEASE.sha512], cwd=paths.PROJECT)
    try:
        assert server.stalled.wait(PATIENCE)
    finally:
        child.kill()
        child.wait()
    assert list((paths.state_folder() / "downloads").glob("fetch-*"))
    assert list(paths.distributions_folder().glob("*")) == []
    server.stall = False
    assert download.fetch(RELEASE, quiet).is_file()
    assert list((paths.state_folder() / "downloads").glob("fetch-*")) == []


def test_an_archive_that_is_not_the_recorded_one_is_replaced(server: Server) -> None:
    """A cut-off or foreign file under our name is not raced."""
    archive = download.fetch(RELEASE, quiet)
    archive.write_bytes(b"something else")
    assert download.fetch(RELEASE, quiet).stat().st_size > 1000
    assert zips(server) == 2


@pytest.mark.parametrize("tar", [True, False])
def test_a_module_is_added_once_for_its_source(server: Server, monkeypatch: pytest.MonkeyPatch, tar: bool) -> None:
    """Its files lie below modules/ in either kind of archive; with another source, or none, it is packed anew."""
    monkeypatch.setattr("paddock.engine.download.TAR_WORKS", tar)
    monkeypatch.setattr(download, "COMPILER", dataclasses.replace(download.COMPILER, version="1.2.3", sha512=SHA512))
    compiled = []

    def compile_module(release: Release, libraries: Path, java: Path, compiler: Path) -> dict[str, bytes]:
        compiled.append(([jar.name for jar in libraries.iterdir()], java.name, compiler.read_bytes() == ZIP))
        return {"a.jar": b"classes"}

    monkeypatch.setattr(download, "compile_module", compile_module)
    with_module = dataclasses.replace(RELEASE, root_plugin="parameters")
    for _ in range(2):
        archive = download.fetch(with_module, quiet)
    assert compiled == [(["elasticsearch-1.2.3.jar"], "java", True)]
    name = "elasticsearch-1.2.3/modules/paddock-root/a.jar"
    if tar:
        with tarfile.open(archive) as packed:
            assert packed.extractfile(name).read() == b"classes"
    else:
        with zipfile.ZipFile(archive) as packed:
            assert packed.read(name) == b"classes"
    monkeypatch.setattr(download, "fingerprint", lambda: "of another source")
    assert not download.is_present(with_module)
    assert not download.is_present(RELEASE)
    download.fetch(with_module, quiet)
    assert len(compiled) == 2


def test_an_unknown_version_names_the_known_ones() -> None:
    """--version of something that is not embedded says what is, and the other way."""
    from paddock.engine.versions import release

    with pytest.raises(UsageError, match=r"8\.8\.3 is not available embedded .*8\.8\.2.*9\.2\.4.*--engine official"):
        release("8.8.3")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("9.24", "9.2.4"),
        ("924", "9.2.4"),
        ("8.8.22", "8.8.2"),
        ("8.18.0", "8.17.10"),
        ("8.19.6", "8.19.4"),
        ("9.2.9", "9.2.4"),
        ("7.17.28", "8.8.2"),
        ("10.0.0", "9.5.0"),
        ("latest", DEFAULT_VERSION),
    ],
)
def test_a_mistyped_version_hints_at_the_nearest_by_number(typed: str, meant: str) -> None:
    """Not at those that are spelt alike: 8.18.0 is nearer to 8.17.10 than to 9.1.0."""
    from paddock.engine.versions import release

    with pytest.raises(UsageError, match=rf"\(nearest: {meant}\): name one of"):
        release(typed)


def test_checksums_of_releases_are_complete() -> None:
    """Every release that can be fetched is pinned by a whole SHA-512, the default among them."""
    assert DEFAULT_VERSION in RELEASES
    assert all(len(release.sha512) == 128 for release in RELEASES.values())
