"""The tracks' ingest pipelines: made of what Elastic documents, and seen to make of lines what the corpus has.

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
from shared.raw_forms import FORMS, raw_documents

from paddock.console import progress
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe
from paddock.engine import choose_engine
from paddock.engine.download import TAR_WORKS
from tests.races.secured_node import compile_against

SOURCE = Path(__file__).with_name("GrokLines.java")
_NUMBERS = ("Integer", "Long")
# What Elastic documents of each processor, 7.17 to 9.2, and of all of them.
COMMON = {"description", "if", "ignore_failure", "on_failure", "tag"}
OPTIONS = {
    "grok": {"field", "patterns", "pattern_definitions", "ecs_compatibility", "trace_match", "ignore_missing"},
    "date": {"field", "target_field", "formats", "timezone", "locale", "output_format"},
    "json": {"field", "target_field", "add_to_root", "add_to_root_conflict_strategy", "allow_duplicate_keys"},
    "remove": {"field", "ignore_missing", "keep"},
    "geoip": {"field", "target_field", "database_file", "properties", "ignore_missing", "first_only"},
}
REQUIRED = {
    "grok": {"field", "patterns"},
    "date": {"field", "formats"},
    "json": {"field"},
    "remove": set(),
    "geoip": {"field"},
}
PLACES = {
    *("continent_name", "country_iso_code", "country_name", "region_iso_code", "region_name", "city_name", "timezone"),
    *("ip", "location"),
}
PIPELINES = read_pipelines()


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_are_made_of_what_elastic_documents(name: str) -> None:
    """Each processor and each of its options; it begins with the field that is sent, and leaves nothing of it."""
    pipeline = PIPELINES[name]
    assert set(pipeline.definition) == {"description", "processors", "_meta"}
    assert all(len(one) == 1 for one in pipeline.definition["processors"])
    processors = [next(iter(one.items())) for one in pipeline.definition["processors"]]
    for kind, options in processors:
        assert REQUIRED[kind] <= set(options) <= OPTIONS[kind] | COMMON, kind
    sent = FORMS[pipeline.sent][0]
    assert processors[0][1]["field"] == sent
    (removed,) = (options["field"] for kind, options in processors if kind == "remove")
    assert sent in (removed if isinstance(removed, list) else [removed])


def test_places_are_looked_up_in_what_grok_has_found() -> None:
    """The pipeline geoip is grok and a look-up, so that the look-up is what they differ in; its fields are mapped."""
    grok, geoip = (PIPELINES[name].definition["processors"] for name in ("grok", "geoip"))
    assert geoip[:-1] == grok
    options = geoip[-1]["geoip"]
    assert f"%{{IPORHOST:{options['field']}}}" in grok[0]["grok"]["patterns"][0]
    assert set(options["properties"]) <= PLACES
    fields = PIPELINES["geoip"].fields[options["target_field"]]["properties"]
    assert set(fields) == set(options["properties"])


def test_json_is_what_the_document_was(tmp_path: Path) -> None:
    """The text that is sent is the document, and the pipeline puts its fields where they were."""
    write_corpus(load_recipe("apache"), 100, 1, tmp_path / "apache.json")
    documents = (tmp_path / "apache.json").read_bytes().splitlines()
    json_options = PIPELINES["json"].definition["processors"][0]["json"]
    assert json_options["add_to_root"]
    for document, raw in zip(documents, raw_documents(documents, PIPELINES["json"].sent), strict=True):
        sent = json.loads(raw)
        assert json.loads(sent.pop(json_options["field"])) == json.loads(document)
        assert sent == {}


def parsed(line: str) -> dict[str, Any]:
    """The document of a line that the program has written."""
    fields = (field.partition("=") for field in line.split("\t") if field)
    typed = {name: value.partition(":") for name, _, value in fields}
    return {name: int(text) if kind in _NUMBERS else text for name, (kind, _, text) in typed.items()}


@pytest.mark.race
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
    grok, date, _ = (next(iter(one.values())) for one in PIPELINES["grok"].definition["processors"])
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
