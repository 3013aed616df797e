"""Studies: which there are, how they run as chains, what is kept of them, and the page that is made of it."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import paths
from paddock.chains import ChainOptions
from paddock.chains.command import run_chain
from paddock.chains.files import read_chain
from paddock.chains.model import ALL_DONE, FAILED, HELD, ChainResult, Outcome, Settings, StepResult
from paddock.chains.run import Task
from paddock.errors import FileError, Interrupted, UsageError
from paddock.plain_values import plain
from paddock.race.summary import RaceRecord
from paddock.reports.chain_page import build, headline, render_terminal, write_chain
from paddock.studies import kept, listed
from paddock.studies import page as page_module
from paddock.studies.kept import KeptStep, keep_result, read_step, step_of
from paddock.studies.page import PAGE, render_page
from paddock.studies.scrubbing import scrubbed
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import read_tournament, tournament_names
from paddock.tournaments.model import Result
from tests.command_line import one_sentence, run_here
from tests.reports import races
from tests.reports.results import study, study_grid
from tests.reports.test_full_disk import STOPPED


def held(name: str, dies: int | None = None, **options: object) -> tuple[ChainResult, list[Task]]:
    """A study that nobody holds: every step is over as soon as it has begun.

    :param dies: before which step it is killed, counted from 1.
    """
    tasks: list[Task] = []

    def hold(task: Task) -> Outcome:
        tasks.append(task)
        if len(tasks) == dies:
            raise Interrupted("It was killed.")
        return Outcome(HELD)

    result = run_chain(name, ChainOptions(**options), hold=hold)  # type: ignore[arg-type]
    assert result is not None
    return result, tasks


def test_every_tournament_of_a_study_is_a_step_of_one() -> None:
    """A file study-*.yml that no chain holds would never be run, nor kept."""
    steps = {step for one in listed.studies() for step in one.steps}
    assert {name for name in tournament_names() if name.startswith("study-")} <= steps
    assert len(steps) == sum(len(one.steps) for one in listed.studies())


def test_every_study_says_what_was_published_and_what_deviates() -> None:
    """Each tournament has deviations, and figures or what the study said; a race has what was published of it."""
    for one in listed.studies():
        chain, _ = read_chain(listed.chain_of(one.name))
        for step in chain.steps:
            if step.tournament:
                published = step.content["published"]
                assert published["deviations"], step.name
                assert {"figures", "table", "ratios", "statements"} & set(published), step.name
            else:
                assert step.published, step.name


@pytest.mark.parametrize("quick", [False, True])
def test_a_study_is_held_as_its_files_say(quick: bool) -> None:
    """Each step in its own form, from a copy of its file, whatever the minutes; nothing is carried or claimed."""
    result, tasks = held(listed.chain_of("refresh-interval"), quick=quick, seed=5)
    assert result.stopped == ALL_DONE
    assert result.final is None
    assert [one.seed for one in tasks] == [5, 6]
    for task in tasks:
        assert task.file is not None
        mine = read_tournament(task.file, TournamentOptions(quick=quick))
        theirs = read_tournament(paths.PROJECT / "tournaments" / task.file.name, TournamentOptions(quick=quick))
        assert replace(mine, checksum="") == replace(theirs, checksum="")
        assert mine.nodes == (1 if quick else 3)


def test_a_study_goes_on_where_it_was_killed() -> None:
    """Steps that are over are not held again; the one that was killed is gone on with."""
    with pytest.raises(Interrupted, match="--resume' goes on"):
        held(listed.chain_of("storage"), dies=2, quick=True)
    tasks: list[Task] = []

    def hold(task: Task) -> Outcome:
        tasks.append(task)
        return Outcome(HELD)

    result = run_chain(listed.unfinished(None), ChainOptions(), True, hold=hold)
    assert result is not None
    assert [one.step.name for one in tasks] == ["study-storage-credits"]
    assert [one.outcome and one.outcome.kind for one in result.steps] == [HELD, HELD]
    with pytest.raises(UsageError, match="No study is left to resume"):
        listed.unfinished("storage")


def test_all_studies_are_one_chain() -> None:
    """Every step of each, once; it is gone on with as 'all'."""
    chain, _ = read_chain(listed.chain_of("all"), ChainOptions(quick=True))
    assert [one.name for one in chain.steps] == [step for one in listed.studies() for step in one.steps]
    assert chain.study
    with pytest.raises(Interrupted):
        held(listed.chain_of("all"), dies=1, quick=True)
    assert listed.unfinished("all") == listed.unfinished(None)


def test_the_race_of_a_study_is_shorter_in_its_quick_form() -> None:
    """The options of 'quick' take the place of its own; the rest stays."""
    whole, quick = (read_chain("study-footprint", ChainOptions(quick=one))[0].steps[0] for one in (False, True))
    assert (whole.race["params"]["time_period"], quick.race["params"]["time_period"]) == (600, 60)
    assert {**whole.race["params"], "time_period": 60} == quick.race["params"]
    assert whole.race["params"]["warmup_time_period"] == 0  # the study's documents are those of all ten minutes
    assert whole.race["params"]["bulks_per_second"] * whole.race["params"]["event_period"] == 1  # a document each
    assert quick.deviations == (*whole.deviations, "The quick form: time_period 60 instead of 600.")
    assert quick.minutes < whole.minutes


def test_steps_of_a_study_are_changed_in_their_own_files(tmp_path: Path) -> None:
    """A chain file that would change what a study holds is refused, with its line."""
    file = tmp_path / "study.yml"
    file.write_text("question: Which?\nstudy: A study\nsteps:\n  - tournament: heap\n    changes: {blocks: 9}\n")
    with pytest.raises(FileError, match=r"study\.yml:5: a study's tournaments are held as their files say"):
        read_chain(str(file))


def with_result(outcome: str = HELD) -> ChainResult:
    """A study of one step that has a result, and of another that failed."""
    chain, _ = read_chain("study-refresh-interval")
    first, second = chain.steps
    steps = (
        StepResult(first, Outcome(HELD, "", "r"), 10, "", Settings(), study()),
        StepResult(second, Outcome(outcome, "The disk was full." if outcome == FAILED else "")),
    )
    return ChainResult("study-1", chain, 1.79e9, 700.0, ALL_DONE, steps, None, Settings(), {})


def test_the_page_of_a_study_sets_published_beside_measured(tmp_path: Path) -> None:
    """Each step's ratios, what was not held and why; nothing of a tuned configuration."""
    result = with_result(FAILED)
    assert headline(result).startswith("Of 2 published ratios that can be compared: ")
    assert headline(result).endswith("Not held: study-refresh-interval-laps.")
    page = build(result)
    (section,) = [one for one in page.sections if one.heading == "study-refresh-interval"]
    assert section.plots[0].table.rows
    written = write_chain(result, tmp_path)
    assert "The disk was full." in written["markdown"].read_text()
    assert "default configuration" not in written["markdown"].read_text()
    assert "Not held" in render_terminal(result)


