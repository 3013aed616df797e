"""./inv corpus.generate, corpus.verify, corpus.import and corpus.inspect: making, checking and looking at corpora."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from invoke import Collection, Context

from paddock.command_line.sentences import command, helps, takes, task, whole_number
from paddock.console import as_json, print_result, progress, say
from paddock.errors import UsageError, unknown
from paddock.files import gibibytes
from paddock.imports import ImportOptions


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
    from paddock.corpora.archives import archive_corpus, check_kind
    from paddock.corpora.store import ensure_corpus

    if archive:
        check_kind(archive)
    count, used_seed = whole_number("--documents", documents), whole_number("--seed", seed, least=0)
    record = ensure_corpus(recipe, count, used_seed, progress, force=force)
    print_result(f"{record.file}: {record.documents:,} documents, {gibibytes(record.bytes)}, SHA-256 {record.sha256}")
    if archive:
        print_result(f"{archive_corpus(record, archive, progress)}: the archive.")


@task(help={"name": "only the corpora of this name (./inv corpora)"})
@command
def corpus_verify(_context: Context, name: str | None = None) -> None:
    """Compare corpora and archives with their records."""
    from paddock.corpora.archives import archives_of, verify_archive
    from paddock.corpora.store import list_corpora, verify_corpus

    there = list_corpora()
    if name is not None and name not in {record.name for record in there}:
        raise unknown("corpus at hand", name, {record.name for record in there}, "./inv corpora")
    for record in there:
        if name in (None, record.name):
            verify_corpus(record)
            print_result(f"{record.file}: as recorded, {record.documents:,} documents.")
            for kind in archives_of(record):
                verify_archive(record, kind)
                print_result(f"{record.file}.{kind}: as recorded.")


@task(
    positional=["file"],
    help=helps(
        ImportOptions,
        file="a log file, plain, .gz, .bz2 or .zst; a pattern in quotes; - is standard input; further ones after --",
        archive="also a compressed archive beside it, to hand on: zst, or bz2 for older Rallies",
        json="print the summary as JSON",
    ),
)
@command
@takes(ImportOptions)
def corpus_import(context: Context, file: str, options: ImportOptions, archive: str = "", json: bool = False) -> None:
    """Make a corpus of your own logs.

    Examples:
      ./inv corpus.import '/var/log/apache2/access.log*' --name our-web
      ./inv corpus.import app.log --name our-app --format log4j --zone Europe/Berlin -- app.log.1 app.log.2.gz
      zcat old.gz | ./inv corpus.import - --name old --format syslog --year 2024 --anonymise --shift-to-now
    """
    from paddock.corpora.archives import archive_corpus, check_kind
    from paddock.imports.run import import_corpus

    if not options.name:
        raise UsageError("The corpus needs a name: add --name, for example --name our-web.")
    # Invoke has what follows -- as one text, in which a space may belong to a name.
    further = sys.argv[sys.argv.index("--") + 1 :] if context.remainder else []
    if archive:
        check_kind(archive)
    summary = import_corpus(dataclasses.replace(options, files=(file, *further)), progress, say)
    if archive:
        say(f"{archive_corpus(summary.record, archive, progress)}: the archive.")
    print_result(as_json(summary.as_json()) if json else summary.render())


@task(
    positional=["file"],
    help={
        "file": "a log file, plain or compressed (gzip, bzip2, zstd); the name of a corpus; - is standard input",
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
      ./inv corpus.inspect our-web --field message --lines 10000
    """
    from paddock.inspection import inspect, render

    most = whole_number("--lines", lines, least=0) or 0
    with progress(f"Inspecting {file}", most) as advance:
        found = inspect(_data_of(file), most, field, combined, advance)
    print_result(as_json(dataclasses.asdict(found)) if json else render(found))


def _data_of(name: str) -> str:
    """The file that is meant: a corpus's where there is no file but a corpus of that name.

    :raises UsageError: if several corpora have the name, or its recipe's is not made yet.
    """
    from paddock.corpora.recipe import recipe_names
    from paddock.corpora.store import list_corpora

    if Path(name).expanduser().exists():
        return name
    files = [str(record.file) for record in list_corpora() if record.name == name]
    if len(files) > 1:
        raise UsageError(f"There are {len(files)} corpora called '{name}': name the file of one, {' or '.join(files)}.")
    if not files and name in recipe_names():
        raise UsageError(f"No corpus of the recipe '{name}' is made yet: './inv corpus.generate {name}' makes one.")
    return files[0] if files else name


corpus = Collection("corpus")
corpus.add_task(corpus_generate, "generate")
corpus.add_task(corpus_verify, "verify")
corpus.add_task(corpus_import, "import")
corpus.add_task(corpus_inspect, "inspect")
