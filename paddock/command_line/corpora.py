"""./inv corpus.generate, corpus.verify, corpus.import and corpus.inspect: making, checking and looking at corpora."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence

from invoke import Collection, Context, Exit, task

from paddock.command_line.sentences import command, whole_number


@task(
    positional=["recipe"],
    help={
        "recipe": "what the documents look like (./inv corpora)",
        "documents": "how many documents (1,000,000)",
        "seed": "another seed, other documents",
        "archive": "also a compressed archive beside it, to hand on: zst, or bz2 for older Rallies",
        "force": "make it anew even if it is there",
    },
)
@command
def corpus_generate(
    _context: Context,
    recipe: str,
    documents: str | None = None,
    seed: str | None = None,
    archive: str = "",
    force: bool = False,
) -> None:
    """Make a corpus where Rally looks for it.

    Examples:
      ./inv corpus.generate apache
      ./inv corpus.generate app-logs --documents 5000000
      ./inv corpus.generate logs-exponential --archive zst
    """
    from paddock.console import print_result, progress
    from paddock.corpora.archives import archive_corpus, check_kind
    from paddock.corpora.store import ensure_corpus
    from paddock.files import gibibytes

    if archive:
        check_kind(archive)
    count, used_seed = whole_number("--documents", documents), whole_number("--seed", seed, least=0)
    record = ensure_corpus(recipe, count, used_seed, progress, force=force)
    print_result(f"{record.file}: {record.documents:,} documents, {gibibytes(record.bytes)}, SHA-256 {record.sha256}")
    if archive:
        print_result(f"{archive_corpus(record, archive, progress)}: the archive.")


@task
@command
def corpus_verify(_context: Context) -> None:
    """Compare corpora and archives with their checksums."""
    from paddock.console import print_result
    from paddock.corpora.archives import archives_of, verify_archive
    from paddock.corpora.store import list_corpora, verify_corpus

    for record in list_corpora():
        verify_corpus(record)
        print_result(f"{record.file}: as recorded.")
        for kind in archives_of(record):
            verify_archive(record, kind)
            print_result(f"{record.file}.{kind}: as recorded.")


@task(
    positional=["file"],
    help={
        "file": "a log file, plain, .gz, .bz2 or .zst; a pattern in quotes; - is standard input; further ones after --",
        "name": "what the corpus is called",
        "format": "auto, or one of docs/corpora.md: apache-combined, syslog, log4j, json-lines, regex=..., grok=...",
        "track": "the track whose documents these are to be (from the format)",
        "max-bad": "how many bad lines there may be, a number or a percentage",
        "anonymise": "replace addresses, hosts, user names, e-mail addresses, secrets and query values",
        "audit": "a file for all that --anonymise left as it was, most frequent first, to be looked through",
        "key-file": "the key of --anonymise, so that imports agree; otherwise a new one that nobody keeps",
        "archive": "also a compressed archive beside it, to hand on: zst, or bz2 for older Rallies",
        "shift-to-now": "move all times by one constant, so that the last one is now",
        "year": "of the first line, for formats without years; otherwise the file's modification time tells",
        "zone": "of times without one: Europe/Berlin (UTC)",
        "time-field": "which field of JSON, regex or grok is the time",
        "time-format": "epoch, epoch-ms or a strptime format, where the time is in no usual form",
        "json": "print the summary as JSON",
        "force": "replace the corpus that was imported under this name",
    },
)
@command
def corpus_import(
    context: Context,
    file: str,
    name: str = "",
    format: str = "auto",  # noqa: A002 - what users call it
    track: str | None = None,
    max_bad: str = "1%",
    anonymise: bool = False,
    key_file: str | None = None,
    audit: str | None = None,
    shift_to_now: bool = False,
    year: str | None = None,
    zone: str = "UTC",
    time_field: str | None = None,
    time_format: str | None = None,
    archive: str = "",
    json: bool = False,
    force: bool = False,
) -> None:
    """Make a corpus of your own logs.

    Examples:
      ./inv corpus.import '/var/log/apache2/access.log*' --name our-web
      ./inv corpus.import app.log --name our-app --format log4j --zone Europe/Berlin -- app.log.1 app.log.2.gz
      zcat old.gz | ./inv corpus.import - --name old --format syslog --year 2024 --anonymise --shift-to-now
    """
    from paddock.console import as_json, print_result, progress, say
    from paddock.corpora.archives import archive_corpus, check_kind
    from paddock.errors import UsageError
    from paddock.imports import ImportOptions, import_corpus

    if not name:
        raise UsageError("The corpus needs a name: add --name, for example --name our-web.")
    # Invoke has what follows -- as one text, in which a space may belong to a name.
    further = sys.argv[sys.argv.index("--") + 1 :] if context.remainder else []
    options = ImportOptions(
        files=(file, *further),
        name=name,
        format=format,
        track=track,
        max_bad=max_bad,
        anonymise=anonymise,
        key_file=key_file,
        audit=audit,
        shift_to_now=shift_to_now,
        year=whole_number("--year", year),
        zone=zone,
        time_field=time_field,
        time_format=time_format,
        force=force,
    )
    if archive:
        check_kind(archive)
    summary = import_corpus(options, progress, say)
    if archive:
        say(f"{archive_corpus(summary.record, archive, progress)}: the archive.")
    print_result(as_json(summary.as_json()) if json else summary.render())


def refuse_loose_files(words: Sequence[str]) -> None:
    """A pattern that the shell has expanded, before Invoke takes the second file for a task.

    :param words: the command line without the program.
    :raises Exit: if an import is given more than one file without a ``--``.
    """
    if "corpus.import" not in words:
        return
    asked = copy.copy(corpus_import)
    asked.help = dict(asked.help)  # Invoke takes the texts out of it as it reads them
    flags = {"-" * (1 + (len(name) > 1)) + name: each for each in asked.get_arguments() for name in each.names}
    files: list[str] = []
    rest = iter(words[words.index("corpus.import") + 1 :])
    for word in rest:
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            files.append(word)
        elif word in flags and flags[word].takes_value:
            next(rest, None)
    if len(files) > 1:
        raise Exit(
            f"There is more than one file ('{files[0]}', '{files[1]}'): put a pattern in quotes, or the further files "
            f"after -- at the end.",
            2,
        )


@task(
    positional=["file"],
    help={
        "file": "a log file or corpus, plain or compressed (gzip, bzip2, zstd); - is standard input",
        "lines": "how many lines at most (1,000,000); 0: all",
        "field": "inspect only the text of this field of JSON documents: message",
        "combined": "inspect documents of an access log as combined log lines",
        "json": "for machines",
    },
)
@command
def corpus_inspect(
    _context: Context,
    file: str,
    lines: str = "1000000",
    field: str = "",
    combined: bool = False,
    json: bool = False,
) -> None:
    """Measure what a corpus or a log file is like.

    Examples:
      ./inv corpus.inspect /var/log/apache2/access.log.1.gz
      ./inv corpus.inspect corpus.json --field message --lines 10000
    """
    import dataclasses

    from paddock.console import as_json, print_result, progress
    from paddock.inspection import inspect, render

    most = whole_number("--lines", lines, least=0) or 0
    with progress(f"Inspecting {file}", most) as advance:
        found = inspect(file, most, field, combined, advance)
    print_result(as_json(dataclasses.asdict(found)) if json else render(found))


corpus = Collection("corpus")
corpus.add_task(corpus_generate, "generate")
corpus.add_task(corpus_verify, "verify")
corpus.add_task(corpus_import, "import")
corpus.add_task(corpus_inspect, "inspect")
