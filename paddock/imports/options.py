"""What the user asks of an import, checked as far as it can be before a file is read."""

from __future__ import annotations

import glob
import hashlib
import re
import secrets
from pathlib import Path

from paddock.corpora.recipe import recipe_names
from paddock.errors import FileError, UsageError
from paddock.imports import ImportOptions
from paddock.imports.formats.catalogue import AUTOMATIC, FormatChoice
from paddock.imports.times import read_zone

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KEY_BYTES = 32
_SHORTEST_KEY = 16
_YEARS = (1971, 9998)


def format_choice(options: ImportOptions) -> FormatChoice:
    """The format with what was said of it."""
    return FormatChoice(options.format, options.zone, options.time_field, options.time_format)


def check_options(options: ImportOptions) -> BadLineLimit:
    """Refuse what cannot be meant; returns the limit of bad lines.

    :raises UsageError: with what is wrong and what to do.
    """
    _check_name(options.name)
    read_zone(options.zone)
    if options.format != AUTOMATIC:
        format_choice(options).build()
    if options.key_file and not options.anonymise:
        raise UsageError("--key-file is for --anonymise: add that, or leave the key file out.")
    if options.audit and not options.anonymise:
        raise UsageError("--audit is for --anonymise: add that, or leave the audit out.")
    if options.audit:
        _check_audit(Path(options.audit).expanduser(), expanded(options.files), options.key_file, options.force)
    if options.year is not None and not _YEARS[0] <= options.year <= _YEARS[1]:
        raise UsageError(f"--year {options.year} is no year from {_YEARS[0]} to {_YEARS[1]}.")
    return BadLineLimit(options.max_bad)


def anonymisation_key(options: ImportOptions) -> bytes | None:
    """The key to anonymise with: from the key file, or a new one that nobody keeps; None without anonymisation.

    :raises FileError: if the key file cannot be read or is too short.
    """
    if not options.anonymise:
        return None
    if options.key_file is None:
        return secrets.token_bytes(_KEY_BYTES)
    remedy = f"make one with 'head -c {_KEY_BYTES} /dev/urandom > {options.key_file}'"
    try:
        content = Path(options.key_file).expanduser().read_bytes()
    except OSError as error:
        raise FileError(options.key_file, f"the key cannot be read ({error.strerror}): {remedy}.") from None
    if len(content) < _SHORTEST_KEY:
        raise FileError(
            options.key_file, f"a key has {_SHORTEST_KEY} bytes or more, this has {len(content)}: {remedy}."
        )
    return hashlib.blake2b(content, digest_size=_KEY_BYTES).digest()


def expanded(names: tuple[str, ...]) -> list[str]:
    """File names, with patterns replaced by what they match, sorted.

    :raises FileError: if a pattern matches nothing.
    """
    result: list[str] = []
    for name in names:
        if not any(sign in name for sign in "*?[") or Path(name).exists():
            result.append(name)
            continue
        found = sorted(glob.glob(str(Path(name).expanduser())))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not found:
            raise FileError(name, "no file matches this pattern: check it.")
        result += found
    return result


def _check_audit(audit: Path, files: list[str], key_file: str | None, force: bool) -> None:
    """Refuse a file that cannot be written, that is to be read, or that is there and not to be replaced."""
    if not audit.parent.is_dir():
        raise FileError(audit, "there is no folder for this file: make it first.")
    if audit.is_dir():
        raise FileError(audit, "this is a folder: name a file in it for --audit.")
    read = [Path(name).expanduser() for name in (*files, *([key_file] if key_file else []))]
    if audit.exists() and any(path.exists() and path.samefile(audit) for path in read):
        raise UsageError(f"--audit would overwrite {audit}, which the import reads: name another file.")
    if audit.is_file() and not force:
        raise UsageError(f"--audit would overwrite {audit}: name another file, or replace it with --force.")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be the name of a corpus: use letters, digits, '-', '_' and '.', beginning with a "
            f"letter or digit, at most 100."
        )
    if name in recipe_names():
        raise UsageError(f"'{name}' is the name of a recipe: give the imported corpus another --name.")


# A percentage of a few lines says nothing, so until then an import goes on.
_LINES_FOR_A_PERCENTAGE = 10_000


class BadLineLimit:
    """How many bad lines an import may have: a number, or a percentage of its lines.

    :raises UsageError: if the text is neither.
    """

    def __init__(self, text: str):
        self.text = text
        number = text.strip().removesuffix("%").strip()
        self._percentage = text.strip().endswith("%")
        try:
            self._most = float(number) if self._percentage else int(number)
        except ValueError:
            raise self._wrong() from None
        if not 0 <= self._most < float("inf") or (self._percentage and self._most > 100):
            raise self._wrong()

    def exceeded(self, bad: int, lines: int, at_the_end: bool) -> bool:
        """Whether these are too many."""
        if not self._percentage:
            return bad > self._most
        if not at_the_end and lines < _LINES_FOR_A_PERCENTAGE:
            return False
        return bad * 100 > self._most * lines

    def _wrong(self) -> UsageError:
        return UsageError(
            f"--max-bad is a number of lines or a percentage of them, such as 100 or 5%, not '{self.text}'."
        )
