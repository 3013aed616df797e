"""Paddock's tasks for Invoke; ./inv --list shows them. What each does stands in paddock/command_line."""

from invoke import Collection

from benchmarks.tasks import bench
from paddock.command_line.chains import chain, chains, tune
from paddock.command_line.corpora import corpus
from paddock.command_line.development import lint, test, validate
from paddock.command_line.lists import (
    car,
    cars,
    challenges,
    corpora,
    doctor,
    engines,
    results,
    tournaments,
    track,
    tracks,
)
from paddock.command_line.queries import queries
from paddock.command_line.races import compare, race, report, tournament
from paddock.command_line.sentences import check_words
from paddock.command_line.studies import studies

namespace = Collection(
    race,
    tournament,
    tournaments,
    chain,
    chains,
    tune,
    studies,
    results,
    report,
    compare,
    doctor,
    tracks,
    track,
    challenges,
    car,
    cars,
    engines,
    corpora,
    corpus,
    queries,
    bench,
    validate,
    lint,
    test,
)
check_words(namespace)
