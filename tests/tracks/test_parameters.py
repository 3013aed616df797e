"""parameters.yml, the READMEs and what Rally finds in the templates say the same; wrong values are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import nodes

from paddock import tracks
from paddock.errors import FileError, UsageError
from paddock.paths import TRACKS
from paddock.tracks import Parameter, Track, check_parameters, read_parameters
from paddock.tracks.rendering import render_specification

ALL_TRACKS = tracks.track_names()
APACHE = read_parameters("apache")
TRACK = Track("", (), APACHE, "apache", TRACKS / "apache")


def templates(name: str) -> list[str]:
    """The texts that Rally renders for a track: track.json and index.json, with everything that they collect."""
    from esrally.track import loader

    folder = TRACKS / name
    whole = loader.TemplateSource(str(folder), "track.json")
    whole.load_template_from_file()
    index = loader.TemplateSource(str(folder), "index.json")
    index.load_template_from_string((folder / "index.json").read_text(encoding="utf-8"))
    return [whole.assembled_source, index.assembled_source]


def defaults_in_templates(name: str) -> dict[str, set[Any]]:
    """For every variable, the constants that it has as `default(...)` anywhere in the templates of a track."""
    found: dict[str, set[Any]] = {}
    for text in templates(name):
        for node in jinja2.Environment().parse(text).find_all(nodes.Filter):  # noqa: S701 - JSON, never HTML
            if node.name == "default" and isinstance(node.node, nodes.Name):
                value = node.args[0].value if isinstance(node.args[0], nodes.Const) else "computed"
                found.setdefault(node.node.name, set()).add(value)
    return found


def readme_table(name: str) -> dict[str, tuple[str, str, str]]:
    """The table of parameters in a track's README: default, unit and description by name."""
    rows = {}
    text = (TRACKS / name / "README.md").read_text(encoding="utf-8")
    for line in text.split("## Parameters", 1)[1].split("\n## ", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `"):
            rows[cells[0].strip("`")] = (cells[1].strip("`"), cells[2], cells[3])
    return rows


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_parameters_are_those_that_rally_finds(name: str) -> None:
    """Rally's own search of the templates finds exactly the documented names."""
    _, found = render_specification(TRACKS / name, {})
    assert found == {parameter.name for parameter in read_parameters(name)}


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_defaults_are_those_of_the_templates(name: str) -> None:
    """A default changed in a template or in parameters.yml alone is noticed; so are two different ones in templates."""
    in_templates = defaults_in_templates(name)
    for parameter in read_parameters(name):
        values = in_templates[parameter.name]
        if parameter.default is None and parameter.default_text != "none":
            assert values <= {"computed", None}, parameter.name
        else:
            assert values == {parameter.default}, parameter.name


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_readme_says_the_same(name: str) -> None:
    """The README's table has every parameter with the same default, unit and description."""
    expected = {one.name: (one.default_text, one.unit, one.description) for one in read_parameters(name)}
    assert readme_table(name) == expected


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_giving_a_default_changes_nothing(name: str) -> None:
    """The documented default of every parameter is accepted, and renders what leaving it out renders."""
    track = tracks.load_track(name)
    without, _ = render_specification(track.folder, {})
    given = {parameter.name: parameter.default for parameter in track.parameters if parameter.needs is None}
    for parameter, default in given.items():
        tracks.check_parameters(track, {parameter: default})
    given = {parameter: default for parameter, default in given.items() if default is not None}
    # All at once, because a rendering takes half a second; one by one only to name what is wrong.
    if render_specification(track.folder, given)[0] != without:
        for parameter, default in given.items():
            assert render_specification(track.folder, {parameter: default})[0] == without, parameter
        pytest.fail("each default alone changes nothing, but all of them together do")


@pytest.mark.parametrize("name", ALL_TRACKS)
def test_none_is_the_same_as_left_out(name: str) -> None:
    """Where the default is none, giving none renders what leaving it out renders."""
    track = tracks.load_track(name)
    absent = {parameter.name: None for parameter in track.parameters if parameter.default is None}
    for computed in ("cluster_health", "lap_documents"):
        absent.pop(computed)  # their defaults are computed by the templates, which `none` would switch off
    assert render_specification(track.folder, absent)[0] == render_specification(track.folder, {})[0]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"bulk_sise": 5},
            r"no parameter of the track 'apache' 'bulk_sise'\. Did you mean 'bulk_size'.*inv track apache",
        ),
        ({"bulk_size": 0}, "bulk_size must be at least 1, but is 0: Documents per bulk request"),
        ({"bulk_size": "many"}, "bulk_size must be a whole number, but is 'many'"),
        ({"bulk_size": 1.5}, "must be a whole number"),
        ({"bulk_size": True}, "must be a whole number"),
        ({"bulk_size": None}, "must be a whole number and not none"),
        ({"refresh_interval": "soon"}, "must be a time with its unit"),
        ({"refresh_interval": 30}, "must be a time with its unit"),
        ({"translog_flush_threshold_size": "big"}, "must be a size with its unit"),
        ({"store_type": "ramfs"}, "must be one of fs, hybridfs, mmapfs, niofs"),
        ({"translog_durability": 5}, "must be one of request, async"),
        ({"ingest_percentage": 0}, "must be more than 0"),
        ({"ingest_percentage": 101}, "must be at most 100"),
        ({"wait_for_merges": "yes"}, "must be true or false"),
        ({"index_settings": "queries.cache.enabled"}, "must be a JSON object"),
        ({"index_settings": {"index": {"codec": "default"}}}, "object of full setting names"),
        ({"corpus_file": 5}, "must be a text"),
        ({"target_throughput": "5000 docs/s"}, "must be a number"),
        ({"recency": 0.5}, "recency has no effect without conflicts: add conflicts:sequential or conflicts:random"),
        ({"recency": 0.5, "conflicts": None}, "no effect without conflicts"),
        ({"document_count": 5, "ingest_percentage": 5}, "exclude each other"),
        ({"document_count": 1_000_001}, "document_count is 1000001, but the corpus has 1000000 documents"),
        ({"document_count": 60, "corpus_documents": 50}, "the corpus has 50 documents"),
        ({"lap_documents": 60, "corpus_documents": 50}, "lap_documents is 60, but the corpus has 50 documents"),
        ({"levels": "1s"}, "levels must be a JSON list with at least one entry, but is '1s'"),
        ({"levels": []}, "at least one entry"),
        ({"scan_ways": ["zgrep", "x"]}, "scan_ways must be a list of zgrep, json, but is"),
        ({"growth_steps": [0, 1]}, r"growth_steps must be ascending whole numbers such as \[1,2,4,8\], not \[0, 1\]"),
        ({"growth_steps": [2, 1]}, "growth_steps must be ascending"),
        ({"growth_steps": [1, 1]}, "growth_steps must be ascending"),
        ({"growth_steps": [1, "2"]}, "growth_steps must be ascending"),
        ({"lap_order": {"1s": 1}}, "lap_order must be a JSON list"),
        ({"lap_journal": "laps.jsonl"}, "lap_journal must be an absolute path, but is 'laps.jsonl'"),
    ],
)
def test_wrong_parameters_end_in_a_sentence(params: dict[str, Any], sentence: str) -> None:
    """Each mistake is refused before anything starts, with what would be right."""
    with pytest.raises(UsageError, match=sentence):
        check_parameters(TRACK, params)


@pytest.mark.parametrize(
    "params",
    [
        {"refresh_interval": -1},
        {"refresh_interval": "-1"},
        {"refresh_interval": None},
        {"refresh_interval": "500ms"},
        {"translog_flush_threshold_size": "512MB"},
        {"document_count": 1_000_000},
        {"ingest_percentage": 0.1},
        {"conflicts": "random", "recency": 1},
        {"index_settings": {}},
        {"levels": ["1s", {"name": "a"}], "lap_order": [["a", "1s"]], "lap_journal": "/laps.jsonl"},
        {"scan_ways": ["json"], "growth_steps": [1, 10, 100]},
        {"lap_order": None, "lap_documents": 1_000_000},
    ],
)
def test_right_parameters_are_accepted(params: dict[str, Any]) -> None:
    """Values at the edges of what is allowed."""
    check_parameters(TRACK, params)


@given(
    name=st.sampled_from([parameter.name for parameter in APACHE]),
    value=st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers())),
)
@settings(max_examples=300)
def test_any_value_is_accepted_or_refused_with_a_sentence(name: str, value: Any) -> None:
    """No value whatever ends in another exception than the one for users."""
    try:
        check_parameters(TRACK, {name: value})
    except UsageError as error:
        assert name in str(error)


def test_nan_is_no_number() -> None:
    """JSON readers accept NaN, and no comparison with it fails."""
    with pytest.raises(UsageError, match="must be a number"):
        check_parameters(TRACK, {"target_throughput": float("nan")})


def test_broken_parameter_file_names_the_line(tracks_copy: Path) -> None:
    """A mistake in parameters.yml itself is located."""
    path = tracks_copy / "shared" / "parameters.yml"
    path.write_text(path.read_text(encoding="utf-8").replace("type: integer", "type: whole", 1), encoding="utf-8")
    with pytest.raises(FileError, match=r"parameters\.yml:\d+: 'type' must be integer, .* or list, but is 'whole'"):
        read_parameters("apache", tracks_copy)


def test_parameters_are_plain_values() -> None:
    """Tools list them as JSON, so a Parameter must not hold anything else."""
    for parameter in read_parameters("app-logs"):
        assert isinstance(parameter, Parameter)
        json.dumps(vars(parameter))
