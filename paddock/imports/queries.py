"""./inv queries.import: slow logs -> a query log that a replay asks beside its documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from paddock import numbers
from paddock.errors import FileError, UsageError
from paddock.files import replacing
from paddock.imports import DEFAULT_ZONE, QueryImportOptions
from paddock.imports.options import expanded
from paddock.imports.slow_log import NoSlowLine, Search, SlowLine, read_slow_line, searches, stream_of, time_text
from paddock.imports.sources import Source, open_sources
from paddock.imports.times import read_zone

_INDICES_SHOWN = 8


@dataclass
class QueryImport:
    """What became of the slow logs.

    :param path: the query log.
    :param indices: searches by what they asked.
    :param lines: of search slow logs, and ``others``, lines of something else.
    :param elsewhere: lines of indices that were not asked for, and ``hidden``, of those of Elasticsearch and Kibana.
    :param bad: lines that could not be read, with the first of them.
    :param zoneless: lines whose time has no zone, which were taken for ``zone``, as the options name it.
    :param without_point: searches of a point in time, which is over, and which now ask the index.
    """

    path: Path
    written: int = 0
    first: int = 0
    last: int = 0
    lines: int = 0
    others: int = 0
    elsewhere: int = 0
    hidden: int = 0
    bad: int = 0
    first_bad: str = ""
    zone: str = DEFAULT_ZONE
    zoneless: int = 0
    without_point: int = 0
    indices: Counter[str] = field(default_factory=Counter)

    def render(self) -> str:
        """For a terminal."""
        said = [
            f"{self.path}: {numbers.plural(self.written, 'query', 'queries')} of {numbers.plural(self.lines, 'line')} "
            f"of slow log, from {time_text(self.first)} to {time_text(self.last)}."
        ]
        said += [f"  {index}: {number:,}" for index, number in self.indices.most_common(_INDICES_SHOWN)]
        if len(self.indices) > _INDICES_SHOWN:
            said.append(f"  and {len(self.indices) - _INDICES_SHOWN} more indices")
        if len(self.indices) > 1:
            said.append("All of them will ask the one index of the race: --index chooses.")
        if self.zoneless:
            said.append(
                f"The times of {numbers.plural(self.zoneless, 'line')} have no zone and were taken for {self.zone} "
                f"(--zone)."
            )
        if self.without_point:
            said.append(
                f"{self.without_point:,} asked a point in time, which is over; they will ask the index as it is."
            )
        left = (
            (self.elsewhere, "of other indices"),
            (self.hidden, "of indices whose names begin with a point (name them with --index)"),
            (self.others, "that are none of a search slow log"),
            (self.bad, f"that cannot be read, the first at {self.first_bad}"),
        )
        said += [f"Left out: {numbers.plural(number, 'line')} {what}." for number, what in left if number]
        return "\n".join(said)


def import_queries(options: QueryImportOptions) -> QueryImport:
    """Write the query log, whole or not at all.

    :raises UsageError, FileError: if nothing can come of it.
    """
    zone = read_zone(options.zone)
    if not options.output:
        raise UsageError("The query log needs a file: add --output, for example --output queries.jsonl.")
    target = Path(options.output).expanduser()
    if not target.parent.is_dir():
        raise FileError(target, "there is no folder for this file: make it first.")
    if target.exists() and (target.is_dir() or not options.force):
        raise UsageError(f"--output would overwrite {target}: name another file, or replace it with --force.")
    names = expanded(options.files)
    result = QueryImport(target, zone=options.zone)
    found: list[SlowLine] = []
    for source in open_sources(names):
        for place, text in _lines(source):
            try:
                line = read_slow_line(text, zone)
            except NoSlowLine as error:
                result.bad += 1
                result.first_bad = result.first_bad or f"{place} ({error})"
                continue
            if line is None:
                result.others += 1
            elif _is_meant(line.place[0], options.index, result):
                found.append(line)
    if not found:
        seen = result.others + result.elsewhere + result.hidden + result.bad
        raise FileError(
            names[0],
            f"there is no line of a search slow log for what was asked, in {numbers.plural(seen, 'line')}: name "
            f"*_index_search_slowlog.json or .log, and check --index.",
        )
    asked = searches(found)
    result.lines, result.written = len(found), len(asked)
    result.zoneless = sum(not line.zoned for line in found)
    result.first, result.last = asked[0].began, asked[-1].began
    for search in asked:
        result.indices.update({",".join(dict.fromkeys(map(stream_of, search.indices))): 1})
    with replacing(target) as temporary, temporary.open("w", encoding="utf-8") as file:
        for search in asked:
            file.write(json.dumps(_recorded(search, result), ensure_ascii=False, separators=(",", ":")) + "\n")
    return result


def _lines(source: Source) -> Iterator[tuple[str, str]]:
    """The places and texts of lines that are not empty."""
    rest, number = b"", 0
    for piece in source.pieces():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            if line.strip():
                yield f"{source.label}:{number}", line.decode("utf-8", "replace")
    if rest.strip():
        yield f"{source.label}:{number + 1}", rest.decode("utf-8", "replace")


def _is_meant(index: str, patterns: tuple[str, ...], result: QueryImport) -> bool:
    names = {index, stream_of(index)}
    if patterns:
        meant = any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
        result.elsewhere += not meant
        return meant
    hidden = stream_of(index).startswith(".")
    result.hidden += hidden
    return not hidden


def _recorded(search: Search, result: QueryImport) -> dict[str, Any]:
    """The search as a line of the query log."""
    body = dict(search.body)
    if body.pop("pit", None) is not None:
        result.without_point += 1
        # This order exists in a point in time only, and what comes after a place in it as well.
        order = body.get("sort")
        if isinstance(order, list):
            kept = [one for one in order if one != "_shard_doc" and not (isinstance(one, dict) and "_shard_doc" in one)]
            if kept != order:
                body.pop("search_after", None)
                body["sort"] = kept
    recorded: dict[str, Any] = {"at": time_text(search.began), "body": body}
    if search.stats:
        recorded["name"] = search.stats
    recorded["took_ms"] = round((search.ended - search.began) / 1000, 3)
    if search.found is not None:
        recorded["hits"] = search.found
    return recorded
