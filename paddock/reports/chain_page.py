"""A chain's one page: what was tried, won or stayed undecided, what to copy, and the tuned against the default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock import numbers
from paddock.chains import carrying
from paddock.chains.model import (
    ALL_DONE,
    DEFAULT_CONTENDER,
    FAILED,
    NO_WINNER,
    NOTHING_FOUND,
    RACED,
    WON,
    ChainResult,
    Outcome,
    StepResult,
)
from paddock.console import NARROWEST, wrapped
from paddock.plain_values import plain
from paddock.race.circumstances import with_short_checksums
from paddock.reports import figures, sentences
from paddock.reports.cost import tournament_costs
from paddock.reports.document import (
    Plot,
    Report,
    Section,
    Table,
    glossary,
    keep,
    render_html,
    render_markdown,
    text_table,
)
from paddock.reports.drawing import Row, legend, rows_of_ratios
from paddock.reports.study_page import build_study, study_headline
from paddock.reports.verdicts import LOOKS, ratio_row
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Verdict

CAUTION = (
    "The winner of a step was chosen because it came out best, so its own ratio is on average too good; steps are not "
    "multiplied with each other. The last tournament was held anew, and its ratio alone is the claim."
)
_SHOWN = 30


def build(result: ChainResult) -> Report:
    """The page; the claim first, then what to copy, then how it came about."""
    if result.chain.study:
        return build_study(result)
    sections = (
        _apply(result),
        _final(result),
        _cost(result),
        _tried(result),
        _ratios(result),
        _undecided(result),
        _races(result),
        _course(result),
        _circumstances(result),
        _repeat(result),
        glossary(tournament=True),
    )
    return Report(
        title=f"Chain {result.chain.name}",
        subtitle=_subtitle(result),
        verdict=headline(result),
        highlights=tuple(_highlights(result)),
        sections=tuple(one for one in sections if one is not None),
    )


def _subtitle(result: ChainResult) -> str:
    chain = result.chain
    tournament = next((one.result.tournament for one in result.steps if one.result), None)
    where = ""
    if tournament is not None:
        corpus = f", corpus {tournament.corpus}" if tournament.corpus else ""
        where = f" Track {tournament.track}{corpus}."
    steps = numbers.plural(len(chain.steps), "step")
    default = f" The default configuration has {said}." if (said := carrying.said(chain.default)) else ""
    return f"{chain.question}{where} {steps} under a budget of {chain.budget_minutes:g} minutes.{default}"


def final_verdict(result: ChainResult) -> Verdict | None:
    """What the last tournament says of the tuned configuration; None if it says nothing."""
    held = result.final.result if result.final else None
    verdict = held.main.verdicts[0] if held and held.main.verdicts else None
    return verdict if verdict is not None and verdict.ratio is not None else None


def is_proven(result: ChainResult) -> bool:
    """Whether the tuned configuration was proven better than the default one."""
    verdict = final_verdict(result)
    return verdict is not None and verdict.verdict == FASTER


def headline(result: ChainResult) -> str:
    """The chain's answer."""
    if result.chain.study:
        return study_headline(result)
    over = sum(one.outcome is not None for one in result.steps)
    if result.stopped != ALL_DONE and over < len(result.steps):
        begin = f"Not finished: {over} of {numbers.plural(len(result.steps), 'step')} came to an end. "
    else:
        begin = "" if result.stopped == ALL_DONE else "Not finished. "
    verdict, held = final_verdict(result), result.final.result if result.final else None
    if verdict is not None and held is not None:
        said = sentences.headline(held)
        if verdict.verdict == FASTER:
            return f"{begin}{said[0].upper()}{said[1:]} Tuned is: {carrying.said(result.tuned)}."
        return f"{begin}Keep the default configuration: {said}"
    if not result.tuned:
        if any(one.outcome and one.outcome.kind in (WON, NO_WINNER) for one in result.steps):
            return f"{begin}Nothing was proven to be better than the default configuration."
        return f"{begin}Nothing can be said of any setting."
    found = carrying.said(result.tuned)
    why = "no tournament has compared all of it with the default configuration"
    return f"{begin}Steps found {found}; {why}."


