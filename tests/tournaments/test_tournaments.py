"""Whole tournaments with a fake Rally: order, journal, retries, early stop, budget."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from paddock import paths
from paddock.errors import FileError, MachineError, UsageError
from paddock.files import locked, write_json
from paddock.race import RaceOptions
from paddock.race.circumstances import circumstances
from paddock.race.clusters import ClusterOptions
from paddock.race.options import PreparedRace
from paddock.rally import leftovers
from paddock.rally.request import parse_pairs
from paddock.reports.figures import freshness
from paddock.reports.write import build, result_as_json, result_as_junit, result_from_json, write_report
from paddock.sampling import read_samples
from paddock.tournaments import TournamentOptions
from paddock.tournaments.command import load_result, print_plan_as_json, run_tournament
from paddock.tournaments.files import read_tournament
from paddock.tournaments.laps import DONE, FAILED
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED
from paddock.tournaments.plan import make_plan
from paddock.tournaments.races import Setting
from paddock.tournaments.run import TournamentRun
from paddock.tournaments.store import Stored, find_tournament, tournament_ids, tournaments_folder
from tests.tournaments.conftest import counted, hold, prepare_without_elasticsearch
from tests.tournaments.test_store import a_journal

Behave = Callable[..., None]
Write = Callable[..., Path]


def test_a_known_effect_is_found(fake_laps: Behave, definition: Write) -> None:
    """Plus 30 % is called faster, with an interval around the truth, and the laps ran in the order of the plan."""
    fake_laps(rates={"1s": 10_000, "30s": 13_000})
    result = hold(definition(stop_early=False))
    verdict = result.main.verdicts[0]
    assert (verdict.contender, verdict.verdict) == ("30s", FASTER)
    assert verdict.low < 1.3 < verdict.high
    assert verdict.pairs == 12
    assert verdict.scope == "for this JVM"
    assert result.stopped == "all blocks done"
    schedule = find_tournament("latest").schedule()
    planned = [name for start in schedule for order in start.orders for name in order]
    assert [lap.contender for lap in result.laps] == planned
    assert [lap.warmup for lap in result.laps] == [True] * 6 + [False] * 24
    assert len(result.commands) == 1
    assert result.efficiency == pytest.approx(0.8, abs=0.05)
    stored = find_tournament("latest")
    (attempt,) = stored.history().attempts
    assert read_samples(stored.samples_file(attempt.race_id))  # as long as the race ran, though no cluster was there


def test_identical_contenders_get_no_winner(fake_laps: Behave, definition: Write) -> None:
    """A/A: equivalent or undecided for twenty seeds of noise, but for the one that may go wrong."""
    contenders = [{"name": "A"}, {"name": "B"}]
    file = definition("aa", challenge="settings", contenders=contenders, baseline="A", blocks=15)
    wrong = []
    for seed in range(12):
        fake_laps(noise=0.1, seed=seed)
        verdict = hold(file, seed=seed).main.verdicts[0].verdict
        if verdict not in (EQUIVALENT, UNDECIDED):
            wrong.append(seed)
    assert len(wrong) <= 1, wrong


def test_the_price_stands_beside_the_speed(fake_laps: Behave, definition: Write) -> None:
    """Processor time, size, latency and freshness come from the lap journal, in their units."""
    result = hold(definition(freshness=True, stop_early=False, blocks=8))
    means = {
        measured.metric.name: measured.absolutes[0].mean for measured in result.others if measured.absolutes[0].laps
    }
    assert means == pytest.approx(
        {
            "node CPU s/M docs": 100.0,
            "driver CPU s/M docs": 50.0,
            "bytes/doc": 100.0,
            "bulk p50 ms": 10.0,
            "bulk p99 ms": 20.0,
            "freshness p50 ms": 500.0,
        }
    )


def test_what_a_shipper_costs_stands_beside_the_speed(fake_laps: Behave, definition: Write) -> None:
    """Of the contenders that have one; the driver is what feeds it, and its load nobody takes for Rally's."""
    told = {"cpu_seconds": 0.3, "peak_memory_bytes": 40 * 2**20, "generator_cpu_seconds": 0.95}
    fake_laps(shippers={"syslog-ng": told, "rsyslog": {**told, "cpu_seconds": 0.1}}, rates={"rsyslog": 10_000})
    contenders = [{"name": name, "level": name} for name in ("rsyslog", "syslog-ng", "rally")]
    file = definition(challenge="shipper", contenders=contenders, baseline="rsyslog", stop_early=False, blocks=8)
    result = hold(file)
    measured = {one.metric.name: {each.contender: each for each in one.absolutes} for one in result.others}
    cpu, memory = measured["shipper CPU s/M docs"], measured["shipper memory MiB"]
    assert (cpu["rsyslog"].mean, cpu["syslog-ng"].mean, cpu["rally"].laps) == (pytest.approx(10), pytest.approx(30), 0)
    assert memory["rsyslog"].mean == pytest.approx(40)
    loads = {lap.contender: lap.driver_load for lap in result.laps if not lap.warmup}
    assert loads["rsyslog"] is not None
    assert loads["rally"] is not None
    assert loads["rsyslog"] > loads["rally"]


