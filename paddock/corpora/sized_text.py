"""What documents of prescribed size are filled with: details by Zipf, and closings of every length that may be left.

All texts are whole: the last one of a document is chosen by the number of bytes that remain.
"""

from __future__ import annotations

import re
from typing import Any

from paddock.corpora.integers import Draws, zipf_weights
from paddock.corpora.patterns import escaped, split_at_slots
from paddock.corpora.size_distributions import size_weights
from paddock.corpora.slots import Slots, Token, tokens
from paddock.corpora.template_log import Template, make_templates
from paddock.corpora.world import Sizes, WorldBuilder

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
