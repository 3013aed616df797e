"""Levels, mappings and orders: what short forms mean, what is refused, and that orders repeat."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from esrally import exceptions
from hypothesis import given
from hypothesis import strategies as st
from shared.lap_order import lap_orders
from shared.levels import FACTORS, Level, read_levels, sorted_by, sorting_mappings
from shared.mapping_variants import VARIANTS, mapping_variant

TRACK_MAPPING = {
    "dynamic": "strict",
    "properties": {
        "at": {"type": "date", "format": "strict_date_optional_time"},
        "path": {"type": "text", "norms": False, "fields": {"keyword": {"type": "keyword"}}},
        "tags": {"properties": {"name": {"type": "keyword", "ignore_above": 16}}},
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@pytest.mark.parametrize(
    ("factor", "value", "level"),
    [
        ("refresh-interval", "5s", Level("5s", {"index.refresh_interval": "5s"})),
        ("refresh-interval", -1, Level("-1", {"index.refresh_interval": "-1"})),
        ("translog-flush", "async", Level("async", {"index.translog.durability": "async"})),
        (
            "translog-flush",
            "30s",
            Level("30s", {"index.translog.durability": "async", "index.translog.sync_interval": "30s"}),
        ),
        ("translog-flush", "64mb", Level("64mb", {"index.translog.flush_threshold_size": "64mb"})),
        ("store-type", "niofs", Level("niofs", {"index.store.type": "niofs"})),
        ("shards", 2, Level("2", {"index.number_of_shards": 2})),
        ("replicas", 0, Level("0", {"index.number_of_replicas": 0})),
        ("bulk-size", 500, Level("500", bulk_size=500)),
        ("bulk-clients", 4, Level("4", clients=4)),
        ("mapping-cost", "full", Level("full", mapping="full")),
        ("index-mode", "standard", Level("standard", {"index.mode": "standard"})),
        (
            "index-mode",
            "logsdb",
            Level("logsdb", {"index.mode": "logsdb", "index.mapping.source.mode": "stored", "index.codec": None}),
        ),
        ("codec-and-sort", "best_compression", Level("best_compression", {"index.codec": "best_compression"})),
        (
            "codec-and-sort",
            "default by host, @timestamp desc",
            Level(
                "default by host, @timestamp desc",
                {
                    "index.codec": "default",
                    "index.sort.field": ["host", "@timestamp"],
                    "index.sort.order": ["asc", "desc"],
                },
            ),
        ),
    ],
)
def test_plain_values(factor: str, value: Any, level: Level) -> None:
    """A plain value means what its factor says, and is its level's name."""
    assert read_levels(factor, [value]) == (level,)


@pytest.mark.parametrize(
    ("sort", "sentence"),
    [
        ("at desc", None),
        ("tags.name", None),
        ("path.keyword", None),
        ("path", "the field 'path', which keeps no column to sort by: name one of at, path.keyword, tags.name"),
        (
            "host",
            "the field 'host', which does not exist in the track's index: name one of at, path.keyword, tags.name",
        ),
    ],
)
def test_what_can_be_sorted_by(sort: str, sentence: str | None) -> None:
    """Fields with columns, twins and fields of objects among them; others are named before a lap is run."""
    (level,) = read_levels("settings", [{"name": "sorted", "sort": [sort]}])
    if sentence is None:
        sorting_mappings(level, TRACK_MAPPING)
    else:
        with pytest.raises(exceptions.InvalidSyntax, match=re.escape(f"the level 'sorted' sorts by {sentence}")):
            sorting_mappings(level, TRACK_MAPPING)


def test_where_any_field_is_taken_those_to_sort_by_are_named() -> None:
    """An index is sorted by fields of its mapping only; the track's own mapping stays as it is."""
    (level,) = read_levels("settings", [{"name": "sorted", "sort": "host, at desc"}])
    mapping = {"dynamic": True, "properties": {"at": {"type": "date"}}}
    added = {"host": {"type": "keyword", "ignore_above": 1024}}
    assert sorting_mappings(level, mapping) == {"dynamic": True, "properties": {"at": {"type": "date"}, **added}}
    assert mapping == {"dynamic": True, "properties": {"at": {"type": "date"}}}


def test_a_field_to_sort_by_is_mapped_as_documents_would_have_it_mapped() -> None:
    """Else two levels would differ in more than their order; what becomes a text cannot be sorted by."""
    texts = {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 99}}
    traces = {"match_mapping_type": "string", "match": "*trace", "mapping": {"type": "text"}}
    mapping = {"dynamic_templates": [{"traces": traces}, {"texts": texts}]}
    (level,) = read_levels("settings", [{"name": "sorted", "sort": "error.host"}])
    assert sorting_mappings(level, mapping)["properties"] == {"error.host": texts["mapping"]}
    (level,) = read_levels("settings", [{"name": "sorted", "sort": "error.trace"}])
    with pytest.raises(exceptions.InvalidSyntax, match=r"by the field 'error\.trace', which keeps no column"):
        sorting_mappings(level, mapping)


