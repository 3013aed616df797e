"""Slots, templates, and sizes of documents: what stands for `<name>` and `{name}`, and how long it all is."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paddock.corpora.draws import Draws
from paddock.corpora.generate import MINUTES_PER_WEEK, write_corpus
from paddock.corpora.kernel import new_buffer, write_block
from paddock.corpora.recipe import load_recipe
from paddock.corpora.template_log import (
    TemplateLog,
    Token,
    exponential_weights,
    make_templates,
    quantile_weights,
    size_weights,
    tokens,
    values,
)
from paddock.corpora.world import WorldBuilder

WORDS = {"colour": ["red", "blue"], "thing": ["cart", "order", "shelf"]}


def test_tokens_are_escaped_for_json() -> None:
    """Literal text becomes the inside of a JSON string; slots stay names."""
    assert tokens('say "<what>" to\t<whom>') == [
        Token('say \\"'), Token("what", is_slot=True), Token('\\" to\\t'), Token("whom", is_slot=True), Token("")
    ]  # fmt: skip


def test_values_count_and_differ() -> None:
    """Numbers count up from the least, addresses are distinct and of both kinds, words come from their lists."""
    assert values(Draws("a"), "u{number}", 3, {}, least=7) == ["u7", "u8", "u9"]
    found = values(Draws("b"), "{address}", 100, {})
    assert len(set(found)) == 100
    assert {ip_address(address).version for address in found} == {4, 6}
    assert set(values(Draws("c"), "{colour}", 50, WORDS)) == {"red", "blue"}
    assert (
        values(Draws("d"), "{hash}", 5, {})
        == values(Draws("d"), "{hash}", 5, {})
        != values(Draws("e"), "{hash}", 5, {})
    )


def test_templates_differ_and_their_values_go_together() -> None:
    """What a template's values are is what its text says, wherever both name it."""
    settings = {"templates": 6, "values": {"level": "{colour}", "what": "{thing}"}, "patterns": ["{level} {what}"]}
    made = make_templates(settings, WORDS, Draws("x"))
    assert len({template.text for template in made}) == 6
    assert all(template.text == " ".join(dict(template.values).values()) for template in made)
    with pytest.raises(ValueError, match=r"begin with .* give only 6 different texts, not 7: add words"):
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
    actors = TemplateLog("test", CONTENT, builder).fill()
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


Distribution = Callable[[Any], Any]

DOCUMENTS = 20_000
LOGS = [
    *("logs", "logs-fixed", "logs-exponential", "logs-empirical"),
    *("logs-structured", "logs-structured-fixed", "logs-structured-exponential", "logs-structured-empirical"),
]


def uniform(low: float, high: float) -> Distribution:
    """The continuous distribution function."""
    return stats.uniform(low, high - low).cdf  # type: ignore[no-any-return]


def truncated_exponential(low: float, high: float, decay: float) -> Distribution:
    """The continuous distribution function."""
    return stats.truncexpon(decay, low, (high - low) / decay).cdf  # type: ignore[no-any-return]


def with_quantiles(points: list[int]) -> Distribution:
    """The distribution function; between bytes it is unique even where quantiles are equal."""
    return lambda sizes: np.interp(sizes, points, np.linspace(0, 1, len(points)))


def true_distribution(size: dict[str, Any]) -> Distribution:
    """The distribution function that a recipe's section `size` means, from SciPy."""
    ((kind, value),) = size.items()
    if kind == "fixed":
        return with_quantiles([value, value])
    if kind == "uniform":
        return uniform(*value)
    if kind == "exponential":
        return truncated_exponential(value["from"], value["to"], value["decay"])
    return with_quantiles(value)


def spread(distribution: Distribution) -> Distribution:
    """The distribution function of a size rounded to the nearest byte, plus a uniform number from -1/2 to 1/2.

    So much noise makes rounded sizes continuous again, as the Kolmogorov-Smirnov test wants them, and moves none of
    them to where another byte would be: the function is linear from half a byte below each size to half a byte above.
    """

    def function(values: Any) -> Any:
        below = np.floor(np.asarray(values) - 0.5) + 0.5
        low, high = distribution(below), distribution(below + 1)
        return low + (high - low) * (values - below)

    return function


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The sizes of the first documents of a recipe, made once."""
    known: dict[str, Any] = {}

    def of(name: str) -> Any:
        if name not in known:
            file = tmp_path_factory.mktemp("sizes") / name
            write_corpus(load_recipe(name), DOCUMENTS, 1, file)
            with file.open("rb") as lines:
                known[name] = np.array([len(line) for line in lines])
            file.unlink()
        return known[name]

    return of


@pytest.mark.parametrize("name", LOGS)
def test_sizes_follow_the_distribution(name: str, sizes: Callable[[str], Any]) -> None:
    """Kolmogorov-Smirnov over 20,000 documents: no evidence against the recipe's distribution, at 1 in 1,000."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, DOCUMENTS)
    result = stats.kstest(sizes(name) + noise, spread(true_distribution(load_recipe(name).content["size"])))
    assert result.pvalue > 0.001, result


