"""Somebody's own cluster, for real: a node with security on, a certificate, a user and an API key, not of any race."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from paddock.console import progress
from paddock.engine import choose_engine, download
from paddock.engine.versions import DEFAULT_VERSION
from paddock.paths import state_folder
from paddock.rally.privileges import NAMESPACE
from tests.authority import Authority
from tests.machine import PATIENCE, free_http_port, wait_until

USER = "somebody"
_WORDS = Path(__file__).with_name("security_words") / "SecurityWords.java"


@dataclass(frozen=True)
class SecuredNode:
    """A running node; ``password`` is that of USER, who may do everything."""

    port: int
    authority: Path
    password: str

    @property
    def host(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON answer to a request of USER.

        :raises urllib.error.HTTPError: it was refused.
        """
        login = base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"https://{self.host}{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Content-Type": "application/json", "Authorization": f"Basic {login}"},
        )
        context = ssl.create_default_context(cafile=str(self.authority))
        with urllib.request.urlopen(request, timeout=PATIENCE, context=context) as answer:  # noqa: S310
            return json.loads(answer.read() or b"null")

    def api_key(self) -> str:
        """A new API key that may do what USER may, as client options take it."""
        made = self.ask("POST", "/_security/api_key", {"name": "of-a-test"})
        return base64.b64encode(f"{made['id']}:{made['api_key']}".encode()).decode()


@contextmanager
def secured_node(
    folder: Path, authority: Authority, password: str, version: str = DEFAULT_VERSION
) -> Iterator[SecuredNode]:
    """A node of the embedded engine with TLS and logins, ended at the end; it knows nothing of Paddock.

    :param folder: one that is still to be made, for all that the node has.
    :raises AssertionError: it did not start; with its output.
    """
    engine = choose_engine(version, None, None, progress)
    assert engine.archive is not None
    assert engine.java is not None
    folder.mkdir()
    with tarfile.open(engine.archive) as archive:
        archive.extractall(folder)  # noqa: S202 - our own archive
    (home,) = folder.iterdir()
    _add_words(home, version, engine.java.home / "bin" / "java")
    port = free_http_port()
    certificate, key = authority.sign(folder.name)
    config = home / "config"
    for file, name in ((certificate, "http.crt"), (key, "http.key")):
        (config / name).write_bytes(file.read_bytes())
    _write_user(config, password)
    (config / "elasticsearch.yml").write_text(
        f"cluster.name: {folder.name}\nnode.name: theirs\nnetwork.host: 127.0.0.1\n"
        f"http.port: {port}\ntransport.port: {port + 100}\ndiscovery.type: single-node\n"
        "xpack.security.enabled: true\nxpack.security.transport.ssl.enabled: false\n"
        "xpack.security.http.ssl.enabled: true\nxpack.security.http.ssl.certificate: http.crt\n"
        "xpack.security.http.ssl.key: http.key\nxpack.security.authc.api_key.enabled: true\n"
        "cluster.routing.allocation.disk.threshold_enabled: false\n"
    )
    (config / "jvm.options").write_text("-Xms512m\n-Xmx512m\n-XX:+UseSerialGC\n-Djava.io.tmpdir=${ES_TMPDIR}\n")
    output = folder / "output.txt"
    before = list(NAMESPACE) if os.geteuid() == 0 else []
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [*before, str(home / "bin" / "elasticsearch")],
            env={"PATH": os.environ["PATH"], "ES_JAVA_HOME": str(engine.java.home)},
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    node = SecuredNode(port, authority.certificate, password)

    def answers() -> bool:
        assert process.poll() is None, f"the node ended:\n{output.read_text()[-6000:]}"
        with contextlib.suppress(urllib.error.URLError, OSError):
            return bool(node.ask("GET", "/_cluster/health?wait_for_status=yellow&timeout=5s"))
        return False

    try:
        wait_until(answers, lambda: f"the node did not answer:\n{output.read_text()[-6000:]}")
        yield node
    finally:
        members = [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        for member in members:
            with contextlib.suppress(psutil.Error):
                psutil.Process(member).kill()
        process.wait()


def compile_against(libraries: Path, java: Path, release: str, source: Path, classes: Path) -> None:
    """Compile a Java file, or a folder of them, against the jars of an Elasticsearch.

    :param release: of Java, as the compiler has it: -17.
    """
    compiler = state_folder() / "ecj.jar"
    if not compiler.exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(download._download(download.COMPILER, Path(folder), progress), compiler)
    jars = os.pathsep.join(map(str, libraries.glob("*.jar")))
    options = [release, "-proc:none", "-nowarn", "-cp", jars, "-d", str(classes)]
    subprocess.run([str(java), "-jar", str(compiler), *options, str(source)], check=True)


def _add_words(home: Path, version: str, java: Path) -> None:
    """The module without which no API key can be made here; compiled as that for GET / is."""
    module = home / "modules" / "security-words"
    module.mkdir()
    classes = home / "words"
    compile_against(home / "lib", java, "-17", _WORDS, classes)
    with zipfile.ZipFile(module / "words.jar", "w") as jar:
        for file in classes.rglob("*.class"):
            jar.write(file, file.relative_to(classes))
    (module / "plugin-descriptor.properties").write_text(
        f"description=Names for a test\nversion={version}\nname=security-words\njava.version=17\n"
        f"elasticsearch.version={version}\nclassname=paddock.words.SecurityWords\n"
    )


def _write_user(config: Path, password: str) -> None:
    """USER in the realm of files, which needs no program of Elasticsearch's to be run."""
    salt, rounds = os.urandom(32), 10_000
    derived = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, rounds, 32)
    text = "$".join((f"{{PBKDF2}}{rounds}", *(base64.b64encode(part).decode() for part in (salt, derived))))
    (config / "users").write_text(f"{USER}:{text}\n")
    (config / "users_roles").write_text(f"superuser:{USER}\n")
