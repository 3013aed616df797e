"""The corpora on disk, where Rally looks for them: found, made, checked.

A corpus is finished when its record stands beside it; the record is written last. Whoever makes one holds the
folder's lock, and data appears under its name only when it is whole, so a killed generation leaves nothing
that looks finished.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from paddock.corpora.recipe import Recipe, load_recipe, recipe_names
from paddock.corpora.record import (
    CORPUS_PREFIX,
    FROM_IMPORT,
    FROM_RECIPE,
    GENERATOR_VERSION,
    RECORD_ENDING,
    TEST_MODE_DOCUMENTS,
    CorpusRecord,
    Provenance,
    corpus_file,
    corpus_name,
    finish_corpus,
    first_thousand_file,
    load_record,
    record_file,
    remove_corpus,
    save_record,
    unfinished,
    writing_errors,
)
from paddock.errors import CorpusError, UsageError, unknown
from paddock.files import checksum, require_room
from paddock.paths import data_folder

# Called with a description and the number of documents; gives a function that takes those done since its last call.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]

LARGEST_SEED = 2**63 - 1


def find_named(
    track: str, name: str | None = None, documents: int | None = None, seed: int | None = None
) -> CorpusRecord | None:
    """The corpus that a race on the track names: an imported one, or a recipe's; None if that is still to be made.

    The data is read only if its modification time is not the recorded one.

    :param name: None: the recipe that is called like the track.
    :param documents: how many; None: as many as the recipe says, or the latest import of that name has.
    :param seed: None: the recipe's own.
    :raises UsageError: if the track has neither recipe nor import of that name, or the numbers cannot be meant.
    :raises CorpusError: if the data is not what the record says.
    """
    if _is_recipe(track, name or track):
        return _find(*_wanted(name or track, documents, seed))
    return _find_import(track, name or track, documents, seed)


def track_of(name: str) -> str | None:
    """The track whose documents a recipe's or an import's corpus has; None if there is no corpus of that name.

    :raises UsageError: if corpora of several tracks have the name.
    """
    tracks = sorted({*_tracks_of_imports(name), *([load_recipe(name).track] if name in recipe_names() else [])})
    if len(tracks) > 1:
        raise UsageError(
            f"Corpora of several tracks are called '{name}' ({', '.join(tracks)}): say which with --track, for example "
            f"--track {tracks[0]}."
        )
    return tracks[0] if tracks else None


def documents_of(track: str, name: str) -> int:
    """How many documents a recipe's or an import's corpus has, or will have; raises as ``find_named`` does."""
    return load_recipe(name).documents if _is_recipe(track, name) else _find_import(track, name, None, None).documents


def ensure_named(
    track: str,
    name: str | None = None,
    documents: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> CorpusRecord:
    """As ``find_named``, but a recipe's corpus is made if it is missing (see ``ensure_corpus``)."""
    if _is_recipe(track, name or track):
        return ensure_corpus(name or track, documents, seed, progress)
    return _find_import(track, name or track, documents, seed)


