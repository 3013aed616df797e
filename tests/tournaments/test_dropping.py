"""Contenders that the evidence has decided get no further laps, and those that go on are judged as if nothing were."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddock.reports import sentences
from paddock.reports.verdicts import verdict_table
from paddock.statistics.series import FrontCut
from paddock.tournaments import TournamentOptions
from paddock.tournaments.analysis import current_standing, is_decided, to_be_dropped
from paddock.tournaments.command import load_result
from paddock.tournaments.files import read_tournament
from paddock.tournaments.laps import Attempt, blocks_done
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Contender, Lap, Result
from paddock.tournaments.pairing import DOCS_PER_SECOND, find_cut, paired
from paddock.tournaments.plan import make_plan, render_plan
from paddock.tournaments.races import Setting
from paddock.tournaments.run import TournamentRun
from paddock.tournaments.schedule import make_schedule
from paddock.tournaments.store import Journal, Stored, find_tournament, read_journal
from tests.tournaments.conftest import counted, hold
from tests.tournaments.test_analysis import judge_metric, laps_at
from tests.tournaments.test_resume import process  # noqa: F401 (a fixture)
from tests.tournaments.test_schedule import a_tournament
from tests.tournaments.test_store import a_journal, a_record

Behave = Callable[..., None]
Write = Callable[..., Path]
FOUR = [{"name": name, "level": name} for name in ("1s", "5s", "30s", "60s")]
# 30s is far faster than the others, which are alike.
CLEAR = {"30s": 25_000}


def laps_of(result: Result, name: str) -> list[int]:
    """The measured blocks in which that contender has a lap."""
    return [lap.block for lap in counted(result) if lap.contender == name]


def test_a_decided_contender_gets_no_further_laps(fake_laps: Behave, definition: Write) -> None:
    """Its verdict is that of the look that decided it; the others have all their blocks, and exact intervals."""
    fake_laps(rates=CLEAR, heeded=True)
    result = hold(definition(contenders=FOUR, blocks=25, control=True))
    history = find_tournament(result.id).history()
    assert list(history.dropped) == ["30s"]
    verdicts = {one.contender: one for one in result.main.verdicts}
    dropped = verdicts["30s"]
    assert (dropped.verdict, dropped.pairs, dropped.dropped) == (FASTER, history.dropped["30s"], True)
    assert dropped.confidence == pytest.approx(1 - 0.05 / 3)
    assert 6 < dropped.pairs < 24
    # One block more may have begun when it was decided.
    assert len(laps_of(result, "30s")) in (dropped.pairs, dropped.pairs + 1)
    for name in ("1s", "5s", "60s", "control"):
        assert laps_of(result, name) == list(range(4, 29))
    assert [(verdicts[name].pairs, verdicts[name].dropped) for name in ("5s", "60s")] == [(25, False)] * 2
    assert result.main.control is not None
    assert result.main.control.pairs == 25
    assert result.stopped == "all blocks done"
    assert not [lap for lap in result.laps if lap.void]
    note = next(note for note in result.notes if "no further laps since" in note)
    assert f"'30s' after {dropped.pairs} pairs" in note
    for metric in result.others:
        price = {one.contender: one for one in metric.verdicts}["30s"]
        assert price.dropped or price.ratio is None
        assert price.pairs in (dropped.pairs, dropped.pairs + 1)


@pytest.mark.parametrize("changes", [{"drop_decided": False}, {"stop_early": False}])
def test_a_file_may_ask_for_all_laps(fake_laps: Behave, definition: Write, changes: dict[str, Any]) -> None:
    """Maps of a grid may need every cell to the end."""
    fake_laps(rates=CLEAR)
    result = hold(definition(contenders=FOUR, blocks=20, **changes))
    assert Counter(lap.contender for lap in counted(result)) == dict.fromkeys(("1s", "5s", "30s", "60s"), 20)
    assert not any(one.dropped for one in result.main.verdicts)


def test_the_last_decision_ends_it(fake_laps: Behave, definition: Write) -> None:
    """One after the other is dropped, and with the last one the tournament is over; each keeps its own pairs."""
    fake_laps(rates={"5s": 10_800, "30s": 40_000, "60s": 10_900}, noise=0.05, heeded=True)
    result = hold(definition(contenders=FOUR, blocks=200))
    assert result.stopped == "decided"
    history = find_tournament(result.id).history()
    assert "30s" in history.dropped
    assert {one.contender: one.pairs for one in result.main.verdicts} == history.decided
    assert {one.verdict for one in result.main.verdicts} == {FASTER}
    assert len(laps_of(result, "30s")) < len(laps_of(result, "1s"))


def test_the_plan_says_it(definition: Write) -> None:
    """Of three and more contenders that may end early; of two the decision ends it."""
    alone = "A contender for which it does sooner gets no further laps."
    assert alone in render_plan(make_plan(read_tournament(definition(contenders=FOUR, blocks=20)), 1))
    few = render_plan(make_plan(read_tournament(definition(contenders=FOUR, blocks=12)), 1))
    assert "It ends early" not in few  # so few pairs can never be evidence enough
    assert alone not in render_plan(make_plan(read_tournament(definition()), 1))
    assert alone not in render_plan(
        make_plan(read_tournament(definition(contenders=FOUR, drop_decided=False, blocks=20)), 1)
    )


def test_resume_goes_on_without_them(
    process: Callable[..., subprocess.Popen[str]],  # noqa: F811
    fake_laps: Behave,
    definition: Write,
) -> None:
    """A killed tournament knows whom it has dropped: the further race is told of the others only."""
    killed = process(definition(contenders=FOUR, blocks=30), {"001": 100}, 100, rates=CLEAR, heeded=True)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = find_tournament("latest").history()
    assert list(before.dropped) == ["30s"]
    fake_laps(rates=CLEAR)
    result = hold(None, resume="latest")
    stored = find_tournament(result.id)
    first, second = stored.history().attempts
    assert second.skipped == len(first.whole_blocks(["1s", "5s", "30s", "60s"])) > before.dropped["30s"]
    assert {record.lap.contender for record in second.records} == {"1s", "5s", "60s"}
    for name in ("1s", "5s", "60s"):
        assert laps_of(result, name) == list(range(4, 34))
    verdicts = {one.contender: one for one in result.main.verdicts}
    assert (verdicts["30s"].verdict, verdicts["30s"].pairs) == (FASTER, before.dropped["30s"])


def test_a_start_without_them_keeps_the_order_of_the_others() -> None:
    """As many blocks, each as it was drawn but for them."""
    start = make_schedule(a_tournament(3), 1)[1]
    left = start.lacking({"b"})
    assert (left.contenders, left.laps, left.blocks) == (("a", "c"), start.laps * 2 // 3, start.blocks)
    assert [name for order in left.orders for name in order] == [n for order in start.orders for n in order if n != "b"]
    assert start.lacking({"x"}) is start


def test_a_budget_that_is_short_goes_to_the_others(definition: Write, tmp_path: Path) -> None:
    """A start that would exceed it with everybody is begun where it does not without those who were dropped."""
    tournament = read_tournament(definition(contenders=FOUR, starts=3))
    plan = make_plan(tournament, 1)
    journal = a_journal(tmp_path)
    whole, second = plan.seconds[1], plan.schedule[1]
    short = replace(tournament, budget_minutes=(journal.elapsed + 0.9 * whole) / 60)
    for dropped, too_late in ((), True), (("30s", "60s"), False):
        for name in dropped:
            journal.add("dropped", contender=name, pairs=20, verdict="faster")
        run = TournamentRun(Setting(replace(plan, tournament=short), Stored("x"), TournamentOptions()), journal)
        assert run._too_late_for(second) is too_late


def test_a_group_is_asked_for_its_budget_though_its_first_is_gone(definition: Write, tmp_path: Path) -> None:
    """Held apart, a group is begun as a whole or not at all, whoever of it was dropped."""
    contenders = [{"name": name, "cars": ["1gheap"], "own_cluster": True} for name in "abc"]
    file = definition(challenge="settings", contenders=contenders, baseline="a", starts=9)
    plan = make_plan(read_tournament(file, TournamentOptions(apart=True)), 1)
    groups = {group: [one for one in plan.schedule if one.group == group] for group in range(2, 10)}
    first, second, *_ = next(of for of in groups.values() if of[0].contenders == ("b",))
    journal = a_journal(tmp_path)
    short = replace(plan, tournament=replace(plan.tournament, budget_minutes=0.01))
    run = TournamentRun(Setting(short, Stored("x"), TournamentOptions()), journal)
    assert (run._too_late_for(first), run._too_late_for(second)) == (True, False)
    journal.add("dropped", contender="b", pairs=15, verdict="faster")
    assert run._too_late_for(second)


def test_a_block_is_whole_without_those_who_were_dropped_before_it(tmp_path: Path) -> None:
    """In the block that had begun meanwhile their lap may be there or not; blocks from before need theirs for ever."""
    journal = a_journal(tmp_path)

    def ran(block: int, levels: str, attempt: int = 1) -> None:
        for level in levels:
            journal.add("lap", start=1, attempt=attempt, record=a_record(block, level))

    ran(4, "abc")
    ran(5, "ab")  # its lap of c was cut off
    journal.add("end", start=1, attempt=1, outcome="cut off", reason="", circumstances={})
    journal.add("start", start=1, attempt=2, race_id="x-s001-2", command="", skipped=1)
    ran(4, "acb", attempt=2)  # the fifth block of the tournament
    journal.add("dropped", contender="c", pairs=2, verdict="slower")
    ran(5, "ba", attempt=2)
    ran(6, "b", attempt=2)
    for history in (journal.history, read_journal(tmp_path / "journal.jsonl")):
        assert history.dropped == {"c": 2}
        assert [one.whole_blocks("abc") for one in history.attempts] == [{4}, {5, 6}]
        assert blocks_done(history.attempts, a_tournament(3), 1) == 3
    journal.add("end", start=1, attempt=2, outcome="cut off", reason="", circumstances={})
    journal.add("start", start=1, attempt=3, race_id="x-s001-3", command="", skipped=3)
    ran(4, "ab", attempt=3)
    assert journal.history.attempts[2].whole_blocks("abc") == {7}


def test_what_a_race_lacks_is_counted_without_them() -> None:
    """A race that ends without the laps of a contender that was dropped has all its laps."""
    attempt = Attempt(1, 1, "r", "", 2, 0.0, None, 0.0)
    start = make_schedule(a_tournament(3, blocks=4, warmup_blocks=1, starts=1), 1)[0].without(2)
    assert attempt.missing(start) == 9
    for block, levels in ((1, "abc"), (2, "abc")):
        for level in levels:
            attempt.add(a_record(block, level, warm_up=block == 1))
    assert attempt.missing(start) == 3
    attempt.dropped["b"] = 4
    assert attempt.missing(start) == 2


def rates_of(blocks: int, until: int, seed: int = 1) -> list[Lap]:
    """Laps of a, b that is alike, and c that is half as fast and has laps in the first blocks only."""
    generator = random.Random(seed)
    rates = []
    for block in range(blocks):
        row = {"a": 1000 * generator.gauss(1, 0.05), "b": 1000 * generator.gauss(1, 0.05)}
        rates.append({**row, **({"c": 500 * generator.gauss(1, 0.05)} if block < until else {})})
    return laps_at(rates)


def test_a_slow_contender_that_is_gone_is_no_warm_up() -> None:
    """Block means rise where it is missing; the front is cut by the means of those who stayed, and not for it."""
    laps, three = rates_of(24, 12), a_tournament(3, starts=1)
    assert find_cut(laps, three)[0].blocks == 12
    assert find_cut(laps, three, {"c"}) == (FrontCut(0, at_limit=False),)
    units = paired(laps, three, DOCS_PER_SECOND, cut=[FrontCut(5, False)], early={"c"}).units
    assert {name: len(of.differences) for name, of in units.items()} == {"b": 19, "c": 12}


def test_those_who_stay_are_judged_once_and_those_who_go_at_their_decision() -> None:
    """Signed-rank beside confidence sequence, Holm over all of them; a standing keeps the verdict of the decision."""
    laps, three = rates_of(30, 22), a_tournament(3, starts=1)
    standing = current_standing(laps, three)
    assert [one.contender for one in to_be_dropped(standing, three, {})] == ["c"]
    assert to_be_dropped(standing, three, {"c"}) == []
    assert to_be_dropped(standing, a_tournament(3, drop_decided=False), {}) == []
    assert not is_decided(standing, three)
    again = {one.contender: one for one in current_standing(laps, three, {"c": 20})}
    assert (again["c"].pairs, again["c"].verdict, again["c"].dropped) == (20, SLOWER, True)
    looked = judge_metric(laps, three, DOCS_PER_SECOND, looked=True)
    assert {one.verdict for one in looked.verdicts} <= {UNDECIDED, SLOWER, EQUIVALENT}


def test_at_node_level_its_starts_are_skipped(fake_laps: Behave, definition: Write) -> None:
    """Held apart, a contender that is decided has no further starts; groups are still those of the schedule."""
    fake_laps(rates={"b": 30_000}, noise=0.1)
    contenders = [{"name": name, "cars": ["1gheap"], "own_cluster": True} for name in "abc"]
    file = definition(challenge="settings", contenders=contenders, baseline="a", starts=24, blocks=1, warmup_blocks=3)
    result = hold(file, apart=True)
    history = find_tournament(result.id).history()
    assert list(history.dropped) == ["b"]
    starts = Counter(lap.contender for lap in counted(result))
    assert (starts["a"], starts["c"]) == (24, 24)
    assert 10 < starts["b"] < 24
    pairs = {one.contender: (one.pairs, one.verdict) for one in result.main.verdicts}
    assert pairs["b"] == (history.dropped["b"], FASTER)
    assert pairs["c"][0] == 24


def test_side_by_side_later_starts_are_without_it(fake_laps: Behave, definition: Write) -> None:
    """One race spans all starts; it reads before each start who is still in, and a start ends without them."""
    fake_laps(rates={"b": 30_000}, noise=0.1)
    contenders = [{"name": name, "cars": ["1gheap"], "own_cluster": True} for name in "abc"]
    result = hold(definition(challenge="settings", contenders=contenders, baseline="a", starts=22, blocks=1))
    stored = find_tournament(result.id)
    history = stored.history()
    assert list(history.dropped) == ["b"]
    assert len({one.race_id for one in history.attempts}) == 1
    assert json.loads(stored.dropped_file(history.attempts[0].race_id).read_text()) == ["b"]
    by_start = {one.start: {record.lap.contender for record in one.records} for one in history.attempts}
    known = history.dropped["b"]
    assert by_start == {number: set("abc") if number <= known else set("ac") for number in range(1, 23)}
    assert {one.contender: one.pairs for one in result.main.verdicts} == {"b": known, "c": 22}
    assert not [note for note in result.notes if "missing" in note]


def test_many_contenders_are_looked_at_fast() -> None:
    """A standing of 128 contenders, most of them dropped, is computed between two laps."""
    names = [f"n{number}" for number in range(128)]
    laps = laps_at([{name: 1000.0 + index for index, name in enumerate(names)} for _ in range(40)])
    tournament = a_tournament(2, starts=1)
    many = replace(tournament, baseline="n0", contenders=tuple(map(Contender, names)))
    began = time.process_time()
    current_standing(laps, many, dict.fromkeys(names[1:100], 20))
    assert time.process_time() - began < 60  # a second here; what must not be is minutes


def test_a_report_shows_who_was_dropped(fake_laps: Behave, definition: Write) -> None:
    """Its table says that there were no further laps, and the journal gives the same result again."""
    fake_laps(rates=CLEAR, heeded=True)
    result = hold(definition(contenders=FOUR, blocks=20))
    assert any(one.dropped for one in result.main.verdicts)
    assert load_result(result.id) == result
    table = verdict_table(result.main, "")
    assert [row[-1].startswith("decided, no further laps") for row in table.rows] == [
        one.dropped for one in result.main.verdicts
    ]
    told = [sentences.of_verdict(result.main, one, "1s") for one in result.main.verdicts if one.dropped]
    assert all("pairs (decided, no further laps since), for this JVM." in text for text in told)


def test_a_journal_goes_on_after_it_was_read(tmp_path: Path) -> None:
    """Whoever was dropped stays so in the attempts that are begun later."""
    a_journal(tmp_path).add("dropped", contender="b", pairs=9, verdict="slower")
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add("start", start=2, attempt=1, race_id="x-s002", command="", skipped=0)
    assert journal.history.attempts[1].dropped == {"b": 0}
    assert journal.history.attempts[1].expected("ab", 1) == {"a"}
