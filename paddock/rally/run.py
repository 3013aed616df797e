"""Runs one race from its request to its outcome, and leaves nothing behind however it ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from paddock import paths
from paddock.files import writing
from paddock.rally import leftovers, preflight
from paddock.rally import request as command
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.limited import limits_file
from paddock.rally.limited_programs import ProgramGroups
from paddock.rally.nodes import Nodes
from paddock.rally.outcome import RaceFailed, RaceOutcome, explain, read_outcome
from paddock.rally.privileges import choose_identity
from paddock.rally.process import Note, TaskProgress, run_rally, stoppable
from paddock.rally.request import RaceRequest


class RaceObserver(Protocol):
    """Who wants to know what a race does; all of it happens in the calling thread."""

    def started(self, processes: RaceProcesses) -> None:
        """Rally has been started."""

    def progress(self, event: TaskProgress | Note) -> None:
        """Rally says something."""

    def tick(self) -> None:
        """A moment has passed."""

    def interrupted(self) -> None:
        """The user wants it to stop; Rally is told next."""

    def ended(self) -> None:
        """Rally has ended, well or not; the node is gone."""


def race_records(race_id: str) -> Path:
    """The folder for what Paddock itself records of a race."""
    return paths.state_folder() / "races" / race_id


def run_race(
    request: RaceRequest, observer: RaceObserver, say: Callable[[str], None], corpus_bytes: int = 0
) -> RaceOutcome:
    """Run the race, once nobody else's runs; what killed races have left is cleared up first.

    :param say: gets a sentence when the user has to wait for something.
    :param corpus_bytes: size of the documents, for the room on disk.
    :raises MachineError: something in the way: a port, the disk, another Rally.
    :raises RaceError: Rally or the node failed; with the cause and the log.
    :raises Interrupted: the user stopped it.
    """
    with leftovers.racing() as cleared:
        for sentence in cleared:
            say(sentence)
        return run_race_alone(request, observer, say, corpus_bytes)


def run_race_alone(
    request: RaceRequest,
    observer: RaceObserver,
    say: Callable[[str], None],
    corpus_bytes: int,
    nodes: Nodes | None = None,
) -> RaceOutcome:
    """The same for callers that hold the lock on races themselves (leftovers.racing).

    :param nodes: those of the request's own clusters, for a caller that starts them anew while the race runs.
    """
    nodes = nodes or Nodes(request.race_id, request.clusters)
    preflight.check_words(sys.argv)
    if command.load_driver_hosts(request.further_arguments):
        preflight.wait_for_others(say, daemon=True)
    else:
        preflight.wait_for_others(say)
    preflight.check_ports(request, say)
    preflight.check_disk(request, corpus_bytes)
    output = race_records(request.race_id) / "rally-output.txt"
    processes = RaceProcesses(request.race_id)
    programs = ProgramGroups(request.race_id, request.limited)
    groups = (*nodes.limited.folders, *programs.folders)
    with stoppable(), leftovers.written_down(request.race_id, request.data_paths, groups):
        identity = choose_identity(
            request.starts_nodes,
            request.memory_lock or any(cluster.memory_lock for cluster in request.clusters),
            command.needed_files(request),
            command.writable_folders(request),
            command.rewritten_files(),
        )
        if request.client_options.private:
            request = _with_file(request, leftovers.secrets_file(request.race_id))
        request = replace(request, track_params={**request.track_params, **programs.make(identity)})
        nodes.bring_up(identity)
        observer.started(processes)
        try:
            exit_code = run_rally(
                [str(command.program()), *command.arguments(request)],
                str(processes.folder),
                identity,
                {**command.environment(request), **_journal(request), "RALLY_HOME": str(paths.rally_folder().parent)},
                output,
                observer.progress,
                observer.tick,
                observer.interrupted,
            )
        finally:
            observer.ended()
            nodes.limited.write_down()
            programs.write_down(limits_file(request.race_id))
    outcome = read_outcome(request.race_id)
    if outcome is None:
        if ended := nodes.limited.ended_by_the_kernel():
            raise RaceFailed(ended, limits_file(request.race_id))
        raise explain(request.race_id, output, exit_code)
    return outcome


def _journal(request: RaceRequest) -> dict[str, str]:
    """The variable that has our tracks keep a journal; no part of the command that repeats the race."""
    return {command.JOURNAL_VARIABLE: str(request.request_journal)} if request.request_journal else {}


def _with_file(request: RaceRequest, file: Path) -> RaceRequest:
    """The request with its client options in that file, which nobody else can read; the ledger sees to its end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as private:
            json.dump(dict(request.client_options.private), private)
    return command.with_options_in(request, file)
