"""A chain runs: its steps in their order, each journalled before and after; who holds one is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.chains import ChainOptions, budget, carrying, definitions, files
from paddock.chains.budget import Demand
from paddock.chains.model import (
    ALL_DONE,
    FAILED,
    NO_TIME,
    NOTHING_FOUND,
    SKIPPED,
    STEP_FAILED,
    STOP,
    WON,
    Chain,
    Outcome,
    Settings,
    Step,
)
from paddock.chains.store import Begun, ChainHistory, ChainJournal, StoredChain
from paddock.console import say
from paddock.errors import UsageError
from paddock.plain_values import plain
from paddock.tournaments.durations import Experience
from paddock.tournaments.plan import Plan, make_plan, resolvable
from paddock.tracks import read_parameters


@dataclass(frozen=True)
class Task:
    """A step that is to be held, or gone on with.

    :param file: of its tournament, absolute; None for a race.
    :param settings: what it builds on, the default configuration's included.
    """

    step: Step
    begun: Begun
    file: Path | None
    settings: Settings
    chain_id: str
    seed: int
    options: ChainOptions


Hold = Callable[[Task], Outcome]


def run(stored: StoredChain, journal: ChainJournal, hold: Hold, experience: Callable[[], Experience]) -> None:
    """Hold what is left of the chain.

    :param hold: holds a step, or goes on with it; what it raises ends the chain, which can be resumed.
    :param experience: what earlier tournaments on this machine have taught, asked before every step.
    """
    chain, options = journal.history.chain, journal.history.options
    for number, step in enumerate([*chain.steps, *([chain.final] if chain.final else [])], start=1):
        if step.name in journal.history.outcomes:
            continue
        if step != chain.final:
            say(f"Step {number} of {len(chain.steps)}: {step.name}.")
        if not _hold(stored, journal, step, options, hold, experience):
            journal.add("finished", stopped=STEP_FAILED)
            return
    journal.add("finished", stopped=ALL_DONE)


def _hold(
    stored: StoredChain,
    journal: ChainJournal,
    step: Step,
    options: ChainOptions,
    hold: Hold,
    experience: Callable[[], Experience],
) -> bool:
    """Hold a step, or say why not.

    :returns: whether the chain goes on.
    """
    history = journal.history
    chain = history.chain
    if step.name not in history.begun:
        outcome = _obstacle(step, chain, history)
        if outcome is None:
            outcome = _begin(stored, journal, step, options, experience())
        if outcome is not None:
            say(f"{step.name}: {outcome.reason}")
            journal.add("done", name=step.name, outcome=plain(outcome))
            return outcome.kind != FAILED or chain.on_failure != STOP
    begun = history.begun[step.name]
    settings = carrying.combined(chain.default, begun.built_on)
    file = stored.folder / begun.file if begun.file else None
    seed = int(history.header["seed"]) + [*chain.steps, chain.final].index(step)
    outcome = hold(Task(step, begun, file, settings, stored.id, seed, options))
    say(f"{step.name}: {outcome.kind}{f', {outcome.winner}' if outcome.winner else ''}. {outcome.reason}".rstrip())
    journal.add("done", name=step.name, outcome=plain(outcome))
    return outcome.kind != FAILED or chain.on_failure != STOP


def _obstacle(step: Step, chain: Chain, history: ChainHistory) -> Outcome | None:
    """Why a step is not to be held at all, whatever time there is; None if nothing is in its way."""
    for name in step.needs:
        if name in history.outcomes and history.outcomes[name].kind in (FAILED, SKIPPED, NO_TIME):
            return Outcome(SKIPPED, f"It was not held, because it needs '{name}', which was not held to its end.")
    if step == chain.final and not tuned(chain, history):
        return Outcome(NOTHING_FOUND, "No step found anything better than the default configuration.")
    return None


def _begin(
    stored: StoredChain, journal: ChainJournal, step: Step, options: ChainOptions, experience: Experience
) -> Outcome | None:
    """Give a step its minutes and its file, and journal that it begins; the outcome if it cannot."""
    if step.whole:
        return _begin_whole(stored, journal, step, options, experience)
    history = journal.history
    chain = history.chain
    built_on = carrying.builds_on(step, winners(history)) if step != chain.final else Settings()
    left = chain.budget_minutes - journal.elapsed / 60
    try:
        demands, last = _demands(chain, history, options, experience)
        minutes = budget.split(left, demands, last, bool(winners(history))).get(step.name)
        if minutes is None:
            return Outcome(NO_TIME, f"It was not held: of the budget about {max(left, 0):.0f} minutes were left.")
        attempt = history.attempts(step.name) + 1
        if not step.tournament:
            begun = Begun(step.name, attempt, minutes, built_on=built_on)
        else:
            content = _content(step, chain, history)
            plan = _plan(step, content, chain, built_on, minutes, options, experience)
            file = stored.definition(step.name, attempt)
            definitions.write_definition(file, sized(content, plan), step)
            place = str(file.relative_to(stored.folder))
            begun = Begun(step.name, attempt, round(minutes, 1), place, resolvable(plan), built_on)
    except UsageError as error:
        return Outcome(FAILED, str(error))
    journal.add("step", step=plain(begun))
    return None


def _begin_whole(
    stored: StoredChain, journal: ChainJournal, step: Step, options: ChainOptions, experience: Experience
) -> Outcome | None:
    """Give a step of a study its file as it is; the outcome if it cannot be held."""
    attempt = journal.history.attempts(step.name) + 1
    try:
        if step.tournament:
            plan = _whole_plan(step, options, experience)
            file = stored.definition(step.name, attempt)
            definitions.write_definition(file, step.content, step)
            place = str(file.relative_to(stored.folder))
            begun = Begun(step.name, attempt, round(plan.minutes, 1), place, resolvable(plan))
        else:
            begun = Begun(step.name, attempt, step.minutes)
    except UsageError as error:
        return Outcome(FAILED, str(error))
    journal.add("step", step=plain(begun))
    return None


def _whole_plan(step: Step, options: ChainOptions, experience: Experience) -> Plan:
    return make_plan(definitions.read_step(step, step.content, definitions.step_options(step, options)), 1, experience)


def _content(step: Step, chain: Chain, history: ChainHistory) -> dict[str, Any]:
    """The contents of a step's tournament file, with what it builds on."""
    if step == chain.final:
        content = definitions.final_content(chain, tuned(chain, history) or Settings(level={"bulk_size": 999}))
        return carrying.carried_into(content, chain.default)
    settings = carrying.combined(chain.default, carrying.builds_on(step, winners(history)))
    return carrying.carried_into(step.content, settings)