def test_why_there_is_no_freshness_is_told(fake_laps: Behave, definition: Write) -> None:
    """A probe that ended early makes no figure, too few markers make no 99th percentile, and both are said."""
    fake_laps(probe_problem={"30s": "markers could not be searched for: too busy"})
    result = hold(definition(freshness=True, stop_early=False, blocks=8, metric="freshness p99 ms"))
    assert (
        "The freshness probe ended early in 8 laps of '30s', because markers could not be searched for: too busy: they "
        "count for speed, but not for freshness." in result.notes
    )
    assert any(note.startswith("There is no 99th percentile of freshness for '1s' (64): it") for note in result.notes)
    assert any(note.startswith("No lap has a figure in freshness p99 ms: it takes 100") for note in result.notes)
    assert {lap.freshness is None for lap in result.laps if lap.contender == "30s"} == {True}
    assert [one.contender for one in freshness(result)] == ["1s"]


def test_a_metric_where_less_is_better_turns_the_verdict(fake_laps: Behave, definition: Write) -> None:
    """The baseline needs as many bytes, so a tournament about bytes finds the two equivalent, whatever their speed."""
    fake_laps(rates={"30s": 20_000})
    result = hold(definition(metric="bytes/doc", stop_early=False))
    assert result.main.verdicts[0].verdict == EQUIVALENT
    rate = next(one for one in result.others if one.metric.name == "docs/s")
    assert rate.verdicts[0].verdict == FASTER


def test_query_latency_can_be_what_it_is_about(fake_laps: Behave, definition: Write) -> None:
    """Where searches take half as long the contender is faster, however slowly it is indexed; speed is the price."""
    fake_laps(rates={"30s": 5_000}, queries={"30s": 2.0})
    result = hold(definition(metric="query p50 ms", searches=20, stop_early=False))
    verdict = result.main.verdicts[0]
    assert (verdict.verdict, verdict.ratio) == (FASTER, pytest.approx(0.5))
    others = {measured.metric.name: measured for measured in result.others}
    assert others["docs/s"].verdicts[0].verdict == SLOWER
    assert [one.mean for one in others["query p90 ms"].absolutes] == [8.0, 4.0]


def test_query_latency_stands_beside_the_speed(fake_laps: Behave, definition: Write) -> None:
    """With searches it is a price, without them it is not there."""
    for searches in (0, 5):
        names = [measured.metric.name for measured in hold(definition(searches=searches, blocks=1)).others]
        assert ("query p50 ms" in names, "query p90 ms" in names) == (searches > 0, searches > 0)


def test_early_evidence_ends_it(fake_laps: Behave, definition: Write) -> None:
    """A large effect stops a long tournament after some blocks, by the stop file; the verdict is the e-process's."""
    fake_laps(rates={"30s": 25_000}, pause=0.02)
    result = hold(definition(blocks=600))
    assert result.stopped == "decided"
    assert result.main.verdicts[0].verdict == FASTER
    blocks = {lap.block for lap in counted(result)}
    assert result.main.verdicts[0].pairs <= len(blocks) < 500
    assert any("evidence sufficed" in note for note in result.notes)
    with pytest.raises(UsageError, match="has ended"):
        hold(None, resume=result.id)


def test_the_budget_ends_it_between_two_blocks(fake_laps: Behave, definition: Write) -> None:
    """A start that runs over the budget is asked to stop, and its whole blocks count."""
    fake_laps(pause=0.03)
    result = hold(definition(blocks=400, stop_early=False), budget=2 / 60)
    assert result.stopped == "budget"
    assert 2 < len(counted(result)) < 800
    assert len(counted(result)) % 2 == 0


