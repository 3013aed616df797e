"""What can be wrong with a replay, found before anything is started: query log, bounds, times of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddock import numbers
from paddock.corpora.record import CorpusRecord, first_thousand_file
from paddock.errors import FileError, UsageError
from paddock.race import RaceOptions
from paddock.tracks import Challenge, Track
from paddock.tracks.rendering import build_track, render_specification

# What our challenge calls the task that sends the documents.
REPLAY_TASK = "replay-documents"
REPLAY_QUERIES = "replay-queries"
QUERY_LOG = "query_log"
# Seconds between its start and the beginning of the replay (tracks/shared/replay_clock.py).
LEAD = 2.0
# Seconds; a replay may begin before its first document, but not to wait for most of its time.
_LONGEST_WAIT = 60.0


def with_query_log(options: RaceOptions) -> RaceOptions:
    """The options with the query log named from the root, whence Rally's workers find it."""
    named = options.params.get(QUERY_LOG)
    if not isinstance(named, str) or not named:
        return options
    return replace(options, params={**options.params, QUERY_LOG: str(Path(named).expanduser().absolute())})


def check_replay(
    track: Track, challenge: Challenge, params: Mapping[str, Any], test_mode: bool, corpus: CorpusRecord | None
) -> str | None:
    """Check all of a replay as Rally's workers will, and say how long it takes; None if the challenge is no replay.

    :param params: track parameters, those of the corpus among them.
    :param corpus: None if it is not at hand; then its times are not looked at.
    :raises FileError: for a line of the query log that cannot be meant.
    :raises UsageError: if nothing would be sent.
    """
    if REPLAY_TASK not in challenge.tasks:
        return None
    specification, _ = render_specification(track.folder, params)
    try:
        built = build_track(track.folder, params, specification, challenge.name, test_mode)
    except FileError as error:
        if error.path != track.folder / "track.json":
            raise
        # It is the parameters that are wrong, not the track.
        raise UsageError(error.problem.removeprefix("Rally refuses this track: ")) from None
    if corpus is None:
        return None
    from esrally.exceptions import RallyError
    from esrally.track import loader

    thousand = first_thousand_file(corpus.file)
    documents = built.corpora[0].documents[0]
    documents.document_file = str(
        thousand if test_mode and corpus.documents > documents.number_of_documents else corpus.file
    )
    leaves = [leaf for task in built.selected_challenge.schedule for leaf in task]
    sources = {leaf.name: loader.operation_parameters(built, leaf) for leaf in leaves if leaf.schedule == "replay"}
    try:
        due = {name: source.due for name, source in sources.items()}
        archive = sources[REPLAY_TASK].archive
    except RallyError as error:
        raise UsageError(str(error)) from None
    seconds, first = (choose(moments[end] for moments in due.values()) for choose, end in ((max, -1), (min, 0)))
    if first > max(seconds / 2, _LONGEST_WAIT):
        raise UsageError(
            f"The replay would wait for {numbers.duration(first)} until the first document is due, because replay_from "
            f"is so long before it: name a later time, or leave it out."
        )
    asked = due.get(REPLAY_QUERIES, ())
    today = sources[REPLAY_QUERIES].of_today if asked else ()
    sent = numbers.plural(archive.documents, "document")
    sent += f" and {numbers.plural(len(asked), 'query', 'queries')}" if asked else ""
    said = (
        f"The replay of {sent} takes {numbers.duration(seconds)}, {archive.factor:g} times as fast as recorded "
        f"(replay_factor)."
    )
    if today:
        said += (
            f" {numbers.plural(len(today), 'query has', 'queries have')} 'now' where it cannot be replaced by the time "
            f"at which it was asked (the first in line {today[0].line} of the query log), so there it is today's time: "
            f"write the times into the query log."
        )
    return said