def _plan(
    step: Step,
    content: Mapping[str, Any],
    chain: Chain,
    built_on: Settings,
    minutes: float,
    options: ChainOptions,
    experience: Experience,
) -> Plan:
    asked = definitions.tournament_options(options, built_on)
    return budget.fitting(definitions.read_step(step, content, asked), minutes, experience)


def sized(content: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The contents with the starts and blocks of the plan."""
    tournament = plan.tournament
    own = {"starts": tournament.starts, "blocks": tournament.blocks, "budget_minutes": tournament.budget_minutes}
    return {**content, **own}


def _demands(
    chain: Chain, history: ChainHistory, options: ChainOptions, experience: Experience
) -> tuple[list[Demand], Demand | None]:
    """What everything that is still to be held asks of the budget."""
    found = []
    for step in chain.steps:
        if step.name in history.outcomes or _obstacle(step, chain, history):
            continue
        found.append(_demand(step, chain, history, options, experience))
    last = None
    if chain.final is not None and chain.final.name not in history.outcomes:
        last = _demand(chain.final, chain, history, options, experience)
    return found, last


def _demand(step: Step, chain: Chain, history: ChainHistory, options: ChainOptions, experience: Experience) -> Demand:
    if not step.tournament:
        return Demand(step.name, step.minutes, step.minutes)
    asked = definitions.tournament_options(options)
    if step == chain.final and not tuned(chain, history):
        content = definitions.final_content(chain, definitions.stand_in(chain, options))
        content = carrying.carried_into(content, chain.default)
    else:
        content = _content(step, chain, history)
    return budget.demand(step.name, definitions.read_step(step, content, asked), step.weight, experience)


def winners(history: ChainHistory) -> dict[str, Settings]:
    """What the winner of every step brings that has one."""
    return {name: one.settings for name, one in history.outcomes.items() if one.kind == WON}


def tuned(chain: Chain, history: ChainHistory) -> Settings:
    """What came out of the steps so far, beyond the default configuration."""
    found = Settings()
    for step in chain.steps:
        found = carrying.combined(found, winners(history).get(step.name, Settings()))
    track = next((str(one.content["track"]) for one in chain.steps if one.content), files.DEFAULT_TRACK)
    parameters = {one.name: one.default for one in read_parameters(track)}
    return carrying.without_defaults(found, chain.default, parameters)


@dataclass(frozen=True)
class Preview:
    """What a chain is expected to be, before anything is known.

    :param steps: step -> minutes, and the plan of its tournament; None for a race, or where there is no time for it.
    """

    steps: tuple[tuple[Step, float | None, Plan | None], ...]


def preview(chain: Chain, options: ChainOptions, experience: Experience) -> Preview:
    """The steps with their minutes and plans; what winners will bring is not in them.

    :raises UsageError: if the budget is too short for the first step, or a step cannot be.
    """
    if chain.study:
        plans = {one.name: _whole_plan(one, options, experience) for one in chain.steps if one.tournament}
        minutes_of = {one.name: one.minutes for one in chain.steps} | {name: one.minutes for name, one in plans.items()}
        return Preview(tuple((one, minutes_of[one.name], plans.get(one.name)) for one in chain.steps))
    nothing = ChainHistory()
    demands, last = _demands(chain, nothing, options, experience)
    budget.check(chain.budget_minutes, demands, last)
    minutes = budget.split(chain.budget_minutes, demands, last)
    told: list[tuple[Step, float | None, Plan | None]] = []
    for step in (*chain.steps, *([chain.final] if chain.final else [])):
        given, plan = minutes.get(step.name), None
        if given is not None and step.tournament:
            if step == chain.final:
                content = carrying.carried_into(
                    definitions.final_content(chain, definitions.stand_in(chain, options)), chain.default
                )
            else:
                content = _content(step, chain, nothing)
            plan = _plan(step, content, chain, Settings(), given, options, experience)
        told.append((step, given, plan))
    return Preview(tuple(told))
