"""Ingest pipelines of a race, before it begins: which processors they need, and what is said where these are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paddock.engine.versions import DEFAULT_VERSION, INGEST_PROCESSORS
from paddock.errors import UsageError
from paddock.race import RaceOptions
from paddock.race.options import prepare
from paddock.race.pipelines import PARSED, asked_processors, check_embedded, check_endpoint
from paddock.sampling import Endpoint
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.load_shape import parsed_on_node
from paddock.tracks import load_track
from tests.sampling.fake_elasticsearch import FakeElasticsearch

TRACK = load_track("apache")
CHALLENGES = {challenge.name: challenge for challenge in TRACK.challenges}
GROK, JSON = ("grok", "date", "remove"), ("json", "remove")
LOWER = {"small": {"processors": [{"lowercase": {"field": "a", "on_failure": [{"set": {"field": "b"}}]}}]}}
EACH = {"each": {"processors": [{"foreach": {"field": "a", "processor": {"trim": {"field": "_ingest._value"}}}}]}}


@pytest.mark.parametrize(
    ("challenge", "params", "expected"),
    [
        ("ingest", {}, {}),
        ("settings", {}, {}),
        ("parsing", {"levels": ["parsed"]}, {}),
        ("parsing", {"levels": ["parsed", "grok"]}, {"default": {*GROK}}),
        ("parsing", {}, {"default": {*GROK, *JSON}}),
        ("parsing", {"levels": [{"name": "control", "value": "json"}]}, {"default": {*JSON}}),
        ("settings", {"levels": [{"name": "a", "pipeline": "geoip"}]}, {"default": {*GROK, "geoip"}}),
        (
            "settings",
            {"levels": [{"name": "a", "pipeline": "grok", "cluster": "x"}, {"name": "b", "cluster": "y"}]},
            {"x": {*GROK}},
        ),
        ("ingest", {"ingest_pipelines": LOWER}, {"default": {"lowercase", "set"}}),
        ("ingest", {"ingest_pipelines": EACH}, {"default": {"foreach", "trim"}}),
    ],
)
def test_which_processors_a_race_asks_for(
    challenge: str, params: dict[str, Any], expected: dict[str, set[str]]
) -> None:
    """Those of its levels, of each cluster apart, and of pipelines as a parameter, with what is nested in them."""
    found = asked_processors(TRACK, CHALLENGES[challenge], params)
    assert {cluster: set(processors) for cluster, processors in found.items()} == expected


def test_the_embedded_elasticsearch_has_those_of_our_module() -> None:
    """In the version that it was tried with; another one, or another processor, is refused with the ways to have it."""
    check_embedded(dict.fromkeys(INGEST_PROCESSORS, ("a",)), DEFAULT_VERSION)
    check_embedded({}, "8.8.2")
    with pytest.raises(
        UsageError,
        match=f"^The embedded Elasticsearch {DEFAULT_VERSION} lacks the ingest processor geoip, which the pipeline "
        r"places is made of \(it has date, grok, json and remove\): race Elastic's own distribution with --engine "
        r"official or --engine PATH \(its archive\), or name a cluster with --target-hosts\.$",
    ):
        check_embedded({"grok": ("places",), "geoip": ("places",)}, DEFAULT_VERSION)
    with pytest.raises(
        UsageError, match=r"8\.8\.2 lacks the ingest processors grok and date, which the pipelines a an"
    ):
        check_embedded({"grok": ("a",), "date": ("a", "b")}, "8.8.2")


def test_a_race_is_refused_before_anything_is_fetched() -> None:
    """Or planned, whatever names the pipeline."""
    for options in (
        {"challenge": "parsing", "params": {"levels": ["geoip"]}},
        {"params": {"ingest_pipelines": LOWER}},
        {"challenge": "parsing", "version": "8.8.2"},
        {"challenge": "parsing", "params": {"levels": ["geoip"]}, "nodes": 2},
    ):
        with pytest.raises(UsageError, match=r"lacks the ingest processor.*--engine official"):
            prepare(RaceOptions(track="apache", **options), fetch=False)
    assert (
        prepare(RaceOptions(track="apache", challenge="parsing"), fetch=False).request.engine.version == DEFAULT_VERSION
    )


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
        UsageError, match=f"^The node 'one' of the cluster at http://{cluster.host} lacks the ingest proc"
    ):
        check_endpoint({"grok": ("a",), "json": ("b",)}, endpoint)
    race = RaceOptions(track="apache", challenge="parsing", target_hosts=cluster.host)
    with pytest.raises(
        UsageError, match=r"lacks the ingest processors json and remove, which the pipelines json and gr"
    ):
        prepare(race)
    cluster.statuses["ingest"] = 403
    check_endpoint({"json": ("b",)}, endpoint)


def test_the_tournaments_compare_what_their_names_say() -> None:
    """Documents that come parsed beside the others; places need another distribution."""
    parsing = read_tournament(find_file("parsing-on-node"), TournamentOptions(), sampled=False)
    sent = {one.name: parsed_on_node(parsing, one) for one in parsing.contenders}
    assert sent == {PARSED: False, "grok": True, "json": True}
    geoip = read_tournament(find_file("parsing-geoip"), TournamentOptions(), sampled=False)
    asked = asked_processors(TRACK, CHALLENGES["parsing"], {"levels": [one.level for one in geoip.contenders]})
    with pytest.raises(UsageError, match="lacks the ingest processor geoip"):
        check_embedded(asked["default"], DEFAULT_VERSION)
