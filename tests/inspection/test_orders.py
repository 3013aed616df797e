"""Orders of documents: which fields are worth sorting by, and which are none to sort by."""

from __future__ import annotations

import json
import random

from paddock.inspection.terms import rank_orders


def lines(count: int = 4000) -> list[bytes]:
    """Documents of twenty hosts, each with a long text of its own, in random order; and fields of no use."""
    chance = random.Random(5)
    texts = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz ", k=600)) for _ in range(300)]
    documents = [
        {
            "@timestamp": number,
            "host": {"name": f"host-{number * 7 % 300}"},
            "text": texts[number * 7 % 300],
            "even": number % 2 == 0,
            "id": f"{chance.random()}",
            "same": "x",
            "list": [number % 3, 1],
            **({"rare": number % 300} if number % 5 == 0 else {}),
        }
        for number in range(count)
    ]
    chance.shuffle(documents)
    return [json.dumps(document).encode() + b"\n" for document in documents]


def test_a_field_that_brings_like_to_like_is_first() -> None:
    """Full names, sizes as shares; constants, ids, lists, rare fields and the time are none to sort by."""
    found = {order.field: order for order in rank_orders(lines())}
    assert next(iter(found)) in ("host.name", "text")
    assert found["host.name"].share < 0.6
    assert found["host.name"].strings
    assert set(found) <= {"host.name", "text", "even"}


def test_what_is_no_document_is_passed_over() -> None:
    """Lines that are no JSON, or no object; nothing at all has no orders."""
    assert rank_orders([b"no json", b"[1]", b"3"]) == ()
    assert rank_orders([]) == ()
    mixed = rank_orders([b"{", *lines()])
    assert [order.field for order in mixed] == [order.field for order in rank_orders(lines())]


def test_values_of_several_types_can_be_sorted() -> None:
    """A number here, a text there: no error, and it is no field of texts."""
    documents = [json.dumps({"code": 7 if number % 2 else "seven", "n": "x" * 200}).encode() for number in range(2000)]
    assert all(not order.strings for order in rank_orders(documents) if order.field == "code")


def test_addresses_are_known_as_such() -> None:
    """By all values of the field: no index is sorted by one of the type ip, and whoever reads the ranks is told."""
    chance = random.Random(6)
    rows = [(f"10.0.0.{number}", "".join(chance.choices("abcdef", k=400))) for number in range(20)]
    chosen = [rows[chance.randrange(20)] for _ in range(2000)]
    documents = [json.dumps({"clientip": ip, "host": f"h{ip}", "text": text}).encode() + b"\n" for ip, text in chosen]
    assert {order.field: order.addresses for order in rank_orders(documents)} == {
        "clientip": True,
        "host": False,
        "text": False,
    }
