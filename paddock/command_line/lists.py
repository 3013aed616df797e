"""./inv tracks, track, challenges, cars and corpora."""

from __future__ import annotations

from invoke import Context, task

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
