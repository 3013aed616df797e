"""Slots of templates: the values that `<name>` in a recipe's patterns stands for, as pieces of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.corpora.integers import Draws, zipf_weights
from paddock.corpora.patterns import addresses, escaped, fill_one, split_at_slots
from paddock.corpora.world import ACTOR, DATE, DRAWN, OVERCOPY, TIME, Piece, WorldBuilder

_ADDRESS = "{address}"
_IPV6_PER_CENT = 20

Words = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Token:
    """A part of a document: JSON as it is written, or a slot's name."""

    text: str
    is_slot: bool = False
    may_join: bool = False  # whether the text before a slot may become part of its values


def tokens(text: str, may_join: bool = False) -> list[Token]:
    """The inside of a JSON string with slots."""
    parts = split_at_slots(text)
    return [Token(part, True, may_join) if place % 2 else Token(escaped(part)) for place, part in enumerate(parts)]


def values(purpose: str, pattern: str, count: int, words: Words, least: int = 1) -> list[str]:
    """``count`` values of a pattern: `{number}` counts from ``least``, `{address}` is another each time.

    :param purpose: names the random stream behind them.
    """
    draws = Draws(purpose)
    of_pattern = []
    if _ADDRESS in pattern:
        ipv6 = count * _IPV6_PER_CENT // 100
        of_pattern = addresses(count - ipv6, ipv6, draws, set())
    texts = []
    for number in range(count):
        text = pattern.replace("{number}", str(least + number))
        if of_pattern:
            text = text.replace(_ADDRESS, of_pattern[number])
        texts.append(fill_one(text, words, draws, largest_number=1))
    return texts


class Slots:
    """Turns templates into pieces; each slot's values are drawn per document, held by a session, or an actor's own."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._builder = builder
        self._drawn: dict[str, tuple[list[str], list[int]]] = {}
        self._pieces: dict[tuple[str, str], Piece] = {}
        self._columns: dict[tuple[str, str], int] = {}

    def pieces(self, parts: Sequence[Token]) -> list[Piece]:
        """The pieces of a document or of a part of one.

        A short text before a slot becomes part of its values where it may: one copy instead of two.
        """
        result = []
        before = ""
        for part in parts:
            if not part.is_slot:
                before += part.text
                continue
            kind = self._kind(part.text)
            prefix = before if part.may_join and kind in (DRAWN, ACTOR) and len(before) <= OVERCOPY else ""
            if before and not prefix:
                result.append(self._builder.fixed(before))
            before = ""
            result.append(self._piece(part.text, kind, prefix))
        if before:
            result.append(self._builder.fixed(before))
        return result

    def columns(self, row: Mapping[str, str]) -> list[int]:
        """An actor's attributes as fragments, in the order in which pieces asked for them.

        :param row: the actor's value for each of its slots.
        """
        return [self._builder.fragment(prefix + escaped(row[slot])) for prefix, slot in self._columns]

    def example(self, slot: str, draws: Draws) -> str:
        """One of a drawn or held slot's values, for texts that are made once."""
        return draws.one_of(self._texts(slot)[0])

    def _kind(self, slot: str) -> int | None:
        """The kind of piece; None for a value that a session holds."""
        if slot in ("time", "date"):
            return TIME if slot == "time" else DATE
        if slot not in self._content["slots"]:
            return ACTOR
        return None if self._content["slots"][slot].get("held") else DRAWN

    def _piece(self, slot: str, kind: int | None, prefix: str) -> Piece:
        if kind in (TIME, DATE):
            return Piece(kind)
        if kind == ACTOR:
            return Piece(ACTOR, self._columns.setdefault((prefix, slot), len(self._columns)))
        if (prefix, slot) not in self._pieces:
            texts, weights = self._texts(slot)
            pool = self._builder.texts([prefix + escaped(text) for text in texts], weights)
            self._pieces[prefix, slot] = Piece(DRAWN, pool) if kind == DRAWN else self._builder.held(pool)
        return self._pieces[prefix, slot]

    def _texts(self, slot: str) -> tuple[list[str], list[int]]:
        """The values of a slot and their weights."""
        if slot not in self._drawn:
            settings = self._content["slots"][slot]
            if "values" in settings:
                texts, weights = list(settings["values"]), list(settings["values"].values())
            else:
                texts = values(
                    f"{self._name} slot {slot}",
                    settings["pattern"],
                    settings["count"],
                    self._content["words"],
                    settings.get("least", 1),
                )
                weights = zipf_weights(len(texts), settings["exponent"])
                # Small counts and durations are the usual ones; an id's number says nothing about how often it comes.
                if settings.get("held"):
                    texts = Draws(f"{self._name} order of {slot}").shuffled(texts)
            self._drawn[slot] = texts, weights
        return self._drawn[slot]
