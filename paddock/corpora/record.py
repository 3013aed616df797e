"""What is known of a corpus beside its data, and what a track has to be told about it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.files import read_record, write_json
from paddock.paths import data_folder

CORPUS_PREFIX = "paddock-"
RECORD_ENDING = ".record.json"

# Count up whenever the same recipe, seed and number of documents give other bytes than before.
GENERATOR_VERSION = 2
TEST_MODE_DOCUMENTS = 1000  # what Rally's test mode expects in the -1k file

FROM_RECIPE = "recipe"
FROM_IMPORT = "import"

ARCHIVE_ENDINGS = (".zst", ".bz2")  # those that Paddock makes; Rally unpacks others as well


@dataclass(frozen=True)
class CorpusRecord:
    """A finished corpus; all but ``file`` stands in the record beside it."""

    file: Path
    name: str  # the recipe's, or the one given to the import
    track: str  # the track whose documents these are
    origin: str  # FROM_RECIPE or FROM_IMPORT
    recipe_checksum: str  # sha256; empty for an import
    generator_version: int
    documents: int
    bytes: int
    seed: int  # 0 for an import
    sha256: str
    made_at: str  # ISO 8601, UTC
    modified_ns: int  # the file's modification time when it had this checksum, ns since 1970
    details: dict[str, Any] = field(hash=False)  # of an import: sources, format, options, counts; else empty


def corpus_name(track: str) -> str:
    """What Rally calls a track's corpus; it must be unique among all tracks of a machine."""
    return f"{CORPUS_PREFIX}{track}"


def corpus_file(track: str, name: str, documents: int, seed: int = 0, usual_seed: int = 0) -> Path:
    """The data's file, in the folder where Rally looks; the seed shows only if it is not the recipe's own."""
    suffix = "" if seed == usual_seed else f"-seed{seed}"
    return data_folder(corpus_name(track)) / f"{name}-{documents}{suffix}.json"


def first_thousand_file(file: Path) -> Path:
    """The file with the first 1,000 documents, named as Rally's test mode expects it."""
    return file.with_name(f"{file.stem}-1k.json")


def offset_file(file: Path) -> Path:
    """Rally's table of line offsets for a data file."""
    return file.with_name(f"{file.name}.offset")


def record_file(file: Path) -> Path:
    """The record of a data file."""
    return file.with_name(f"{file.stem}{RECORD_ENDING}")


def archive_file(file: Path, ending: str) -> Path:
    """The archive that Rally unpacks where the data file is missing."""
    return file.with_name(f"{file.name}{ending}")


def companion_files(file: Path) -> list[Path]:
    """Everything made from a data file, which is worthless when the data changes; the record first."""
    thousand = first_thousand_file(file)
    archives = [archive_file(each, ending) for each in (file, thousand) for ending in ARCHIVE_ENDINGS]
    return [record_file(file), offset_file(file), offset_file(thousand), thousand, *archives]


def load_record(path: Path) -> CorpusRecord | None:
    """The record in that file; None if there is none, it is damaged, or an older Paddock wrote it."""
    values: dict[str, Any] = read_record(path)
    file = path.with_name(path.name[: -len(RECORD_ENDING)] + ".json")
    fields = {each.name: str(each.type) for each in dataclasses.fields(CorpusRecord) if each.name != "file"}
    if set(values) != set(fields):
        return None
    # "dict[str, Any]" is a dict
    if any(type(values[name]).__name__ != kind.partition("[")[0] for name, kind in fields.items()):
        return None
    return CorpusRecord(file=file, **values)


def save_record(record: CorpusRecord) -> None:
    """Write the record beside its data, whole or not at all."""
    values = dataclasses.asdict(record)
    del values["file"]
    write_json(record_file(record.file), values)


def track_parameters(record: CorpusRecord) -> dict[str, str | int]:
    """The track parameters that make a track read this corpus."""
    return {
        "corpus_file": record.file.name,
        "corpus_documents": record.documents,
        "corpus_bytes": record.bytes,
    }