def _highlights(result: ChainResult) -> Iterator[dict[str, str]]:
    verdict, final = final_verdict(result), result.final
    if verdict is not None and final is not None and final.result is not None:
        limits = numbers.interval(verdict.low, verdict.high)
        yield {
            "name": "tuned against default",
            "verdict": verdict.verdict,
            "word": sentences.said_of(final.result.main.metric, verdict),
            "change": numbers.change(verdict.ratio),
            "note": f"the claim: {numbers.ratio(verdict.ratio)} ({limits}), {verdict.scope}",
        }
    for one in result.steps[:5]:
        outcome = one.outcome
        if outcome is None or outcome.kind not in (WON, NO_WINNER):
            continue
        yield {
            "name": one.step.name,
            "verdict": FASTER if outcome.kind == WON else UNDECIDED,
            "word": outcome.winner or "none" if outcome.kind == WON else _none_won(one),
            "change": numbers.change(outcome.ratio) if outcome.kind == WON else numbers.NOTHING,
            "note": "winner of its step, chosen" if outcome.kind == WON else "the default is kept",
        }


def _none_won(one: StepResult) -> str:
    """Why a step has no winner, in a word."""
    if one.outcome and one.outcome.winner:
        return "not carried on"
    verdicts = {each.verdict for each in one.result.main.verdicts} if one.result else set()
    if verdicts == {EQUIVALENT}:
        return "equivalent"
    return "undecided" if UNDECIDED in verdicts else "the baseline is best"


def _apply(result: ChainResult) -> Section | None:
    if not result.apply:
        return None
    texts = []
    if is_proven(result):
        texts.append(
            "What was proven to be better as a whole; as options of ./inv race and ./inv tournament, and as a "
            "contender in a tournament file has it:"
        )
        heading = "Apply this"
    else:
        texts.append(
            "As a whole it is not proven to be better than the default configuration. As options of ./inv race and "
            "./inv tournament, and as a contender in a tournament file has it:"
        )
        heading = "What the steps found"
    options = " ".join(f"{name} {_quoted(text)}" for name, text in result.apply.items())
    parts = plain(result.tuned)
    rows = []
    for one in result.steps:
        if one.outcome and one.outcome.kind == WON:
            rows.append((carrying.said(one.outcome.settings), one.step.name, numbers.change(one.outcome.ratio)))
    table = Table("Where it comes from", ("setting", "step", "change there"), tuple(rows), (2,))
    contender = {name: value for name, value in parts.items() if value}
    commands = (options, json.dumps(contender, indent=1, ensure_ascii=False))
    facts = tuple((name, str(value)) for name, value in carrying.in_force(result.tuned).items())
    return Section(heading, tuple(texts), tables=(table,) if rows else (), facts=facts, commands=commands)


def _quoted(text: str) -> str:
    return f"'{text}'" if set(" {}\"'") & set(text) else text


def _final(result: ChainResult) -> Section | None:
    final = result.final
    if final is None:
        return Section("Tuned against default", ("The chain asks for no last tournament.", CAUTION.split(";")[0] + "."))
    if final.result is not None and final_verdict(result) is not None:
        verdict = final.result.main.verdicts[0]
        said = sentences.of_verdict(final.result.main, verdict, DEFAULT_CONTENDER)
        texts = (CAUTION, said, *sentences.of_control(final.result.main))
        rows = []
        for one in (final.result.main, *final.result.others):
            for each in one.verdicts:
                name, word = figures.label(one.metric), sentences.said_of(one.metric, each)
                limits = numbers.interval(each.low, each.high) if each.ratio is not None else numbers.NOTHING
                ratio = (numbers.ratio(each.ratio), numbers.change(each.ratio))
                rows.append((name, word, *ratio, limits, str(each.pairs)))
        heads = ("metric", "verdict", "ratio", "change", "interval", "pairs")
        tables = (Table("Tuned against default, and its prices", heads, tuple(rows), (2, 3, 4, 5)),)
        return Section("Tuned against default", texts, tables=tables)
    if final.outcome is None:
        return Section("Tuned against default", ("It has not been held yet.",))
    why = "There was nothing to compare." if final.outcome.kind == NOTHING_FOUND else "It was not held to its end."
    return Section("Tuned against default", (f"{why} {final.outcome.reason}",))


def _cost(result: ChainResult) -> Section | None:
    """What the tuned and the default configuration cost; None without prices, or without a last tournament."""
    held = result.final.result if result.final and final_verdict(result) else None
    return tournament_costs(held) if held else None


