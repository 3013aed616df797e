"""The corpora on disk, where Rally looks for them: found, made, checked.

A corpus is finished when its record stands beside it; the record is written last. Whoever makes one holds the
folder's lock, and data appears under its name only when it is whole, so a killed generation leaves nothing
that looks finished.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.corpora.finish import Provenance, finish_corpus, remove_corpus, unfinished, writing_errors
from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import Recipe, load_recipe, recipe_names
from paddock.corpora.record import (
    CORPUS_PREFIX,
    FROM_IMPORT,
    FROM_RECIPE,
    GENERATOR_VERSION,
    RECORD_ENDING,
    TEST_MODE_DOCUMENTS,
    CorpusRecord,
    corpus_file,
    corpus_name,
    first_thousand_file,
    load_record,
    record_file,
    save_record,
)
from paddock.errors import CorpusError, UsageError, unknown
from paddock.files import checksum, require_room
from paddock.paths import data_folder

if TYPE_CHECKING:
    from paddock.corpora.writer import Written

# Called with a description and the number of documents; gives a function that takes those done since its last call.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]

LARGEST_SEED = 2**63 - 1


def find_corpus(recipe: str, documents: int | None = None, seed: int | None = None) -> CorpusRecord | None:
    """The corpus if it is there and made from the recipe as it is now, else None; None means the recipe's own numbers.

    The data is read only if its modification time is not the recorded one.

    :raises UsageError: if there is no such recipe, or the numbers cannot be meant.
    :raises CorpusError: if the data is not what the record says.
    """
    return _find(*_wanted(recipe, documents, seed))


def find_named(
    track: str, name: str | None = None, documents: int | None = None, seed: int | None = None
) -> CorpusRecord | None:
    """The corpus that a race on the track names: a recipe's, as ``find_corpus``, or an imported one.

    :param name: None: the recipe that is called like the track.
    :param documents: which one, where several imports of the name differ; None: the latest.
    :raises UsageError: if the track has neither recipe nor import of that name.
    :raises CorpusError: if the data is not what the record says.
    """
    if _is_recipe(track, name or track):
        return find_corpus(name or track, documents, seed)
    return _find_import(track, name or track, documents, seed)


def track_of(name: str) -> str | None:
    """The track whose documents a corpus has; None if there is no corpus of that name, or several of it.

    :param name: a recipe's or an import's.
    """
    tracks = set(_tracks_of_imports(name))
    if name in recipe_names():
        tracks.add(load_recipe(name).track)
    return tracks.pop() if len(tracks) == 1 else None


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
    if not force:
        try:
            found = _find(wanted, count, used_seed)
        except CorpusError:
            found = None  # perhaps another process is just replacing it; its lock tells
        if found:
            return found
    with unfinished(wanted.track) as temporary:
        found = None if force else _find(wanted, count, used_seed)
        return found or _make(wanted, count, used_seed, temporary, progress)


def verify_corpus(record: CorpusRecord) -> None:
    """Read the whole corpus and compare it with its record.

    :raises CorpusError: if it is not what the record says.
    """
    if not record.file.exists():
        raise CorpusError(f"{record.file} is missing: {_remedy(record)}.")
    if record.file.stat().st_size != record.bytes or checksum(record.file) != record.sha256:
        raise _differs(record)
    thousand_file = first_thousand_file(record.file)
    first = hashlib.sha256()
    with record.file.open("rb") as data:
        for line in itertools.islice(data, TEST_MODE_DOCUMENTS):
            first.update(line)
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
        raise _of_another_track(name, other, track)
    return other == track


def _imports(track: str) -> list[CorpusRecord]:
    return [record for record in list_corpora(track) if record.origin == FROM_IMPORT]


def _tracks_of_imports(name: str) -> list[str]:
    return sorted({record.track for record in _imports("*") if record.name == name})


def _of_another_track(name: str, other: str, track: str) -> UsageError:
    return UsageError(
        f"The corpus '{name}' has documents of the track '{other}', not of '{track}': race it with --track {other}, or "
        f"in a tournament file with 'track: {other}'."
    )


def _find_import(track: str, name: str, documents: int | None, seed: int | None) -> CorpusRecord:
    """The latest import of that name, with that number of documents if one is given."""
    imports = _imports(track)
    named = sorted((record for record in imports if record.name == name), key=lambda record: record.made_at)
    if not named:
        others = _tracks_of_imports(name)
        if others:
            raise _of_another_track(name, others[0], track)
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
    if made_for != (FROM_RECIPE, recipe.checksum, GENERATOR_VERSION, documents, seed):
        return None
    return _checked(record)


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
    file = corpus_file(recipe.track, recipe.name, documents, seed, recipe.seed)
    sample = write_corpus(recipe, TEST_MODE_DOCUMENTS, seed, temporary, threads=1)
    # Documents differ in length, so some per cent more than the first ones suggest.
    needed = sample.bytes * documents // TEST_MODE_DOCUMENTS * 11 // 10
    there = file.stat().st_size if file.exists() else 0
    require_room(file.parent, needed - there, f"The corpus {file.name}")
    remove_corpus(file)
    written = _write(recipe, documents, seed, temporary, progress)
    made = Provenance(recipe.name, recipe.track, FROM_RECIPE, recipe.checksum, GENERATOR_VERSION, seed)
    return finish_corpus(temporary, written, file, made)


def _write(recipe: Recipe, documents: int, seed: int, file: Path, progress: Progress | None) -> Written:
    shown = progress(f"Making {documents:,} documents of '{recipe.name}'", documents) if progress else nullcontext()
    with shown as advance:
        before = 0

        def report(done: int) -> None:
            nonlocal before
            if advance:
                advance(done - before)
            before = done

        return write_corpus(recipe, documents, seed, file, progress=report)


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
