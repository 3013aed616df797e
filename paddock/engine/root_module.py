"""Compiles the module that answers GET /: all that Elasticsearch's integ-test distribution lacks from 8.9 on for Rally.

Its source lies in the folder of the same name; the Eclipse compiler, one jar, runs on the JRE that is there anyway.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import zipfile
from pathlib import Path

from paddock.engine.versions import Release
from paddock.errors import MachineError

NAME = "paddock-root"
SOURCES = Path(__file__).with_suffix("")


def compile_module(release: Release, libraries: Path, java: Path, compiler: Path) -> dict[str, bytes]:
    """The module's files for one version of Elasticsearch, by their names in its folder.

    :param libraries: the folder of Elasticsearch's jars; the classes are compiled beside it.
    :param java: the program java.
    :param compiler: the jar of the Eclipse compiler.
    :raises MachineError: if the compiler refuses the source, with what it said.
    """
    classes = libraries.with_name("classes")
    plugin = "services/RootPlugin.java" if release.root_plugin == "services" else "RootPlugin.java"
    jars = os.pathsep.join(map(str, sorted(libraries.glob("*.jar"))))
    options = [f"-{release.oldest_java}", "-proc:none", "-nowarn", "-cp", jars, "-d", str(classes)]
    command = [str(java), "-jar", str(compiler), *options, str(SOURCES / "RootHandler.java"), str(SOURCES / plugin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-500:]
        raise MachineError(
            f"The module that answers GET / could not be compiled for Elasticsearch {release.version}; name another "
            f"--version. The compiler said: {said}"
        )
    return {f"{NAME}.jar": _jar(classes), "plugin-descriptor.properties": _descriptor(release).encode()}


def fingerprint() -> str:
    """A checksum of the module's source: an archive that was made with another one is made anew."""
    digest = hashlib.sha256()
    for source in sorted(SOURCES.rglob("*.java")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _jar(classes: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as jar:
        for path in sorted(classes.rglob("*.class")):
            # A fixed time, so that the same source makes the same jar.
            entry = zipfile.ZipInfo(path.relative_to(classes).as_posix(), (2026, 1, 1, 0, 0, 0))
            jar.writestr(entry, path.read_bytes())
    return content.getvalue()


def _descriptor(release: Release) -> str:
    """What Elasticsearch asks of a module, and no key more: 9.2.0 refuses those that it does not know."""
    lines = {
        "description": "Answers GET /, which Rally asks first",
        "version": release.version,
        "name": NAME,
        "java.version": release.oldest_java,
        "elasticsearch.version": release.version,
        "classname": "paddock.root.RootPlugin",
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items())
