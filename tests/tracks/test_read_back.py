"""Documents as they come back: what is a difference, and what is only another way to write the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.read_back import differences, read_back

VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.integers(), max_size=3)
DOCUMENTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), VALUES | inner, min_size=1, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("sent", "read", "expected"),
    [
        ({"a": 1, "b": "x"}, {"b": "x", "a": 1}, []),
        ({"a": {"b": 1}}, {"a.b": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"tags": ["b", "a"]}, {"tags": ["a", "b"]}, [("tags", ["b", "a"], ["a", "b"])]),
        (
            {"at": "12:00:00Z"},
            {"at": "12:00:00.000Z"},
            [("at", "12:00:00Z", "12:00:00.000Z")],
        ),
        ({"a": 1}, {}, [("a", 1, None)]),
        ({}, {"a": {"b": 1}}, [("a.b", None, 1)]),
        ({"a": None}, {}, []),
        ({"l": [1, 0]}, {"l": [True, False]}, [("l", [1, 0], [True, False])]),
        ({"l": [{"ok": True}]}, {"l": [{"ok": 1}]}, [("l", [{"ok": True}], [{"ok": 1}])]),
        ({"l": [1, {"a": {"b": 2.0}, "c": None}]}, {"l": [1.0, {"a.b": 2}]}, []),
        ({"a": {"b": 1}, "a.b": 2}, {"a": {"b": 9}, "a.b": 2}, [("a.b", {"values": [1, 2]}, {"values": [2, 9]})]),
        ({"a": {"b": 1}, "a.b": 2}, {"a": {"b": 2}, "a.b": 1}, []),
        ({"a": {}}, {}, [("a", {}, None)]),
        ({"a": {"b": {}}}, {"a": {}}, [("a.b", {}, None), ("a", None, {})]),
    ],
)
def test_differences(sent: dict[str, Any], read: dict[str, Any], expected: list[Any]) -> None:
    """Order of keys and dots for braces are none; the order of a list, the form of a date and a lost value are.

    So are true for 1 in a list, one of two values of a name that comes twice, and an object that was empty.
    """
    assert list(differences(sent, read)) == expected


@given(DOCUMENTS)
def test_a_document_does_not_differ_from_itself(document: dict[str, Any]) -> None:
    """Whatever is in it."""
    assert list(differences(document, dict(reversed(document.items())))) == []


class TakesOne:
    """A node too busy for all documents of a bulk but the first."""

    async def bulk(self, operations: list[Any], **_: Any) -> dict[str, Any]:
        self.kept = [{"_id": operations[0]["index"]["_id"], "_source": operations[1]}]
        return {"errors": True}

    async def search(self, **_: Any) -> dict[str, Any]:
        return {"hits": {"hits": self.kept}}


def test_a_document_that_was_not_taken_again_has_lost_nothing() -> None:
    """What came back is compared, and the rest is not called different in each of its fields."""
    found = asyncio.run(read_back(TakesOne(), "logs", [b'{"a":1}', b'{"a":2}'], 2))
    assert found == {"documents": 1, "same": 1, "fields": {}}


class StoresNothing(TakesOne):
    """A node whose index keeps no documents, as with the mapping variant nothing-stored."""

    async def search(self, **_: Any) -> dict[str, Any]:
        return {"hits": {"hits": [{"_id": hit["_id"]} for hit in self.kept]}}


def test_an_index_that_stores_nothing_ends_no_race() -> None:
    """Nothing can be read again, and nothing is said to differ."""
    told = asyncio.run(read_back(StoresNothing(), "logs", [b'{"a": 1}'], 10))
    assert told == {"documents": 0, "same": 0, "fields": {}}


def test_true_is_not_one() -> None:
    """Python takes them for the same, and no index does."""
    assert list(differences({"a": True, "b": 0}, {"a": 1, "b": False})) == [("a", True, 1), ("b", 0, False)]
