"""Ingest pipelines of a race, before it begins: which processors they need, and what is said where these are not."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.race import RaceOptions
from paddock.race.clusters import ClusterOptions
from paddock.race.options import prepare
from paddock.race.pipelines import asked_processors, check_endpoint
from paddock.sampling import Endpoint
from tests.sampling.fake_elasticsearch import FakeElasticsearch

GROK, JSON = ("grok", "date", "remove"), ("json", "remove")
LOWER = {"small": {"processors": [{"lowercase": {"field": "a", "on_failure": [{"set": {"field": "b"}}]}}]}}
EACH = {"each": {"processors": [{"foreach": {"field": "a", "processor": {"trim": {"field": "_ingest._value"}}}}]}}
EMBEDDED = (
    r"^The embedded Elasticsearch lacks the ingest processors .* because it comes without Elastic's module "
    r"ingest-common, which Maven Central does not have for it: race Elastic's own distribution with --engine official "
    r"or --engine PATH \(its archive\), or name a cluster with --target-hosts\.$"
)


def a_level(pipeline: str, **more: Any) -> dict[str, Any]:
    """A level that a pipeline parses."""
    return {"name": pipeline, "pipeline": pipeline, **more}


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, {}),
        ({"levels": "1s"}, {}),
        ({"levels": ["1s", {"name": "a", "settings": {"number_of_shards": 2}}]}, {}),
        ({"levels": [{"name": "parsed"}, a_level("grok")]}, {"default": {*GROK}}),
        ({"levels": [a_level("geoip"), a_level("json")]}, {"default": {*GROK, *JSON, "geoip"}}),
        ({"levels": [a_level("grok", cluster="x"), {"name": "b", "cluster": "y"}]}, {"x": {*GROK}}),
        ({"ingest_pipelines": LOWER}, {"default": {"lowercase", "set"}}),
        ({"ingest_pipelines": EACH, "levels": ["1s"]}, {"default": {"foreach", "trim"}}),
        ({"ingest_pipelines": EACH, "levels": [a_level("json", cluster="x")]}, {"x": {"foreach", "trim", *JSON}}),
    ],
)
def test_which_processors_a_race_asks_for(params: dict[str, Any], expected: dict[str, set[str]]) -> None:
    """Those of its levels, of each cluster apart, and of pipelines as a parameter, with what is nested in them."""
    found = asked_processors(params)
    assert {cluster: set(processors) for cluster, processors in found.items()} == expected


def test_a_pipeline_that_is_not_there_is_refused() -> None:
    """With those that are."""
    with pytest.raises(UsageError, match=r"no ingest pipeline 'gork', which a level names: .* has geoip, grok, json\."):
        asked_processors({"levels": [a_level("gork")]})


@pytest.mark.parametrize("options", [{}, {"version": "8.8.2"}, {"engine": "embedded"}, {"nodes": 2}])
def test_the_embedded_elasticsearch_is_refused_before_anything_is_fetched(options: dict[str, Any]) -> None:
    """In one sentence with the ways to have the processors; a dry run says the same."""
    params = {"levels": [{"name": "parsed"}, a_level("grok")]}
    with pytest.raises(UsageError, match=EMBEDDED):
        prepare(RaceOptions(track="apache", challenge="settings", params=params, **options), fetch=False)


def test_so_is_a_cluster_of_a_tournament_alone() -> None:
    """The one whose levels are parsed on the node."""
    levels = [{"name": "parsed", "cluster": "a"}, a_level("json", cluster="b")]
    race = RaceOptions(track="apache", challenge="settings", params={"levels": levels})
    there = (ClusterOptions("a"), ClusterOptions("b", engine="official"))
    assert prepare(race, False, there).request.challenge == "settings"
    with pytest.raises(UsageError, match=EMBEDDED):
        prepare(race, False, (ClusterOptions("a", engine="official"), ClusterOptions("b")))


def test_so_is_an_archive_without_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded Elasticsearch given as --engine PATH has no more processors than before."""
    monkeypatch.setattr("paddock.engine.choose.TAR_WORKS", True)
    path = tmp_path / "engine.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("lib/elasticsearch-9.2.4.jar", "jdk/bin/java"):
            archive.addfile(tarfile.TarInfo(f"elasticsearch-9.2.4/{name}"), io.BytesIO())
    race = RaceOptions(track="apache", challenge="settings", params={"levels": [a_level("grok")]}, engine=str(path))
    with pytest.raises(
        UsageError, match=r"^The Elasticsearch of the archive lacks the ingest processors grok, date and"
    ):
        prepare(race, fetch=False)


@pytest.fixture
def cluster() -> Iterator[FakeElasticsearch]:
    """A cluster that is there."""
    with FakeElasticsearch() as elasticsearch:
        yield elasticsearch


def told(*processors: str) -> dict[str, Any]:
    """What a cluster of one node says of its processors."""
    return {"nodes": {"x1": {"name": "one", "ingest": {"processors": [{"type": name} for name in processors]}}}}


def test_a_cluster_that_is_there_is_asked(cluster: FakeElasticsearch) -> None:
    """One node without a processor is refused by its name; what does not tell is left to the race."""
    endpoint = Endpoint.from_client_options(cluster.host)
    cluster.answers["ingest"] = told("grok", "date", "geoip")
    check_endpoint({"grok": ("a",)}, endpoint)
    with pytest.raises(
        UsageError,
        match=f"^The node 'one' of the cluster at http://{cluster.host} lacks the ingest processor json, which the "
        "pipeline b is made of: name a cluster of Elastic's own",
    ):
        check_endpoint({"grok": ("a",), "json": ("b",)}, endpoint)
    params = {"levels": [a_level("json"), a_level("grok")]}
    race = RaceOptions(track="apache", challenge="settings", params=params, target_hosts=cluster.host)
    with pytest.raises(
        UsageError, match=r"lacks the ingest processors json and remove, which the pipelines json and gr"
    ):
        prepare(race)
    cluster.statuses["ingest"] = 403
    check_endpoint({"json": ("b",)}, endpoint)
