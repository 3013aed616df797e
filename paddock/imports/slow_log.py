"""Lines of Elasticsearch's search slow log, as text and as JSON of 7.x, 8.x and 9.x, and the searches that they are of.

A node writes a line for each shard and phase that was slow, when it has ended: a search of an index of five shards has
up to ten lines. Lines of the same search are put together again by what was asked and when.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from typing import Any

MICROSECONDS = 1_000_000
# Lines of one search begin or end at most so long apart, in microseconds: its fetch phase begins when the slowest shard
# has ended its query phase, which need not be in the log.
_GAP = MICROSECONDS
_UNITS = {"nanos": 0.001, "micros": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6, "d": 86400e6}
_TOOK = re.compile(r"(\d+(?:\.\d+)?)(nanos|micros|ms|s|m|h|d)")
_PLACE = re.compile(r"\[([^\[\]]+)\]\[(\d+)\]")
_HEAD = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)\]\s*\[[A-Z ]+\]\s*\[(?P<logger>[^\]]*)\]"
)
_TEXT = re.compile(r"(?P<place>\[[^\[\]]+\]\[\d+\]) took\[(?P<took>[^\]]*)\], took_millis\[(?P<millis>\d*)\]")
_PAIR = re.compile(r'(elasticsearch\.slowlog\.[\w.]+)="((?:[^"\\]|\\.)*)"')
_TEXTS = ("message", "took", "took_millis", "total_hits")
_LOGGER = re.compile(r"i\.s\.s\.|search\.slowlog")
_STREAM = re.compile(r"\.ds-(.+)-\d{4}\.\d\d\.\d\d-\d{6}")
_PREFIX = "elasticsearch.slowlog."


class NoSlowLine(ValueError):
    """Begins like a line of a search slow log and cannot be understood; says why."""


@dataclass(frozen=True)
class SlowLine:
    """What one shard did for one search.

    :param began: microseconds since 1970 UTC, as ``ended``.
    :param place: index, shard, and whether it is the fetch phase.
    :param body: what was asked.
    :param hits: documents that the shard found; None where it did not count all.
    :param shards: how many the search had.
    :param key: the same for all lines of one search.
    :param zoned: whether its time had a zone.
    """

    began: int
    ended: int
    place: tuple[str, int, bool]
    body: Mapping[str, Any]
    hits: int | None
    shards: int
    stats: str
    key: str
    zoned: bool


@dataclass
class Search:
    """One search, of the lines that there are of it."""

    began: int
    ended: int
    body: Mapping[str, Any]
    stats: str
    shards: int
    hits: dict[tuple[str, int], int | None] = field(default_factory=dict)
    places: set[tuple[str, int, bool]] = field(default_factory=set)

    @property
    def indices(self) -> list[str]:
        """Those of its lines, sorted."""
        return sorted({index for index, _, _ in self.places})

    @property
    def found(self) -> int | None:
        """Documents that it found; None unless all of its shards are known to have counted all of theirs."""
        counts = list(self.hits.values())
        if len(counts) < self.shards or None in counts:
            return None
        return sum(one for one in counts if one is not None)


def read_slow_line(line: str, zone: tzinfo) -> SlowLine | None:
    """What the line says; None if it is none of a search slow log, such as one of the indexing slow log.

    :param zone: of times without one, which the text form has.
    :raises NoSlowLine: if it is cut off or damaged.
    """
    try:
        return _read(line, zone)
    except NoSlowLine:
        raise
    except (ValueError, OverflowError, RecursionError):
        raise NoSlowLine("it has a number or a text that no node writes, or is nested too deep") from None


def _read(line: str, zone: tzinfo) -> SlowLine | None:
    if line.lstrip().startswith("{"):
        return _read_json(line, zone)
    head = _HEAD.match(line)
    if head is None:
        return None
    rest = line[head.end() :]
    if _PREFIX in rest:
        return _read_pairs(rest, head["time"], head["logger"], zone)
    found = _TEXT.search(rest)
    source = found and re.search(r", source\[", rest[found.end() :])
    if found is None or source is None:
        if _LOGGER.search(head["logger"]):
            raise NoSlowLine("it is cut off, or in no form that Elasticsearch writes")
        return None
    before, at = rest[found.end() :][: source.start()], found.end() + source.end()
    said = {name: _bracketed(before, name) for name in ("total_hits", "stats", "search_type", "total_shards")}
    if not said["total_shards"]:
        return None  # a line of the indexing slow log
    try:
        body, end = ({}, at) if rest[at : at + 1] == "]" else json.JSONDecoder().raw_decode(rest, at)
    except ValueError:
        raise NoSlowLine("what was asked is cut off") from None
    said["id"] = _bracketed(rest[end + 1 :], "id")
    said |= {"message": found["place"], "took": found["took"], "took_millis": found["millis"]}
    return _line(head["time"], zone, head["logger"], body, said)


def _read_pairs(rest: str, time: str, logger: str, zone: tzinfo) -> SlowLine | None:
    """The text form of 8.0 and later: names and quoted values."""
    said = {found[1].removeprefix(_PREFIX): found[2] for found in _PAIR.finditer(rest)}
    if "search_type" not in said:
        if _LOGGER.search(logger):
            raise NoSlowLine("it is cut off")
        return None
    return _line(time, zone, logger, _body(said.get("source")), said)


def _read_json(line: str, zone: tzinfo) -> SlowLine | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        if "search_slowlog" in line:
            raise NoSlowLine("it is no whole JSON object") from None
        return None
    flat = dict(_flat(value)) if isinstance(value, dict) else {}
    # 7.x has short names, later versions long ones.
    said = {name: one for name, one in flat.items() if not name.startswith(_PREFIX)}
    said |= {name.removeprefix(_PREFIX): one for name, one in flat.items() if name.startswith(_PREFIX)}
    kind = str(said.get("type") or said.get("event.dataset") or said.get("log.logger") or "")
    if "search_slowlog" not in kind and "slowlog.search" not in kind and "search.slowlog" not in kind:
        return None
    time = said.get("timestamp") or said.get("@timestamp")
    if not isinstance(time, str):
        raise NoSlowLine("it lacks its time")
    return _line(
        time, zone, str(said.get("component") or said.get("log.logger") or ""), _body(said.get("source")), said
    )


def _body(source: Any) -> Any:
    """What was asked; 8.0 and later write it as JSON within a text, escaped once more than that needs.

    :raises NoSlowLine: if it cannot be read.
    """
    if isinstance(source, dict):
        return source
    if not isinstance(source, str):
        raise NoSlowLine("it lacks what was asked")
    for text in (source or "{}", f'"{source}"'):
        try:
            read = json.loads(text)
            return json.loads(read) if isinstance(read, str) else read
        except ValueError:
            continue
    raise NoSlowLine("what was asked is no JSON, or cut off")


def _line(time: str, zone: tzinfo, logger: str, body: Any, said: Mapping[str, Any]) -> SlowLine:
    """The line of what was read of it: took, took_millis, total_hits and the like as texts or numbers."""
    texts = {name: str(said.get(name, "")) for name in (*_TEXTS, "total_shards", "stats", "search_type", "id")}
    where, moment = _PLACE.search(texts["message"]), _moment(time)
    lasted = _lasted(texts["took"], texts["took_millis"])
    if where is None or lasted is None or moment is None or not isinstance(body, dict):
        raise NoSlowLine("its index, its time, how long it took or what was asked cannot be read")
    ended = round((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp() * MICROSECONDS)
    hits = re.fullmatch(r"(\d+)(?: hits)?", texts["total_hits"])
    shards = texts["total_shards"]
    # As text it has no quotes, and as JSON of 8.0 and later escaped ones.
    stats = ",".join(re.findall(r'[^\[\]\\", ]+', texts["stats"]))
    asked = [body, texts["search_type"], texts["stats"], texts["id"], shards]
    # The query log is to have all of it, so what cannot be written is no line: half a character, 1e999, the year 0.
    json.dumps([asked, where[1]], allow_nan=False, ensure_ascii=False).encode()
    time_text(ended - lasted)
    return SlowLine(
        began=ended - lasted,
        ended=ended,
        place=(where[1], int(where[2]), "fetch" in logger),
        body=body,
        hits=int(hits[1]) if hits else None,
        shards=int(shards) if shards.isdigit() else 1,
        stats=stats,
        key=json.dumps(asked, sort_keys=True),
        zoned=moment.tzinfo is not None,
    )


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Full names, as Elasticsearch's own files have them; shippers make objects of them."""
    for name, one in value.items():
        if isinstance(one, Mapping) and name != "source":
            yield from _flat(one, f"{above}{name}.")
        else:
            yield f"{above}{name}", one


