"""Why a race failed, in one sentence, from what Rally printed, its log and the node's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from paddock import paths

_RALLY_ERROR = re.compile(r"\[ERROR\]\s*(?:Cannot [a-z]+\.?\s*)?(?P<text>.+)")
_NODE_PROBLEM = re.compile(r"(?P<level>\[(?:ERROR|FATAL)\s*\]|Exception|java\.lang\.\w*Error)")
_OUTPUT_TAIL = 40


@dataclass(frozen=True)
class Failure:
    """The cause of a failed race and the file that says more."""

    cause: str
    log: Path


def explain(race_id: str, output: Path, exit_code: int) -> Failure:
    """The likeliest cause: what the node says comes first, because Rally only notices that it is gone."""
    text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    said = rally_error(text)
    node_died = not said or any(sign in said for sign in ("pid file", "Daemon startup", "not available", "onnect"))
    if node_died:
        for log in node_logs(race_id):
            problem = node_problem(log.read_text(encoding="utf-8", errors="replace"))
            if problem:
                return Failure(f"Elasticsearch says: {problem}", log)
    if said:
        return Failure(f"Rally says: {said}", paths.rally_log() if paths.rally_log().exists() else output)
    return Failure(f"Rally ended with exit code {exit_code} and without results", output)


def node_logs(race_id: str) -> list[Path]:
    """The node's own logs in the race's folder, the main one first."""
    logs = (paths.races_folder() / race_id).glob("*/logs/server/*.log")
    return sorted(logs, key=lambda log: ("_" in log.stem.replace("rally-benchmark", ""), log.name))


def rally_error(output: str) -> str | None:
    """What Rally printed as its error, on one line; None if it printed none."""
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).strip() for line in output.splitlines()]
    for index, line in enumerate(lines):
        match = _RALLY_ERROR.search(line)
        if match:
            # The cause often stands in the lines that follow, up to the advice on getting help.
            said = [match["text"]]
            for following in lines[index + 1 : index + 1 + _OUTPUT_TAIL]:
                if following.startswith(("Getting further help", "---", "****", "[INFO]")):
                    break
                if following:
                    said.append(following)
            return _shorten(" ".join(said))
    return None


def node_problem(log: str) -> str | None:
    """The first error of an Elasticsearch log with the exception that goes with it; None if it has none."""
    lines = log.splitlines()
    for index, line in enumerate(lines):
        if _NODE_PROBLEM.search(line) and "DEBUG" not in line:
            causes = [text.strip() for text in lines[index : index + 60] if "Caused by:" in text]
            exceptions = [
                text.strip() for text in lines[index : index + 3] if re.match(r"[\w.$]+(Exception|Error)", text)
            ]
            told = causes[-1] if causes else (exceptions[0] if exceptions else line.strip())
            return _shorten(told)
    return None


def _shorten(text: str, most: int = 400) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 4]} ..."
