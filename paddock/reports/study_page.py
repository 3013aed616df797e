"""The page of a study's chain: what was published and what was measured, step by step; nothing is carried, no claim."""

from __future__ import annotations

from dataclasses import replace

from paddock import numbers
from paddock.chains.model import ALL_DONE, FAILED, RACED, ChainResult, StepResult
from paddock.reports import sentences
from paddock.reports.document import Report, Section, Table, glossary
from paddock.reports.index_work import explanation
from paddock.reports.resources import saturated_table
from paddock.reports.study import study_section
from paddock.tournaments.studies import agreement, compared


def build_study(result: ChainResult) -> Report:
    """The page: each step's published and measured ratios, then how it went."""
    sections = [section for one in result.steps for section in _sections(one)]
    return Report(
        title=f"Study {result.chain.name}",
        subtitle=f"{result.chain.question} Published: {result.chain.study}.",
        verdict=study_headline(result),
        highlights=(),
        sections=(*sections, _course(result), glossary(tournament=True)),
    )


def study_headline(result: ChainResult) -> str:
    """How many steps were held, and what came of the published ratios."""
    over = [one for one in result.steps if one.outcome is not None]
    held = [one.result for one in result.steps if one.result is not None]
    begin = "" if result.stopped == ALL_DONE else f"Not finished: {len(over)} of {len(result.steps)} steps are over. "
    said = agreement(each for one in held for each in compared(one))
    failed = [one.step.name for one in over if one.outcome is not None and one.outcome.kind == FAILED]
    lost = f" Not held: {', '.join(failed)}." if failed else ""
    return f"{begin}{said or 'Nothing was measured that could be compared with what was published.'}{lost}"


def _sections(one: StepResult) -> list[Section]:
    """What a step says: its verdict and the study beside it; of a race its figures."""
    if one.result is not None:
        verdict = sentences.headline(one.result)
        section = study_section(one.result) or Section("", items=())
        plots = tuple(replace(each, name=f"{_word(one.step.name)}-{each.name}") for each in section.plots)
        why = tuple(explanation(one.result))
        tables = (saturated_table(one.result),) if one.result.bottlenecks else ()
        return [
            replace(
                section,
                heading=one.step.name,
                paragraphs=(verdict, *section.paragraphs),
                plots=plots,
                tables=(*section.tables, *tables),
                items=(*why, *section.items),
            )
        ]
    if one.figures:
        names = dict.fromkeys([*one.step.published, *one.figures])
        rows = tuple((name, one.step.published.get(name, ""), one.figures.get(name, "")) for name in names)
        text = "One race says how fast a configuration was, once: nothing is concluded from it."
        table = Table("Published and measured", ("figure", "published", "measured"), rows)
        return [Section(one.step.name, (text,), tables=(table,))]
    return []


def _word(name: str) -> str:
    """A name of which ids can be made."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _course(result: ChainResult) -> Section:
    items = [
        f"It began at {numbers.moment(result.began)}, took {numbers.duration(result.seconds)} and ended because of: "
        f"{result.stopped}.",
        *result.chain.notes,
    ]
    for one in result.steps:
        if one.outcome is None:
            items.append(f"{one.step.name}: still to be held.")
            continue
        if one.outcome.reason:
            items.append(f"{one.step.name}: {one.outcome.reason}")
        if one.outcome.result_id:
            what = "race" if one.outcome.kind == RACED else "tournament"
            items.append(f"{one.step.name}: its {what} is {one.outcome.result_id} (./inv report has its own page).")
        if one.resolves:
            items.append(f"{one.step.name}: {one.resolves}")
    return Section("How it went", items=tuple(items))
