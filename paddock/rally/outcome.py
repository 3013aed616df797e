"""What a race came to, as race.json says it, or why it failed, from what Rally printed, its log and the node's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import RaceError
from paddock.files import read_record

_RALLY_ERROR = re.compile(r"\[ERROR\]\s*(?:Cannot [a-z]+\.?\s*)?(?P<text>.+)")
_NODE_PROBLEM = re.compile(r"\[(?:ERROR|FATAL)\s*\]|Exception|java\.lang\.\w*Error")


@dataclass(frozen=True)
class RaceOutcome:
    """A finished race.

    :param race: the whole of race.json.
    :param error_rates: per task, the share of requests that failed (0 to 1), only those above 0.
    """

    race_id: str
    file: Path
    race: dict[str, Any]
    error_rates: dict[str, float]


def race_file(race_id: str) -> Path:
    """Where Rally writes race.json."""
    return paths.races_folder() / race_id / "race.json"


def read_outcome(race_id: str) -> RaceOutcome | None:
    """The outcome of that race; None if it did not come to its end.

    Rally writes race.json twice: first without results, and with them when the race has ended.
    """
    file = race_file(race_id)
    race = read_record(file)
    results = race.get("results")
    if not results:
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
        logs = (paths.races_folder() / race_id).glob("**/logs/server/*.log")
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
            said = [match["text"]]
            for following in lines[index + 1 :]:
                if following.startswith(("Getting further help", "---", "****", "[INFO]")):
                    break
                said.append(following)
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
