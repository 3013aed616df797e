"""Runs one race from its request to its outcome, and leaves nothing behind however it ends.

The outcome is what race.json says, or why the race failed: from what Rally printed, its log and the node's.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

from paddock import paths
from paddock.errors import RaceError
from paddock.files import read_record, writing
from paddock.rally import leftovers, preflight
from paddock.rally import request as command
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.privileges import choose_identity
from paddock.rally.process import Note, TaskProgress, run_rally
from paddock.rally.request import ClientOptions, RaceRequest

_RALLY_ERROR = re.compile(r"\[ERROR\]\s*(?:Cannot [a-z]+\.?\s*)?(?P<text>.+)")
_AFTER_ERROR = ("Getting further help", "---", "****", "[INFO]")
_NODE_PROBLEM = re.compile(r"\[(?:ERROR|FATAL)\s*\]|Exception|java\.lang\.\w*Error")


@dataclass(frozen=True)
class RaceOutcome:
    """A finished race: its race.json, and of each task with failed requests their share (0 to 1)."""

    race_id: str
    file: Path
    race: dict[str, Any]
    error_rates: dict[str, float]


class RaceObserver(Protocol):
    """Who wants to know what a race does; all of it happens in the calling thread."""

    def started(self, processes: RaceProcesses) -> None:
        """Rally has been started."""

    def progress(self, event: TaskProgress | Note) -> None:
        """Rally says something."""

    def tick(self) -> None:
        """A moment has passed."""

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
    request: RaceRequest, observer: RaceObserver, say: Callable[[str], None], corpus_bytes: int
) -> RaceOutcome:
    """The same for callers that hold the lock on races themselves (leftovers.racing)."""
    preflight.check_words(sys.argv)
    preflight.wait_for_others(say)
    if request.provisions:
        preflight.check_ports(request.http_port)
        preflight.check_disk(corpus_bytes, request.data_path)
    output = race_records(request.race_id) / "rally-output.txt"
    processes = RaceProcesses(request.race_id)
    with leftovers.written_down(request.race_id, request.data_path):
        identity = choose_identity(
            request.provisions,
            request.memory_lock,
            command.needed_files(request),
            command.writable_folders(request),
            command.rewritten_files(),
        )
        if request.client_options.private:
            request = _with_file(request, leftovers.secrets_file(request.race_id))
        observer.started(processes)
        try:
            exit_code = run_rally(
                [str(command.program()), *command.arguments(request)],
                str(processes.folder),
                identity,
                {**command.environment(request), "RALLY_HOME": str(paths.rally_folder().parent)},
                output,
                observer.progress,
                observer.tick,
            )
        finally:
            observer.ended()
    outcome = read_outcome(request.race_id)
    if outcome is None:
        raise explain(request.race_id, output, exit_code)
    return outcome


def _with_file(request: RaceRequest, file: Path) -> RaceRequest:
    """The request with its client options in that file, which nobody else can read; the ledger sees to its end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as private:
            json.dump(dict(request.client_options.private), private)
    return replace(request, client_options=ClientOptions(file))


def race_file(race_id: str) -> Path:
    """Where Rally writes race.json."""
    return paths.races_folder() / race_id / "race.json"


def read_outcome(race_id: str) -> RaceOutcome | None:
    """The outcome of that race; None if it did not come to its end.

    Rally writes race.json twice: first without results, and with them when the race has ended.
    """
    file = race_file(race_id)
    race = read_record(file)
    if not (results := race.get("results")):
        return None
    rates = {task["task"]: float(task.get("error_rate") or 0) for task in results.get("op_metrics", [])}
    return RaceOutcome(race_id, file, race, {task: rate for task, rate in rates.items() if rate > 0})


class RaceFailed(RaceError):
    """A race that came to no results: the cause, and the file that says more."""

    def __init__(self, cause: str, log: Path):
        super().__init__(f"The race failed. {cause.rstrip('.')}. More in {log}.")
        self.cause, self.log = cause, log


def explain(race_id: str, output: Path, exit_code: int) -> RaceFailed:
    """The likeliest cause: what the node says comes first, because Rally only notices that it is gone."""
    said = rally_error(output.read_text(encoding="utf-8", errors="replace") if output.exists() else "")
    if not said or any(sign in said for sign in ("pid file", "Daemon startup", "not available", "onnect")):
        logs = (paths.races_folder() / race_id).glob("*/logs/server/*.log")
        # The node's main log first.
        for log in sorted(logs, key=lambda log: ("_" in log.stem.replace("rally-benchmark", ""), log.name)):
            if problem := node_problem(log.read_text(encoding="utf-8", errors="replace")):
                return RaceFailed(f"Elasticsearch says: {problem}", log)
    if said:
        return RaceFailed(f"Rally says: {said}", paths.rally_log() if paths.rally_log().exists() else output)
    return RaceFailed(f"Rally ended with exit code {exit_code} and without results", output)


def rally_error(output: str) -> str | None:
    """What Rally printed as its error, on one line; None if it printed none."""
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).strip() for line in output.splitlines()]
    for index, line in enumerate(lines):
        if match := _RALLY_ERROR.search(line):
            # The cause often stands in the lines that follow, up to the advice on getting help.
            said = [match["text"], *takewhile(lambda line: not line.startswith(_AFTER_ERROR), lines[index + 1 :])]
            if said[0].startswith("Traceback"):
                # What went wrong stands in its last line: the name of an exception, and the words.
                said = [line for line in said if re.match(r"[A-Za-z_][\w.]*(Error|Exception)?: ", line)][-1:] or said
            return _shorten(" ".join(said))
    return None


def node_problem(log: str) -> str | None:
    """The first error of an Elasticsearch log with the exception that goes with it; None if it has none."""
    lines = log.splitlines()
    for index, line in enumerate(lines):
        if _NODE_PROBLEM.search(line) and "DEBUG" not in line:
            causes = [text for text in lines[index : index + 60] if "Caused by:" in text]
            exceptions = [text for text in lines[index : index + 3] if re.match(r"[\w.$]+(Exception|Error)", text)]
            return _shorten(causes[-1] if causes else (exceptions or [line])[0])
    return None


def _shorten(text: str, most: int = 400) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 4]} ..."