def test_what_one_level_sorts_by_all_levels_map_alike() -> None:
    """A field that is a number in the documents is a keyword in all of them, and they differ in their order alone."""
    sorting, plain = read_levels("settings", [{"name": "sorted", "sort": "status"}, {"name": "plain"}])
    mapping = {"dynamic": True, "properties": {}}
    assert sorted_by(sorting) == ("status",)
    assert sorting_mappings(plain, mapping, sorted_by(sorting)) == sorting_mappings(sorting, mapping)
    assert sorting_mappings(plain, TRACK_MAPPING, ["status"]) == TRACK_MAPPING
    assert sorting_mappings(plain, {"enabled": False}, ["status"]) == {"enabled": False}


def test_a_level_without_columns_is_not_sorted() -> None:
    """The mapping that the level itself names decides."""
    (level,) = read_levels("settings", [{"name": "bare", "sort": "at", "mapping": "no-doc-values"}])
    with pytest.raises(exceptions.InvalidSyntax, match="keeps no column to sort by: name one of those of another"):
        sorting_mappings(level, mapping_variant("no-doc-values", TRACK_MAPPING))


def test_mode_codec_and_sort_combine() -> None:
    """In one object, and what is written out as a setting wins."""
    (level,) = read_levels(
        "settings",
        [
            {
                "name": "all",
                "mode": "logsdb",
                "codec": "best_compression",
                "sort": "at",
                "settings": {"sort.order": "desc"},
            }
        ],
    )
    assert level.settings == {
        "index.mode": "logsdb",
        "index.mapping.source.mode": "stored",
        "index.codec": "best_compression",
        "index.sort.field": ["at"],
        "index.sort.order": "desc",
    }


@pytest.mark.parametrize("factor", FACTORS)
def test_objects_mean_the_same_everywhere(factor: str) -> None:
    """An object may set anything in any challenge; setting names get their prefix."""
    given_level = {
        "name": "all of it",
        "settings": {"codec": "best_compression", "index.refresh_interval": "9s"},
        "bulk_size": 7,
        "clients": 2,
        "mapping": "keywords",
    }
    settings = {"index.codec": "best_compression", "index.refresh_interval": "9s"}
    assert read_levels(factor, [given_level]) == (Level("all of it", settings, 7, 2, "keywords"),)


