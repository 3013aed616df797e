"""Steps of a chain as tournament files: asked with what options, written, read, and checked to fit together."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from paddock.cars import known_cars
from paddock.chains import ChainOptions, carrying
from paddock.chains.model import Chain, Settings, Step
from paddock.corpora.store import documents_of
from paddock.errors import FileError, UsageError
from paddock.files import replacing
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file as find_tournament_file
from paddock.tournaments.files import line_with, read_tournament
from paddock.tournaments.model import Tournament
from paddock.tournaments.placed import compares_data_paths
from paddock.tracks import check_parameters, load_track, read_parameters


def node_of(options: ChainOptions) -> dict[str, Any]:
    """What the default configuration's node has by the options."""
    told = {name: getattr(options, name) for name in ("version", "engine", "java", "data_path")}
    return {name: value for name, value in told.items() if value is not None}


def tournament_options(options: ChainOptions, settings: Settings | None = None, **more: Any) -> TournamentOptions:
    """What the tournament of a step is asked for beside its file.

    :param settings: what winners bring along; a version, say, is an option.
    """
    node = {**node_of(options), **(settings.node if settings else {})}
    node.pop("nodes", None)
    return TournamentOptions(
        corpus=options.corpus,
        documents=options.documents,
        corpus_seed=options.corpus_seed,
        apart=options.apart,
        port=options.port,
        prices=options.prices,
        **node,
        **more,
    )


def step_options(step: Step, options: ChainOptions, settings: Settings | None = None, **more: Any) -> TournamentOptions:
    """What the tournament of a step is asked for beside its file: that of a study all that the chain is asked for."""
    if step.whole:
        more |= {name: getattr(options, name) for name in ("quick", "car", "params", "car_params")}
        more |= {"data_paths": options.data_paths} if compares_data_paths(step.content) else {}
        more["contender_hosts"] = options.contender_hosts
    return tournament_options(options, settings, **more)


def write_definition(file: Path, content: Mapping[str, Any], step: Step) -> None:
    """Write a step's tournament file; a table of published figures comes along."""
    if (table := content.get("published", {}).get("table", {}).get("file")) and step.tournament:
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(find_tournament_file(step.tournament).with_name(table), file.with_name(table))
    with replacing(file) as temporary:
        text = yaml.safe_dump(json.loads(json.dumps(content)), sort_keys=False, allow_unicode=True)
        temporary.write_text(text, encoding="utf-8")


def read_step(step: Step, content: Mapping[str, Any], options: TournamentOptions) -> Tournament:
    """The tournament of a step, as it would be held.

    :raises FileError, UsageError: as for any tournament file, without a place: it is in no file of the user's.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{step.name}.yml"
        write_definition(file, content, step)
        try:
            return read_tournament(file, options, sampled=False)
        except FileError as error:
            if error.path == file:
                raise UsageError(f"The step '{step.name}': {error.problem}") from None
            raise


def final_content(chain: Chain, tuned: Settings) -> dict[str, Any]:
    """The contents of the last tournament's file."""
    return {
        **(chain.final.content if chain.final else {}),
        "contenders": carrying.final_contenders(tuned, chain.default),
    }


def stand_in(chain: Chain, options: ChainOptions) -> Settings:
    """What the last tournament is planned with before anything is known: a node of its own where a step has some."""
    for step in chain.steps:
        if step.tournament:
            tournament = read_step(step, step.content, tournament_options(options))
            if any(one.differs_at_the_node for one in tournament.contenders):
                return Settings(car_params={"index_buffer_size": "11%"})
    return Settings(level={"bulk_size": 999})


