"""The laps of a result as CSV, one line each, for spreadsheets and notebooks."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timezone

from paddock.tournaments.model import Result

_COLUMNS = (
    *("start", "block", "position", "contender", "warmup", "void"),
    *("began", "documents", "counted", "seconds", "docs_per_second", "bulks", "driver_load"),
)
_FRESHNESS = ("p50", "p99", "n")


def laps_as_csv(result: Result) -> str:
    """All laps in the order of their running, warm-up and void ones included.

    ``began`` leaves breaks of the tournament out. Seconds in ``seconds``, documents per second in ``docs_per_second``
    and, separated by blanks, in ``rates``; processor seconds of the load driver per second in ``driver_load``;
    milliseconds in the columns of freshness; prices under their names. Texts that a spreadsheet would take
    for a formula have an apostrophe before them, as the OWASP advises ("CSV Injection").
    """
    prices = list(dict.fromkeys(name for lap in result.laps for name in lap.prices))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    header = [*_COLUMNS, *(f"freshness_{part}" for part in _FRESHNESS), *prices, "rates"]
    writer.writerow([_quoted(name) for name in header])
    for lap in result.laps:
        freshness = lap.freshness or {}
        writer.writerow(
            [
                lap.start,
                lap.block,
                lap.position,
                _quoted(lap.contender),
                "yes" if lap.warmup else "no",
                _quoted(lap.void or ""),
                datetime.fromtimestamp(result.began + lap.began, timezone.utc).isoformat(timespec="milliseconds"),
                lap.documents,
                lap.counted,
                lap.seconds,
                f"{lap.docs_per_second:.3f}",
                lap.bulks or "",
                "" if lap.driver_load is None else f"{lap.driver_load:.3f}",
                *(freshness.get(part, "") for part in _FRESHNESS),
                *(lap.prices.get(name, "") for name in prices),
                " ".join(f"{rate:.1f}" for rate in lap.rates),
            ]
        )
    return target.getvalue()


def _quoted(text: str) -> str:
    """A text, not a number, on one line and so that no spreadsheet computes it."""
    line = " ".join(text.splitlines())
    return f"'{line}" if line.lstrip().startswith(("=", "+", "-", "@")) else line
