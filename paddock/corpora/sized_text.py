"""Documents whose sizes a recipe prescribes: distributions of sizes, and text to fill them.

A size is a number drawn from a continuous distribution and rounded to the nearest byte, so the weight of s is the
distribution's probability between s - 1/2 and s + 1/2.

All texts are whole: the last one of a document is chosen by the number of bytes that remain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from paddock.corpora.integers import Draws, zipf_weights
from paddock.corpora.patterns import escaped, split_at_slots
from paddock.corpora.slots import Slots, Token, tokens
from paddock.corpora.template_log import Template, make_templates
from paddock.corpora.world import Sizes, WorldBuilder

_BITS = 128  # of the fixed-point numbers below


def size_weights(settings: dict[str, Any]) -> dict[int, int]:
    """The weight of every size in bytes that a recipe's section `size` allows.

    :raises ValueError: if a range is none, or quantiles fall.
    """
    ((kind, value),) = settings.items()
    if kind == "fixed":
        return {value: 1}
    if kind in ("uniform", "quantiles"):
        return quantile_weights(value)
    return exponential_weights(value["from"], value["to"], value["decay"])


def quantile_weights(points: Sequence[int]) -> dict[int, int]:
    """A distribution with these quantiles, equally far apart in probability and linear in between.

    Two points are a uniform distribution, equal neighbours a size of its own.

    :param points: from the least to the largest, in bytes.
    :raises ValueError: if they fall, or are all the same.
    """
    if list(points) != sorted(points) or points[0] == points[-1]:
        raise ValueError("the sizes are no range: they have to rise from the smallest to the largest")
    weights: dict[int, int] = {}
    for low, high in pairwise(points):
        whole = (1 << _BITS) // max(1, high - low)
        for size in range(low, high + 1):
            share = whole if low < size < high or low == high else whole // 2
            weights[size] = weights.get(size, 0) + share
    return weights


def exponential_weights(low: int, high: int, decay: int) -> dict[int, int]:
    """An exponential distribution on the range, cut off at its end.

    :param low: the most frequent size, in bytes.
    :param high: the largest one.
    :param decay: the density falls to 1 / e^decay on the way from ``low`` to ``high``.
    :raises ValueError: if the range is none.
    """
    if low >= high:
        raise ValueError("the sizes are no range: they have to rise from the smallest to the largest")
    half_bytes = 2 * (high - low)
    step = _exponential_of_minus(decay, half_bytes)
    beyond = [1 << _BITS]  # the share of sizes above so many half bytes, but for a factor
    for _ in range(half_bytes):
        beyond.append(beyond[-1] * step >> _BITS)
    bounds = [0, *range(1, half_bytes, 2), half_bytes]
    return {low + place: beyond[bounds[place]] - beyond[bounds[place + 1]] for place in range(high - low + 1)}


def _exponential_of_minus(numerator: int, denominator: int) -> int:
    """e^(-numerator / denominator) in fixed point, by its power series; for a fraction below 1."""
    total, term, count = 0, 1 << _BITS, 0
    while term:
        total += term if count % 2 == 0 else -term
        count += 1
        term = term * numerator // (denominator * count)
    return total


_CLOSINGS = 4096
_LEAST_CLOSINGS_PER_LENGTH = 8
_SHORTEST_CLOSING = 16
_END = '"}\n'
_WORD = re.compile(r"\b[a-z]+\b")
_WORD_END = re.compile(r"(?<=\w)(?!\w)")


def fill_sizes(name: str, content: dict[str, Any], builder: WorldBuilder, slots: Slots) -> Sizes:
    """Add sizes, details and closings.

    :raises ValueError: if the recipe's sizes are no distribution, or its words do not give the details.
    """
    weights = size_weights(content["size"])
    templates = make_templates(content["details"], content["words"], Draws(f"{name} details"))
    events = [builder.event(slots.pieces([*tokens(template.text), Token("\\n")])) for template in templates]
    details = builder.pool(events, zipf_weights(len(events), content["details"]["exponent"]))
    longest = builder.longest_event(events)
    closings = _Closings(templates, slots, Draws(f"{name} closings"))
    lengths = range(_SHORTEST_CLOSING, _SHORTEST_CLOSING + longest + 1)
    per_length = max(_LEAST_CLOSINGS_PER_LENGTH, _CLOSINGS // len(lengths))
    pools = [builder.texts([closings.text(length) for _ in range(per_length)], [1] * per_length) for length in lengths]
    return Sizes(builder.pool(list(weights), list(weights.values())), details, pools, _SHORTEST_CLOSING)


class _Closings:
    """Makes ends of documents, exact to the byte."""

    def __init__(self, templates: list[Template], slots: Slots, draws: Draws):
        self._templates = templates
        self._slots = slots
        self._draws = draws
        self._words: dict[int, list[str]] = {}
        for word in sorted({word for template in templates for word in _WORD.findall(_literal(template.text))}):
            self._words.setdefault(len(word), []).append(word)

    def text(self, length: int) -> str:
        """A closing of ``length`` bytes: as much of a detail as fits, up to a word's end, then whole words."""
        room = length - len(_END)
        detail = self._detail()
        cuts = [escaped(detail[: match.end()]) for match in _WORD_END.finditer(detail)] + [escaped(detail)]
        text = max((cut for cut in cuts if len(cut.encode()) <= room), key=len, default="")
        return text + self._words_of(room - len(text.encode())) + _END

    def _detail(self) -> str:
        """One of the templates, with values."""
        parts = split_at_slots(self._draws.one_of(self._templates).text)
        return "".join(
            self._slots.example(part, self._draws) if place % 2 else part for place, part in enumerate(parts)
        )

    def _words_of(self, room: int) -> str:
        """Words with a space before each, of exactly so many bytes together."""
        text = ""
        while room:
            # A space and a word; one byte alone is a full stop, and two must not leave one.
            fitting = [length for length in self._words if length + 1 <= room and room - length - 1 != 1]
            if not fitting:
                return text + "." * room
            word = self._draws.one_of(self._words[self._draws.one_of(fitting)])
            text += f" {word}"
            room -= len(word) + 1
        return text


def _literal(text: str) -> str:
    return " ".join(split_at_slots(text)[::2])
