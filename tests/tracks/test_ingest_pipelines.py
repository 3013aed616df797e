"""The tracks' grok and date, by the libraries of the server itself: the node would make of lines what the corpus has.

The embedded Elasticsearch lacks the processors, but its server has the library that grok is made of.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from shared.lap_parsing import read_pipelines
from shared.raw_forms import raw_documents

from paddock.console import progress
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.engine import choose_engine
from paddock.engine.download import TAR_WORKS
from tests.races.secured_node import compile_against

pytestmark = pytest.mark.race
SOURCE = Path(__file__).with_name("GrokLines.java")
_NUMBERS = ("Integer", "Long")


def parsed(line: str) -> dict[str, Any]:
    """The document of a line that the program has written."""
    fields = (field.partition("=") for field in line.split("\t") if field)
    typed = {name: value.partition(":") for name, _, value in fields}
    return {name: int(text) if kind in _NUMBERS else text for name, (kind, _, text) in typed.items()}


@pytest.mark.skipif(not TAR_WORKS, reason="the embedded Elasticsearch is a zip here")
def test_the_servers_own_grok_makes_the_documents_of_the_corpus(tmp_path: Path) -> None:
    """Every field of 5,000 requests with its type, and no other; of what is no line of the log nothing."""
    engine = choose_engine(None, None, None, progress)
    assert engine.archive is not None
    assert engine.java is not None
    with tarfile.open(engine.archive) as archive:
        jars = [one for one in archive if Path(one.name).match("*/lib/*.jar")]
        archive.extractall(tmp_path, jars)  # noqa: S202 - an archive that we have packed
    libraries, java = (tmp_path / jars[0].name).parent, engine.java.home / "bin" / "java"
    compile_against(libraries, java, "-21", SOURCE, tmp_path / "classes")
    write_corpus(load_recipe("apache"), 5000, 3, tmp_path / "apache.json")
    documents = (tmp_path / "apache.json").read_bytes().splitlines()
    lines = [json.loads(one)["message"] for one in raw_documents(documents, "line")]
    grok, date, _ = (next(iter(one.values())) for one in read_pipelines()["grok"].definition["processors"])
    program = ["-cp", os.pathsep.join(map(str, (tmp_path / "classes", *libraries.glob("*.jar")))), "GrokLines"]
    definitions = [f"{name}={value}" for name, value in grok["pattern_definitions"].items()]
    done = subprocess.run(
        [str(java), *program, *grok["patterns"], *date["formats"], *definitions],
        input="\n".join([*lines, "no line of a log", *lines[:1]]) + "\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found = [parsed(line) for line in done.stdout.splitlines()]
    assert found == [*map(json.loads, documents), {}, json.loads(documents[0])]
