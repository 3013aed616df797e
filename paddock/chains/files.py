"""Chain files (tournaments/chains/*.yml), or names of tournaments, read as a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddock.chains import ChainOptions
from paddock.chains.definitions import check, default_left_out, node_of
from paddock.chains.model import DEFAULT_CONTENDER, FINAL, GO_ON, Chain, Settings, Step
from paddock.corpora.store import track_of
from paddock.errors import FileError, UsageError, unknown
from paddock.files import checksum
from paddock.plain_values import separated
from paddock.structured_files import read_yaml
from paddock.tournaments.files import FOLDER as TOURNAMENTS
from paddock.tournaments.files import find_file as find_tournament_file
from paddock.tournaments.files import line_with, tournament_names
from paddock.tournaments.placed import compares_data_paths, whole_paths
from paddock.tracks import track_names

# Not beside the tournaments themselves: what lies there is taken for one.
FOLDER = TOURNAMENTS / "chains"
DEFAULT_TRACK = "apache"
LONGEST = 100_000  # minutes
# What several studies together are called.
STUDIES = "studies"
# Of the last tournament; its blocks and starts are made to fit the minutes that are left.
_FINAL: Mapping[str, Any] = {
    "description": "What the chain found, and what there was before",
    "question": "Is the tuned configuration better than the default one?",
    "challenge": "settings",
    "baseline": DEFAULT_CONTENDER,
    "lap_documents": 200_000,
    "warmup_blocks": 4,
    "blocks": 8,
    "starts": 7,
    "control": False,
}


def chain_names() -> list[str]:
    """The names of all chain files of the project, sorted."""
    return sorted(path.stem for path in FOLDER.glob("[!.]*.yml"))


def read_chain(name: str, options: ChainOptions | None = None) -> tuple[Chain, Path | None]:
    """The chain of that name or file, or of the tournaments of those names; and its file, None for names.

    Every step is read and checked; what comes back holds the contents of their tournament files.

    :param name: of a chain of the project, a file, or names of tournaments, or of studies, with commas between them.
    :raises UsageError: if there is no such thing, or the options contradict it.
    :raises FileError: if a file is wrong.
    """
    options = options or ChainOptions()
    path: Path | None = None
    content: dict[str, Any]
    if "," in name and separated(name) and set(separated(name)) <= set(chain_names()):
        content = _together([read_yaml(find_chain_file(one), "chain") for one in separated(name)])
    elif "," in name:
        names = separated(name)
        if not names:
            raise UsageError("Which tournaments? Write their names with commas between them, heap,index-buffer.")
        content = {
            "question": f"What do {', '.join(names)} come to, one after the other?",
            "steps": [{"tournament": one} for one in names],
        }
    else:
        path = find_chain_file(name)
        content = read_yaml(path, "chain")
    place = path or Path("chain")
    if options.track and options.track not in track_names():
        raise unknown("track", options.track, track_names(), "./inv tracks")
    corpus = content.get("corpus")
    track = options.track or content.get("track") or (track_of(corpus) if corpus and not options.corpus else None)
    default = Settings(options.car, options.car_params, {}, options.params, node_of(options))
    study = content.get("study", "")
    steps: list[Step] = []
    for told in content["steps"]:
        before = [one.name for one in steps]
        if study:
            steps.append(_step_of_study(place, told, before, options.quick))
        else:
            steps.append(_step(place, told, track, corpus, before, options.quick))
    final = None
    if content.get("final") is not False and not study:
        told = dict(content.get("final", {}))
        own = {"track": track or _track_of(steps), **_FINAL, **_shared(steps), **told, "budget_minutes": 60}
        own.pop("weight", None)
        if corpus:
            own["corpus"] = corpus
        names_before = tuple(one.name for one in steps if one.tournament)
        weight = float(told.get("weight", 1.0))
        final = Step(FINAL, FINAL, own, weight=weight, winners_of=names_before)
    if options.data_paths and not any(compares_data_paths(one.content) for one in steps):
        raise UsageError(
            f"--data-paths adds folders where data paths are compared, and '{name}' compares none: leave it out, or "
            f"hold the study storage."
        )
    budgets = [_budget(one, options.quick) for one in steps]
    minutes = options.budget
    if minutes is None:
        minutes = content.get("budget_minutes", sum(budgets) + (60 if final else 0))
    elif not 0 < minutes <= LONGEST:
        raise UsageError(f"--budget wants minutes, more than 0 and at most {LONGEST:,}, not {minutes:g}.")
    chain = Chain(
        name=path.stem if path else STUDIES if study else "-".join(one.name for one in steps)[:60],
        question=content["question"],
        budget_minutes=minutes,
        steps=tuple(steps),
        on_failure=content.get("on_failure", GO_ON),
        final=final,
        default=default,
        notes=tuple(content.get("notes", ())),
        checksum=checksum(path) if path else "",
        study=study,
    )
    held = check(place, chain, options)
    left_out = (default_left_out(chain, held[one.name]) for one in chain.steps if one.name in held)
    return replace(chain, notes=(*chain.notes, *(note for note in left_out if note))), path


def _together(studies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several studies as one chain.

    :raises UsageError: if one of them is a chain that carries winners on.
    """
    if not all(one.get("study") for one in studies):
        raise UsageError("Chains cannot be put together, only studies: hold them one after the other.")
    return {
        "question": " ".join(one["question"] for one in studies),
        "study": "; ".join(dict.fromkeys(one["study"] for one in studies)),
        "notes": [note for one in studies for note in one.get("notes", ())],
        "steps": [step for one in studies for step in one["steps"]],
    }