def test_starts_that_do_not_fit_the_budget_are_not_begun(definition: Write, tmp_path: Path) -> None:
    """As planned before the first one has ended; then by what it took: a guess of minutes may be far off."""
    tournament = read_tournament(definition(starts=3))
    plan = make_plan(tournament, 1)
    seconds = plan.seconds[0]

    def too_late(elapsed: float, took: float | None) -> bool:
        """Whether the second start is, with a budget for twice as long as one is planned for."""
        journal = a_journal(Path(tempfile.mkdtemp(dir=tmp_path)))
        if took is not None:
            (attempt,) = journal.history.attempts
            attempt.began, attempt.ended, attempt.outcome = 0.0, took, DONE
        journal._before, journal._began = elapsed, time.monotonic()
        short = replace(tournament, budget_minutes=2 * seconds / 60)
        run = TournamentRun(Setting(replace(plan, tournament=short), Stored("x"), TournamentOptions()), journal)
        return run._too_late_for(plan.schedule[1])

    assert (too_late(0.9 * seconds, None), too_late(1.1 * seconds, None)) == (False, True)
    assert (too_late(1.5 * seconds, 0.4 * seconds), too_late(0.9 * seconds, 1.2 * seconds)) == (False, True)


def test_starts_that_fit_the_budget_after_all_are_begun(fake_laps: Behave, definition: Write) -> None:
    """A minute is planned for each, and the fake Rally takes a second for all of them."""
    result = hold(definition(starts=3), budget=1.0)
    assert {lap.start for lap in result.laps} == {1, 2, 3}


def test_contenders_that_are_held_apart_get_starts_of_their_own(fake_laps: Behave, definition: Write) -> None:
    """Every start holds one contender, groups of starts are shuffled, and the start is the unit of the verdict."""
    contenders = [{"name": "small", "cars": ["512mheap"]}, {"name": "large", "cars": ["2gheap"]}]
    fake_laps(rates={"large": 8_000})
    file = definition(challenge="settings", contenders=contenders, baseline="small", starts=7, blocks=3)
    result = hold(file, apart=True)
    assert len(result.commands) == 14
    orders = [start.contenders[0] for start in find_tournament("latest").schedule()]
    assert {tuple(orders[at : at + 2]) for at in range(0, 14, 2)} == {("small", "large"), ("large", "small")}
    verdict = result.main.verdicts[0]
    assert (verdict.verdict, verdict.pairs, verdict.scope) == (SLOWER, 7, "for the configuration")


def test_several_starts_make_a_claim_about_the_configuration(fake_laps: Behave, definition: Write) -> None:
    """Six starts of two contenders: the start is the unit."""
    fake_laps(rates={"30s": 12_000})
    result = hold(definition(starts=6, blocks=4))
    verdict = result.main.verdicts[0]
    assert (verdict.verdict, verdict.pairs, verdict.scope) == (FASTER, 6, "for the configuration")


def test_void_laps_are_listed_and_not_averaged_away(fake_laps: Behave, definition: Write) -> None:
    """A contender whose laps are void gets no ratio, and the note says why."""
    fake_laps(void={"30s": "3 documents were refused"})
    result = hold(definition(blocks=6))
    assert result.main.verdicts[0].verdict == UNDECIDED
    assert result.main.verdicts[0].ratio is None
    assert any("6 laps of '30s' do not count: 3 documents were refused" in note for note in result.notes)


def test_a_failed_race_is_tried_again_once(fake_laps: Behave, definition: Write) -> None:
    """Its whole blocks count, the one that it broke is void, and the second attempt goes on after them."""
    fake_laps(breaks={"002": 3 * 2 + 5})
    result = hold(definition(starts=3, blocks=4))
    history = find_tournament("latest").history()
    assert [(attempt.start, attempt.outcome) for attempt in history.attempts] == [
        (1, DONE),
        (2, FAILED),
        (2, DONE),
        (3, DONE),
    ]
    assert [lap.block for lap in counted(result) if lap.start == 2] == [4, 4, 5, 5, 6, 6, 7, 7]
    assert [lap.void for lap in result.laps if lap.void] == [f"the race {result.id}-s002 failed in this block"]
    assert any("Start 2 failed and was tried again" in note and "The node is gone" in note for note in result.notes)