def _tried(result: ChainResult) -> Section:
    rows = []
    for one in (*result.steps, *([result.final] if result.final else [])):
        outcome = one.outcome
        tournament = one.result.tournament if one.result else None
        names = ", ".join(each.name for each in tournament.contenders) if tournament else numbers.NOTHING
        if tournament and len(tournament.contenders) > 8:
            names = f"{len(tournament.contenders)} contenders"
        came = "still to be held" if outcome is None else outcome.kind
        won = outcome.winner if outcome and outcome.winner else numbers.NOTHING
        change = numbers.change(outcome.ratio) if outcome else numbers.NOTHING
        took = numbers.duration(one.result.seconds) if one.result else numbers.NOTHING
        on = carrying.said(one.built_on) or numbers.NOTHING
        rows.append((one.step.name, names, on, came, won, change, took))
    heads = ("step", "compared", "built on", "came to", "winner", "change", "took")
    return Section("What was tried", tables=(Table("The steps in their order", heads, tuple(rows), (5, 6)),))


def _ratios(result: ChainResult) -> Section | None:
    """All contenders of all steps on one axis, each beside the baseline of its own step."""
    rows, lines, parts = [], [], []
    margin = 0.0
    for one in (*([result.final] if result.final else []), *result.steps):
        if one.result is None or all(each.ratio is None for each in one.result.main.verdicts):
            continue
        tournament, measured = one.result.tournament, one.result.main
        margin = margin or tournament.margin
        better = figures.better(measured.metric)
        heading = (
            f"{one.step.name}, against {tournament.baseline}: {figures.label(measured.metric)} ({better} is better)"
        )
        rows.append(Row(heading, heading=True))
        known = sorted((each for each in measured.verdicts), key=lambda each: -(each.ratio or 0.0))
        for each in known[:_SHOWN]:
            rows.append(ratio_row(measured, each))
            said = sentences.said_of(measured.metric, each)
            limits = numbers.interval(each.low, each.high)
            lines.append((one.step.name, each.contender, said, numbers.ratio(each.ratio), limits, str(each.pairs)))
            parts.append(sentences.of_verdict(measured, each, tournament.baseline))
    if not rows:
        return None
    table = Table(
        "Verdicts of all steps", ("step", "contender", "verdict", "ratio", "interval", "pairs"), tuple(lines), (3, 4, 5)
    )
    names = {FASTER: "better", SLOWER: "worse"}
    marks = [(names.get(verdict, verdict), *look) for verdict, look in LOOKS.items()]
    marks.append((f"margin of {numbers.margin(margin)}", "box", "band"))
    drawn = rows_of_ratios(rows, margin, "ratio to the baseline of the step", legend(marks))
    return Section("All verdicts", plots=(Plot("steps", "Ratios of all steps", " ".join(parts), drawn, table),))


def _undecided(result: ChainResult) -> Section | None:
    items = []
    for one in result.steps:
        if one.result is None:
            continue
        if all(each.ratio is None for each in one.result.main.verdicts):
            continue
        open_ones = [each for each in one.result.main.verdicts if each.verdict == UNDECIDED]
        if open_ones:
            named = ", ".join(f"{each.contender} ({_limits(each)})" for each in open_ones[:6])
            more = f" and {len(open_ones) - 6} more" if len(open_ones) > 6 else ""
            items.append(f"{one.step.name}: {named}{more}.")
            items += [f"{one.step.name}, {text}" for text in sentences.decisions(one.result.main)[:2]]
    if not items:
        return None
    text = "What could not be told from the baseline of its step; a step without a winner leaves the default as it is."
    return Section("Undecided", (text,), items=tuple(items))


def _limits(verdict: Verdict) -> str:
    limits = numbers.interval(verdict.low, verdict.high)
    return "too few pairs for an interval" if limits == numbers.UNBOUNDED else limits


def _races(result: ChainResult) -> Section | None:
    tables = [
        Table(f"Race {one.step.name}", ("figure", "value"), tuple(one.figures.items()), (1,))
        for one in result.steps
        if one.figures
    ]
    if not tables:
        return None
    text = "One race says how fast a configuration was, once: nothing is concluded from it."
    return Section("Races", (text,), tables=tuple(tables))


