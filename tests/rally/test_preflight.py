"""What has to be true before a race: whose Rally stands in the way."""

from __future__ import annotations

import pytest

from paddock.errors import MachineError
from paddock.rally import preflight


def test_rallys_daemon_is_no_other_race_where_load_driver_hosts_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds Rally's port; without such hosts that is somebody's race."""
    monkeypatch.setattr(preflight, "other_rally_processes", list)
    monkeypatch.setattr(preflight, "port_holder", lambda port: "the daemon")
    preflight.wait_for_others(print, patience=0, daemon=True)
    with pytest.raises(MachineError, match="the daemon on Rally's port 1900"):
        preflight.wait_for_others(print, patience=0)