def ensure_corpus(
    recipe: str,
    documents: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> CorpusRecord:
    """The corpus, made if it is missing or its recipe has changed; ``force`` makes it anew in any case.

    Safe in several processes at once: one makes it, the others wait.

    :raises UsageError: if there is no such recipe, or the numbers cannot be meant.
    :raises CorpusError: if there is data but not what its record says.
    :raises MachineError: if the disk is full or cannot be written to.
    """
    wanted, count, used_seed = _wanted(recipe, documents, seed)
    # Where the data is not the recorded one, another process may just be replacing it; its lock tells.
    with suppress(CorpusError):
        if not force and (found := _find(wanted, count, used_seed)):
            return found
    with unfinished(wanted.track) as temporary:
        found = None if force else _find(wanted, count, used_seed)
        return found or _make(wanted, count, used_seed, temporary, progress)


def first_lines(track: str, name: str | None, most: int, seed: int | None = None) -> list[bytes]:
    """The first lines of the corpus that ``find_named`` finds (it tells the errors); a recipe's are made for it."""
    if _is_recipe(track, name or track):
        from paddock.corpora.generate import write_corpus

        recipe, _, used_seed = _wanted(name or track, None, seed)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "documents.json"
            write_corpus(recipe, most, used_seed, file)
            return file.read_bytes().splitlines()
    record = _find_import(track, name or track, None, seed)
    with record.file.open("rb") as data:
        return list(itertools.islice(data, most))


def verify_corpus(record: CorpusRecord) -> None:
    """Read the whole corpus and compare it with its record; raises CorpusError if it is not what the record says."""
    if not record.file.exists():
        raise CorpusError(f"{record.file} is missing: {_remedy(record)}.")
    thousand_file = first_thousand_file(record.file)
    first, documents = hashlib.sha256(), 0
    with record.file.open("rb") as data:
        for line in itertools.islice(data, TEST_MODE_DOCUMENTS):
            first.update(line)
            documents += 1
        whole = first.copy()
        while piece := data.read(8 << 20):
            whole.update(piece)
            documents += piece.count(b"\n")
    if whole.hexdigest() != record.sha256:
        raise _differs(record)
    if documents != record.documents:
        raise CorpusError(
            f"{record.file} has {documents:,} documents, and its record says {record.documents:,}: {_remedy(record)}."
        )
    if not thousand_file.exists() or checksum(thousand_file) != first.hexdigest():
        raise CorpusError(f"{thousand_file} is not the first 1,000 documents of {record.file.name}: {_remedy(record)}.")


def list_corpora(track: str = "*") -> list[CorpusRecord]:
    """All finished corpora in Rally's data folder, or those of one track, by file name."""
    root = data_folder(CORPUS_PREFIX).parent
    records = (load_record(path) for path in sorted(root.glob(f"{corpus_name(track)}/*{RECORD_ENDING}")))
    return [record for record in records if record and record.file.exists()]


def _wanted(name: str, documents: int | None, seed: int | None) -> tuple[Recipe, int, int]:
    """The recipe and the numbers to use."""
    recipe = load_recipe(name)
    count = recipe.documents if documents is None else documents
    used_seed = recipe.seed if seed is None else seed
    if count < TEST_MODE_DOCUMENTS:
        raise UsageError(
            f"A corpus of {count} documents is too small: Rally's test mode takes the first "
            f"{TEST_MODE_DOCUMENTS:,}, so ask for at least as many."
        )
    if not 0 <= used_seed <= LARGEST_SEED:
        raise UsageError(f"The seed {used_seed} is out of range: take one from 0 to {LARGEST_SEED}.")
    return recipe, count, used_seed


def _is_recipe(track: str, name: str) -> bool:
    """Whether the name is a recipe's of this track; another track's is an error, unless an import has the name."""
    if name not in recipe_names():
        return False
    other = load_recipe(name).track
    if other != track and not any(record.name == name for record in _imports(track)):
        raise _of_another_track(name, [other], track)
    return other == track


def _imports(track: str) -> list[CorpusRecord]:
    return [record for record in list_corpora(track) if record.origin == FROM_IMPORT]


def _tracks_of_imports(name: str) -> list[str]:
    return sorted({record.track for record in _imports("*") if record.name == name})


def _of_another_track(name: str, others: list[str], track: str) -> UsageError:
    tracks = " and ".join(f"'{other}'" for other in others)
    return UsageError(
        f"The corpus '{name}' has documents of the track {tracks}, not of '{track}': race it with "
        f"--track {' or '.join(others)}, or in a tournament file with 'track: {others[0]}'."
    )


def _find_import(track: str, name: str, documents: int | None, seed: int | None) -> CorpusRecord:
    """The latest import of that name, with that number of documents if one is given."""
    imports = _imports(track)
    named = sorted((record for record in imports if record.name == name), key=lambda record: record.made_at)
    if not named:
        if others := _tracks_of_imports(name):
            raise _of_another_track(name, others, track)
        recipes = [recipe for recipe in recipe_names() if load_recipe(recipe).track == track]
        raise unknown("corpus", name, sorted({*recipes, *(record.name for record in imports)}), "./inv corpora")
    if seed is not None:
        raise UsageError(f"The corpus '{name}' was imported, so it has no seed: leave --seed out.")
    fitting = [record for record in named if documents in (None, record.documents)]
    if not fitting:
        there = " and ".join(f"{record.documents:,}" for record in named)
        raise UsageError(
            f"The imported corpus '{name}' has {there} documents, not {documents:,}: leave --documents out, "
            f"or import it again."
        )
    return _checked(fitting[-1])


def _find(recipe: Recipe, documents: int, seed: int) -> CorpusRecord | None:
    file = corpus_file(recipe.track, recipe.name, documents, seed, recipe.seed)
    record = load_record(record_file(file))
    if record is None or not file.exists() or not first_thousand_file(file).exists():
        return None
    made_for = (record.origin, record.recipe_checksum, record.generator_version, record.documents, record.seed)
    wanted = (FROM_RECIPE, recipe.checksum, GENERATOR_VERSION, documents, seed)
    return _checked(record) if made_for == wanted else None


def _checked(record: CorpusRecord) -> CorpusRecord:
    """The record, if the data's size and time are the recorded ones, or at least its checksum."""
    status = record.file.stat()
    if status.st_size != record.bytes:
        raise _differs(record)
    if status.st_mtime_ns != record.modified_ns:
        if checksum(record.file) != record.sha256:
            raise _differs(record)
        record = dataclasses.replace(record, modified_ns=status.st_mtime_ns)
        with writing_errors(record.file):
            save_record(record)
    return record


def _make(recipe: Recipe, documents: int, seed: int, temporary: Path, progress: Progress | None) -> CorpusRecord:
    """Make the corpus. The caller holds the folder's lock."""
    # numpy and the compiler of the generator's loop take a second to load, and most corpora are there already.
    from paddock.corpora.generate import write_corpus

    file = corpus_file(recipe.track, recipe.name, documents, seed, recipe.seed)
    sample = write_corpus(recipe, TEST_MODE_DOCUMENTS, seed, temporary, threads=1)
    # Documents differ in length, so some per cent more than the first ones suggest.
    needed = sample.bytes * documents // TEST_MODE_DOCUMENTS * 11 // 10
    there = file.stat().st_size if file.exists() else 0
    require_room(file.parent, needed - there, f"The corpus {file.name}")
    remove_corpus(file)
    shown = progress(f"Making {documents:,} documents of '{recipe.name}'", documents) if progress else nullcontext()
    with shown as advance:
        written = write_corpus(recipe, documents, seed, temporary, advance=advance)
    made = Provenance(recipe.name, recipe.track, FROM_RECIPE, recipe.checksum, GENERATOR_VERSION, seed)
    return finish_corpus(temporary, written, file, made)


def _differs(record: CorpusRecord) -> CorpusError:
    return CorpusError(f"{record.file} is not the file that its record describes: {_remedy(record)}.")


def _remedy(record: CorpusRecord) -> str:
    """How to make the corpus again."""
    if record.origin == FROM_IMPORT:
        return f"import it again with './inv corpus.import', as {record_file(record.file).name} beside it says"
    command = f"./inv corpus.generate {record.name} --documents {record.documents}"
    if "-seed" in record.file.stem:
        command += f" --seed {record.seed}"
    return f"make it again with '{command} --force'"