def test_a_kept_result_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small, whole, and without the folders, the name and the user of this machine."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    one = study()
    home = Path.home()
    told = {**one.circumstances, "CPU": "EPYC", "limits": f"{paths.PROJECT}/x {home}/y on {platform.node()}"}
    command = f"JAVA21_HOME={paths.PROJECT}/.venv/java esrally race --journal={home}/.rally/laps.jsonl"
    step = keep_result(replace(one, circumstances=told, commands=(command,)), TournamentOptions(quick=True))
    assert read_step(step.folder / kept.RESULT) == step
    assert step.folder == tmp_path / "refresh-interval" / "study-refresh-interval"
    assert [each.claimed for each in step.compared] == [1.25, 1.7]
    files = sorted(step.folder.iterdir())
    assert [file.name for file in files] == [kept.PAGE, kept.REPORT, kept.RESULT]
    for file in files:
        text = file.read_text()
        assert str(paths.PROJECT) not in text
        assert str(home) not in text
        assert not platform.node() or len(platform.node()) < 3 or f" {platform.node()}" not in text
    assert (step.folder / kept.RESULT).stat().st_size < 20_000
    assert "## Throughput over time" not in (step.folder / kept.REPORT).read_text()


def with_pairs(pairs: int) -> Result:
    """The same result with so many pairs of each verdict."""
    one = study()
    verdicts = tuple(replace(each, pairs=pairs) for each in one.main.verdicts)
    return replace(one, main=replace(one.main, verdicts=verdicts))


