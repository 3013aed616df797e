"""What it means that laps are short, said before a tournament and beside its result."""

from __future__ import annotations

import math

# Seconds of load that a lap should have at least, method.md 7.
SHORTEST_LAP = 4.0


def short_laps(seconds: float, lap_documents: int, verb: str) -> str | None:
    """A sentence about laps that are too short; None if they are not.

    :param seconds: the median of their load.
    :param verb: "took", or what says that it is expected.
    """
    if seconds >= SHORTEST_LAP or seconds <= 0:
        return None
    enough = _enough(seconds, lap_documents)
    return (
        f"laps {verb} {seconds:.1f} s (median), less than {SHORTEST_LAP:.0f} s: what every lap has once, such as its "
        f"fresh index, weighs more than it does in a long load, and what comes less often than that, such as refreshes "
        f"of a longer interval, does not happen in them; lap_documents: {enough} in the tournament file (or in its "
        f"quick section) would make them long enough."
    )


def _enough(seconds: float, lap_documents: int) -> int:
    """Documents of a lap that lasts, rounded up to two digits."""
    needed = lap_documents * SHORTEST_LAP / seconds
    step = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return math.ceil(needed / step) * step
