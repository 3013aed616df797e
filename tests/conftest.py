"""Fixtures that all tests share: a Rally home of their own, and a fake Rally."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.paths import PROJECT

FAKE_RALLY = Path(__file__).parent / "fakes" / "rally.py"


@pytest.fixture(autouse=True)
def rally_home(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty RALLY_HOME; races share one that outlives them, because the engine in it takes a download."""
    if request.node.get_closest_marker("race"):
        home = Path(os.environ.get("PADDOCK_TEST_HOME") or PROJECT / ".test-home")
    else:
        home = tmp_path / "home"
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("RALLY_HOME", str(home))
    for name in ("PADDOCK_CLIENT_OPTIONS", "PADDOCK_MAVEN_REPOSITORY", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def fake_rally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put the fake in Rally's place; call it with what it is to do (see tests/fakes/rally.py)."""

    def behave(**behaviour: Any) -> None:
        monkeypatch.setenv("FAKE_RALLY", json.dumps({"python": sys.executable, **behaviour}))

    program = tmp_path / "rally"
    program.write_text(f"#!{sys.executable}\n{FAKE_RALLY.read_text()}")
    program.chmod(0o755)
    monkeypatch.setenv("PADDOCK_RALLY", str(program))
    behave()
    return behave
