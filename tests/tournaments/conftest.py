"""Whole tournaments in seconds: a fake Rally that writes laps, and small tournament files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock import paths
from paddock.corpora.record import FROM_RECIPE, CorpusRecord
from paddock.race import RaceOptions
from paddock.race.clusters import ClusterOptions
from paddock.race.options import PreparedRace, check_race_id
from paddock.rally import preflight
from paddock.rally.clusters import Cluster
from paddock.rally.request import RaceRequest
from paddock.tournaments import TournamentOptions
from paddock.tournaments.command import run_tournament
from paddock.tournaments.model import Lap, Result
from paddock.tracks import Track

LAP_WRITER = Path(__file__).parent.parent / "fakes" / "lap_writer.py"


def prepare_without_elasticsearch(
    options: RaceOptions, fetch: bool, clusters: Sequence[ClusterOptions] = ()
) -> PreparedRace:
    """A race against a cluster that nobody will look for: no engine, no corpus."""
    check_race_id(options.race_id or "nobody")
    request = RaceRequest(
        options.race_id or "nobody",
        paths.TRACKS / options.track,
        options.challenge or "settings",
        options.car,
        None,
        track_params=dict(options.params),
        target_hosts="127.0.0.1:9",
        clusters=tuple(Cluster(one.name, None, hosts=("127.0.0.1:9",)) for one in clusters),
    )
    track = Track("", (), (), options.track, paths.TRACKS / options.track)
    return PreparedRace(request, track, options.documents, 0, (), a_corpus())


def a_corpus() -> CorpusRecord:
    """What is known of a corpus that nobody has made; FAKE_CORPUS is its checksum."""
    checksum = os.environ.get("FAKE_CORPUS", "ab" * 32)
    return CorpusRecord(
        Path("apache.json"), "apache", "apache", FROM_RECIPE, "", 1, 20_000, 1, 7, checksum, "2026-01-01", 0, {}
    )


def disregard_other_rallies(replace: Callable[[Any, str, Any], None]) -> None:
    """A real race on this machine is no reason for the fake to wait; tests/rally has the tests of that."""
    replace(preflight, "wait_for_others", lambda _say: None)


@pytest.fixture
def fake_laps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put the lap writer in Rally's place; call it with what it is to do (see tests/fakes/lap_writer.py)."""

    def behave(**behaviour: Any) -> None:
        monkeypatch.setenv("FAKE_LAPS", json.dumps(behaviour))

    program = (
        tmp_path / "fake"
    )  # a real Rally elsewhere on the machine would take one of its own name for another Rally
    program.write_text(f"#!{sys.executable}\n{LAP_WRITER.read_text()}")
    program.chmod(0o755)
    monkeypatch.setenv("PADDOCK_RALLY", str(program))
    disregard_other_rallies(monkeypatch.setattr)
    behave()
    return behave


def a_definition(**changes: Any) -> dict[str, Any]:
    """The contents of a small tournament file; None takes a key out."""
    content = {
        "description": "Two refresh intervals",
        "question": "Which one is faster?",
        "track": "apache",
        "challenge": "refresh-interval",
        "baseline": "1s",
        "contenders": [{"name": "1s", "level": "1s"}, {"name": "30s", "level": "30s"}],
        "lap_documents": 10_000,
        "warmup_blocks": 3,
        "blocks": 12,
        "starts": 1,
        "budget_minutes": 100_000,
        "control": False,
        **changes,
    }
    return {key: value for key, value in content.items() if value is not None}


@pytest.fixture
def definition(tmp_path: Path) -> Callable[..., Path]:
    """Writes a tournament file; call it with what differs from :func:`a_definition`."""

    def write(name: str = "small", **changes: Any) -> Path:
        file = tmp_path / f"{name}.yml"
        file.write_text(yaml.safe_dump(a_definition(**changes), sort_keys=False))
        return file

    return write


def hold(file: Path | None, **options: Any) -> Result:
    """A tournament with the fake; the seed is 5. With ``resume`` one that was begun, by its id or its file's name."""
    name: str | None = str(file) if file else None
    if "resume" in options:
        name, options["resume"] = options["resume"], True
    else:
        options = {"seed": 5, **options}
    result = run_tournament(name, TournamentOptions(**options), prepare_without_elasticsearch)
    assert result is not None
    return result


def counted(result: Result) -> list[Lap]:
    """The laps that count."""
    return [lap for lap in result.laps if lap.void is None and not lap.warmup]