def check(path: Path, chain: Chain, options: ChainOptions) -> dict[str, Tournament]:
    """Check every step, and that none of them varies what a winner before it brings.

    :returns: the tournaments of the steps that have one, by the step's name.
    :raises FileError: if one does.
    :raises UsageError: as ``_check_default``.
    """
    held: dict[str, Tournament] = {}
    asked = tournament_options(options)
    for step in chain.steps:
        if not step.tournament:
            continue
        if step.whole:
            tournament = read_step(step, step.content, step_options(step, options))
            check_parameters(load_track(tournament.track), options.params)
            continue
        if chain.default:  # which is put into a file that is right
            read_step(step, step.content, asked)
        content = carrying.carried_into(step.content, chain.default)
        tournament = held[step.name] = read_step(step, content, asked)
        if chain.default.track_params:
            check_parameters(load_track(tournament.track), chain.default.track_params)
        if tournament.corpus:
            documents_of(tournament.track, tournament.corpus)  # which says if there is none
        _check_default(step, content, chain.default)
        for other in (held[name] for name in step.winners_of if name in held):
            if problem := _collision(other, step, tournament, chain.default):
                place = line_with(path, step.tournament) if path.exists() else None
                raise FileError(path, f"{problem}: leave '{other.name}' out of its winners_of, or one out.", place)
    if chain.final is not None:
        read_step(chain.final, final_content(chain, Settings(level={"bulk_size": 999})), asked)
    return held


def default_left_out(chain: Chain, tournament: Tournament) -> str | None:
    """A sentence, where a tournament varies what the default configuration sets and no contender has that."""
    if not carrying.names_set(chain.default) & carrying.varied(tournament):
        return None
    parameters = {one.name: one.default for one in read_parameters(tournament.track)}
    brought = (carrying.won(tournament, one.name) for one in tournament.contenders)
    if not all(carrying.without_defaults(one, chain.default, parameters) for one in brought):
        return None
    against = "the last tournament alone compares with that" if chain.final else "nothing is compared with that"
    return (
        f"No contender of '{tournament.name}' is the default configuration ({carrying.said(chain.default)}): the step "
        f"compares with {tournament.baseline}, and {against}."
    )


def _collision(other: Tournament, step: Step, tournament: Tournament, default: Settings) -> str | None:
    """Why the winner of another tournament cannot be in all contenders of a step; None if it can."""
    own = carrying.varied(tournament)
    taken = {"index.codec"} if "index.mode" in own else set()  # mode logsdb chooses its own
    if twice := (own | taken) & carrying.varied(other):
        return (
            f"the steps '{other.name}' and '{step.name}' both vary {' and '.join(sorted(twice))}, so the winner of the "
            f"first cannot be in all contenders of the second"
        )
    before = carrying.variables_told(carrying.carried_into(step.content, default))
    for one in other.contenders:
        brought = carrying.combined(default, carrying.won(other, one.name))
        after = carrying.variables_told(carrying.carried_into(step.content, brought))
        if lost := set().union(*(before[name] - after[name] for name in before)):
            return (
                f"the cars of '{one.name}', if it wins '{other.name}', take the place of what sets "
                f"{' and '.join(sorted(lost))} for the contenders of '{step.name}'"
            )
    return None


def _check_default(step: Step, content: Mapping[str, Any], default: Settings) -> None:
    """Check that no contender's cars take a part of the default's away, such as limits, beside what they set.

    :param content: of the step's tournament file, with the default in it.
    :raises UsageError: if one does; its gain would be that of other hardware.
    """
    cars = known_cars()
    told = {name: (value, car) for car in default.cars for name, value in cars[car].variables.items()}
    for contender, own in carrying.variables_told(content).items():
        lost = {name: value for name, value in told.items() if name not in own}
        if lost:
            names = ",".join(dict.fromkeys(car for _, car in lost.values()))
            pairs = ",".join(f"{name}:{value}" for name, (value, _) in lost.items())
            raise UsageError(
                f"--car has {names}, whose place is taken by the cars of '{contender}' in the step '{step.name}', "
                f"which set no {' and no '.join(lost)}: it would win or lose by that. Give --car-params {pairs} in the "
                f"place of {names}."
            )
