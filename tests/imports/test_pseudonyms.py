"""Pseudonyms: of the same length and pattern, the same under one key, and different under another."""

from __future__ import annotations

import ipaddress
import json
import re
import string

from hypothesis import given
from hypothesis import strategies as st

from paddock.imports.pseudonyms import Pseudonyms

ONE, OTHER = Pseudonyms(b"k" * 32), Pseudonyms(b"l" * 32)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=100)


@given(TEXTS)
def test_length_and_pattern_are_kept(text: str) -> None:
    """As many characters and bytes; letters for letters, digits for digits, punctuation where it was."""
    pseudonym = ONE.word(text)
    assert len(pseudonym) == len(text)
    assert len(pseudonym.encode()) == len(text.encode())
    for before, after in zip(text, pseudonym, strict=True):
        for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
            assert (before in kind) == (after in kind)
        if before in string.punctuation + string.whitespace:
            assert before == after


@given(TEXTS)
def test_the_same_key_gives_the_same_pseudonym(text: str) -> None:
    """Also in another process: nothing but key and text goes in."""
    assert ONE.word(text) == Pseudonyms(b"k" * 32).word(text)


@given(st.from_regex(r"[a-zA-Z0-9]{1,5}", fullmatch=True))
def test_no_text_stays_what_it_was(text: str) -> None:
    """Not even one letter, which one time in 26 would become itself."""
    assert ONE.word(text) != text


def test_different_texts_have_different_pseudonyms() -> None:
    """A hundred thousand of seven letters and digits: so few meet that counts and frequencies hold."""
    names = [f"ab{number:05d}" for number in range(100_000)]
    longer = [f"customer-{name}" for name in names]
    assert len({ONE.word(name) for name in longer}) == len(longer)


def test_another_key_gives_other_pseudonyms() -> None:
    """Without the key nothing can be told from an import of somebody else's."""
    names = [f"customer-{number}" for number in range(1000)]
    assert not {ONE.word(name) for name in names} & {OTHER.word(name) for name in names}


def test_every_character_of_a_text_counts() -> None:
    """One letter more or less, and nothing of the pseudonym says so."""
    one, other = ONE.word("margaret-hill-1984-a"), ONE.word("margaret-hill-1984-b")
    assert sum(left == right for left, right in zip(one, other, strict=True)) < 10


@given(st.ip_addresses(v=4))
def test_ipv4_stays_ipv4(address: ipaddress.IPv4Address) -> None:
    """A valid address whose numbers have as many digits."""
    pseudonym = ONE.address(str(address))
    ipaddress.IPv4Address(pseudonym)
    assert [len(octet) for octet in pseudonym.split(".")] == [len(octet) for octet in str(address).split(".")]


@given(st.ip_addresses(v=6))
def test_ipv6_stays_ipv6(address: ipaddress.IPv6Address) -> None:
    """A valid address of the same length, written out or short, in small or capital letters."""
    for text in (str(address), address.exploded, str(address).upper()):
        pseudonym = ONE.address(text)
        ipaddress.IPv6Address(pseudonym)
        assert re.sub(r"[0-9a-fA-F]", "x", pseudonym) == re.sub(r"[0-9a-fA-F]", "x", text)


def test_few_addresses_meet() -> None:
    """Ten thousand clients stay nearly ten thousand clients."""
    clients = [f"203.{high}.{low}.107" for high in range(100, 200) for low in range(100, 200)]
    assert len({ONE.address(client) for client in clients}) > 9980


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_stay_as_long(value: float) -> None:
    """Digits, sign and exponent; what comes out is a number in JSON."""
    text = json.dumps(value)
    pseudonym = ONE.number(text)
    json.loads(pseudonym)
    assert re.sub(r"\d", "0", pseudonym) == re.sub(r"\d", "0", text)
    assert pseudonym.partition("e")[1:] == text.partition("e")[1:]
    assert pseudonym != text or text in ("0", "-0.0")


def test_no_number_stays() -> None:
    """Not even where its first digit would become a zero."""
    keys = (Pseudonyms(bytes([each]) * 32) for each in range(100))
    assert all(key.number(str(number)) != str(number) for key in keys for number in range(1, 20))


def test_numbers_of_an_index_stay_so() -> None:
    """An id of 64 bits does not become a number that no long can hold."""
    assert all(int(ONE.number(str(1_200_000_000_000_000_000 + each))) < 1 << 63 for each in range(1000))


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))
def test_percent_encoded_values_are_replaced_in_their_coding(text: str) -> None:
    """A value that is nothing but escapes is not left as it is, and stays as long."""
    escaped = "".join(f"%{byte:02X}" for byte in text.encode())
    pseudonym = ONE.value(escaped)
    assert len(pseudonym) == len(escaped)
    assert pseudonym == "".join(f"%{byte:02X}" for byte in ONE.word(text).encode())


def test_bytes_that_are_no_utf8_can_be_percent_encoded() -> None:
    """Latin-1 in a query: as many escapes, other bytes."""
    pseudonym = ONE.value("caf%E9%20%FF")
    assert re.fullmatch(r"[a-z]{3}%[89A-F][0-9A-F]%20%[89A-F][0-9A-F]", pseudonym)
