"""Paddock's tasks for Invoke; ./inv --list shows them. What each does stands in paddock/command_line."""

from invoke import Collection

from benchmarks.tasks import bench
from paddock.command_line.corpora import corpus
from paddock.command_line.development import lint, test, validate
from paddock.command_line.lists import cars, challenges, corpora, engines, track, tracks
from paddock.command_line.races import doctor, race
from paddock.command_line.sentences import check_words
from paddock.command_line.tournaments import compare, report, results, tournament, tournaments

namespace = Collection(
    race,
    tournament,
    tournaments,
    results,
    report,
    compare,
    doctor,
    tracks,
    track,
    challenges,
    cars,
    engines,
    corpora,
    corpus,
    bench,
    validate,
    lint,
    test,
)
check_words(namespace)
