"""The model `template-log`: documents of any fields, made from templates with slots.

A recipe lists the fields of a document; an event is one of its templates, and gives the fields that belong
together (a message, its level, its logger). A slot `<name>` stands for values that are drawn for each document, held by
a session, or an actor's (a host's, a user's) own. With a section `size`, documents have the sizes that it says, filled
with details; all their texts are whole: the last one is chosen by the number of bytes that remain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, pairwise, repeat
from typing import Any

from paddock.corpora.draws import (
    Draws,
    Words,
    distinct,
    escaped,
    fill_one,
    shares,
    split_at_slots,
    values,
    zipf_weights,
)
from paddock.corpora.recipe import TEXT
from paddock.corpora.world import ACTOR, DATE, DRAWN, OVERCOPY, TIME, Piece, Sizes, WorldBuilder

_TIMES = {"time": TIME, "date": DATE}
_LARGEST_NUMBER = 480  # of `{number}` in a template

_CLOSINGS = 4096
_LEAST_CLOSINGS_PER_LENGTH = 8
_SHORTEST_CLOSING = 16
_END = '"}\n'
_WORD = re.compile(r"\b[a-z]+\b")
_WORD_END = re.compile(r"(?<=\w)(?!\w)")

_BITS = 128  # of the fixed-point numbers of sizes


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


@dataclass(frozen=True)
class Template:
    """A text with slots, and what else is the same whenever it is logged."""

    text: str
    values: tuple[tuple[str, str], ...]


def make_templates(settings: dict[str, Any], words: Words, draws: Draws) -> list[Template]:
    """Templates that all differ, from each pattern in turn; raises ValueError if the words do not give so many.

    :param settings: a recipe's `patterns`, how many `templates` to make of them and of how many `lines` each, and
        `values` that go with each.
    """
    patterns = settings.get("patterns", [""])
    first = cycle(patterns)

    def one() -> Template:
        wanted = settings.get("values", {})
        own = {name: fill_one(value, words, draws, _LARGEST_NUMBER) for name, value in wanted.items()}
        known = {**words, **{name: [value] for name, value in own.items()}}
        lines = [next(first), *(draws.one_of(patterns) for _ in range(1, settings.get("lines", 1)))]
        text = "\n".join(fill_one(line, known, draws, _LARGEST_NUMBER) for line in lines)
        return Template(text, tuple(own.items()))

    count = settings.get("templates", len(patterns))
    return distinct(one, count, f"the patterns that begin with '{patterns[0]}' give")


class Slots:
    """The slots of a recipe's templates, as pieces of events."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._builder = builder
        slots, words = content["slots"].items(), content["words"]
        self._held = {slot for slot, settings in slots if settings.get("held")}
        self._values = {slot: _slot_values(name, slot, settings, words) for slot, settings in slots}
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
            varies = part.text not in _TIMES and part.text not in self._held
            prefix = before if part.may_join and varies and len(before) <= OVERCOPY else ""
            if before and not prefix:
                result.append(self._builder.fixed(before))
            result.append(self._piece(part.text, prefix))
            before = ""
        return [*result, self._builder.fixed(before)] if before else result

    def columns(self, row: Mapping[str, str]) -> list[int]:
        """An actor's attributes as fragments, from its value for each slot, in the order of the pieces' asking."""
        return [self._builder.fragment(prefix + escaped(row[slot])) for prefix, slot in self._columns]

    def example(self, text: str, draws: Draws) -> str:
        """A text with one of its values for each drawn or held slot, for texts that are made once."""
        parts = split_at_slots(text)
        return "".join(draws.one_of(self._values[part][0]) if place % 2 else part for place, part in enumerate(parts))

    def _piece(self, slot: str, prefix: str) -> Piece:
        if slot in _TIMES:
            return Piece(_TIMES[slot])
        if slot not in self._values:
            return Piece(ACTOR, self._columns.setdefault((prefix, slot), len(self._columns)))
        if (prefix, slot) not in self._pieces:
            texts, weights = self._values[slot]
            pool = self._builder.texts([prefix + escaped(text) for text in texts], weights)
            self._pieces[prefix, slot] = self._builder.held(pool) if slot in self._held else Piece(DRAWN, pool)
        return self._pieces[prefix, slot]


