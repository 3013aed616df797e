"""The arrival rate over a week: hours of the day, days of the week, and minutes busier than their neighbours."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from paddock.corpora.integers import Draws

MINUTES_PER_WEEK = 7 * 24 * 60
_LOWEST, _HIGHEST = 128, 384  # minutes vary between 128/256 and 384/256 of what hour and day say


def minute_weights(hours: Sequence[int], days: Sequence[int], first_day: datetime.date, name: str) -> list[int]:
    """Integer weights of the 10,080 minutes of the week that begins on ``first_day``.

    :param hours: 24 weights, 1 to 100; the rate passes linearly from one to the next.
    :param days: 7 weights, 1 to 100, Monday first.
    :param name: names the random stream behind the minutes' variation.
    """
    draws = Draws(f"{name} minutes")
    weights = []
    for minute in range(MINUTES_PER_WEEK):
        day = (first_day.weekday() + minute // 1440) % 7
        hour, past = divmod(minute % 1440, 60)
        rate = hours[hour] * (60 - past) + hours[(hour + 1) % 24] * past
        weights.append(max(1, rate * days[day] * draws.between(_LOWEST, _HIGHEST) // (60 * 256 * 10)))
    return weights


def seconds_since_1970(day: datetime.date) -> int:
    """Midnight UTC at the beginning of ``day``."""
    return (day - datetime.date(1970, 1, 1)).days * 86400