def test_what_says_less_takes_no_place_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a quick form that of a full one, nor fewer pairs that of more; more may, and what is damaged goes."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    full, quick = TournamentOptions(), TournamentOptions(quick=True)
    first = keep_result(with_pairs(9), quick)
    with pytest.raises(UsageError, match="with 27 pairs, than this quick form with 24: --replace"):
        keep_result(with_pairs(8), quick)
    assert read_step(first.folder / kept.RESULT) == first
    assert keep_result(with_pairs(2), full).form == "full"
    with pytest.raises(UsageError, match="--replace"):
        keep_result(with_pairs(9), quick)
    assert keep_result(with_pairs(9), quick, replacing=True) == read_step(first.folder / kept.RESULT)
    (first.folder / kept.RESULT).write_text("{}")
    assert keep_result(with_pairs(1), quick).pairs == 3


def test_what_was_asked_for_beside_the_files_is_a_deviation() -> None:
    """Car parameters, say; neither the form nor a seed, and the files' own deviations stay."""
    told = {"limits": "off", "data_size": "1g"}
    asked = TournamentOptions(quick=True, seed=5, car=("4gheap",), car_params=told, blocks=3, apart=True)
    deviations = step_of(study(), asked).deviations
    assert deviations[-1] == (
        "Held with --blocks 3 --car 4gheap --car-params limits:off,data_size:1g --apart, which its files have not."
    )
    assert deviations[:-1] == step_of(study(), TournamentOptions(quick=True, seed=5)).deviations


def test_only_what_was_held_by_the_files_of_a_study_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tournament of one's own with the name of a study's is another; so is a race that asks for something else."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "docs")
    own, shipped = tmp_path / "study-refresh-interval.yml", paths.PROJECT / "tournaments" / "study-refresh-interval.yml"
    own.write_text(shipped.read_text())
    assert keep_result(study(), TournamentOptions(), tmp_path).study == "refresh-interval"
    own.write_text(shipped.read_text().replace("starts: ", "starts: 1"))
    with pytest.raises(UsageError, match="by other files than those of the study 'refresh-interval'"):
        keep_result(study(), TournamentOptions(), tmp_path)
    (step,) = [one for one in read_chain("study-full-disk")[0].steps if one.name == "full-disk-1-shard"]
    other = replace(step, race={**step.race, "track": "mine"})
    with pytest.raises(UsageError, match="'full-disk-1-shard' was held by other files"):
        kept.keep_race("full-disk", other, ChainOptions(), 1.79e9, races.plain())


def test_a_kept_result_of_no_study_is_told() -> None:
    """Of a study that was renamed, say: it is not left out of the page without a word."""
    page = render_page(listed.studies(), [replace(kept_study()[0], study="gone")])
    assert "`gone/study-refresh-interval` is kept, and no study has it any more" in page


def journal_at(record: RaceRecord, journal: Path) -> RaceRecord:
    """The same race, whose load wrote its journal there."""
    return replace(record, race={**record.race, "track-params": {"load_journal": str(journal)}})


def kept_race(study: str, name: str, record: RaceRecord) -> KeptStep:
    """The race of a study's step, kept; the whole form."""
    (step,) = [one for one in read_chain(f"study-{study}")[0].steps if one.name == name]
    one = kept.keep_race(study, step, ChainOptions(), 1.79e9, record)
    assert read_step(one.folder / kept.RESULT) == one
    assert sorted(file.name for file in one.folder.iterdir()) == [kept.PAGE, kept.REPORT, kept.RESULT]
    return one


def test_a_kept_race_has_what_its_study_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that a full disk let in; growth of an index's and a scan's times; with report and deviations."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "docs")
    journal = tmp_path / "load.jsonl"
    journal.write_text(json.dumps(STOPPED) + "\n")
    full = kept_race("full-disk", "full-disk-1-shard", journal_at(races.plain(), journal))
    assert full.figures["documents taken"] == "376,000 of 600,000, then a full disk stopped the load"
    assert full.figures["acknowledged documents lost"] == "0"
    assert full.deviations[0].startswith("Three nodes on one machine")
    asked = races.log_queries(races.write(journal, races.log_queries_journal(False)))
    queries = kept_race("log-queries", "log-queries", asked)
    assert set(queries.published) <= set(queries.figures)
    told = "1.35 to 1.49 times as long for twice the data; 4 of 4 surely grow"
    assert queries.figures["a scan's time"] == told
    assert "text-hits against zgrep: " in queries.figures["the index wins"]
    assert queries.figures["saturated"].startswith("None of what could be judged was saturated")
    for one in (full, queries):
        page = render_page(listed.studies(), [one])
        for name, text in one.published.items():
            assert f"| {name} | {text} | {one.figures[name]} |" in page