def _slot_values(name: str, slot: str, settings: dict[str, Any], words: Words) -> tuple[list[str], list[int]]:
    """The values of a recipe's slot and their weights."""
    if "values" in settings:
        return list(settings["values"]), list(settings["values"].values())
    draws = Draws(f"{name} slot {slot}")
    texts = values(draws, settings["pattern"], settings["count"], words, settings.get("least", 1))
    # Small counts and durations are the usual ones; an id's number says nothing about how often it comes.
    if settings.get("held"):
        texts = Draws(f"{name} order of {slot}").shuffled(texts)
    return texts, zipf_weights(len(texts), settings["exponent"])


class TemplateLog:
    """Fills a WorldBuilder from a recipe of the model `template-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._words: Words = content["words"]
        self._builder = builder
        self._slots = Slots(name, content, builder)

    def fill(self) -> int:
        """Add events and actors, and sizes if they are prescribed; returns the pool of actors.

        :raises ValueError: if the recipe's sizes are no distribution, or its words do not give the templates.
        """
        if "size" in self._content:
            self._builder.sizes = self._sizes()
        groups = {name: self._add_events(name, settings) for name, settings in self._content["events"].items()}
        empty = self._builder.texts([""], [1])
        actors: list[int] = []
        parts = []
        for group in self._content["actors"]:
            chosen = [each for name in group["events"] for each in groups[name]]
            entry = self._builder.pool([event for event, _ in chosen], [weight for _, weight in chosen])
            of_class = self._builder.actor_class(entry, empty, False, group["stay"], group.get("at_once", 0))
            count = group["count"]
            columns = [
                values(Draws(f"{self._name} actors {group['name']} {name}"), pattern, count, self._words)
                for name, pattern in group["values"].items()
            ]
            for row in zip(*columns, strict=True):
                attributes = self._slots.columns(dict(zip(group["values"], row, strict=True)))
                actors.append(self._builder.actor(of_class, attributes))
            parts.append((group["share"], zipf_weights(count, group["exponent"])))
        return self._builder.pool(actors, shares(parts))

    def _add_events(self, name: str, settings: dict[str, Any]) -> list[tuple[int, int]]:
        """The events of a group with their weights, the most frequent first."""
        templates = make_templates(settings, self._words, Draws(f"{self._name} events {name}"))
        weights = shares([(settings["share"], zipf_weights(len(templates), settings.get("exponent", 0)))])
        return [
            (self._builder.event(self._slots.pieces(self._document(template, fields))), weight * parts)
            for template, weight in zip(templates, weights, strict=True)
            for fields, parts in self._selections()
        ]

    def _selections(self) -> list[tuple[list[str], int]]:
        """The fields that a document can have, and how often it has those: each absent one doubles the number."""
        selections: list[tuple[list[str], int]] = [([], 1)]
        for field in self._content["document"]:
            absent = self._content.get("absent", {}).get(field)
            with_it = [([*fields, field], parts * (100 - absent if absent else 1)) for fields, parts in selections]
            selections = with_it + [(fields, parts * absent) for fields, parts in selections if absent]
        return selections

    def _document(self, template: Template, fields: Sequence[str]) -> list[Token]:
        """A document's line; one of prescribed size breaks off after its first line of text, or before it has any."""
        line: list[Token] = []
        own = {name: [text] for name, text in template.values}
        for place, field in enumerate(fields):
            quote = "" if field in self._content.get("numbers", []) else '"'
            line.append(Token(f"{',' if place else '{'}{json.dumps(field)}:{quote}"))
            for token in tokens(fill_one(self._content["document"][field], own, Draws("")), may_join=True):
                line += tokens(template.text) if token.is_slot and token.text == TEXT else [token]
            line.append(Token(quote))
        if "size" in self._content:
            return [*line[:-1], Token("\\n" if template.text else "")]
        return [*line, Token("}\n")]

    def _sizes(self) -> Sizes:
        """Sizes, details and closings."""
        weights = size_weights(self._content["size"])
        details, build = self._content["details"], self._builder
        templates = make_templates(details, self._words, Draws(f"{self._name} details"))
        events = [build.event(self._slots.pieces([*tokens(each.text), Token("\\n")])) for each in templates]
        pool = build.pool(events, zipf_weights(len(events), details["exponent"]))
        closings = _Closings([each.text for each in templates], self._slots, Draws(f"{self._name} closings"))
        lengths = range(_SHORTEST_CLOSING, _SHORTEST_CLOSING + max(build.longest(events)) + 1)
        each_length = max(_LEAST_CLOSINGS_PER_LENGTH, _CLOSINGS // len(lengths))
        pools = [
            build.texts([closings.text(length) for _ in range(each_length)], [1] * each_length) for length in lengths
        ]
        return Sizes(build.pool(list(weights), list(weights.values())), pool, pools, _SHORTEST_CLOSING)


class _Closings:
    """Makes ends of documents, exact to the byte, from the texts of details."""

    def __init__(self, details: list[str], slots: Slots, draws: Draws):
        self._details = details
        self._slots = slots
        self._draws = draws
        self._words: dict[int, list[str]] = {}
        words = {word for text in details for part in split_at_slots(text)[::2] for word in _WORD.findall(part)}
        for word in sorted(words):
            self._words.setdefault(len(word), []).append(word)

    def text(self, length: int) -> str:
        """A closing of ``length`` bytes: as much of a detail as fits, up to a word's end, then whole words."""
        room = length - len(_END)
        detail = self._slots.example(self._draws.one_of(self._details), self._draws)
        cuts = [escaped(detail[: match.end()]) for match in _WORD_END.finditer(detail)] + [escaped(detail)]
        text = max((cut for cut in cuts if len(cut.encode()) <= room), key=len, default="")
        return text + self._words_of(room - len(text.encode())) + _END

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


def size_weights(settings: dict[str, Any]) -> dict[int, int]:
    """The weight of every size in bytes that a recipe's section `size` allows.

    A size is a number drawn from a continuous distribution and rounded to the nearest byte, so the weight of s is the
    distribution's probability between s - 1/2 and s + 1/2.

    :raises ValueError: if a range is none, or quantiles fall.
    """
    ((kind, value),) = settings.items()
    if kind == "fixed":
        return {value: 1}
    if kind == "exponential":
        return exponential_weights(value["from"], value["to"], value["decay"])
    return quantile_weights(value)  # two of them: uniform


def quantile_weights(points: Sequence[int]) -> dict[int, int]:
    """A distribution with these quantiles, equally far apart in probability and linear in between.

    Two points are a uniform distribution, equal neighbours a size of its own.

    :param points: from the least to the largest, in bytes.
    :raises ValueError: if they fall, or are all the same.
    """
    _check_range(list(points) == sorted(points) and points[0] < points[-1])
    weights: dict[int, int] = {}
    for low, high in pairwise(points):
        whole = (1 << _BITS) // max(1, high - low)
        for size in range(low, high + 1):
            share = whole if low < size < high or low == high else whole // 2
            weights[size] = weights.get(size, 0) + share
    return weights


def exponential_weights(low: int, high: int, decay: int) -> dict[int, int]:
    """An exponential distribution on the range, cut off at its end; raises ValueError if the range is none.

    :param low: the most frequent size, in bytes; ``high`` is the largest one.
    :param decay: the density falls to 1 / e^decay on the way from ``low`` to ``high``.
    """
    _check_range(low < high)
    half_bytes = 2 * (high - low)
    step = _exponential_of_minus(decay, half_bytes)
    # The share of sizes above so many half bytes, but for a factor.
    beyond = list(accumulate(repeat(step, half_bytes), lambda share, step: share * step >> _BITS, initial=1 << _BITS))
    bounds = [0, *range(1, half_bytes, 2), half_bytes]
    return {low + place: beyond[bounds[place]] - beyond[bounds[place + 1]] for place in range(high - low + 1)}


def _check_range(rises: bool) -> None:
    if not rises:
        raise ValueError("the sizes are no range: they have to rise from the smallest to the largest")


def _exponential_of_minus(numerator: int, denominator: int) -> int:
    """e^(-numerator / denominator) in fixed point, by its power series; for a fraction below 1."""
    total, term, count = 0, 1 << _BITS, 0
    while term:
        total += term if count % 2 == 0 else -term
        count += 1
        term = term * numerator // (denominator * count)
    return total
