"""./inv tracks, track, challenges, cars, corpora and the tasks that make and check corpora."""

from __future__ import annotations

from invoke import Collection, Context, task

from paddock.command_line.sentences import command


@task(help={"json": "for machines"})
@command
def tracks(_context: Context, json: bool = False) -> None:
    """List the tracks: what can be indexed."""
    from paddock import listing

    listing.show(listing.tracks(), json)


@task(positional=["name"], help={"name": "a track (./inv tracks)", "json": "for machines"})
@command
def track(_context: Context, name: str, json: bool = False) -> None:
    """Show the challenges and parameters of one track."""
    from paddock import listing

    listing.show(listing.track(name), json)


@task(help={"json": "for machines"})
@command
def challenges(_context: Context, json: bool = False) -> None:
    """List the challenges: what can be done with a track."""
    from paddock import listing

    listing.show(listing.challenges(), json)


@task(help={"json": "for machines"})
@command
def cars(_context: Context, json: bool = False) -> None:
    """List the cars and mixins: how a node is configured."""
    from paddock import listing

    listing.show(listing.cars(), json)


@task(help={"json": "for machines"})
@command
def corpora(_context: Context, json: bool = False) -> None:
    """List the recipes and the corpora made from them."""
    from paddock import listing

    listing.show(listing.corpora(), json)


@task(
    positional=["recipe"],
    help={
        "recipe": "what the documents look like (./inv corpora)",
        "documents": "how many documents (1,000,000)",
        "seed": "another seed, other documents",
        "force": "make it anew even if it is there",
    },
)
@command
def corpus_generate(_context: Context, recipe: str, documents: int = 0, seed: int = 0, force: bool = False) -> None:
    """Make a corpus where Rally looks for it.

    Examples:
      ./inv corpus.generate apache
      ./inv corpus.generate app-logs --documents 5000000
    """
    from paddock.console import print_result, progress
    from paddock.corpora.store import ensure_corpus
    from paddock.files import gibibytes

    record = ensure_corpus(recipe, documents or None, seed or None, progress, force=force)
    print_result(f"{record.file}: {record.documents:,} documents, {gibibytes(record.bytes)}, SHA-256 {record.sha256}")


@task
@command
def corpus_verify(_context: Context) -> None:
    """Compare every corpus with its checksum."""
    from paddock.console import print_result
    from paddock.corpora.store import list_corpora, verify_corpus

    for record in list_corpora():
        verify_corpus(record)
        print_result(f"{record.file}: as recorded.")


corpus = Collection("corpus")
corpus.add_task(corpus_generate, "generate")
corpus.add_task(corpus_verify, "verify")