def test_only_whole_names_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is called 'node' does not rename 'node-1'; a folder beside the home is another."""
    monkeypatch.setattr(platform, "node", lambda: "node")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    monkeypatch.setenv("RALLY_HOME", "/srv/rally")
    monkeypatch.setenv("USER", "me")
    assert scrubbed("on node, node-1 and my.node") == "on this-machine, node-1 and my.node"
    assert scrubbed("J=/opt/x/.venv/bin '/data/y/.rally/z' ~/paddock/.venv/a") == (
        "J=~/paddock/.venv/bin '~/.rally/z' ~/paddock/.venv/a"
    )
    assert scrubbed("--track-path=/opt/x/tracks/a --team-path=/opt/x") == (
        "--track-path=~/paddock/tracks/a --team-path=~/paddock"
    )
    assert scrubbed("/home/me/x /home/meme/x /srv/rally/.rally") == "~/x FOLDER ~/.rally"
    assert scrubbed("on /dev/mapper/acme-root") == "on FOLDER"
    assert scrubbed("ext4 on /mnt/their/es. https://me:secret@es1:9200") == "ext4 on FOLDER. https://es1:9200"
    for public in ("POST /_bulk, docs/s and/or 1/2 of /dev/shm </data> </text>", "https://example.org/data/x"):
        assert scrubbed(public) == public


def test_a_kept_result_names_no_hosts_and_folders_of_whoever_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of options, contenders and circumstances; what Rally was asked for is not kept at all."""
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    one = study()
    command = (
        "esrally race --target-hosts=es1.acme.internal:9200,https://me:secret@10.20.30.40:9200 "
        "--client-options=/etc/acme/options.json --team-path=/customer/paddock --user-tags=data:/customer/acme/es"
    )
    first, second, *others = one.tournament.contenders
    first = replace(first, target_hosts="es7.acme.internal:9200", client_options="/acme/options.json")
    second = replace(second, data_path="/nfs7/acme")
    told = {
        "target hosts": "es1.acme.internal:9200,https://me:secret@10.20.30.40:9200",
        "nodes": "es1.acme.internal, es7.acme.internal",
        "limits": "10.20.30.40 has /nfs7/acme/x and /mnt/acme",
    }
    result = replace(
        one,
        tournament=replace(one.tournament, contenders=(first, second, *others)),
        commands=(command,),
        circumstances={**one.circumstances, **told},
        notes=("The cluster es1.acme.internal:9200 wrote to /customer/acme/es.",),
    )
    step = keep_result(result, TournamentOptions(quick=True))
    assert step.circumstances["nodes"] == "HOST-1, HOST-3"
    assert step.circumstances["limits"] == "HOST-2 has FOLDER/x and FOLDER"
    for file in step.folder.iterdir():
        text = file.read_text()
        assert not [word for word in ("acme", "customer", "10.20.30.40", "secret", "esrally") if word in text], file
    report = (step.folder / kept.REPORT).read_text()
    assert "The cluster HOST-1:9200 wrote to FOLDER." in report
    assert "./inv studies refresh-interval --quick" in report


def test_what_is_no_study_is_not_kept(tmp_path: Path) -> None:
    """Neither another tournament nor a file of something else."""
    one = study()
    with pytest.raises(UsageError, match="No study has a tournament 'heap'"):
        step_of(replace(one, tournament=replace(one.tournament, name="heap")), TournamentOptions())
    other = tmp_path / "result.json"
    other.write_text(json.dumps({"format": "paddock-tournament-result", "version": 1}))
    with pytest.raises(FileError, match="no result of a study"):
        read_step(other)
    other.write_text(json.dumps({"format": kept.FORMAT, "version": kept.VERSION, "study": 5}))
    with pytest.raises(FileError, match="damaged"):
        read_step(other)


