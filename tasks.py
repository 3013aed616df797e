"""Paddock's tasks for Invoke; ./inv --list shows them. What each does stands in paddock/command_line."""

import sys

from invoke import Collection

from benchmarks.tasks import bench
from paddock.command_line.corpora import corpus, refuse_loose_files
from paddock.command_line.development import lint, test, validate
from paddock.command_line.lists import cars, challenges, corpora, track, tracks
from paddock.command_line.races import doctor, race
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
    corpora,
    corpus,
    bench,
    validate,
    lint,
    test,
)
refuse_loose_files(sys.argv[1:])
