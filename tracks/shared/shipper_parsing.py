"""What a shipper does with a line before it sends it, and the small database of places that it looks addresses up in.

Places are real, which address is where is made up: the project's addresses are of blocks that nobody on the Internet
has (private, documentation, benchmarking and reserved ones), so that no real database knows them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

# As it is; the text of a field, nothing parsed; parsed and written anew; that, with the place of the client's address;
# a line of syslog, parsed into a document.
NONE, LINES, JSON, PLACES, SYSLOG = PARSINGS = ("none", "lines", "json", "places", "syslog")
# The field with a place, and what it says of addresses that the database does not have.
PLACE = "place"
UNKNOWN = {"country": "unknown"}
_PLACE_MAPPING = {
    "properties": {"country": {"type": "keyword"}, "city": {"type": "keyword"}, "location": {"type": "geo_point"}}
}
_LINE_MAPPING = {"@timestamp": {"type": "date"}, "message": {"type": "text", "norms": False}}

# The fields of a document that a line of syslog is made of, and that rsyslog makes of such a line.
SYSLOG_FIELDS = ("@timestamp", "host", "severity", "facility", "syslogtag", "message")
_HEAD = re.compile(r"[0-9T:.Z+-]+ [A-Za-z0-9._-]+ [^ :]{1,400}:?")
# By their numbers in RFC 3164, as rsyslog calls them.
_SEVERITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
_FACILITIES = (
    *("kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp"),
    *("audit", "alert", "clock", *(f"local{number}" for number in range(8))),
)

# Country, city, latitude and longitude in degrees.
_CITIES = (
    *(("AR", "Buenos Aires", "-34.60,-58.38"), ("AT", "Vienna", "48.21,16.37"), ("AU", "Sydney", "-33.87,151.21")),
    *(("BE", "Brussels", "50.85,4.35"), ("BR", "Recife", "-8.05,-34.88"), ("CA", "Montreal", "45.50,-73.57")),
    *(("CH", "Zurich", "47.37,8.54"), ("CL", "Santiago", "-33.45,-70.67"), ("CZ", "Brno", "49.20,16.61")),
    *(("DE", "Hamburg", "53.55,9.99"), ("DE", "Leipzig", "51.34,12.37"), ("DK", "Aarhus", "56.16,10.20")),
    *(("ES", "Valencia", "39.47,-0.38"), ("FI", "Tampere", "61.50,23.76"), ("FR", "Lyon", "45.76,4.84")),
    *(("GB", "Leeds", "53.80,-1.55"), ("GR", "Patras", "38.25,21.73"), ("HU", "Szeged", "46.25,20.15")),
    *(("IE", "Cork", "51.90,-8.47"), ("IN", "Pune", "18.52,73.86"), ("IT", "Turin", "45.07,7.69")),
    *(("JP", "Kobe", "34.69,135.20"), ("KE", "Mombasa", "-4.04,39.67"), ("MX", "Puebla", "19.04,-98.20")),
    *(("NL", "Utrecht", "52.09,5.12"), ("NO", "Bergen", "60.39,5.32"), ("NZ", "Dunedin", "-45.87,170.50")),
    *(("PL", "Gdansk", "54.35,18.65"), ("PT", "Porto", "41.15,-8.61"), ("SE", "Uppsala", "59.86,17.64")),
    *(("US", "Chicago", "41.88,-87.63"), ("US", "Portland", "45.52,-122.68"), ("ZA", "Durban", "-29.86,31.02")),
)
# First and last second number of the networks (/16) of each first number.
_NETWORKS = {
    10: (0, 255),
    100: (64, 127),
    172: (16, 31),
    192: (168, 168),
    198: (18, 51),
    203: (0, 0),
    **dict.fromkeys(range(240, 256), (0, 255)),
}
# Third numbers of networks (/48) of 2001:db8::/32.
_IPV6_NETWORKS = 4096


def networks() -> Iterator[str]:
    """The beginnings of addresses by which places are found: two numbers of an IPv4 address, three of an IPv6 one."""
    for first, (low, high) in _NETWORKS.items():
        yield from (f"{first}.{second}" for second in range(low, high + 1))
    # Zeros are left out: of the first network an address may begin with 2001:db8::1.
    yield "2001:db8:"
    yield from (f"2001:db8:{number:x}" for number in range(_IPV6_NETWORKS))


def place_of_network(network: str) -> dict[str, str]:
    """Where all addresses are that begin so; the same in every race."""
    country, city, location = _CITIES[zlib.crc32(network.encode("ascii")) % len(_CITIES)]
    return {"country": country, "city": city, "location": location}


def lookup_table() -> str:
    """The database as rsyslog's lookup tables want it: texts by texts, here places as JSON by networks."""
    table = [{"index": one, "value": json.dumps(place_of_network(one))} for one in networks()]
    return json.dumps({"version": 1, "nomatch": json.dumps(UNKNOWN), "type": "string", "table": table})


def parsed_mappings(parsing: str, mappings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping of an index that gets what a shipper makes of lines; that of a strict one has to name its fields.

    :param mappings: of documents as they are; left alone.
    """
    if parsing not in (LINES, PLACES) or mappings.get("enabled") is False:
        return mappings
    if parsing == LINES:
        return {"dynamic": "strict", "properties": _LINE_MAPPING}
    return {**mappings, "properties": {**mappings.get("properties", {}), PLACE: _PLACE_MAPPING}}


def syslog_line(source: bytes) -> bytes:
    """The line of syslog (RFC 3164, with a time of ISO 8601) that a document is made of.

    :param source: the document, a JSON object.
    :raises ValueError: if it has other fields than these, or something in them that no such line can have.
    """
    document = json.loads(source)
    if set(document) != set(SYSLOG_FIELDS):
        raise ValueError(f"a line of syslog has {', '.join(SYSLOG_FIELDS)}, but a document has {', '.join(document)}")
    facility, severity = document["facility"], document["severity"]
    if facility not in _FACILITIES or severity not in _SEVERITIES:
        raise ValueError(f"a line of syslog has no facility {facility!r} of severity {severity!r}")
    priority = 8 * _FACILITIES.index(facility) + _SEVERITIES.index(severity)
    head = " ".join(document[name] for name in ("@timestamp", "host", "syslogtag"))
    line = f"<{priority}>{head} {document['message']}"
    if "\n" in line or not _HEAD.fullmatch(head):
        raise ValueError(
            f"a line of syslog has no line breaks, no spaces before its text, a host of letters, digits, dots and "
            f"dashes, and a tag whose only colon is its end, which is not so of {line[:100]!r}"
        )
    return line.encode("utf-8") + b"\n"
