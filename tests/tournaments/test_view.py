"""What a tournament says of itself while it runs: the time that is left."""

from __future__ import annotations

import time

import pytest

from paddock.tournaments.durations import Experience, identity
from paddock.tournaments.plan import make_plan
from paddock.tournaments.view import View
from tests.tournaments.test_schedule import a_tournament


@pytest.mark.parametrize(("took", "left"), [(160, "3 min"), (80, "2 min"), (480, "6 min")])
def test_the_time_left_follows_the_pace(
    took: int, left: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two starts of 160 s as planned: after a first one that took so long the second one is expected to, nearly."""
    tournament = a_tournament(2, blocks=7, warmup_blocks=3, starts=2)
    known = {("apache", identity(tournament, contender), 100_000): 4.0 for contender in tournament.contenders}
    plan = make_plan(tournament, 1, Experience(known, between_laps=1.0, per_start=60.0, tournaments=1))
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    view = View(plan)
    view.start(plan.schedule[0], 1)
    now += took
    view.laps(20)
    view.standing("B leads")
    assert f"20 of 40 laps, about {left} left; B leads" in capsys.readouterr().err
