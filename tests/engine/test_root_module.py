"""The module that answers GET /: what the compiler is asked, what Elasticsearch finds; real nodes are in tests/cars."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from paddock.engine import download
from paddock.engine.versions import RELEASES, Release
from paddock.errors import MachineError

# Stands in for java -jar: makes a class where -d says, and keeps what it was asked.
JAVA = """#!/bin/sh
printf '%s\\n' "$@" > "$0.asked"
while [ "$1" != -d ]; do shift; done
mkdir -p "$2/paddock/root" && printf class > "$2/paddock/root/RootPlugin.class"
"""


def compiled(folder: Path, release: Release, java: str = JAVA) -> tuple[dict[str, bytes], list[str]]:
    """The module's files, and the words of the compiler's command."""
    program = folder / "java"
    program.write_text(java)
    program.chmod(0o755)
    libraries = folder / "libraries"
    libraries.mkdir()
    (libraries / "lucene.jar").touch()
    files = download.compile_module(release, libraries, program, folder / "compiler.jar")
    return files, (folder / "java.asked").read_text().splitlines()


@pytest.mark.parametrize(
    ("version", "java", "plugin"), [("8.13.4", "-17", ""), ("9.2.4", "-21", ""), ("9.5.0", "-21", "services/")]
)
def test_each_version_gets_its_own_source(tmp_path: Path, version: str, java: str, plugin: str) -> None:
    """For the oldest Java that runs it, and by the signature by which it asks for handlers."""
    files, asked = compiled(tmp_path, RELEASES[version])
    assert java in asked
    sources = [str(download.SOURCES / name) for name in ("RootHandler.java", f"{plugin}RootPlugin.java")]
    assert asked[-2:] == sources
    assert all(Path(source).is_file() for source in sources)
    assert zipfile.ZipFile(io.BytesIO(files["paddock-root.jar"])).namelist() == ["paddock/root/RootPlugin.class"]
    descriptor = dict(line.split("=") for line in files["plugin-descriptor.properties"].decode().splitlines())
    assert descriptor["elasticsearch.version"] == descriptor["version"] == version
    assert (descriptor["name"], descriptor["java.version"]) == ("paddock-root", java[1:])


def test_the_same_source_makes_the_same_jar(tmp_path: Path) -> None:
    """No times of today in it."""
    jars = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        jars.append(compiled(tmp_path / name, RELEASES["9.2.4"])[0]["paddock-root.jar"])
    assert jars[0] == jars[1]


def test_a_refusal_of_the_compiler_is_a_sentence(tmp_path: Path) -> None:
    """With the version, a way out, and what the compiler said."""
    with pytest.raises(MachineError, match=r"for Elasticsearch 9\.2\.4; name another --version.*: no such type"):
        compiled(tmp_path, RELEASES["9.2.4"], "#!/bin/sh\necho no such type >&2\nexit 255\n")