def test_the_test_notices_a_wrong_distribution(sizes: Callable[[str], Any]) -> None:
    """A decay of 16 or 18 instead of 17, or one per cent of another length, is found out."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, DOCUMENTS)
    for wrong in (truncated_exponential(10_000, 64_000, 16), truncated_exponential(10_000, 64_000, 18)):
        assert stats.kstest(sizes("logs-exponential") + noise, spread(wrong)).pvalue < 1e-4
    assert stats.kstest(sizes("logs") + noise, spread(uniform(500, 5200))).pvalue < 1e-4


@pytest.mark.parametrize("name", ["logs-exponential", "logs-structured-exponential"])
def test_the_exponential_recipes_are_those_of_the_published_study(name: str, sizes: Callable[[str], Any]) -> None:
    """10 to 64 kB, 13.2 kB on average, and the smallest fifth below 11 kB."""
    made = sizes(name)
    assert 10_000 <= made.min() <= 10_010
    assert made.max() <= 64_000
    assert made.mean() == pytest.approx(13_176, rel=0.01)
    assert np.quantile(made, 0.2) < 11_000


@pytest.mark.parametrize("name", ["logs", "logs-structured"])
def test_the_uniform_recipes_reach_both_ends(name: str, sizes: Callable[[str], Any]) -> None:
    """0.5 to 5 kB, 2.75 kB on average."""
    made = sizes(name)
    assert 500 <= made.min() <= 505
    assert 4995 <= made.max() <= 5000
    assert made.mean() == pytest.approx(2750, rel=0.02)


@pytest.mark.parametrize("name", ["logs-fixed", "logs-structured-fixed"])
def test_the_fixed_recipes_have_one_size(name: str, sizes: Callable[[str], Any]) -> None:
    """Every document has exactly 2,000 bytes, its newline included."""
    assert set(sizes(name)) == {2000}


@given(low=st.integers(1, 500), width=st.integers(1, 500), decay=st.integers(1, 60))
def test_exponential_weights_are_exact(low: int, width: int, decay: int) -> None:
    """Every size has the probability that the formula gives to the byte around it."""
    weights = exponential_weights(low, low + width, decay)
    total = sum(weights.values())
    assert list(weights) == list(range(low, low + width + 1))

    def below(size: float) -> float:
        place = min(max((size - low) / width, 0), 1)
        return math.expm1(-decay * place) / math.expm1(-decay)

    for size, weight in weights.items():
        assert weight / total == pytest.approx(below(size + 0.5) - below(size - 0.5), rel=1e-9, abs=1e-13)


@given(points=st.lists(st.integers(1, 400), min_size=2, max_size=8).map(sorted).filter(lambda of: of[0] < of[-1]))
def test_quantile_weights_are_exact(points: list[int]) -> None:
    """Between two quantiles there is as much as between any other two, spread evenly."""
    weights = quantile_weights(points)
    total = sum(weights.values())
    expected: dict[int, float] = {}
    for low, high in itertools.pairwise(points):
        for size in range(low, high + 1):
            share = 1.0 if low == high else (0.5 if size in (low, high) else 1.0) / (high - low)
            expected[size] = expected.get(size, 0) + share / (len(points) - 1)
    assert {size: weight / total for size, weight in weights.items()} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "size",
    [
        {"uniform": [500, 400]},
        {"uniform": [500, 500]},
        {"quantiles": [100, 300, 200]},
        {"exponential": {"from": 100, "to": 100, "decay": 17}},
    ],
)
def test_what_is_no_range_is_refused(size: dict[str, Any]) -> None:
    """Falling or empty ranges end in a sentence."""
    with pytest.raises(ValueError, match="no range: they have to rise"):
        size_weights(size)