def test_a_start_that_fails_twice_is_void_and_named(fake_laps: Behave, definition: Write) -> None:
    """The tournament goes on without it."""
    fake_laps(breaks={"002": 6, "002-2": 6})
    result = hold(definition(starts=3, blocks=4))
    assert {lap.start for lap in counted(result)} == {1, 3}
    assert any("Start 2 is void" in note for note in result.notes)


def test_blocks_of_a_start_that_fails_twice_count(fake_laps: Behave, definition: Write) -> None:
    """What was measured before stays measured; the note says how far it came."""
    fake_laps(breaks={"001": 10, "001-2": 9})
    result = hold(definition(blocks=6, stop_early=False))
    assert result.main.verdicts[0].pairs == 2 + 1
    assert result.void_starts == ()
    assert any("The race of start 1 failed after block 3 of 6: " in note for note in result.notes)
    assert result.stopped == "races failed"
    assert any("shorter than planned, because races failed" in note for note in result.notes)


def test_whoever_ends_the_races_does_not_choose_the_test(fake_laps: Behave, definition: Write) -> None:
    """Ten of forty blocks, then races that fail: judged as a tournament that somebody stopped."""
    fake_laps(rates={"30s": 10_600}, noise=0.03, breaks={"001": 20, "001-2": 12})
    result = hold(definition(blocks=40, stop_early=False))
    verdict = result.main.verdicts[0]
    assert (result.stopped, verdict.pairs) == ("races failed", 10)
    assert verdict.verdict == UNDECIDED


def test_a_race_that_fails_on_the_way_out_keeps_its_evidence(fake_laps: Behave, definition: Write) -> None:
    """The evidence sufficed, then Rally failed: the verdict stands on the blocks up to the decision."""
    fake_laps(rates={"30s": 25_000}, errors=["001"], pause=0.05)
    result = hold(definition(blocks=40))
    history = find_tournament(result.id).history()
    assert [attempt.outcome for attempt in history.attempts] == [FAILED]
    assert result.stopped == "decided"
    verdict = result.main.verdicts[0]
    assert (verdict.verdict, verdict.pairs) == (FASTER, history.decided["30s"])
    assert verdict.pairs > 5
    assert any("failed after block" in note for note in result.notes)


def test_values_stay_those_it_began_with(fake_laps: Behave, definition: Write, tmp_path: Path) -> None:
    """Parameters from a file are read once: what becomes of the file, and of a car, changes no finished tournament."""
    values = tmp_path / "values.json"
    values.write_text('{"number_of_shards": 2}')
    result = hold(definition(blocks=1), params=parse_pairs(str(values), "--params"), car=("512mheap",))
    stored = find_tournament(result.id)
    values.write_text('{"number_of_shards": 3, "refresh_interval": "9s"}')
    assert stored.tournament(stored.history()) == result.tournament
    assert result.tournament.track_params == {"number_of_shards": 2}
    values.unlink()
    for copy in (stored.folder / "definition").iterdir():
        copy.unlink()
    assert load_result(result.id) == result


def test_a_contender_at_the_limit_of_the_load_driver_is_not_called_equivalent(
    fake_laps: Behave, definition: Write
) -> None:
    """Alike because the driver was the limit is no answer; quiet figures of the node keep theirs."""
    fake_laps(noise=0.001, driver={"1s": 0.5, "30s": 0.9})
    result = hold(definition(blocks=10, stop_early=False))
    verdict = result.main.verdicts[0]
    assert verdict.verdict == UNDECIDED
    assert "load driver was the limit" in verdict.decide
    assert any("Laps of '30s' kept the load driver busy for 0.90 s of every second" in note for note in result.notes)
    size = next(one for one in result.others if one.metric.name == "bytes/doc")
    assert size.verdicts[0].verdict == EQUIVALENT
    # Nor does such a likeness end it early.
    assert hold(definition(blocks=30)).stopped == "all blocks done"
    fake_laps(noise=0.001, driver={"1s": 0.5, "30s": 0.6})
    assert hold(definition(blocks=10, stop_early=False)).main.verdicts[0].verdict == EQUIVALENT


def test_a_faster_wrong_answer_does_not_win(fake_laps: Behave, definition: Write) -> None:
    """Laps whose searches find another number than the baseline's are void, unless the file says why they may."""
    fake_laps(queries={"30s": 1.0}, hits={"30s": 6})
    result = hold(definition(metric="query p50 ms", searches=20, blocks=8))
    assert result.main.verdicts[0].ratio is None
    assert any("the query 'any' found something else than in the baseline" in note for note in result.notes)
    reason = "30s leaves out what came last."
    told = hold(definition(metric="query p50 ms", searches=20, blocks=8, stop_early=False, different_answers=reason))
    assert told.main.verdicts[0].verdict == FASTER
    assert f"Searches need not find the same in all contenders: {reason}" in told.notes


