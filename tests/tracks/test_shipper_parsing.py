"""What rsyslog makes of lines: texts, parsed documents, and the places of addresses from the project's database."""

from __future__ import annotations

import ipaddress
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from shared.shipper_parsing import (
    _FACILITIES,
    _SEVERITIES,
    UNKNOWN,
    lookup_table,
    networks,
    parsed_mappings,
    place_of_network,
    syslog_line,
)
from shared.shipper_programs import PROGRAMS
from shared.shipper_settings import MainQueue, ShipperSettings

from paddock.corpora.draws import Draws, addresses
from paddock.paths import TRACKS
from paddock.tracks.rendering import index_mappings
from tests.tracks.shipped import Sink
from tests.tracks.test_shipper_lap import ship

DOCUMENTS = [
    {"n": 1, "user_ip": "10.1.2.3", "query": '/a/b?c="ä\u0007\n', "response": 200, "share": 1.5, "none": None},
    {"n": 2, "user_ip": "2001:db8:fff:1::7", "deep": {"list": [1, "two", {"three": True}]}},
    {"n": 3, "user_ip": "2001:db8::7"},
    {"n": 4, "user_ip": "192.0.2.1"},
]


def sent(tmp_path: Path, documents: list[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    """What a real rsyslog makes of these documents, in their order."""
    if why := PROGRAMS["rsyslog"].missing():
        pytest.skip(why)
    told = ShipperSettings("rsyslog", 100, **{"workers": 1, "input": "imtcp", "address_field": "user_ip", **settings})
    lines = [json.dumps(one, ensure_ascii=False).encode() for one in documents]
    found = ship(tmp_path, told, Sink(), lines=lines)
    assert found.problems == []
    assert found.record["parsing"] == told.parsing
    assert found.record["lost"] == found.record["duplicates"] == 0
    return [json.loads(one) for one in found.sink.documents]


@pytest.mark.parametrize("fed_by", ["imtcp", "imptcp", "file"])
def test_a_parsed_document_is_the_one_that_was_sent(fed_by: str, tmp_path: Path) -> None:
    """Numbers, escapes, letters of any language, objects and lists in it; parsed and written anew by rsyslog.

    Of a file rsyslog would add which it was, and where in it.
    """
    assert sent(tmp_path, DOCUMENTS, parsing="json", input=fed_by) == DOCUMENTS


@pytest.mark.parametrize("main", [None, MainQueue(2000, 10, 2)])
def test_an_address_brings_its_place(main: MainQueue | None, tmp_path: Path) -> None:
    """By the first two numbers of an IPv4 address, by three groups of an IPv6 one; one that nobody has is unknown.

    Four workers do not take each other's: each document has its own.
    """
    documents = [{**DOCUMENTS[number % len(DOCUMENTS)], "n": number} for number in range(3000)]
    places = [*(place_of_network(one) for one in ("10.1", "2001:db8:fff", "2001:db8:")), UNKNOWN]
    found = sent(tmp_path, documents, parsing="places", main=main, workers=4)
    assert sorted(found, key=lambda one: one["n"]) == [
        {**one, "place": places[number % len(places)]} for number, one in enumerate(documents)
    ]


def test_a_raw_line_is_the_text_of_its_document(tmp_path: Path) -> None:
    """Nothing is parsed: the line as it was, and when it came."""
    found = sent(tmp_path, DOCUMENTS, parsing="lines")
    assert [json.loads(one["message"]) for one in found] == DOCUMENTS
    assert all(set(one) == {"@timestamp", "message"} for one in found)
    assert all(datetime.fromisoformat(one["@timestamp"]).tzinfo for one in found)


LOGGED = [
    {"@timestamp": "2026-01-05T00:05:43.182Z", "host": "mx-1", "severity": "err", "facility": "mail"},
    {"@timestamp": "2026-01-05T00:05:43.000Z", "host": "web-12", "severity": "crit", "facility": "kern"},
    {"@timestamp": "2026-12-31T23:59:59.999Z", "host": "gw-1", "severity": "info", "facility": "local3"},
]
TEXTS = [
    {"syslogtag": "postfix/smtp[4884]:", "message": 'b3e24e2d: fatal: "quoted" \\ and <13> and %msg%'},
    {"syslogtag": "kernel:", "message": "[41000.12345] eth1: größer"},
    {"syslogtag": "backup[700]:", "message": " begins with a space, ends with one "},
    {"syslogtag": "no-colon", "message": ""},
    {"syslogtag": "dhcpd[7]:", "message": "tab\tbell\u0007 ünïcode \U0001f600: a: b"},
]


def test_a_line_of_syslog_becomes_the_document_that_it_was_made_of(tmp_path: Path) -> None:
    """Time, host, severity, facility, tag and text; parsed by rsyslog's own parser."""
    documents = [{**LOGGED[number % 3], **text} for number, text in enumerate(TEXTS)]
    assert sent(tmp_path, documents, parsing="syslog") == documents


@pytest.mark.parametrize("name", ["facility", "severity"])
def test_every_facility_and_severity_comes_back(name: str, tmp_path: Path) -> None:
    """By the names that rsyslog has for them."""
    known = {"facility": _FACILITIES, "severity": _SEVERITIES}[name]
    documents = [{**LOGGED[0], **TEXTS[0], name: one} for one in known]
    assert sent(tmp_path, documents, parsing="syslog") == documents


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"message": "two\nlines"}, "a line of syslog has no line breaks"),
        ({"host": "a b"}, "no spaces before its text"),
        ({"host": "a:1"}, "a host of letters, digits, dots and dashes"),
        ({"syslogtag": "a:b:"}, "a tag whose only colon is its end"),
        ({"severity": "bad"}, "a line of syslog has no facility 'mail' of severity 'bad'"),
        ({"more": 1}, "but a document has @timestamp, host, .*, more"),
    ],
)
def test_a_document_that_is_no_line_is_refused(change: dict[str, Any], sentence: str) -> None:
    """Rather than to send another one."""
    with pytest.raises(ValueError, match=sentence):
        syslog_line(json.dumps({**LOGGED[0], **TEXTS[0], **change}).encode())


def test_every_address_of_the_recipes_has_a_place() -> None:
    """Each block that addresses are drawn from is in the database; rsyslog's tables want each text once."""
    known = set(networks())
    assert len(known) == len([*networks()]) == len(json.loads(lookup_table())["table"])
    for one in addresses(4000, 4000, Draws("addresses"), set()):
        address = ipaddress.ip_address(one)
        separator, groups = (".", 2) if address.version == 4 else (":", 3)
        assert separator.join(one.split(separator)[:groups]) in known, one
    assert len({json.dumps(place_of_network(one)) for one in known}) > 30


def test_the_index_has_the_fields_that_the_shipper_sends() -> None:
    """A strict mapping refuses what it does not name; one that indexes nothing is left as it is."""
    mappings = index_mappings(TRACKS / "web-events")
    with_place = parsed_mappings("places", mappings)["properties"]
    assert set(with_place) == {*mappings["properties"], "place"}
    assert set(with_place["place"]["properties"]) == set(place_of_network("10.1")) >= set(UNKNOWN)
    assert set(parsed_mappings("lines", mappings)["properties"]) == {"@timestamp", "message"}
    for parsing in ("none", "json", "syslog"):
        assert parsed_mappings(parsing, mappings) == mappings
    nothing = {"enabled": False}
    assert parsed_mappings("lines", nothing) == parsed_mappings("places", nothing) == nothing