def _budget(step: Step, quick: bool) -> float:
    """The minutes that a step takes at most, by its own file."""
    if not step.tournament:
        return step.minutes
    short = step.content.get("quick", {}) if step.whole and quick else {}
    return float(short.get("budget_minutes", step.content["budget_minutes"]))


def find_chain_file(name_or_path: str) -> Path:
    """The chain file of that name, or the file itself if a path is given.

    :raises UsageError: if there is none; with the nearest names.
    """
    if name_or_path.endswith((".yml", ".yaml")) or "/" in name_or_path:
        return Path(name_or_path).expanduser().absolute()
    if name_or_path in tournament_names() and name_or_path not in chain_names():
        raise UsageError(
            f"'{name_or_path}' is a tournament, not a chain: './inv tournament {name_or_path}' holds it; names with "
            f"commas between them, such as heap,index-buffer, are a chain."
        )
    if name_or_path not in chain_names():
        raise unknown("chain", name_or_path, chain_names(), "./inv chains")
    return FOLDER / f"{name_or_path}.yml"


def _track_of(steps: Sequence[Step]) -> str:
    return next((str(one.content["track"]) for one in steps if one.content), DEFAULT_TRACK)


def _shared(steps: Sequence[Step]) -> dict[str, Any]:
    """What is measured in all tournaments: the last one then measures it, too."""
    contents = [one.content for one in steps if one.tournament]
    keys = ("metric", "searches", "force_merge", "freshness")
    return {
        key: contents[0][key]
        for key in keys
        if contents and key in contents[0] and all(one.get(key) == contents[0][key] for one in contents)
    }


def _step(
    path: Path, told: Mapping[str, Any], track: str | None, corpus: str | None, before: list[str], quick: bool
) -> Step:
    if isinstance(told.get("quick"), Mapping) or {"race", "quick"} <= set(told):
        problem = "only a study's race has a quick form of its own, and 'quick' of a tournament is true or false"
        raise FileError(path, f"{problem}.", line_with(path, "quick:"))
    if "race" in told:
        race = {**({"track": track} if track else {}), **({"corpus": corpus} if corpus else {}), **told["race"]}
        name = _race_name(told, race)
        step = Step(name, None, {}, race, minutes=float(told.get("minutes", 3.0)))
    else:
        file = find_tournament_file(told["tournament"])
        name = told.get("name") or file.stem
        content = _content(path, name, file, {**told, "quick": True} if quick else told)
        content |= ({"track": track} if track else {}) | ({"corpus": corpus} if corpus else {})
        step = Step(name, told["tournament"], content, weight=float(told.get("weight", 1.0)))
    _check_names(path, name, told, before)
    return replace(step, winners_of=tuple(told.get("winners_of", before)), needs=tuple(told.get("needs", ())))


