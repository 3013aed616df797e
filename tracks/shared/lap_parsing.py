"""What parses the documents of a lap: nobody, a shipper before they are sent, or an ingest pipeline on the node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared.levels import Level, sorted_by
from shared.raw_forms import FORMS
from shared.shipper_parsing import LINES, NONE, SYSLOG, SYSLOG_FIELDS
from shared.shipper_settings import ShipperSettings

FOLDER = Path(__file__).parent / "ingest-pipelines"


@dataclass(frozen=True)
class Pipeline:
    """A file of the folder ingest-pipelines/, by its name without .json.

    :param definition: as Elasticsearch takes it.
    :param sent: in which form documents are sent to it, one of :data:`shared.raw_forms.FORMS`.
    :param fields: mapping of what it adds to documents, by field; empty where it adds nothing.
    """

    name: str
    definition: Mapping[str, Any]
    sent: str
    fields: Mapping[str, Any]

    def id(self, index: str) -> str:
        """Its name in the cluster, beside an index of the track."""
        return f"{index}-{self.name}"

    def used_by(self, index: str, settings: dict[str, Any], mappings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have an index of these settings use it.

        :returns: the mapping, with the fields that it adds to documents; the one given is left alone.
        """
        settings["index.default_pipeline"] = self.id(index)
        if not self.fields or mappings.get("enabled") is False:
            return mappings
        return {**mappings, "properties": {**mappings.get("properties", {}), **self.fields}}


def read_pipelines(folder: Path = FOLDER) -> dict[str, Pipeline]:
    """The pipelines of the tracks by their names.

    :raises exceptions.InvalidSyntax: if a file is not what it has to be.
    """
    return {file.stem: _read(file) for file in sorted(folder.glob("*.json"))}


def _read(file: Path) -> Pipeline:
    try:
        definition = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise exceptions.InvalidSyntax(f"{file} is no JSON: {error}.") from None
    if not isinstance(definition, dict) or not isinstance(definition.get("processors"), list):
        raise exceptions.InvalidSyntax(f"{file} is no ingest pipeline: it needs a list of processors.")
    about = definition.get("_meta")
    about = about if isinstance(about, dict) else {}
    strange = sorted(set(about) - {"sent", "fields"})
    if strange or about.get("sent") not in FORMS or not isinstance(about.get("fields", {}), dict):
        raise exceptions.InvalidSyntax(
            f"the _meta of {file} {f'has {strange[0]!r}' if strange else 'is not what it has to be'}: it has sent "
            f"({' or '.join(FORMS)}), and may have fields, the mapping of what the pipeline adds to documents."
        )
    return Pipeline(file.stem, definition, about["sent"], about.get("fields", {}))


def pipelines_of(levels: Iterable[Level], folder: Path = FOLDER) -> dict[str, Pipeline]:
    """The pipelines that levels name, by the level.

    :raises exceptions.InvalidSyntax: if a level names one that there is not.
    """
    asked = {level.name: level.pipeline for level in levels if level.pipeline is not None}
    known = read_pipelines(folder) if asked else {}
    for level, name in asked.items():
        if name not in known:
            raise exceptions.InvalidSyntax(
                f"the level '{level}' is parsed by the pipeline {name!r}, and there are {', '.join(known)}: name one "
                f"of these, or put a file into {folder}."
            )
    return {level: known[name] for level, name in asked.items()}


def check_parsing(shipper: ShipperSettings | None, track: Any, level: Level, params: Mapping[str, Any]) -> None:
    """Check that what a level asks of its shipper is compatible with the track and with the rest of the race.

    :param params: those of the lap task.
    :raises exceptions.InvalidSyntax: if it is not.
    """
    parsing = NONE if shipper is None else shipper.parsing
    if parsing != NONE and level.pipeline is not None:
        raise exceptions.InvalidSyntax(
            f"the level '{level.name}' is parsed by its shipper (shipper_parsing: {parsing}) and by the pipeline "
            f"{level.pipeline!r} on the node, which gets no such documents: leave one of them out."
        )
    if parsing == LINES and (params["searches"] or params.get("read-back") or sorted_by(level)):
        raise exceptions.InvalidSyntax(
            f"the level '{level.name}' parses no lines, so that its documents have none of the track's fields: leave "
            f"lap_searches, lap_read_back and what it is sorted by out, or its shipper_parsing."
        )
    if parsing == SYSLOG and track.indices and params.get("seconds") is not None:
        raise exceptions.InvalidSyntax(
            f"the level '{level.name}' is sent as lines of syslog, which are made before a lap, and nobody knows how "
            f"many lap_seconds take: give lap_documents."
        )
    fields = track.indices[0].body["mappings"].get("properties", {}) if track.indices else {}
    if parsing == SYSLOG and set(fields) != set(SYSLOG_FIELDS):
        raise exceptions.InvalidSyntax(
            f"the level '{level.name}' is sent as lines of syslog, which the track's documents are no such: race the "
            f"track syslog, or leave shipper_parsing out."
        )