def _bracketed(text: str, name: str) -> str:
    found = re.search(rf"(?:^|, ){name}\[([^\]]*)\]", text)
    return found[1] if found else ""


def _lasted(took: str, millis: str) -> int | None:
    """Microseconds; what says more is believed."""
    if found := _TOOK.fullmatch(took):
        return round(float(found[1]) * _UNITS[found[2]])
    return int(millis) * 1000 if millis.isdigit() else None


def _moment(text: str) -> datetime | None:
    plain = text.replace(",", ".").replace("Z", "+00:00").replace(" ", "T")
    # Python 3.10 wants three or six digits of a second.
    plain = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", plain)
    plain = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", plain)
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def time_text(at: int) -> str:
    """Microseconds since 1970 UTC as ISO 8601.

    :raises ValueError: if it is before the year 1 or after the year 9999.
    """
    moment = datetime.fromtimestamp(at // MICROSECONDS, timezone.utc)
    return f"{moment.replace(tzinfo=None).isoformat()}.{at % MICROSECONDS:06d}Z"


def searches(lines: Iterable[SlowLine]) -> list[Search]:
    """The searches of these lines, by when they began.

    Lines that ask the same belong together unless they are of the same shard and phase, or more than a second apart.
    """
    found: list[Search] = []
    open_ones: dict[str, list[Search]] = {}
    for line in sorted(lines, key=lambda one: (one.began, one.ended)):
        same = [one for one in open_ones.get(line.key, ()) if line.began <= one.ended + _GAP]
        search = next((one for one in same if line.place not in one.places), None)
        if search is None:
            search = Search(line.began, line.ended, line.body, line.stats, line.shards)
            found.append(search)
            same.append(search)
        open_ones[line.key] = same
        search.ended = max(search.ended, line.ended)
        search.places.add(line.place)
        index, shard, fetch = line.place
        if not fetch:
            search.hits[index, shard] = line.hits
    return found


def stream_of(index: str) -> str:
    """The data stream that an index belongs to; the index itself if it belongs to none."""
    found = _STREAM.fullmatch(index)
    return found[1] if found else index
