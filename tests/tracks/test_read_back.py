"""Documents as they come back: what is a difference, and what is only another way to write the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.read_back import differences

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
    ],
)
def test_differences(sent: dict[str, Any], read: dict[str, Any], expected: list[Any]) -> None:
    """Order of keys and dots for braces are none; the order of a list, the form of a date and a lost value are."""
    assert list(differences(sent, read)) == expected


@given(DOCUMENTS)
def test_a_document_does_not_differ_from_itself(document: dict[str, Any]) -> None:
    """Whatever is in it."""
    assert list(differences(document, dict(reversed(document.items())))) == []