def _step_of_study(path: Path, told: Mapping[str, Any], before: list[str], quick: bool) -> Step:
    """A step that is held as its file says, in the whole form or the quick one; it builds on nothing."""
    fixed = ("changes", "contenders", "grid", "winners_of", "weight", *(["quick"] if "tournament" in told else []))
    if refused := [one for one in fixed if one in told]:
        raise FileError(
            path,
            f"a study's tournaments are held as their files say, and '{told.get('tournament')}' has {refused[0]} here: "
            f"write it into its file.",
            line_with(path, f"{refused[0]}:"),
        )
    if "race" in told:
        if isinstance(told.get("quick"), bool):
            problem = "'quick' of a study's race is what its quick form has otherwise, {params: {time_period: 60}}, say"
            raise FileError(path, f"{problem}.", line_with(path, "quick:"))
        short = told.get("quick", {}) if quick else {}
        race = {**told["race"], **short}
        race |= {"params": {**told["race"].get("params", {}), **short["params"]}} if "params" in short else {}
        minutes = told.get("quick_minutes" if quick else "minutes", told.get("minutes", 3.0))
        step = Step(_race_name(told, race), None, {}, race, minutes=float(minutes))
    else:
        file = find_tournament_file(told["tournament"])
        step = Step(told.get("name") or file.stem, told["tournament"], dict(read_yaml(file, "tournament")))
    _check_names(path, step.name, told, before)
    return replace(
        step,
        needs=tuple(told.get("needs", ())),
        whole=True,
        published=told.get("published", {}),
        deviations=(*told.get("deviations", ()), *_shortened(told, quick)),
    )


def _shortened(told: Mapping[str, Any], quick: bool) -> Iterator[str]:
    """What the quick form of a study's race has otherwise than the whole one, a sentence; none of the whole one."""
    if quick and "race" in told and (short := dict(told.get("quick", {}))):
        race, params = told["race"], short.pop("params", {})
        changed = [(race, short), (race.get("params", {}), params)]
        said = (
            f"{key} {new} instead of {old.get(key, 'none')}" for old, pairs in changed for key, new in pairs.items()
        )
        yield f"The quick form: {', '.join(said)}."


def _race_name(told: Mapping[str, Any], race: Mapping[str, Any]) -> str:
    return str(told.get("name") or race.get("challenge", "race"))


def _check_names(path: Path, name: str, told: Mapping[str, Any], before: list[str]) -> None:
    if name in before or name == FINAL:
        taken = "is that of the last tournament" if name == FINAL else "is that of an earlier step"
        raise FileError(path, f"the name '{name}' {taken}: give the step another one with 'name'.")
    for key in ("winners_of", "needs"):
        for other in told.get(key, ()):
            if other not in before:
                raise FileError(
                    path,
                    f"the step '{name}' has '{other}' in {key}, which is no step before it: name one of "
                    f"{', '.join(before) or 'none, as it is the first'}.",
                    line_with(path, other) if path.exists() else None,
                )


def _with_places(content: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The same for a file that lies elsewhere: paths lead where they did."""
    listed = (
        {"contenders": [whole_paths(one, file.parent) for one in content["contenders"]]}
        if "contenders" in content
        else {}
    )
    return {**content, **listed}


def _content(path: Path, name: str, file: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a step's tournament file: its quick form, fewer contenders, and other changes."""
    content = _with_places(read_yaml(file, "tournament"), file)
    quick = content.pop("quick", {})
    if told.get("quick"):
        if not quick:
            raise FileError(path, f"the step '{name}' has 'quick', but {file.name} has no quick form: leave it out.")
        # Whom the step names takes part, whether the quick form has them or not.
        content = _narrowed(path, name, content, {key: one for key, one in quick.items() if key not in told})
        content |= {key: value for key, value in quick.items() if key not in ("contenders", "grid", "deviations")}
    content = _narrowed(path, name, content, told)
    changes = _with_places(told.get("changes", {}), path)
    if "contenders" in changes:
        content.pop("grid", None)
    if "grid" in changes:
        content.pop("contenders", None)
    content |= changes
    content.setdefault("control", False)
    if {"contenders", "grid"} & (set(changes) | set(told) | (set(quick) if told.get("quick") else set())):
        content.pop("published", None)  # figures of contenders that are not there
    return content


def _narrowed(path: Path, name: str, content: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(content)
    if "contenders" in told:
        there = [one["name"] for one in content.get("contenders", ())]
        for one in told["contenders"]:
            if one not in there:
                problem = unknown("contender", one, there, f"./inv tournament {name} --dry-run")
                raise FileError(path, f"the step '{name}': {problem}", line_with(path, one) if path.exists() else None)
        changed["contenders"] = [one for one in content["contenders"] if one["name"] in told["contenders"]]
    if "grid" in told:
        factors = [one["name"] for one in content.get("grid", ())]
        for factor in told["grid"]:
            if factor not in factors:
                raise FileError(path, f"the step '{name}': {unknown('factor', factor, factors, 'The file')}")
        changed["grid"] = [{**one, "values": told["grid"].get(one["name"], one["values"])} for one in content["grid"]]
    return changed
