"""A chain before it runs: its steps with their minutes, what they can resolve, and what speaks against them here."""

from __future__ import annotations

from collections.abc import Sequence

from paddock import numbers
from paddock.chains import ChainOptions, definitions
from paddock.chains.model import FINAL, Chain
from paddock.chains.run import Preview
from paddock.console import table
from paddock.errors import PaddockError
from paddock.tournaments import store
from paddock.tournaments.plan import cautions, resolvable
from paddock.tournaments.races import Setting, check_races


def remarks(chain: Chain, expected: Preview, options: ChainOptions) -> list[str]:
    """What the plans of the steps' tournaments caution of, and which step this machine or its files do not allow.

    Steps of which the same is to be said are named together.
    """
    found: dict[str, list[str]] = {}
    for step, _, plan in expected.steps:
        if plan is None:
            continue
        for sentence in cautions(plan):
            if sentence.startswith("Caution: "):
                found.setdefault(sentence, []).append(step.name)
        if step == chain.final:
            continue  # its contenders are stand-ins
        stored = store.Stored(store.new_id(step.name))
        try:
            notes = check_races(Setting(plan, stored, definitions.step_options(step, options)), fetch=False).notes
        except PaddockError as error:
            notes = (f"It cannot be held as it is: {error}",)
        for note in notes:
            found.setdefault(note, []).append(step.name)
    return [f"{', '.join(steps)}: {sentence}" for sentence, steps in found.items()]


def render_preview(chain: Chain, expected: Preview, remarks: Sequence[str] = ()) -> str:
    """The steps with their minutes, what they can resolve, and what else was found, as text."""
    rows = []
    for step, minutes, plan in expected.steps:
        given = numbers.NOTHING if minutes is None else f"{minutes:.0f}"
        if plan is not None:
            tournament = plan.tournament
            form = f"{numbers.plural(tournament.starts, 'start')} of {numbers.plural(tournament.blocks, 'block')}"
            names = ", ".join(one.name for one in tournament.contenders)
            who = names if len(names) <= 60 else f"{len(tournament.contenders)} contenders"
            rows.append([step.name, given, form, who, f"{minutes and resolvable(plan)}"])
        else:
            form = "no time for it" if minutes is None else "a race"
            rows.append([step.name, given, form, "", ""])
    lines = [f"{chain.name}: {chain.question}", ""]
    lines.append(str(table(("step", "minutes", "form", "contenders"), [row[:4] for row in rows])))
    lines.append("")
    lines += [f"{row[0]}: {row[4]}" for row in rows if row[4]]
    if expected.steps[-1][0].name == FINAL:
        lines.append(f"{FINAL} is held if a step finds anything; its two are stand-ins here, until it is known what.")
    if chain.study:
        whole = sum(minutes or 0.0 for _, minutes, _ in expected.steps)
        lines.append(f"About {numbers.plural(round(whole), 'minute')} in all; --resume goes on with what was cut off.")
        return "\n".join([*lines, *remarks])
    lines.append(
        f"The budget is {chain.budget_minutes:g} minutes; what a step leaves of its own goes to those after it."
    )
    return "\n".join([*lines, *chain.notes, *remarks])
