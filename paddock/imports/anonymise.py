"""What is replaced in an anonymised import: addresses, hosts, names of users, secrets and values of queries.

A text is cut into words; what a word becomes depends on the word alone (an address, a path, name=value, ...) and is
remembered, or on a keyword before or behind it (user X, password: X, X(uid=0)). Both ways a text is gone through once,
so no rule takes more than linear time. What has no form (a customer's name in a sentence) is not found: the words that
stay are counted, for a person to look through (see summary.py).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paddock.imports.pseudonyms import Pseudonyms
from paddock.imports.text import as_json
from paddock.imports.words import (
    CACHED,
    CACHED_CHARACTERS,
    HOST,
    NAMED_BEHIND,
    NO_NAMES,
    PORT,
    QUERY,
    SCHEMES,
    SECRET,
    USER,
    Remembered,
    Words,
    kind_of_field,
    kind_of_word,
)

_SHORT = 40
_GAPS = r"\s\"'()\[\]{},;|<>\\"
# What separates words, with a single : or = behind it on its line, as between the name and the value of JSON.
_SEPARATOR = re.compile(rf"([{_GAPS}]+(?:(?<!\n)[:=](?![:=])(?:(?!\n)[{_GAPS}])*)?)")
_TIME_ENDS = len('{"@timestamp":"2026-01-05T10:00:00.000Z"')
_ASSIGNED = re.compile(r"\\*[\"']?\s*(?:[:=]>?)?\s*[\\\"'(\[{<]*")
_VALUE_ENDS = re.compile(r"[\"\n]")
_QUOTES = re.compile(r"[\"']")


class Anonymiser:
    """Replaces in texts and documents under one key.

    :param key: 16 to 64 bytes; two imports under one key agree.
    """

    def __init__(self, key: bytes):
        self._pseudonyms = Pseudonyms(key)
        words = Words(self._pseudonyms)
        self._word, self._whole = words.word, words.whole
        self._user, self._secret, self._host = words.user, words.secret, words.host
        self._kinds = Remembered(kind_of_word)
        self._members: dict[str, str] = {}
        self._words_of: dict[str, list[str]] = {}  # of members
        self._characters = 0  # in the members
        self._seen: list[str] = []
        self._seen_members: list[str] = []
        self._replaced: list[str] = []

    # --- documents --------------------------------------------------------------------------------

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with every value in it replaced, whatever its depth; names of fields stay."""
        replaced = {name: self._field(name, value) for name, value in document.items()}
        if document.get("method") == "CONNECT":  # a proxy's; the path is a host
            replaced["path"] = self._host(str(document.get("path", "")))
        return replaced

    def _field(self, path: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._field(f"{path}.{name}", inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._field(path, each) for each in value]
        kind = kind_of_field(path)
        if isinstance(value, str):
            if kind:
                return self._whole[kind](value)
            if len(value) < _SHORT and '"' not in value and "\n" not in value:  # levels, loggers, threads, ...
                if value not in self._members:
                    self._learn([value])
                self._seen_members.append(value)
                return self._members[value]
            return self.text(value)
        if kind in (USER, SECRET) and isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._pseudonyms.number(int(value))
        if type(value) in (int, float):
            self._seen.append(str(value))
        return value

    # --- texts ------------------------------------------------------------------------------------

    def lines(self, text: str) -> str:
        """Many documents as lines of JSON with no escapes but of quotes, their times first and their messages last."""
        if ',","' in text or ',"}' in text:  # a value that ends with a comma; then members cannot be told that easily
            return "".join(map(self._line, text.split("\n")[:-1]))
        documents = [line.partition(',"message":"') for line in text.split("\n")]
        members = "\n".join([head[_TIME_ENDS:] for head, _, _ in documents]).split(',"')
        self._learn([member for member in {*members} if member not in self._members])
        self._seen_members += members
        heads = ',"'.join(map(self._members.__getitem__, members)).split("\n")
        messages = self._escaped("\n".join([message[:-2] for _, _, message in documents]), self.text).split("\n")
        return "\n".join(
            [
                f"{head[:_TIME_ENDS]}{changed}{between}{message}{end[-2:]}"
                for (head, between, end), changed, message in zip(documents, heads, messages, strict=True)
            ]
        )

    def _line(self, line: str) -> str:
        """One document as a line, which begins with its time."""
        document = json.loads(f"{{{line[_TIME_ENDS + 1 :]}")
        return f"{line[: _TIME_ENDS + 1]}{as_json(self.document(document))[1:]}\n"

    @staticmethod
    def _escaped(text: str, replace: Callable[[str], str]) -> str:
        """A text of JSON replaced as what it says: its only escapes are of quotes."""
        return replace(text.replace('\\"', '"')).replace('"', '\\"')

    def _learn(self, members: Iterable[str]) -> None:
        """What members of documents become, with what is behind each (name":"value"}), and short texts."""
        texts: list[tuple[str, str, str, str]] = []
        for member in members:
            self._characters += len(member)
            name, colon, value = member.partition('":"')
            if not colon and '":' in member:  # name":number
                self._members[member] = member
                self._words_of[member] = [member.partition('":')[2].rstrip("}\n")]
                continue
            text, quote, behind = value.rpartition('"') if colon else (member, "", "")
            kind = kind_of_field(name) if colon else ""
            if kind:
                replaced = self._escaped(text, self._whole[kind])
                self._members[member] = f"{name}{colon}{replaced}{quote}{behind}"
            else:
                texts.append((member, text, f"{name}{colon}" if colon else "", f"{quote}{behind}"))
        seen, changed = len(self._seen), len(self._replaced)
        replaced_texts = self._escaped("\n".join([text for _, text, _, _ in texts]), self.text).split("\n")
        del self._seen[seen:], self._replaced[changed:]
        for (member, text, head, tail), replaced in zip(texts, replaced_texts, strict=False):
            before, after = _SEPARATOR.split(text)[::2], _SEPARATOR.split(replaced)[::2]
            self._words_of[member] = [word for word, new in zip(before, after, strict=False) if new == self._word(word)]
            self._members[member] = f"{head}{replaced}{tail}"

    def text(self, text: str) -> str:
        """Any text, also of many lines: as long as it was."""
        pieces = _SEPARATOR.split(text)
        words = pieces[::2]
        kinds = list(map(self._kinds.__getitem__, words))
        changed = list(map(self._word, words))
        self._seen += words
        gaps = pieces[1::2]
        places = [place for place, kind in enumerate(kinds) if kind]
        if " : " in text or ("<" in text and "@" in text):
            more = [place for place, gap in enumerate(gaps) if gap == " : " or "<" in gap]
            places = sorted({*places, *more})
        for place, word in self._by_context(places, words, gaps, kinds) if places else ():
            if word != changed[place]:
                self._replaced.append(words[place])
                changed[place] = word
        pieces[::2] = changed
        return "".join(pieces)

    def _by_context(
        self, places: list[int], words: list[str], gaps: list[str], kinds: list[str]
    ) -> Iterable[tuple[int, str]]:
        """Places of words that others give away, and what they become."""
        last = len(words) - 1
        done = 0  # words up to here have been replaced already
        for place in places:
            kind = kinds[place]
            gap = gaps[place] if place < last else "\n"
            if kind and "\n" not in gap and place >= done:
                if kind in self._whole or kind == "cookie":
                    rule = self._cookies if kind == "cookie" else self._assigned
                    for done, word in rule(kind, place, words, gaps):
                        yield done, word
                elif kind == "for":
                    # for X from, for invalid user X from, for user X from
                    name = place + 1
                    while name < last and words[name] in ("invalid", "user", "illegal") and "\n" not in gaps[name]:
                        name += 1
                    if name < last and words[name + 1] == "from" and "\n" not in gaps[name]:
                        yield name, self._user(words[name])
                elif kind == "scheme" and len(words[place + 1]) >= 8 and gap.isspace():
                    yield place + 1, self._secret(words[place + 1])
                elif kind == "connect" and PORT.search(words[place + 1]):
                    yield place + 1, self._host(words[place + 1])
                elif kind == "folder" and set(gap) == {"\\"}:
                    yield place + 1, self._user(words[place + 1])
            if kind == "command" and place > 1 and gaps[place - 2].endswith("("):
                if gaps[place - 1].startswith(")") and "\n" not in gaps[place - 1]:
                    yield place - 1, self._user(words[place - 1])  # (X) CMD
            elif kind == "uid" and place and gaps[place - 1] == "(" and words[place - 1]:
                yield place - 1, self._user(words[place - 1])  # X(uid=0)
            elif gap == " : " and words[place] and words[place + 1] and _begins(words, gaps, place):
                yield place, self._user(words[place])  # sudo: X : TTY=
            elif "<" in gap and "\n" not in gap and place < last and "@" in words[place + 1]:
                yield from self._display_name(place, words, gaps)

    def _assigned(self, kind: str, place: int, words: list[str], gaps: list[str]) -> Iterable[tuple[int, str]]:
        """The value behind a name, in quotes or not."""
        word, gap, value = words[place], gaps[place], words[place + 1]
        replace = self._whole[kind]
        field = gap.startswith('":"')
        if (field and '"' in gap[3:]) or (kind in (QUERY, HOST) and not field):
            return
        element = gap == ">" and place > 0 and gaps[place - 1].endswith("<")
        if not (field or element or _ASSIGNED.fullmatch(gap)) or (word[-1:] == "=" and gap.isspace()):
            return
        behind = gaps[place + 1] if place + 1 < len(gaps) else ""
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
        if value.lower() in SCHEMES and _same_line(behind) and words[place + 2]:
            yield place + 2, replace(words[place + 2])
            return
        if "{" in gap:  # an object: what is no name in it; names are passed as well, so that each is met once
            depth = gap.count("{") - gap.count("}")
            for further in range(place + 1, len(words) if depth > 0 else 0):
                behind, newline, _ = (gaps[further] if further < len(gaps) else "\n").partition("\n")
                yield further, (self._word if '":' in behind or "=>" in behind else replace)(words[further])
                depth += behind.count("{") - behind.count("}")
                if depth <= 0 or newline:
                    return
            return
        quote = ['"'] if field else ["<"] if element else _QUOTES.search(gap[::-1])
        end = place + 1
        while quote and end < len(gaps) and words[end + 1] and quote[0] not in gaps[end] and "\n" not in gaps[end]:
            end += 1
        pieces = [value, *(piece for each in range(place + 1, end) for piece in (gaps[each], words[each + 1]))]
        before = gap[3:] if field else ""
        rest = _VALUE_ENDS.split(gaps[end])[0] if field and end < len(gaps) else ""
        replaced = replace("".join([before, *pieces, rest]))
        at = len(before)
        for number, piece in enumerate(pieces):
            if number % 2 == 0:
                yield place + 1 + number // 2, replaced[at : at + len(piece)]
            at += len(piece)

    def _cookies(self, _kind: str, place: int, words: list[str], gaps: list[str]) -> Iterable[tuple[int, str]]:
        """Everything to the end of the line or of the quotes."""
        for further in range(place + 1, len(words)):
            gap = gaps[further - 1]
            if "\n" in gap or (further > place + 1 and '"' in gap):
                return
            name, equals, value = words[further].partition("=")
            yield further, f"{name}={self._secret(value)}" if equals else self._secret(name)

    def _display_name(self, place: int, words: list[str], gaps: list[str]) -> Iterable[tuple[int, str]]:
        """Alice Smith <alice@...>: up to three words that begin with a capital, or what stands in quotes."""
        quoted = '"' in gaps[place] or "'" in gaps[place]
        for before in range(place, max(place - (8 if quoted else 3), -1), -1):
            if not words[before] or not (quoted or words[before][0].isupper()):
                return
            yield before, self._pseudonyms.word(words[before])
            if before and ("\n" in gaps[before - 1] or not gaps[before - 1].isspace()):
                return

    # --- what stays -------------------------------------------------------------------------------

    def kept(self) -> Counter[str]:
        """How often each word stood in the texts since the last call and stayed; of changed words, their parts."""
        counts = Counter(self._seen)
        for member, count in Counter(self._seen_members).items():
            for word in self._words_of.get(member, ()):
                counts[word] += count
        counts.subtract(Counter(self._replaced))
        self._seen, self._seen_members, self._replaced = [], [], []
        if len(self._members) > CACHED or self._characters > CACHED_CHARACTERS:
            self._words_of.clear()
            self._members.clear()
            self._characters = 0
        result: Counter[str] = Counter()
        for word, count in counts.items():
            if count <= 0 or not word:
                continue
            replaced = self._word(word)
            if replaced == word:
                result[word.strip(".:=!?-*#/")] += count
            else:
                remains = set(_INNER.split(replaced))
                for part in {each for each in _INNER.split(word) if each in remains}:
                    result[part] += count
        del result[""]
        return result


_INNER = re.compile(r"[^\w.-]+")


def _same_line(gap: str) -> bool:
    """Whether there is nothing but space between two words, and no end of a line."""
    return gap.isspace() and "\n" not in gap


def _begins(words: list[str], gaps: list[str], place: int) -> bool:
    """Whether a word is the first one of a text, a line or a field, or comes after sudo."""
    return (
        place == 0
        or ("\n" in gaps[place - 1] and not gaps[place - 1].rpartition("\n")[2].strip())
        or words[place - 1] == "sudo:"
        or gaps[place - 1].rstrip().endswith('":"')
        or (place == 1 and not words[0] and gaps[0].isspace())
    )
