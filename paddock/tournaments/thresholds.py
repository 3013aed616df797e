"""Translog flush thresholds that the loads of a tournament do not reach: what they compare then never happens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from paddock.tournaments.durations import Experience, lap_documents, lap_seconds
from paddock.tournaments.load_shape import index_settings
from paddock.tournaments.model import Tournament
from paddock.tracks import copies_of_shards, read_parameters

_SIZE, _AGE = "translog.flush_threshold_size", "translog.flush_threshold_age"
_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
# As 8.8.2 and 9.2.4 have it: a translog is flushed after a minute, however small.
_DEFAULT_AGE = 60.0


def unreached_thresholds(tournament: Tournament, experience: Experience) -> Iterator[str]:
    """A sentence for each contender whose flush threshold is not reached, where contenders differ in it.

    A translog is not emptied by a refresh: in an index that grows it fills from slice to slice.
    """
    settings = {one.name: index_settings(tournament, one) for one in tournament.contenders}
    sizes = {name: _bytes(of.get(_SIZE)) for name, of in settings.items()}
    each = _bytes_per_document(tournament)
    if len(set(sizes.values())) == 1 or each is None:
        return
    laps = tournament.warmup_blocks + tournament.blocks if tournament.growing else 1
    for contender in tournament.contenders:
        size = sizes[contender.name]
        if size is None:
            continue
        shards, _ = copies_of_shards({"index_settings": settings[contender.name]})
        load = each * lap_documents(tournament, contender, experience) / shards
        what = "all slices of a start are" if tournament.growing else "a lap is"
        if load * laps < size:
            yield (
                f"'{contender.name}' flushes its translog at {settings[contender.name][_SIZE]} per shard, and "
                f"{what} expected to bring about {load * laps / 2**20:,.0f} MB there: it is not reached. Longer "
                f"laps, or more of them into growing indices, would reach it."
            )
            continue
        fills = size / load * lap_seconds(tournament, contender, experience)
        if _AGE not in settings[contender.name] and fills > _DEFAULT_AGE:
            yield (
                f"'{contender.name}' needs about {fills:.0f} s of load to fill its translog to "
                f"{settings[contender.name][_SIZE]}, and Elasticsearch of now flushes after a minute anyway: "
                f"index.{_AGE} of an hour leaves it to the size."
            )


def _bytes(text: Any) -> float | None:
    """A size as Elasticsearch writes it; None if there is none, or it is none."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(b|kb|mb|gb|tb)", str(text).strip().lower())
    return float(found[1]) * _UNITS[found[2]] if found else None


def _bytes_per_document(tournament: Tournament) -> float | None:
    """Of the track's own corpus; None of another one."""
    if tournament.corpus is not None or "corpus_file" in tournament.track_params:
        return None
    defaults: Mapping[str, Any] = {one.name: one.default for one in read_parameters(tournament.track)}
    return float(defaults["corpus_bytes"]) / float(defaults["corpus_documents"])
