"""What a tournament takes from its corpus: track, length of laps, orders in which the documents become smallest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from paddock.corpora.store import documents_of, first_lines, track_of
from paddock.errors import UsageError
from paddock.paths import TRACKS
from paddock.tournaments import TournamentOptions
from paddock.tracks import track_names
from paddock.tracks.rendering import index_mappings

# As a grid's factor asks for them: so many beside the values that it lists.
FROM_CORPUS = "from_corpus"
# The order of an index that has none.
UNSORTED = "unsorted"
# A lap of fewer documents is over before it has begun; such a corpus is refused instead.
FEWEST_DOCUMENTS = 1_000
# Types of fields that Elasticsearch sorts an index by, as tracks/shared/levels.py has them.
_SORTABLE = {"keyword", "date", "date_nanos", "boolean", "long", "integer", "short", "byte", "double", "float"}
# An order is written as a text, in which commas stand between fields and blanks before "desc".
_WRITABLE = re.compile(r"[^\s,]+")


def fitted(content: Mapping[str, Any], options: TournamentOptions, sampled: bool = True) -> dict[str, Any]:
    """The contents of a tournament file for the corpus that is asked for.

    The track is the corpus's own, where --corpus names one of another track. A lap is no longer than the corpus that
    --corpus or --documents asks for, and a note says so. A factor that asks for orders gets those in which a sample of
    the corpus becomes smallest, each with the latest documents first.

    :param sampled: whether to look into the corpus, which takes a second or two; else orders are only counted.
    :raises UsageError, CorpusError: if the corpus is not to be had.
    """
    changed = dict(content)
    if options.corpus and (track := track_of(options.corpus)):
        changed["track"] = track
    if changed["track"] not in track_names():
        return changed
    most = options.documents or (documents_of(changed["track"], options.corpus) if options.corpus else None)
    if most is not None:
        changed |= _shortened(changed, most, options.quick)
    if any(FROM_CORPUS in factor for factor in content.get("grid", ())):
        changed["grid"] = [_with_orders(factor, changed, options, sampled) for factor in content["grid"]]
    return changed


def _shortened(content: Mapping[str, Any], most: int, quick: bool) -> dict[str, Any]:
    """What of a tournament file changes where its laps would be longer than this number of documents."""
    asked = {**content, **(content.get("quick", {}) if quick else {})}.get("lap_documents", 0)
    if content.get("growing") or asked <= most or most < FEWEST_DOCUMENTS:
        return {}
    note = f"Every lap loads all {most:,} documents of the corpus; the tournament asks for laps of {asked:,}."
    quick_form = {"quick": {**content["quick"], "lap_documents": most}} if quick and "quick" in content else {}
    return {"lap_documents": most, "notes": [*content.get("notes", ()), note], **quick_form}


def _with_orders(
    factor: Mapping[str, Any], content: Mapping[str, Any], options: TournamentOptions, sampled: bool
) -> dict[str, Any]:
    if FROM_CORPUS not in factor:
        return dict(factor)
    most = factor[FROM_CORPUS]
    orders = _orders(content, options) if sampled else [f"order {number} of the corpus" for number in range(most)]
    values = [*factor["values"], *[order for order in orders if order not in factor["values"]][:most]]
    return {**{key: value for key, value in factor.items() if key != FROM_CORPUS}, "values": values}


def _orders(content: Mapping[str, Any], options: TournamentOptions) -> list[str]:
    """The orders of the corpus that the track's index can have, the one that makes a sample smallest first."""
    # Compiled code, which lists of tournaments do not wait for.
    from paddock.inspection.terms import SAMPLE_DOCUMENTS, rank_orders

    mappings, sortable = _mapped(content["track"])
    corpus = options.corpus or content.get("corpus")
    lines = first_lines(content["track"], corpus, SAMPLE_DOCUMENTS, options.corpus_seed)
    found = []
    for order in rank_orders(lines):
        # A text is sorted by its twin that is a keyword.
        twins = [name for name in sortable if name.startswith(f"{order.field}.")]
        if not _WRITABLE.fullmatch(order.field):
            continue
        if sortable.get(order.field, order.strings and _becomes_a_keyword(order.field, mappings)):
            found.append(order.field)
        else:
            found += [name for name in twins if sortable[name]][:1]
    return [f"{field},@timestamp desc" for field in found]


def check_order(order: str | list[str], track: str) -> None:
    """Check that the track's index can be sorted so.

    :param order: as a level's ``sort`` has it.
    :raises UsageError: if it has no such field, or one without a column.
    """
    mappings, sortable = _mapped(track)
    for field in order.split(",") if isinstance(order, str) else order:
        name = field.split()[0] if field.split() else ""
        if not sortable.get(name, _becomes_a_keyword(name, mappings)):
            problem = "no index is sorted by a field of its type" if name in sortable else "it has no such field"
            raise UsageError(
                f"The index of the track '{track}' cannot be sorted by '{name}', because {problem}: name one of "
                f"{', '.join(one for one, fits in sortable.items() if fits)}."
            )


def _mapped(track: str) -> tuple[Mapping[str, Any], dict[str, bool]]:
    """The track's mapping, and of each field in it whether its index can be sorted by that."""
    mappings = index_mappings(TRACKS / track)
    return mappings, dict(_fields(mappings.get("properties", {})))


def _becomes_a_keyword(name: str, mappings: Mapping[str, Any]) -> bool:
    """Whether a text can be sorted by whose field the mapping does not have, as tracks/shared/levels.py decides it."""
    last = name.rpartition(".")[2]
    fitting = (
        one["mapping"]["type"] == "keyword"
        for entry in mappings.get("dynamic_templates", ())
        for one in entry.values()
        if one.get("match_mapping_type", "*") in ("string", "*") and fnmatchcase(last, one.get("match", "*"))
    )
    return mappings.get("dynamic") in (None, True, "true") and next(fitting, True)


def _fields(properties: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, bool]]:
    """Every mapped field by its full name, twins included, and whether an index can be sorted by it."""
    for name, definition in properties.items():
        if "properties" in definition:
            yield from _fields(definition["properties"], f"{above}{name}.")
        else:
            yield f"{above}{name}", definition["type"] in _SORTABLE and definition.get("doc_values", True)
            yield from _fields(definition.get("fields", {}), f"{above}{name}.")
