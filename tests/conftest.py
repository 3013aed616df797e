"""Fixtures that all tests share: a Rally home of their own, and a fake Rally."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from paddock.paths import PROJECT
from paddock.race import drivers
from tests.machine import see_own_rallies_only

FAKE_RALLY = Path(__file__).parent / "fakes" / "rally.py"

# A slow machine is no error. Where CI is set, a change is judged by the same examples every time; elsewhere new ones
# are tried in each run.
settings.register_profile(
    "paddock", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("paddock")


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start: a shell's background jobs ignore SIGINT, and hand that on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Races in several processes at once would disturb each other, and Rally would refuse them."""
    if item.get_closest_marker("race") and "PYTEST_XDIST_WORKER" in os.environ:
        pytest.fail("Races run in one process: leave pytest's -n out, or call './inv test'.", pytrace=False)


@pytest.fixture(autouse=True)
def rally_home(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty RALLY_HOME; races share one that outlives them, because the engine in it takes a download."""
    if request.node.get_closest_marker("race"):
        home = Path(os.environ.get("PADDOCK_TEST_HOME") or PROJECT / ".test-home")
    else:
        home = tmp_path / "home"
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("RALLY_HOME", str(home))
    # However many this machine has: where they are many, laps are loaded by several processes.
    if not request.node.get_closest_marker("race"):
        monkeypatch.setattr(drivers, "cores", lambda: 2)
    for name in ("PADDOCK_CLIENT_OPTIONS", "PADDOCK_MAVEN_REPOSITORY", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def fake_rally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put the fake in Rally's place; call it with what it is to do (see tests/fakes/rally.py)."""

    def behave(**behaviour: Any) -> None:
        monkeypatch.setenv("FAKE_RALLY", json.dumps({"python": sys.executable, **behaviour}))

    program = (
        tmp_path / "fake"
    )  # a real Rally elsewhere on the machine would take one of its own name for another Rally
    program.write_text(f"#!{sys.executable}\n{FAKE_RALLY.read_text()}")
    program.chmod(0o755)
    monkeypatch.setenv("PADDOCK_RALLY", str(program))
    see_own_rallies_only(monkeypatch.setattr)
    behave()
    return behave
