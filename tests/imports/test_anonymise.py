"""Anonymising: nothing of the originals is left, and what was equal stays equal."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.imports.anonymise import Anonymiser
from paddock.imports.shape import track_shape
from tests.imports.samples import access_log, parsed

KEY = b"a key of the tests, 32 bytes lon"
ANONYMISER = Anonymiser(KEY)


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("Failed password for invalid user margaret from 198.51.100.77 port 4711 ssh2", ["margaret", "198.51.100.77"]),
        ("Accepted publickey for margaret from 2001:db8:77::1 port 22", ["margaret", "2001:db8:77::1"]),
        ("session opened for user margaret by (uid=0)", ["margaret"]),
        ("order by margaret.hill@shop.example confirmed", ["margaret", "hill", "shop.example"]),
        ("GET /search?q=red+lamps&name=margaret%20hill HTTP/1.1", ["lamps", "margaret", "hill"]),
        ("https://margaret:hunter22@shop.example/x", ["margaret", "hunter22"]),
        ("mail to margaret%40shop.example bounced", ["margaret", "shop.example"]),
        ("cannot open /home/margaret/report.txt", ["margaret"]),
        ("login='margaret' rejected by 203.0.113.200.", ["margaret", "203.0.113.200"]),
        ("peer ::ffff:203.0.113.200 reset", ["203.0.113.200"]),
        ("at 12:34:56 2001:db8:77::1 and at 12:34:203.0.113.200", ["203.0.113.200", "2001:db8:77::1"]),
        ("query ?q=%D0%BC%D0%B0%D1%80%D0%B8%D1%8F done", ["%D0%BC%D0%B0%D1%80"]),
    ],
)
def test_nothing_of_the_originals_is_left(text: str, secrets: list[str]) -> None:
    """Names, addresses and values go wherever they stand; the text stays as long."""
    anonymous = ANONYMISER.text(text)
    assert len(anonymous) == len(text)
    for secret in secrets:
        assert secret.lower() not in anonymous.lower()


@pytest.mark.parametrize(
    "text",
    ["", "started in 12:34:56.789", "Chrome 131 at 10:20:30", "org.example.Service::run", "a ratio of 1.5.2",
     "org.example.Bar@1a2b3c", "version 300.1.2.3 of it"],
)  # fmt: skip
def test_what_only_looks_like_an_address_stays(text: str) -> None:
    """Times, versions of three parts, C++ names, Java objects."""
    assert ANONYMISER.text(text) == text


def test_versions_of_browsers_stay() -> None:
    """Chrome/131.0.0.0 looks like an address, and user agents are full of it; an address behind it still goes."""
    agent = "Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36 (bot; +mailto:bob@bots.example; 203.0.113.88)"
    anonymous = ANONYMISER.user_agent(agent)
    assert "Chrome/131.0.0.0 Safari/537.36" in anonymous
    assert not re.search(r"bob|bots\.example|203\.0\.113\.88", anonymous)


def test_names_agree_wherever_they_stand() -> None:
    """The user of a field is the user of a sentence and of a query."""
    document = ANONYMISER.document(
        {"user": "margaret", "message": "user margaret logged in", "query": "name=margaret", "path": "/x?name=margaret"}
    )
    name = document["user"]
    assert document["message"] == f"user {name} logged in"
    assert document["query"] == f"name={name}"
    assert document["path"] == f"/x?name={name}"


def test_documents_are_replaced_at_any_depth() -> None:
    """Objects, lists and the usual names of fields; numbers stay."""
    document = ANONYMISER.document(
        {"client": {"ip": "203.0.113.200"}, "user": {"name": "margaret"}, "to": ["a.b@shop.example"], "n": 12345}
    )
    text = json.dumps(document)
    assert not re.search(r"203\.0\.113\.200|margaret|shop", text)
    assert document["n"] == 12345
    assert list(document) == ["client", "user", "to", "n"]


@given(st.text(max_size=200))
def test_any_text_keeps_its_length(text: str) -> None:
    """Whatever is in it."""
    assert len(ANONYMISER.text(text)) == len(text)


def test_frequencies_are_kept() -> None:
    """An anonymised log has as many clients, users and paths, as often as the log."""
    lines = access_log(2000)
    shape = track_shape("apache")
    plain = [json.loads(line) for line in parsed("apache-combined", lines, shape).data.splitlines()]
    anonymous = [json.loads(line) for line in parsed("apache-combined", lines, shape, KEY).data.splitlines()]
    assert len(plain) == len(anonymous) == 2000
    for name in ("clientip", "user", "query", "path", "user_agent"):
        before = Counter(document.get(name) for document in plain)
        after = Counter(document.get(name) for document in anonymous)
        assert sorted(before.values()) == sorted(after.values())
    originals = {document["clientip"] for document in plain}
    assert not originals & {document["clientip"] for document in anonymous}
    for name in ("@timestamp", "status", "bytes", "method"):
        assert [document.get(name) for document in plain] == [document.get(name) for document in anonymous]
