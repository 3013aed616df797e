"""The figures of a published study, from a tournament file or a table beside it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paddock.errors import FileError
from paddock.tournaments.contenders import cell_name
from paddock.tournaments.model import Published


def read_published(path: Path, content: Mapping[str, Any], names: Iterable[str]) -> Published:
    """What the tournament file says under "published".

    :param path: the tournament file; a table lies beside it.
    :param names: every contender of the file; exclusions must be among them.
    :raises FileError: if the table cannot be read, lacks a column, or a name is no contender.
    """
    known = set(names)
    figures: dict[str, float] = dict(content.get("figures", {}))
    sds: dict[str, float] = {}
    if "table" in content:
        figures, sds = _read_table(path.with_name(content["table"]["file"]), content["table"])
    for name in (*figures, *content.get("excluded", {}), *content.get("excluded_sds", {})):
        if name not in known:
            raise FileError(path, f"published names '{name}', which is no contender of this tournament: correct it.")
    excluded_sds = content.get("excluded_sds", {})
    return Published(
        source=content["source"],
        unit=content["unit"],
        figures=figures,
        deviations=tuple(content.get("deviations", ())),
        excluded=content.get("excluded", {}),
        sds={name: sd for name, sd in sds.items() if name not in excluded_sds},
        excluded_sds=excluded_sds,
    )


def narrowed(published: Published, names: Iterable[str]) -> Published:
    """The figures of these contenders alone, for a tournament that runs only some."""
    kept = set(names)

    def only(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name in kept}

    return Published(
        published.source,
        published.unit,
        only(published.figures),
        published.deviations,
        only(published.excluded),
        only(published.sds),
        only(published.excluded_sds),
    )


def _read_table(path: Path, table: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Figures and standard deviations by contender; ``columns`` says which column holds which factor."""
    figures: dict[str, float] = {}
    sds: dict[str, float] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                name = cell_name({factor: row[column] for factor, column in table["columns"].items()})
                figures[name] = float(row[table["figure"]])
                if "sd" in table:
                    sds[name] = float(row[table["sd"]])
    except OSError as error:
        raise FileError(path, f"this table of published figures cannot be read ({error.strerror}).") from None
    except KeyError as error:
        raise FileError(path, f"this table has no column {error}: name one that it has.") from None
    except (ValueError, TypeError) as error:
        raise FileError(path, f"this table holds something else than numbers: {error}.") from None
    return figures, sds
