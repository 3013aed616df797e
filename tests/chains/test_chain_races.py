"""Races as steps of chains, with a Rally that only says what Rally says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock import paths
from paddock.chains import ChainOptions
from paddock.chains.command import hold_step, load_chain, run_chain
from paddock.chains.model import FAILED, RACED, ChainResult, Outcome
from paddock.chains.run import Task
from paddock.chains.store import chain_ids
from paddock.errors import Interrupted
from paddock.race import RaceOptions
from paddock.race.clusters import ClusterOptions
from paddock.race.options import PreparedRace
from paddock.rally.run import race_records
from paddock.tracks import load_track
from tests.tournaments.conftest import prepare_without_elasticsearch

Behave = Callable[..., None]


def preparing(options: RaceOptions, fetch: bool, clusters: Sequence[ClusterOptions] = ()) -> PreparedRace:
    """A race without Elasticsearch, of a track that is there."""
    return replace(prepare_without_elasticsearch(options, fetch, clusters), track=load_track("apache"))


@pytest.fixture
def two_races(tmp_path: Path) -> str:
    """A chain of two races."""
    steps = [{"name": name, "race": {"track": "apache", "challenge": "ingest"}} for name in ("first", "second")]
    file = tmp_path / "races.yml"
    file.write_text(yaml.safe_dump({"question": "How fast?", "budget_minutes": 10, "steps": steps, "final": False}))
    return str(file)


def held(name: str, resume: bool = False) -> ChainResult:
    """A chain with the fake in Rally's place."""
    hold = partial(hold_step, keep=lambda _: None, preparing=preparing)
    result = run_chain(name, ChainOptions(), resume, hold=hold)
    assert result is not None
    return result


def kinds(result: ChainResult) -> list[str | None]:
    """What became of the steps."""
    return [one.outcome.kind if one.outcome else None for one in result.steps]


def test_races_are_held_one_after_the_other(fake_rally: Behave, two_races: str) -> None:
    """Each has an id of its own, by which ./inv report finds it."""
    result = held(two_races)
    assert kinds(result) == [RACED, RACED]
    assert result.final is None
    ids = [str(one.outcome.result_id) for one in result.steps if one.outcome]
    assert ids == [f"{result.id}-first-1", f"{result.id}-second-1"]
    assert all((race_records(one) / "summary.json").exists() for one in ids)


def test_a_race_that_fails_is_a_step_that_failed(fake_rally: Behave, two_races: str) -> None:
    """With Rally's own words."""
    fake_rally(result="error", message="Disk is made of cheese.")
    result = held(two_races)
    assert kinds(result) == [FAILED, FAILED]
    assert "made of cheese" in str(result.steps[0].outcome)


def write_failed_proof(race_id: str) -> None:
    """The journal of a replay whose restore proof found that one of ten documents is missing."""
    begun = {"began": 5.0, "documents": 10}
    plan = {"kind": "replay", "from": "a", "until": "b", "factor": 1, "without_time": 0, "disordered": 0}
    plan |= {"whole_seconds": False, "warmup_seconds": 0, "asked": {"seconds": 1, "due": [10]}}
    bulk = {"kind": "bulk", "indexed": 10, "first": 0, "due": 0.5, "sent": 0.5, "answered": 0.6, "success": True}
    proof = {"kind": "proof", "mode": "all", "documents": 10, "counted": 9, "compared": 9, "missing": 1, "changed": 0}
    proof |= {"unexpected": 0, "fields": {}, "examples": [], "parts": [], "seconds": 1.0, "problem": PROOF_FAILED}
    folder = race_records(race_id)
    folder.mkdir(parents=True)
    lines = ({**begun, **plan}, {**begun, **bulk}, proof)
    (folder / "load.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


PROOF_FAILED = "The restore proof of the index 'apache' failed: it has 9 documents, and 10 were sent."


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("what", ["requests", "proof"])
def test_a_race_whose_figures_are_void_is_no_success(
    fake_rally: Behave, two_races: str, what: str, killed: bool
) -> None:
    """Failed requests, or a restore proof that failed; likewise if the chain was killed before it could say so."""
    fake_rally(error_rate=0.5 if what == "requests" else 0.0)

    def prepared(options: RaceOptions, fetch: bool, clusters: Sequence[ClusterOptions] = ()) -> PreparedRace:
        if what == "proof":
            write_failed_proof(str(options.race_id))
        return preparing(options, fetch, clusters)

    def hold(task: Task) -> Outcome:
        outcome = hold_step(task, lambda _: None, prepared)
        if killed:
            raise Interrupted("It was killed.")
        return outcome

    with pytest.raises(Interrupted) if killed else nullcontext():
        run_chain(two_races, ChainOptions(), hold=hold)
    fake_rally()
    result = held("latest", resume=True) if killed else load_chain(chain_ids()[-1])
    outcome = result.steps[0].outcome
    assert outcome == Outcome(
        FAILED,
        PROOF_FAILED if what == "proof" else "Requests failed in this race, so its figures are void.",
        f"{result.id}-first-1",
    )


def test_a_race_that_proves_a_loss_has_been_raced(fake_rally: Behave, two_races: str) -> None:
    """What a full disk has lost is its result: it is kept with the race, and said."""
    fake_rally()

    def prepared(options: RaceOptions, fetch: bool, clusters: Sequence[ClusterOptions] = ()) -> PreparedRace:
        line: dict[str, Any] = dict.fromkeys(
            ("room", "first_refusal", "taken_before_refusal", "recovery", "recovered_by")
        )
        line |= {"kind": "full-disk", "offered": 9, "taken": 9, "stopped": True, "last_taken": 1.0}
        line |= {"refusals": [], "disks": [], "acknowledged": 9, "counted": 5, "lost": 4}
        folder = race_records(str(options.race_id))
        folder.mkdir(parents=True)
        (folder / "load.jsonl").write_text(json.dumps(line) + "\n")
        return preparing(options, fetch, clusters)

    run_chain(two_races, ChainOptions(), hold=lambda task: hold_step(task, lambda _: None, prepared))
    result = load_chain(chain_ids()[-1])
    found = Outcome(RACED, "4 of 9 acknowledged documents are lost.", f"{result.id}-first-1")
    assert result.steps[0].outcome == found


def test_a_race_that_was_killed_is_run_again_and_one_that_ended_is_not(fake_rally: Behave, two_races: str) -> None:
    """The first had ended before the chain could say so; of the second only its folder is left."""

    def killed(task, keep, prepare) -> None:  # type: ignore[no-untyped-def]
        hold_step(task, keep, prepare)
        raise Interrupted("It was killed.")

    with pytest.raises(Interrupted):
        run_chain(two_races, ChainOptions(), hold=partial(killed, keep=lambda _: None, prepare=preparing))
    (folder,) = paths.races_folder().glob("races-*-first-1")
    (paths.races_folder() / folder.name.replace("first", "second")).mkdir()
    result = held("latest", resume=True)
    ids = [str(one.outcome.result_id) for one in result.steps if one.outcome]
    assert [one.removeprefix(f"{result.id}-") for one in ids] == ["first-1", "second-2"]