def test_a_start_that_dies_before_its_first_lap_is_an_error(fake_laps: Behave, definition: Write) -> None:
    """No lap tells of it, but the result, its JSON and the JUnit file do, with the reason; a start retried does not."""
    fake_laps(dies=["002", "002-2"], errors=["003"])
    result = hold(definition(starts=3, blocks=4))
    (void,) = result.void_starts
    assert (void.number, "The node is gone" in void.reason) == (2, True)
    assert {lap.start for lap in result.laps} == {1, 3}
    assert result_from_json(result_as_json(result)).void_starts == result.void_starts
    suite = Tree.fromstring(result_as_junit(result)).find("testsuite")  # noqa: S314  our own text
    assert suite is not None
    assert [case.get("name") for case in suite.iter("testcase") if case.find("error") is not None] == ["start 2"]


def test_a_race_with_laps_missing_has_failed(fake_laps: Behave, definition: Write) -> None:
    """A race that ends well but short of its plan, without being asked to, does not count."""
    fake_laps(stop_short=["001"])
    result = hold(definition(blocks=4))
    assert any("2 of 14 laps missing" in note for note in result.notes)
    assert len(counted(result)) == 8


def test_a_second_tournament_is_refused(fake_laps: Behave, definition: Write) -> None:
    """While one holds the machine, the next is refused with the reason."""
    lock = paths.state_folder() / "tournament.lock"
    with locked(lock, "nobody"), pytest.raises(MachineError, match="another tournament, which is running"):
        hold(definition())
    write_json(paths.state_folder() / "tournament.json", {"id": "heap-1", "pid": 4711})
    with locked(lock, "nobody"), pytest.raises(MachineError, match=r"the tournament heap-1 \(process 4711\)"):
        hold(definition())
    assert tournament_ids() == []


def test_nobody_races_between_two_starts(fake_laps: Behave, definition: Write) -> None:
    """A tournament holds the lock on races from its first start to its last, and is not begun beside a race."""
    file = definition(starts=2, blocks=2)
    with leftovers.racing(), pytest.raises(MachineError, match="has to wait for the race"):
        hold(file)
    assert tournament_ids() == []
    refused = []

    def race_between(options: RaceOptions, fetch: bool, _clusters: Sequence[ClusterOptions]) -> PreparedRace:
        if options.race_id and options.race_id.endswith("s002"):
            with pytest.raises(MachineError, match="has to wait for"), leftovers.racing():
                pass
            refused.append(options.race_id)
        return prepare_without_elasticsearch(options, fetch)

    result = run_tournament(str(file), TournamentOptions(seed=5), race_between)
    assert result is not None
    assert refused
    assert result.stopped == "all blocks done"


def test_what_stands_in_the_way_leaves_it_resumable(fake_laps: Behave, definition: Write) -> None:
    """A full disk, a taken port: the sentence ends with how to go on, and that works."""

    def full(options: RaceOptions, fetch: bool, _clusters: Sequence[ClusterOptions]) -> PreparedRace:
        if options.race_id and options.race_id.endswith("s002") and tournament_ids():
            raise MachineError("The disk is full.")
        return prepare_without_elasticsearch(options, fetch)

    with pytest.raises(MachineError, match=r"The disk is full\. What was measured is kept in .*--resume' goes on"):
        run_tournament(str(definition(starts=2, blocks=2)), TournamentOptions(seed=5), full)
    assert len(counted(load_result("latest"))) == 4
    assert hold(None, resume="small").stopped == "all blocks done"


def test_a_budget_that_was_used_up_stays_used_up(fake_laps: Behave, definition: Write) -> None:
    """Killed between its last lap and its end, it is over when it is resumed, without another race."""
    fake_laps(pause=0.02, heeded=True)  # or a slow machine reads all 800 laps at once, and the budget cuts nothing off
    result = hold(definition(blocks=400, stop_early=False), budget=1 / 60)
    journal = find_tournament(result.id).journal
    lines = journal.read_text().splitlines(keepends=True)
    cut = [line for line in lines if json.loads(line)["kind"] not in ("end", "finished")]
    journal.write_text("".join(cut))
    again = hold(None, resume=result.id)
    assert again.stopped == "budget"
    assert len(again.laps) == len(result.laps)


