"""Slots and templates: what stands for `<name>` and `{name}` in the recipes of templates."""

from __future__ import annotations

import json
from ipaddress import ip_address
from typing import Any

import numpy as np
import pytest

from paddock.corpora.integers import Draws
from paddock.corpora.kernel import new_buffer, write_block
from paddock.corpora.models import MINUTES_PER_WEEK
from paddock.corpora.slots import Slots, Token, tokens, values
from paddock.corpora.template_log import TemplateLog, make_templates
from paddock.corpora.world import WorldBuilder

WORDS = {"colour": ["red", "blue"], "thing": ["cart", "order", "shelf"]}


def test_tokens_are_escaped_for_json() -> None:
    """Literal text becomes the inside of a JSON string; slots stay names."""
    assert tokens('say "<what>" to\t<whom>') == [
        Token('say \\"'), Token("what", is_slot=True), Token('\\" to\\t'), Token("whom", is_slot=True), Token("")
    ]  # fmt: skip


def test_values_count_and_differ() -> None:
    """Numbers count up from the least, addresses are distinct and of both kinds, words come from their lists."""
    assert values("a", "u{number}", 3, {}, least=7) == ["u7", "u8", "u9"]
    found = values("b", "{address}", 100, {})
    assert len(set(found)) == 100
    assert {ip_address(address).version for address in found} == {4, 6}
    assert set(values("c", "{colour}", 50, WORDS)) == {"red", "blue"}
    assert values("d", "{hash}", 5, {}) == values("d", "{hash}", 5, {}) != values("e", "{hash}", 5, {})


def test_templates_differ_and_their_values_go_together() -> None:
    """What a template's values are is what its text says, wherever both name it."""
    settings = {"templates": 6, "values": {"level": "{colour}", "what": "{thing}"}, "patterns": ["{level} {what}"]}
    made = make_templates(settings, WORDS, Draws("x"))
    assert len({template.text for template in made}) == 6
    assert all(template.text == " ".join(dict(template.values).values()) for template in made)
    with pytest.raises(ValueError, match=r"begin with .* give only 6 templates, not 7: add words"):
        make_templates({**settings, "templates": 7}, WORDS, Draws("x"))


def test_templates_of_several_lines() -> None:
    """The first line goes through the patterns in turn, the others are any of them."""
    made = make_templates({"templates": 8, "lines": 3, "patterns": ["a {thing}", "b {thing}"]}, WORDS, Draws("x"))
    for template in made:
        lines = template.text.split("\n")
        assert len(lines) == 3
        assert all(line.split()[1] in WORDS["thing"] for line in lines)
    assert {template.text[0] for template in made} == {"a", "b"}


OFTEN = {"share": 1, "exponent": 0, "stay": 90}
CONTENT: dict[str, Any] = {
    "document": {"who": "<user>", "age": "<age>", "what": "{kind}: <text>"},
    "numbers": ["age"],
    "actors": [
        {"name": "a", "count": 5, "events": ["buy"], "values": {"user": "a{number}"}, **OFTEN},
        {"name": "b", "count": 1, "events": ["buy", "look"], "values": {"user": 'b"'}, **OFTEN},
    ],
    "events": {
        "buy": {"share": 1, "values": {"kind": "bought"}, "patterns": ["<number> {thing}s for <bill>, <number> left"]},
        "look": {"share": 1, "values": {"kind": "saw"}, "patterns": ["a {colour} {thing} of <user>"]},
    },
    "slots": {
        "age": {"values": {"20": 3, "30": 1}},
        "number": {"pattern": "{number}", "count": 9, "exponent": 1},
        "bill": {"pattern": "{hash}", "count": 500, "exponent": 0, "held": True},
    },
    "words": WORDS,
}  # fmt: skip


def test_documents_are_made_of_fields_events_and_slots() -> None:
    """Fields in order, numbers as numbers, an actor's values its own, quotation marks escaped, held values held."""
    builder = WorldBuilder()
    actors = TemplateLog("test", CONTENT, builder, Slots("test", CONTENT, builder)).fill()
    world = builder.build(actors, 1, [1] * MINUTES_PER_WEEK, 1000, 0)
    buffer = new_buffer(world, 1000)
    size = write_block(world, np.uint64(1), np.uint64(0), 1000, buffer)
    documents = [json.loads(line) for line in bytes(buffer[:size]).decode().splitlines()]
    assert all(list(document) == ["who", "age", "what"] for document in documents)
    assert {document["who"] for document in documents} == {"a1", "a2", "a3", "a4", "a5", 'b"'}
    assert {document["age"] for document in documents} == {20, 30}
    seen = [document for document in documents if document["what"].startswith("saw: a ")]
    assert seen
    assert all(document["who"] == 'b"' and document["what"].endswith(' of b"') for document in seen)
    bills: dict[str, set[str]] = {}
    for document in documents:
        if document["what"].startswith("bought: "):
            bills.setdefault(document["what"].split("for ")[1].split(",")[0], set()).add(document["who"])
    # About a hundred sessions of ten documents, of which every one has its bill.
    assert 50 < len(bills) < 150
    assert sum(len(users) == 1 for users in bills.values()) > 0.7 * len(bills)
