"""The model `template-log`: documents of any fields, made from templates with slots.

A recipe lists the fields of a document; an event is one of its templates, and gives the fields that belong
together (a message, its level, its logger). Actors (hosts, users) have values of their own, and a session keeps
those that it holds. With a section `size`, documents have the sizes that it says, filled with details.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.corpora.integers import Draws, shares, zipf_weights
from paddock.corpora.patterns import fill_one
from paddock.corpora.slots import Slots, Token, tokens, values
from paddock.corpora.world import WorldBuilder

_TRIES = 100
_LARGEST_NUMBER = 480  # of `{number}` in a template
TEXT = "text"  # the slot for an event's own text


@dataclass(frozen=True)
class Template:
    """A text with slots, and what else is the same whenever it is logged."""

    text: str
    values: tuple[tuple[str, str], ...]


def make_templates(settings: dict[str, Any], words: Mapping[str, Sequence[str]], draws: Draws) -> list[Template]:
    """Templates that all differ, from each pattern in turn.

    :param settings: a recipe's `patterns`, how many `templates` to make of them and of how many `lines` each, and
        `values` that go with each.
    :raises ValueError: if the words do not give so many.
    """
    patterns = settings.get("patterns", [""])
    count = settings.get("templates", len(patterns))
    made: dict[Template, None] = {}
    for attempt in range(count * _TRIES):
        own = {
            name: fill_one(value, words, draws, largest_number=_LARGEST_NUMBER)
            for name, value in settings.get("values", {}).items()
        }
        known = {**words, **{name: [value] for name, value in own.items()}}
        lines = [patterns[attempt % len(patterns)]]
        lines += [draws.one_of(patterns) for _ in range(1, settings.get("lines", 1))]
        text = "\n".join(fill_one(line, known, draws, largest_number=_LARGEST_NUMBER) for line in lines)
        made.setdefault(Template(text, tuple(own.items())))
        if len(made) == count:
            return list(made)
    raise ValueError(
        f"the patterns that begin with '{patterns[0]}' give only {len(made)} templates, not {count}: add words"
    )


class TemplateLog:
    """Fills a WorldBuilder from a recipe of the model `template-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder, slots: Slots):
        self._name = name
        self._content = content
        self._builder = builder
        self._slots = slots

    def fill(self) -> int:
        """Add events and actors; returns the pool of actors."""
        groups = {name: self._add_events(name, settings) for name, settings in self._content["events"].items()}
        empty = self._builder.texts([""], [1])
        actors: list[int] = []
        parts = []
        for group in self._content["actors"]:
            chosen = [groups[name] for name in group["events"]]
            entry = self._builder.pool(
                [event for events, _ in chosen for event in events], [weight for _, of in chosen for weight in of]
            )
            of_class = self._builder.actor_class(
                entry, empty, linked=False, stay_percent=group["stay"], at_once_percent=group.get("at_once", 0)
            )
            columns = {
                name: values(
                    f"{self._name} actors {group['name']} {name}", pattern, group["count"], self._content["words"]
                )
                for name, pattern in group["values"].items()
            }
            for number in range(group["count"]):
                row = {name: texts[number] for name, texts in columns.items()}
                actors.append(self._builder.actor(of_class, self._slots.columns(row)))
            parts.append((group["share"], zipf_weights(group["count"], group["exponent"])))
        return self._builder.pool(actors, shares(parts))

    def _add_events(self, name: str, settings: dict[str, Any]) -> tuple[list[int], list[int]]:
        """The events of a group and their weights, the most frequent first."""
        templates = make_templates(settings, self._content["words"], Draws(f"{self._name} events {name}"))
        weights = shares([(settings["share"], zipf_weights(len(templates), settings.get("exponent", 0)))])
        events, of_events = [], []
        for template, weight in zip(templates, weights, strict=True):
            for fields, parts in self._selections():
                events.append(self._builder.event(self._slots.pieces(self._document(template, fields))))
                of_events.append(weight * parts)
        return events, of_events

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
        sized = "size" in self._content
        for place, field in enumerate(fields):
            pattern = self._content["document"][field]
            quote = "" if field in self._content.get("numbers", []) else '"'
            line.append(Token(f"{',' if place else '{'}{json.dumps(field)}:{quote}"))
            own = {name: [text] for name, text in template.values}
            for token in tokens(fill_one(pattern, own, Draws(""), largest_number=1), may_join=True):
                line += tokens(template.text) if token.is_slot and token.text == TEXT else [token]
            line.append(Token(quote))
        if sized:
            line[-1] = Token("\\n" if template.text else "")
        else:
            line[-1] = Token(quote + "}\n")
        return line
