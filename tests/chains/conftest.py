"""Makes the tracks' own modules importable as `shared`, as Rally does."""

from __future__ import annotations

import sys

from paddock.paths import TRACKS

if str(TRACKS) not in sys.path:
    sys.path.insert(0, str(TRACKS))
