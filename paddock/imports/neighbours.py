"""Words that others give away: user X, password: X, X(uid=0), Alice Smith <alice@...>, and what they become.

A text is gone through once; what cutting.py finds to be a name for certain does not come here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from paddock.imports.pseudonyms import Pseudonyms
from paddock.imports.text import unescaped_json
from paddock.imports.words import (
    HOST,
    KINDS,
    NAMED,
    NAMED_BEHIND,
    NO_NAMES,
    PORT,
    QUERY,
    SCHEMES,
    SECRET,
    USER,
    Words,
    kind_of_word,
)

_ASSIGNED = re.compile(r"\\*[\"']?\s*(?:[:=]>?)?\s*[\\\"'(\[{<]*")
_VALUE_ENDS = re.compile(r"[\"\n]")
_QUOTES = re.compile(r"[\"']")


class Neighbours:
    """Judges words by those beside them."""

    def __init__(self, words: Words, pseudonyms: Pseudonyms):
        self._words, self._pseudonyms = words, pseudonyms
        self._whole = words.whole
        self._user, self._secret, self._host = words.user, words.secret, words.host

    def given_away(
        self, telling: Iterable[tuple[int, int, int, int]], data: bytes, spans: memoryview
    ) -> dict[int, str]:
        """Places of words that others give away, and what they become.

        :param telling: as ``cutting.find_telling`` has it.
        :param spans: rows of four numbers: where each word begins and ends, and others.
        """
        return dict(self._by_context(telling, _Pieces(data, spans, 0), _Pieces(data, spans, 1)))

    def _by_context(
        self, telling: Iterable[tuple[int, int, int, int]], words: _Pieces, gaps: _Pieces
    ) -> Iterator[tuple[int, str]]:
        done = 0  # words up to here have been replaced already
        for place, first, last, number in telling:
            kind = USER if KINDS[number] == NAMED else KINDS[number]
            words.bounds = gaps.bounds = first, last
            gap = gaps[place]
            if kind and gap and "\n" not in gap and place >= done:
                if kind in self._whole or kind == "cookie":
                    rule = self._cookies if kind == "cookie" else self._assigned
                    for done, word in rule(kind, place, words, gaps):
                        yield done, word
                elif kind == "for":
                    # for X from, for invalid user X from, for user X from
                    name = place + 1
                    while words[name] in ("invalid", "user", "illegal") and "\n" not in gaps[name]:
                        name += 1
                    if words[name + 1] == "from" and "\n" not in gaps[name]:
                        yield name, self._user(words[name])
                elif kind == "scheme" and len(words[place + 1]) >= 8 and gap.isspace():
                    yield place + 1, self._secret(words[place + 1])
                elif kind == "connect" and PORT.search(words[place + 1]):
                    yield place + 1, self._host(words[place + 1])
                elif kind == "folder" and set(gap) == {"\\"}:
                    yield place + 1, self._user(words[place + 1])
            before = gaps[place - 1]
            if kind == "command" and before[:1] == ")" and "\n" not in before and gaps[place - 2].endswith("("):
                yield place - 1, self._user(words[place - 1])  # (X) CMD
            elif kind == "uid" and before == "(" and words[place - 1]:
                yield place - 1, self._user(words[place - 1])  # X(uid=0)
            elif gap == " : " and words[place] and words[place + 1] and _begins(words, gaps, place):
                yield place, self._user(words[place])  # sudo: X : TTY=
            elif "<" in gap and "\n" not in gap and "@" in words[place + 1]:
                yield from self._display_name(place, words, gaps)

    def _assigned(self, kind: str, place: int, words: _Pieces, gaps: _Pieces) -> Iterator[tuple[int, str]]:
        """The value behind a name, in quotes or not."""
        word, gap, value = words[place], gaps[place], words[place + 1]
        replace = self._whole[kind]
        field = gap.startswith('":"')
        if (field and '"' in gap[3:]) or (kind in (QUERY, HOST) and not field):
            return
        element = gap == ">" and gaps[place - 1].endswith("<")
        if not (field or element or _ASSIGNED.fullmatch(gap)) or (word[-1:] == "=" and gap.isspace()):
            return
        behind = gaps[place + 1]
        if value[-1:] == "=" or (value[-1:] == ":" and kind_of_word(value)):  # the next name: there is no value
            return
        if word[:2] == "--" and gap.isspace():  # --password X
            if not value.startswith("-"):
                yield place + 1, replace(value)
            return
        if not element and word[-1:] not in (":", "=") and ":" not in gap and "=" not in gap:
            named = word.lower() in NAMED_BEHIND and not gap.strip(" \t\"'([")
            if named and value and "=" not in value and value.lower() not in NO_NAMES:
                yield place + 1, self._user(value)
                if set(behind) == {"\\"}:  # DOMAIN\X
                    yield place + 2, self._user(words[place + 2])
                return
            if kind != SECRET or gap.strip() not in ("'", '"'):  # password 'X'
                return
        if value.lower() in SCHEMES and behind.isspace() and "\n" not in behind and words[place + 2]:
            yield place + 2, replace(words[place + 2])
            return
        if "{" in gap:  # an object: what is no name in it; names are passed as well, so that each is met once
            depth = gap.count("{") - gap.count("}")
            for further in range(place + 1, words.bounds[1] + 1 if depth > 0 else 0):
                behind, newline, _ = gaps[further].partition("\n")
                yield further, (self._words.word if '":' in behind or "=>" in behind else replace)(words[further])
                depth += behind.count("{") - behind.count("}")
                if depth <= 0 or newline:
                    return
            return
        quote = ['"'] if field else ["<"] if element else _QUOTES.search(gap[::-1])
        end = place + 1
        while quote and words[end + 1] and quote[0] not in gaps[end] and "\n" not in gaps[end]:
            end += 1
        pieces = [value, *(piece for each in range(place + 1, end) for piece in (gaps[each], words[each + 1]))]
        before = gap[3:] if field else ""
        rest = _VALUE_ENDS.split(gaps[end])[0] if field else ""
        replaced = replace("".join([before, *pieces, rest]))
        at = len(before)
        for number, piece in enumerate(pieces):
            if number % 2 == 0:
                yield place + 1 + number // 2, replaced[at : at + len(piece)]
            at += len(piece)

    def _cookies(self, _kind: str, place: int, words: _Pieces, gaps: _Pieces) -> Iterator[tuple[int, str]]:
        """Everything to the end of the line or of the quotes."""
        for further in range(place + 1, words.bounds[1] + 1):
            gap = gaps[further - 1]
            if "\n" in gap or (further > place + 1 and '"' in gap):
                return
            name, equals, value = words[further].partition("=")
            yield further, f"{name}={self._secret(value)}" if equals else self._secret(name)

    def _display_name(self, place: int, words: _Pieces, gaps: _Pieces) -> Iterator[tuple[int, str]]:
        """Alice Smith <alice@...>: up to three words that begin with a capital, or what stands in quotes."""
        quoted = '"' in gaps[place] or "'" in gaps[place]
        for before in range(place, place - (8 if quoted else 3), -1):
            if not words[before] or not (quoted or words[before][0].isupper()):
                return
            yield before, self._pseudonyms.word(words[before])
            if "\n" in gaps[before - 1] or not gaps[before - 1].isspace():
                return


def may_be_name(text: str) -> bool:
    """Whether a word may be a name because the word before it says so, without a sign between them."""
    return text.lower() not in NO_NAMES and "=" not in text and not (text[-1:] == ":" and kind_of_word(text))


class _Pieces:
    """Words, or the gaps behind them; nothing outside of the bounds.

    :param spans: rows of four numbers: where each word begins and ends, and others.
    :param gap: 0 for words, 1 for gaps.
    :ivar bounds: the first and the last place of a text's words.
    """

    def __init__(self, data: bytes, spans: memoryview, gap: int):
        self._data, self._spans, self._gap, self._end = data, spans, gap, 4 if gap else 1
        self.bounds = 0, -1

    def __getitem__(self, place: int) -> str:
        if not self.bounds[0] <= place <= self.bounds[1] - self._gap:
            return ""
        text = self._data[self._spans[4 * place + self._gap] : self._spans[4 * place + self._end]].decode("utf-8")
        return unescaped_json(text) if "\\" in text else text


def _begins(words: _Pieces, gaps: _Pieces, place: int) -> bool:
    """Whether a word is the first one of a text, a line or a field, or comes after sudo."""
    before = gaps[place - 1]
    return (
        not before
        or ("\n" in before and not before.rpartition("\n")[2].strip())
        or words[place - 1] == "sudo:"
        or before.rstrip().endswith('":"')
        or (before.isspace() and not words[place - 1] and not gaps[place - 2])
    )