def kept_study() -> list[KeptStep]:
    """A result of each kind: ratios one by one, many ratios, a race."""
    cells = replace(study_grid(), tournament=replace(study_grid().tournament, name="study-workers-by-batch"))
    race = KeptStep("footprint", "study-footprint-low", "quick", "2026-01-01 00:00 UTC", 0, "Once.", figures={"a": "1"})
    return [
        step_of(study(), TournamentOptions(quick=True)),
        step_of(cells, TournamentOptions()),
        replace(race, published={"a": "2", "b": "3"}),
    ]


def test_the_table_has_every_study_in_the_words_of_its_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Published and measured ratio with interval, direction, machine, deviations; studies without a result, too."""
    monkeypatch.setattr(page_module, "LISTED", 5)
    page = render_page(listed.studies(), kept_study())
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    lines = [row for row in rows if row[1] == "study-refresh-interval"]
    assert [row[3] for row in lines] == ["1.25", "1.70"]
    verdicts = {one.contender: one for one in study().main.verdicts}
    assert lines[0][4].startswith(f"{verdicts['refresh 5s'].ratio:.2f} (")
    assert {row[5].split(", ")[0] for row in lines} <= {"same", "opposite", "undecided", "no effect here"}
    assert {row[5].partition(", ")[2] for row in lines} <= {"", "smaller than published", "larger than published"}
    assert lines[0][6] == "[quick, 2026-09-21](studies/refresh-interval/study-refresh-interval/report.md)"
    (many,) = [row for row in rows if row[1] == "study-workers-by-batch"]
    assert many[2].startswith("7 contenders against clients 1, bulk 16, docs/s")
    assert sum(int(part.split()[0]) for part in many[5].split(", ")) == 7
    assert [row[5] for row in rows if row[1] == "study-storage"] == ["not held yet"]
    assert ["a", "2", "1"] in rows
    assert ["b", "3", ""] in rows


def test_the_committed_page_is_what_the_program_makes() -> None:
    """docs/studies.md is never typed: './inv studies --table' makes it of docs/studies."""
    assert PAGE.read_text() == render_page(listed.studies(), kept.kept_steps())


def test_kept_results_name_no_folder_of_a_machine() -> None:
    """What is committed is for everybody."""
    for file in kept.FOLDER.rglob("*.*"):
        text = file.read_text()
        for place in ("/home/", "/root", "/tmp/", "/work/"):  # noqa: S108 - none is used
            assert place not in text, (file, place)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("studies", "refresh"), "There is no study 'refresh'. Did you mean 'refresh-interval'"),
        (("studies", "--resume"), "No study is left to resume"),
        (("studies", "--quick"), "Which study? ./inv studies lists them"),
        (("studies", "storage", "--table"), "--keep and --table look at what was held already"),
        (("studies", "--keep", "nobody"), "nobody"),
        (("studies", "refresh-interval", "--replace"), "--replace says what --keep may do"),
        (("studies", "storage", "--resume", "--quick"), "--resume takes everything from the study"),
        (("studies", "refresh-interval", "--dry-run", "--contender-hosts", "none.yml"), "none.yml"),
        (("studies", "full-disk", "--dry-run", "--contender-hosts", "none.yml"), "'full-disk-1-shard' is a race"),
    ],
)
def test_bad_input_ends_in_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    """Exit code 2, nothing started."""
    done = run_here(*words)
    assert done.returncode == 2
    assert sentence in one_sentence(done)


def test_studies_are_listed_with_their_minutes() -> None:
    """Of both forms, and what is kept of each."""
    rows = json.loads(run_here("studies", "--json").stdout)["Studies"]
    assert [one["name"] for one in rows] == [one.name for one in listed.studies()]
    assert all(int(one["quick"].split()[0]) <= int(one["full"].split()[0]) for one in rows)


def test_all_studies_show_their_steps() -> None:
    """--dry-run: every step with its minutes and form, and nothing begun."""
    done = run_here("studies", "all", "--quick", "--dry-run")
    assert done.returncode == 0, done.stderr
    for one in listed.studies():
        assert all(f"\n{step} " in done.stdout for step in one.steps)
    assert not (paths.state_folder() / "chains").exists()


def test_plain_steps_of_kept_results_are_json() -> None:
    """Infinite ends of intervals are texts there."""
    assert json.loads(json.dumps(plain(kept_study()[0]), allow_nan=False))["study"] == "refresh-interval"
