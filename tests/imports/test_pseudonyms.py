"""Pseudonyms: one to one, of the same length and pattern, and different under another key."""

from __future__ import annotations

import ipaddress
import re
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.imports.pseudonyms import Pseudonyms

ONE, OTHER = Pseudonyms(b"k" * 32), Pseudonyms(b"l" * 32)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


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


@settings(max_examples=20)
@given(st.sets(st.from_regex(r"[a-z]{1,3}[0-9]{0,2}", fullmatch=True), max_size=200))
def test_different_texts_have_different_pseudonyms(texts: set[str]) -> None:
    """Even where only few are possible."""
    assert len({ONE.word(text) for text in texts}) == len(texts)


def test_a_whole_domain_is_permuted() -> None:
    """All two-digit numbers become all two-digit numbers."""
    everything = [f"{number:02d}" for number in range(100)]
    assert sorted(map(ONE.word, everything)) == everything


def test_another_key_gives_other_pseudonyms() -> None:
    """Without the key nothing can be told from an import of somebody else's."""
    names = [f"customer-{number}" for number in range(1000)]
    assert not {ONE.word(name) for name in names} & {OTHER.word(name) for name in names}
    assert all(ONE.word(name) != name for name in names)


@given(st.ip_addresses(v=4))
def test_ipv4_stays_ipv4(address: ipaddress.IPv4Address) -> None:
    """A valid address whose numbers have as many digits."""
    pseudonym = ONE.address(str(address))
    ipaddress.IPv4Address(pseudonym)
    assert [len(octet) for octet in pseudonym.split(".")] == [len(octet) for octet in str(address).split(".")]


@given(st.ip_addresses(v=6))
def test_ipv6_stays_ipv6(address: ipaddress.IPv6Address) -> None:
    """A valid address of the same length, written out or short."""
    for text in (str(address), address.exploded, str(address).upper()):
        pseudonym = ONE.address(text)
        ipaddress.IPv6Address(pseudonym)
        assert len(pseudonym) == len(text)
        assert re.sub(r"[0-9a-fA-F]", "x", pseudonym) == re.sub(r"[0-9a-fA-F]", "x", text)


def test_addresses_do_not_collide() -> None:
    """Ten thousand clients stay ten thousand clients."""
    clients = [f"10.{high}.{low}.7" for high in range(100) for low in range(100)]
    assert len({ONE.address(client) for client in clients}) == len(clients)
    mapped = [f"::ffff:{client}" for client in clients[:1000]]
    assert len({ONE.address(client) for client in mapped}) == len(mapped)


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))
def test_percent_encoded_values_are_replaced_in_their_coding(text: str) -> None:
    """A value that is nothing but escapes is not left as it is, and stays as long."""
    escaped = "".join(f"%{byte:02X}" for byte in text.encode())
    pseudonym = ONE.query_value(escaped)
    assert len(pseudonym) == len(escaped)
    assert re.fullmatch(r"(?:%[0-9A-F]{2})*", pseudonym)
    assert pseudonym == "".join(f"%{byte:02X}" for byte in ONE.word(text).encode())


def test_bytes_that_are_no_utf8_can_be_percent_encoded() -> None:
    """Latin-1 in a query: as many escapes, other bytes."""
    pseudonym = ONE.query_value("caf%E9%20%FF")
    assert re.fullmatch(r"[a-z]{3}%[89A-F][0-9A-F]%20%[89A-F][0-9A-F]", pseudonym)
