"""What is known about a corpus on disk: the record beside its data, and the names of its files."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.files import read_record, write_json
from paddock.paths import data_folder

CORPUS_PREFIX = "paddock-"
RECORD_ENDING = ".record.json"


@dataclass(frozen=True)
class CorpusRecord:
    """A finished corpus; all but ``file`` stands in the record beside it."""

    file: Path
    recipe: str
    recipe_checksum: str
    generator_version: int
    documents: int
    bytes: int
    seed: int
    sha256: str
    made_at: str  # ISO 8601, UTC
    modified_ns: int  # the file's modification time when it had this checksum, ns since 1970


def corpus_name(recipe: str) -> str:
    """What Rally calls the corpus; it must be unique among all tracks of a machine."""
    return f"{CORPUS_PREFIX}{recipe}"


def corpus_file(recipe: str, documents: int, seed: int, usual_seed: int) -> Path:
    """The data's file, in the folder where Rally looks; the seed shows only if it is not the recipe's own."""
    suffix = "" if seed == usual_seed else f"-seed{seed}"
    return data_folder(corpus_name(recipe)) / f"{recipe}-{documents}{suffix}.json"


def first_thousand_file(file: Path) -> Path:
    """The file with the first 1,000 documents, named as Rally's test mode expects it."""
    return file.with_name(f"{file.stem}-1k.json")


def offset_file(file: Path) -> Path:
    """Rally's table of line offsets for a data file."""
    return file.with_name(f"{file.name}.offset")


def record_file(file: Path) -> Path:
    """The record of a data file."""
    return file.with_name(f"{file.stem}{RECORD_ENDING}")


def load_record(path: Path) -> CorpusRecord | None:
    """The record in that file; None if there is none or it is damaged."""
    values: dict[str, Any] = read_record(path)
    file = path.with_name(path.name[: -len(RECORD_ENDING)] + ".json")
    expected = {field.name: field.type for field in dataclasses.fields(CorpusRecord) if field.name != "file"}
    if set(values) != set(expected) or any(type(values[name]).__name__ != kind for name, kind in expected.items()):
        return None
    return CorpusRecord(file=file, **values)


def save_record(record: CorpusRecord) -> None:
    """Write the record beside its data, whole or not at all."""
    values = dataclasses.asdict(record)
    del values["file"]
    write_json(record_file(record.file), values)
