"""Which studies there are: the chain files study-*.yml, what each asks, how long it takes, what of it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.chains import ChainOptions
from paddock.chains.files import STUDIES, chain_names, find_chain_file, read_chain
from paddock.chains.model import Chain
from paddock.chains.run import preview
from paddock.chains.store import StoredChain, chain_ids, read_journal
from paddock.errors import UsageError, unknown
from paddock.structured_files import read_yaml
from paddock.studies import PREFIX
from paddock.tournaments.durations import Experience

ALL = "all"


@dataclass(frozen=True)
class Study:
    """A study that can be held.

    :param name: without the prefix of its file.
    :param source: what was published, and where.
    :param steps: names of its tournaments and races; ``tournaments`` the file of each that is one, or its name.
    :param published: of races, what was published of them: step -> figure -> text; ``deviations`` likewise.
    """

    name: str
    question: str
    source: str
    steps: tuple[str, ...]
    tournaments: Mapping[str, str]
    published: Mapping[str, Mapping[str, str]]
    deviations: Mapping[str, tuple[str, ...]]


def studies() -> list[Study]:
    """All of them, by name."""
    found = []
    for name in chain_names():
        content = read_yaml(find_chain_file(name), "chain")
        if name.startswith(PREFIX) and content.get("study"):
            steps = tuple(_step_name(one) for one in content["steps"])
            tournaments = {_step_name(one): one["tournament"] for one in content["steps"] if "tournament" in one}
            published = {_step_name(one): one["published"] for one in content["steps"] if "published" in one}
            deviations = {_step_name(one): tuple(one.get("deviations", ())) for one in content["steps"]}
            name, asks = name.removeprefix(PREFIX), content["question"]
            found.append(Study(name, asks, content["study"], steps, tournaments, published, deviations))
    return found


def _step_name(told: dict[str, Any]) -> str:
    return str(told.get("name") or told.get("tournament") or told["race"].get("challenge", "race"))


def study_with(step: str) -> Study | None:
    """The study that has a step of that name; None if none has."""
    return next((one for one in studies() if step in one.steps), None)


def chain_of(name: str) -> str:
    """The chain of the studies that are meant: one by its name, with or without the prefix, or all of them.

    :raises UsageError: if there is none of that name; with the nearest ones.
    """
    known = [one.name for one in studies()]
    if name == ALL:
        return ",".join(PREFIX + one for one in known)
    if name.removeprefix(PREFIX) not in known:
        raise unknown("study", name, [*known, ALL], "./inv studies")
    return PREFIX + name.removeprefix(PREFIX)


def expected_minutes(name: str, quick: bool, experience: Experience) -> float:
    """How long a study takes by the plans of its tournaments."""
    options = ChainOptions(quick=quick)
    chain, _ = read_chain(PREFIX + name, options)
    return sum(minutes or 0.0 for _, minutes, _ in preview(chain, options, experience).steps)


def unfinished(name: str | None) -> str:
    """The id of the study to go on with: of that name or id, or the latest that was begun and has not come to its end.

    :raises UsageError: if there is none.
    """
    if name in chain_ids():
        return str(name)
    # All studies together are called otherwise in their journal than they are asked for.
    wanted = None if name in (None, "", "latest") else STUDIES if name == ALL else chain_of(str(name))
    for one in reversed(chain_ids()):
        history = read_journal(StoredChain(one).journal)
        if history.header and history.stopped is None:
            chain: Chain = history.chain
            if chain.study and wanted in (None, chain.name):
                return one
    raise UsageError("No study is left to resume: './inv studies NAME' begins one, and ./inv studies lists them.")


def rows(known: Sequence[Study], experience: Experience, kept: dict[str, str]) -> list[list[str]]:
    """A line for each study: name, question, minutes of both forms, what is kept of it."""
    return [
        [
            one.name,
            f"{expected_minutes(one.name, True, experience):.0f} min",
            f"{expected_minutes(one.name, False, experience):.0f} min",
            kept.get(one.name, "nothing"),
            one.question,
        ]
        for one in known
    ]
