"""Clusters of somebody's own, for real: TLS with their own authority, logins that nobody sees, data left alone."""

from __future__ import annotations

import base64
import json
import os
import threading
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from paddock.paths import PROJECT
from paddock.tournaments.store import find_tournament
from tests.authority import Authority
from tests.command_line import one_sentence, run_paddock
from tests.races.secured_node import USER, SecuredNode, secured_node

pytestmark = pytest.mark.race
PASSWORDS = ("hush-one-4711", "hush-two-4712")
# What is large and was there before any password.
_NO_TEXT = (".gz", ".zip", ".zst", ".jar")


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SecuredNode, SecuredNode]]:
    """Two clusters with security on, one authority."""
    folder = tmp_path_factory.mktemp("clusters")
    authority = Authority(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RALLY_HOME", os.environ.get("PADDOCK_TEST_HOME") or str(PROJECT / ".test-home"))
        one = secured_node(folder / "one", authority, PASSWORDS[0])
        two = secured_node(folder / "two", authority, PASSWORDS[1])
        with one as first, two as second:
            yield first, second


@contextmanager
def kept_secret(home: Path, *secrets: str) -> Iterator[None]:
    """While the block runs no process has a secret among its arguments; after it no file below the home has one."""
    spellings = {text.encode() for secret in secrets for text in (secret, *_other_spellings(secret))}
    seen: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            for process in psutil.process_iter(["cmdline"]):
                words = "\0".join(process.info["cmdline"] or ()).encode()
                seen.extend(words.decode() for one in spellings if one in words)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
    assert seen == []
    texts = [file for file in home.rglob("*") if file.is_file() and file.suffix not in _NO_TEXT]
    assert any(file.name == "rally.log" for file in texts)
    assert [file for file in texts if any(one in file.read_bytes() for one in spellings)] == []


def _other_spellings(secret: str) -> tuple[str, ...]:
    """The password as it goes over the wire, and what an API key is made of."""
    if secret in PASSWORDS:
        return (base64.b64encode(f"{USER}:{secret}".encode()).decode(),)
    return (base64.b64decode(secret).decode().partition(":")[2],)


def test_a_race_over_tls_with_a_key_from_the_environment(
    clusters: tuple[SecuredNode, SecuredNode], rally_home: Path
) -> None:
    """An authority of one's own, an API key: every document is counted, and the key is to be seen nowhere."""
    cluster = clusters[0]
    key = cluster.api_key()
    options = json.dumps({"ca_certs": str(cluster.authority), "api_key": key})
    words = ("--debug", "race", "--documents", "20000", "--json", "--params", "warmup_time_period:0")
    with kept_secret(rally_home, key):
        finished = run_paddock(*words, "--target-hosts", f"https://{cluster.host}", PADDOCK_CLIENT_OPTIONS=options)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert key not in finished.stdout + finished.stderr
    race = json.loads(finished.stdout)
    assert race["error-rates"] == {}
    assert race["summary"]["race"]["documents_counted"] == 20_000
    mapping = cluster.ask("GET", "/paddock-apache/_mapping")
    assert mapping["paddock-apache"]["mappings"]["_meta"] == {"made_by": "paddock"}


def test_a_cluster_without_ingest_processors_is_refused(clusters: tuple[SecuredNode, SecuredNode]) -> None:
    """It is asked, with its login, before anything is raced: the node names what it has, and grok is not among it."""
    cluster = clusters[0]
    options = json.dumps({"ca_certs": str(cluster.authority), "api_key": cluster.api_key()})
    params = json.dumps({"levels": [{"name": "parsed"}, {"name": "grok", "pipeline": "grok"}]})
    words = ("race", "--challenge", "settings", "--params", params, "--target-hosts", f"https://{cluster.host}")
    finished = run_paddock(*words, PADDOCK_CLIENT_OPTIONS=options)
    assert finished.returncode == 2, finished.stderr[-3000:]
    assert "lacks the ingest processors grok, date and remove, which the pipeline grok is made of" in one_sentence(
        finished
    )


def test_two_clusters_with_logins_of_their_own(
    clusters: tuple[SecuredNode, SecuredNode], rally_home: Path, tmp_path: Path
) -> None:
    """One is let in by a password, the other by a key; the result names both, and what each is."""
    one, two = clusters
    key = two.api_key()
    logins = ({"basic_auth_user": USER, "basic_auth_password": one.password}, {"api_key": key})
    for name, login in zip(("one", "two"), logins, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps({"use_ssl": True, "ca_certs": str(one.authority), **login}))
    file = tmp_path / "clusters.yml"
    file.write_text(
        "description: A test\nquestion: Does it work?\ntrack: apache\nchallenge: settings\nbaseline: one\ncontenders:\n"
        f"  - {{name: one, target_hosts: '{one.host}', client_options: {tmp_path}/one.json}}\n"
        f"  - {{name: two, target_hosts: '{two.host}', client_options: {tmp_path}/two.json}}\n"
        "control: false\nlap_documents: 20000\nwarmup_blocks: 3\nblocks: 6\nstarts: 1\nbudget_minutes: 10\n"
        "stop_early: false\n"
    )
    with kept_secret(rally_home, one.password, key):
        finished = run_paddock("tournament", str(file), "--json", "--seed", "3")
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert all(secret not in finished.stdout + finished.stderr for secret in (one.password, key))
    result = json.loads(finished.stdout)["result"]
    assert [(verdict["contender"], verdict["pairs"]) for verdict in result["main"]["verdicts"]] == [("two", 6)]
    told = result["circumstances"]
    assert told["target hosts"] == f"one: {one.host}; two: {two.host}"
    assert told["Elasticsearch"] == "9.2.4 (external)"
    assert (told["nodes"], told["node processors"]) == ("1", str(os.cpu_count()))
    assert {"Lucene", "Java", "node roles", "node heap", "round trip, ms", "clock ahead of ours, s"} <= set(told)
    assert any("'one' and 'two' are clusters that were there" in note for note in result["notes"])
    stored = find_tournament(result["id"])
    journal = stored.lap_journal(stored.history().attempts[0].race_id)
    laps = [json.loads(line) for line in journal.read_text().splitlines()]
    assert {(lap["level"], lap["cluster"], lap["void"]) for lap in laps} == {
        ("one", "default", None),
        ("two", "two", None),
    }
    with pytest.raises(urllib.error.HTTPError):
        two.ask("GET", "/paddock-apache-lap")


def test_an_index_of_somebody_elses_stops_the_race(
    clusters: tuple[SecuredNode, SecuredNode], rally_home: Path, tmp_path: Path
) -> None:
    """It has the name of the track's index, and neither it nor its document is touched; no document of ours arrives."""
    cluster = clusters[1]
    cluster.ask("PUT", "/paddock-apache", {"settings": {"number_of_replicas": 0}})
    cluster.ask("PUT", "/paddock-apache/_doc/1?refresh=true", {"precious": True})
    options = tmp_path / "options.json"
    login = {"basic_auth_user": USER, "basic_auth_password": cluster.password}
    options.write_text(json.dumps({"default": {"use_ssl": True, "ca_certs": str(cluster.authority), **login}}))
    words = ("race", "--documents", "20000", "--target-hosts", cluster.host, "--client-options", str(options))
    with kept_secret(rally_home, cluster.password):
        finished = run_paddock(*words)
    assert finished.returncode == 5, finished.stderr[-3000:]
    said = one_sentence(finished)
    assert "The index 'paddock-apache' is in the cluster 'two' already, and no race of these tracks has made it" in said
    assert cluster.ask("GET", "/paddock-apache/_doc/1")["_source"] == {"precious": True}
    assert cluster.ask("GET", "/paddock-apache/_count")["count"] == 1