def test_the_latest_is_the_one_that_began_last(fake_laps: Behave, definition: Write) -> None:
    """Whatever is written into the folders of earlier ones."""
    first, second = hold(definition("b", blocks=1)), hold(definition("a", blocks=1))
    find_tournament(second.id).folder.rename(tournaments_folder() / "a-20990101-000000")
    (find_tournament(first.id).folder / "report.html").touch()
    assert find_tournament("latest").id == "a-20990101-000000"


def test_a_journal_of_an_earlier_version_can_be_read(fake_laps: Behave, definition: Write) -> None:
    """It has no tournament in it, and no steady clock: options and the copy of the file tell, times of day do."""
    result = hold(definition(blocks=6, stop_early=False))
    journal = find_tournament(result.id).journal
    old = []
    for line in map(json.loads, journal.read_text().splitlines()):
        for key in ("tournament", "elapsed", "monotonic"):
            line.pop(key, None)
        line.get("record", {}).pop("started_monotonic", None)
        old.append(json.dumps(line) + "\n")
    journal.write_text("".join(old))
    again = load_result(result.id)
    assert again.main.verdicts == result.main.verdicts
    assert again.efficiency == pytest.approx(result.efficiency, abs=0.05)


def test_a_damaged_journal_is_named(fake_laps: Behave, definition: Write) -> None:
    """Valid JSON with other contents than it should have: a sentence with the file."""
    result = hold(definition(blocks=2))
    journal = find_tournament(result.id).journal
    journal.write_text(journal.read_text().replace('"level":"30s"', '"level":["30s"]'))
    with pytest.raises(FileError, match="this journal is damaged"):
        load_result(result.id)


def test_the_result_is_written_and_can_be_made_anew(fake_laps: Behave, definition: Write) -> None:
    """The report's result.json holds the result, and the journal alone gives the same one."""
    result = hold(definition(blocks=6))
    stored = find_tournament(result.id)
    assert load_result(result.id) == result
    write_report(result, stored.folder)
    assert result_from_json(json.loads((stored.folder / "result.json").read_text())).main == result.main


def test_the_machine_is_recorded_as_races_do_it(fake_laps: Behave, definition: Write) -> None:
    """The circumstances hold the machine under the names under which race.json has it as tags."""
    found = hold(definition(blocks=1)).circumstances
    assert found.items() >= circumstances(paths.benchmarks_folder()).items()


def test_the_corpus_is_recorded(fake_laps: Behave, definition: Write) -> None:
    """Recipe, seed, size and the whole checksum; a report shows the beginning of it."""
    result = hold(definition(blocks=1))
    assert result.circumstances["corpus"] == f"recipe apache seed 7 with 20000 documents sha256 {'ab' * 32}"
    (section,) = [section for section in build(result).sections if section.heading == "Circumstances"]
    assert dict(section.facts)["corpus"].endswith("sha256 abababababab")


def test_a_dry_run_shows_the_plan_and_runs_nothing(
    fake_laps: Behave, definition: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """Order with its seed, minutes, resolution and the command; no folder is made."""
    options = TournamentOptions(dry_run=True, seed=5)
    assert run_tournament(str(definition()), options, prepare_without_elasticsearch) is None
    said = capsys.readouterr().out
    for part in ("Seed 5", "minutes", "probability of 80 %", "start 1, block 15:", "/fake race", "--track-params"):
        assert part in said
    assert tournament_ids() == []


def test_the_plan_of_a_dry_run_for_programs(
    fake_laps: Behave, definition: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same as one JSON object, and nothing beside it on stdout."""
    options = TournamentOptions(dry_run=True, seed=5)
    run_tournament(str(definition()), options, prepare_without_elasticsearch, show=print_plan_as_json)
    told = json.loads(capsys.readouterr().out)
    assert told["seed"] == 5
    assert told["minutes"] > 0
    assert told["schedule"][0]["orders"]
    assert "/fake race" in told["commands"][0]
    assert tournament_ids() == []


def test_this_process_is_not_in_the_way(fake_laps: Behave, definition: Write) -> None:
    """After a tournament neither lock nor note of it is left."""
    hold(definition(blocks=1))
    assert not (paths.state_folder() / "tournament.json").exists()
    assert hold(definition(blocks=1)).id == tournament_ids()[-1]