def _course(result: ChainResult) -> Section:
    items = [
        f"It began at {numbers.moment(result.began)}, took {numbers.duration(result.seconds)} of the "
        f"{result.chain.budget_minutes:g} minutes that it had and ended because of: {result.stopped}."
    ]
    items += [
        f"{one.step.name}: {one.outcome.reason}"
        for one in (*result.steps, *([result.final] if result.final else []))
        if one.outcome and one.outcome.reason and _is_told(one.outcome)
    ]
    for one in (*result.steps, *([result.final] if result.final else [])):
        if one.outcome and one.outcome.result_id:
            what = "race" if one.outcome.kind == RACED else "tournament"
            given = f"; it was given {one.minutes:.0f} minutes" if one.minutes and what == "tournament" else ""
            items.append(
                f"{one.step.name}: its {what} is {one.outcome.result_id} (./inv report has its own page){given}."
            )
    items += [f"{one.step.name}: {one.resolves}" for one in result.steps if one.resolves]
    failed = sum(one.outcome is not None and one.outcome.kind == FAILED for one in result.steps)
    return Section("How it went", items=(*items[:1], *result.chain.notes, *items[1:]), shown=3 + failed)


def _is_told(outcome: Outcome) -> bool:
    """Whether the reason of an outcome is not to be seen from its verdicts."""
    return outcome.kind not in (NO_WINNER, NOTHING_FOUND) or outcome.winner is not None


def _circumstances(result: ChainResult) -> Section | None:
    results = [one.result for one in (result.final, *result.steps) if one is not None and one.result is not None]
    if not results:
        return None
    facts = [("chain", f"{result.chain.name}, {result.id}")]
    if result.chain.checksum:
        facts.append(("checksum of the chain file", result.chain.checksum))
    facts += [(name, with_short_checksums(str(text))) for name, text in results[0].circumstances.items()]
    return Section("Circumstances", facts=tuple(facts), folded=True)


def _repeat(result: ChainResult) -> Section | None:
    held = result.final.result if result.final else None
    if held is None or not held.commands:
        return None
    text = "The first start of the last tournament with plain Rally; the pages of the steps have theirs."
    return Section("Repeat it", (text,), commands=held.commands[:1], folded=True)


def render_terminal(result: ChainResult, width: int = 100) -> str:
    """The answer, what to copy and what was tried."""
    width = max(width, NARROWEST)
    blocks = [wrapped(headline(result), width)]
    tried = _tried(result).tables[0]
    columns = (0, 3, 4, 5, 6) if width >= 80 else (0, 3, 4, 5)
    rows = tuple(tuple(row[column] for column in columns) for row in tried.rows)
    heads = tuple(tried.headers[column] for column in columns)
    blocks.append(text_table(Table("", heads, rows, (3, 4)[: len(columns) - 3]), width))
    if result.apply and not result.chain.study:
        word = "Apply this" if is_proven(result) else "What the steps found, not proven as a whole"
        options = " ".join(f"{name} {_quoted(text)}" for name, text in result.apply.items())
        blocks.append(f"{word}:\n  {options}")
    if final_verdict(result) is not None:
        blocks.append(wrapped(CAUTION, width, "- ", "  "))
    course = _course(result)
    blocks.append("\n".join(wrapped(text, width, "- ", "  ") for text in course.items[: course.shown]))
    return "\n\n".join(blocks)


def chain_as_json(result: ChainResult) -> dict[str, Any]:
    """The result as nested objects; of every tournament its id and verdicts, its whole result is beside its report."""
    content = plain(result)
    for one, step in zip((*result.steps, result.final), (*content["steps"], content["final"]), strict=True):
        if one is None or step is None:
            continue
        step["step"].pop("content", None)
        held = one.result
        step["result"] = held and {
            "id": held.id,
            "verdict": sentences.headline(held),
            "metric": held.main.metric.name,
            "verdicts": plain(held.main.verdicts),
        }
    content["chain"].pop("steps", None)
    content["chain"].pop("final", None)
    return {"format": "paddock-chain-result", "version": 1, "verdict": headline(result), "result": content}


def write_chain(result: ChainResult, folder: Path) -> dict[str, Path]:
    """Write the page in all its forms; each file is whole or not there.

    :returns: "json", "markdown", "html" -> path.
    """
    paths = {"json": folder / "result.json", "markdown": folder / "report.md", "html": folder / "report.html"}
    keep(paths["json"], json.dumps(chain_as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    report = build(result)
    keep(paths["markdown"], render_markdown(report))
    keep(paths["html"], render_html(report))
    return paths
