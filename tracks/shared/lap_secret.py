"""What all processes of one race know and nobody else: by it the processes of a load driver recognise each other."""

from __future__ import annotations

import secrets
from typing import Any

from esrally.track import loader

from shared.replay_source import SECRET


class LapSecret(loader.TrackProcessor):
    """Gives every lap task a secret of its race, drawn anew; and all tasks of a replay one that they share.

    Rally loads the track once for the race, and sends what came of it to all its processes on all its machines; it
    keeps it nowhere. (Each of these loads the track files once more, for what they register, and uses no more of it.)
    """

    def on_after_load_track(self, track: Any) -> None:
        """Add the parameter."""
        shared = secrets.token_hex(16)
        for challenge in track.challenges:
            for task in challenge.schedule:
                for one in task:
                    if one.operation.param_source == "lap-plan":
                        one.operation.params["secret"] = secrets.token_hex(16)
                    elif one.operation.param_source in ("replay-documents", "replay-queries"):
                        one.operation.params[SECRET] = shared