@pytest.mark.parametrize(
    ("factor", "values", "sentence"),
    [
        ("shards", [], "at least one level"),
        ("shards", "1", "must be a JSON list"),
        ("shards", ["one"], "a number of shards must be a whole number from 1 on, but is 'one'"),
        ("shards", [0], "from 1 on, but is 0"),
        ("replicas", [-1], "from 0 on, but is -1"),
        ("bulk-size", [True], "texts, whole numbers or JSON objects"),
        ("bulk-size", [0], "the bulk_size of the level '0' must be a whole number from 1 on"),
        ("bulk-clients", ["two"], "the clients of the level 'two' must be"),
        ("refresh-interval", ["1s", "1s"], "has '1s' more than once"),
        (
            "index-mode",
            ["time_series"],
            "the mode of the level 'time_series' must be one of standard, logsdb, ",
        ),
        ("codec-and-sort", ["zip"], "the codec of the level 'zip' must be one of default, best_compression"),
        ("codec-and-sort", ["default by host up"], r"the sort of the level .* must be a JSON list of fields"),
        ("settings", [{"name": "x", "sort": []}], r"the sort of the level 'x' must be"),
        ("settings", [{"name": "x", "sort": [3]}], r"the sort of the level 'x' must be"),
        ("refresh-interval", [["1s"]], "one is \\['1s'\\]"),
        ("mapping-cost", ["none"], "must be one of full, track, .*, but is 'none'"),
        ("settings", ["1s"], "must be JSON objects such as"),
        ("settings", [{"settings": {}}], "has no name"),
        ("settings", [{"name": "a", "heap": "1g"}], "has 'heap', which means nothing here"),
        ("settings", [{"name": "a", "settings": "1s"}], "settings of the level 'a' must be a JSON object"),
        ("settings", [{"name": "a", "settings": {"index": {"codec": "x"}}}], "full setting names"),
    ],
)
def test_wrong_levels_end_in_a_sentence(factor: str, values: Any, sentence: str) -> None:
    """Refused before the race, with what would be right."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        read_levels(factor, values)


@given(factor=st.sampled_from(sorted(FACTORS)), values=st.lists(JSON, max_size=3))
def test_any_json_is_levels_or_a_sentence(factor: str, values: Any) -> None:
    """No JSON whatever ends in another exception; what is accepted has as many levels, by different names."""
    try:
        levels = read_levels(factor, values)
    except exceptions.InvalidSyntax:
        return
    assert len({level.name for level in levels}) == len(values)


@pytest.mark.parametrize(
    ("variant", "path", "name"),
    [
        ("full", *[{"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}] * 2),
        ("no-twins", {"type": "text", "norms": False}, {"type": "keyword", "ignore_above": 16}),
        ("keywords", {"type": "keyword", "ignore_above": 8191}, {"type": "keyword", "ignore_above": 16}),
        (
            "no-doc-values",
            {"type": "text", "norms": False},
            {"type": "keyword", "ignore_above": 16, "doc_values": False},
        ),
        (
            "doc-values-only",
            {"type": "text", "norms": False, "index": False},
            {"type": "keyword", "ignore_above": 16, "index": False},
        ),
    ],
)
def test_mapping_variants(variant: str, path: dict[str, Any], name: dict[str, Any]) -> None:
    """Fields are changed wherever they stand; the rest of the mapping is kept."""
    changed = mapping_variant(variant, TRACK_MAPPING)
    assert changed["dynamic"] == "strict"
    assert changed["properties"]["path"] == path
    assert changed["properties"]["tags"]["properties"]["name"] == name


def test_track_mapping_is_left_alone() -> None:
    """No variant changes what the next lap starts from, and `track` is the mapping as it is."""
    before = json.dumps(TRACK_MAPPING)
    for variant in VARIANTS:
        mapping_variant(variant, TRACK_MAPPING)
    assert json.dumps(TRACK_MAPPING) == before
    assert mapping_variant("track", TRACK_MAPPING) == TRACK_MAPPING
    assert mapping_variant("nothing-indexed", TRACK_MAPPING) == {"enabled": False}
    assert mapping_variant("nothing-stored", TRACK_MAPPING)["_source"] == {"enabled": False}


def test_fields_that_come_later_follow_the_variant() -> None:
    """What a mapping says about fields that it does not name changes as the named ones do; the rule itself stays."""
    rule = {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 1024}}
    mappings = {"dynamic": True, "dynamic_templates": [{"texts": rule}], "properties": {"message": {"type": "text"}}}
    changed = mapping_variant("doc-values-only", mappings)
    assert changed["dynamic_templates"] == [{"texts": {**rule, "mapping": {**rule["mapping"], "index": False}}}]
    assert mapping_variant("track", mappings) == mappings


@given(levels=st.integers(1, 6), blocks=st.integers(1, 20), seed=st.integers())
def test_random_orders_are_complete_and_repeat(levels: int, blocks: int, seed: int) -> None:
    """Every block has every level once, and the same seed gives the same orders, more blocks only more of them."""
    names = [f"level {number}" for number in range(levels)]
    orders = lap_orders(names, blocks, None, seed)
    assert [sorted(order) for order in orders] == [names] * blocks
    assert lap_orders(names, blocks + 3, None, seed)[:blocks] == orders


def test_random_orders_are_balanced() -> None:
    """Over many blocks each level is first about as often as the other; the chance of failing is one in millions."""
    firsts = [order[0] for order in lap_orders(["a", "b"], 1000, None, 1)]
    assert 420 <= firsts.count("a") <= 580
    assert lap_orders(["a", "b"], 1000, None, 2) != lap_orders(["a", "b"], 1000, None, 1)


def test_orders_do_not_change_with_versions() -> None:
    """A recorded seed must give the recorded order on any Python."""
    assert lap_orders(["1s", "5s", "30s"], 3, None, 1) == EXPECTED_ORDERS


EXPECTED_ORDERS = [("5s", "30s", "1s"), ("30s", "5s", "1s"), ("30s", "5s", "1s")]


def test_given_orders() -> None:
    """One order for all blocks, or one for each; numbers name levels as well."""
    assert lap_orders(["1", "2"], 3, [2, 1], 1) == [("2", "1")] * 3
    assert lap_orders(["a", "b"], 2, [["b", "a"], ["a", "b"]], 1) == [("b", "a"), ("a", "b")]


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("a,b", "must be a list of level names"),
        ([], "must be a list of level names"),
        (["a"], "must have each of the levels a, b once, but one is \\['a'\\]"),
        (["a", "b", "b"], "each of the levels a, b once"),
        (["a", "c"], "each of the levels a, b once"),
        ([["a", "b"]], "the order of 1 blocks, but there are 2, warm-up blocks included"),
        ([["a", "b"], "ab"], "but one is 'ab'"),
    ],
)
def test_wrong_orders_end_in_a_sentence(order: Any, sentence: str) -> None:
    """An order that leaves a level out or has one twice is refused before the race."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        lap_orders(["a", "b"], 2, order, 1)


def test_a_level_may_name_its_cluster() -> None:
    """Rally's default cluster has the laps of those that name none; what is no name is refused."""
    one, other = read_levels("settings", [{"name": "a"}, {"name": "b", "cluster": "second"}])
    assert (one.cluster, other.cluster) == ("default", "second")
    with pytest.raises(exceptions.InvalidSyntax, match="the cluster of the level 'a' must be a name"):
        read_levels("settings", [{"name": "a", "cluster": 2}])
