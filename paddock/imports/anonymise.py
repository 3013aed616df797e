"""What is replaced in an anonymised import: addresses, hosts, names of users, secrets and values of queries.

A text is cut into words; what a word becomes depends on the word alone (an address, a path, name=value, ...) and is
remembered, or on a keyword before or behind it (user X, password: X, X(uid=0)). Both ways a text is gone through once,
so no rule takes more than linear time. What has no form (a customer's name in a sentence) is not found: the words that
stay are counted, for a person to look through (see audit.py).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paddock.imports.pseudonyms import Pseudonyms
from paddock.imports.sensitive import HOST, QUERY, SECRET, USER, kind_of_field, kind_of_word, words_of
from paddock.imports.text import as_json

_CACHED = 200_000  # replacements remembered; then it begins anew, so that memory stays constant
_MOST_DIGITS, _LEAST_RANDOM = 4, 24

_GAPS = r"\s\"'()\[\]{},;|<>\\"
# What separates words, with a single : or = behind it, as between the name and the value of JSON.
_SEPARATOR = re.compile(rf"([{_GAPS}]+(?:[:=](?![:=])[{_GAPS}]*)?)")
_TIME_ENDS = len('{"@timestamp":"2026-01-05T10:00:00.000Z"')
_ASSIGNED = re.compile(r"\\*[\"']?\s*[:=]?\s*[\\\"'(\[{]*")
_QUOTES = re.compile(r"[\"']")
_PAIRED = re.compile(r"[=?&#]")
_PARTS = re.compile(r"([?&#])")
_ADDRESS = re.compile(
    r"(?<![\d.])(?<!\d-)(\d{1,3})([-._])(\d{1,3})\2(\d{1,3})\2(\d{1,3})(?!\d|[-.]\d)",
    re.ASCII,
)
_BROWSER = re.compile(
    r"(?:Chrome|Chromium|HeadlessChrome|CriOS|Edg|EdgA|Edge|OPR|Version|Safari|Firefox|Vivaldi|YaBrowser|WebView"
    r"|SamsungBrowser|Mobile)/[\d.]+"
)
_HARDWARE = re.compile(
    r"(?<![0-9A-Fa-f])(?:(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"
    r"|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})(?![0-9A-Fa-f])"
)
_RANDOM = re.compile(rf"[A-Za-z0-9]{{{_LEAST_RANDOM},}}")
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_PORT = re.compile(r"(?<=[A-Za-z]):\d{2,5}$")
_HOMES = frozenset(("home", "Users", "users", "user", "staging", "u"))
_RESETS = frozenset(("reset", "password-reset", "reset-password", "reset_password", "verify", "confirm", "activate",
                     "activation", "invite", "unsubscribe", "token", "tokens", "session", "sessions"))  # fmt: skip
# Pages below /user that are nobody's.
_PAGES = re.compile(
    r"(?:log|sign)[_-]?(?:in|out|up|on|off)|new|edit|me|list|search|index|register|settings|profile|password|view"
    r"|all|add|delete|update|create|.*\.\w{2,5}",
    re.IGNORECASE,
)
# Last labels by which the name of a host is told; those that are words as well need two labels before them.
_DOMAINS = words_of(
    "com net org edu gov mil biz example local localdomain internal intern lan corp arpa cloud online site shop dev de "
    "uk fr nl dk fi ch eu us ca au jp cn ru br kr tw hk sg pl cz gr pt ro hu tr ua il za mx ar cl nz ie vn th"
)
_AMBIGUOUS_DOMAINS = words_of("info name test home app it es se no at be in id my me is io ai co")
# "user X" names somebody, "user not found" nobody.
_NAMED_BEHIND = words_of("user username login logname account acct owner ruser userid")
_NO_NAMES = words_of(
    "not is was are has had have with from for and or to by in on of at as does did can could will who that agent name "
    "id unknown logged login session account error failed failure succeeded success successful attempt attempts denied "
    "locked timeout page form request process service services manager data space mode"
)
_SCHEMES = frozenset(("basic", "bearer", "digest", "token", "negotiate", "ntlm", "apikey"))


class Anonymiser:
    """Replaces in texts and documents under one key.

    :param key: 16 to 64 bytes; two imports under one key agree.
    """

    def __init__(self, key: bytes):
        self._pseudonyms = Pseudonyms(key)
        self._words = _Remembered(self._word)
        self._kinds = _Remembered(kind_of_word)
        whole = {USER: self.user, SECRET: self.secret, QUERY: self.query, HOST: self.host}
        self._whole = {kind: _Remembered(function).__getitem__ for kind, function in whole.items()}
        self._user = self._whole[USER]
        self._members = _Remembered(self._member)
        self._words_of: dict[str, list[str]] = {}  # of members
        self._seen: list[str] = []
        self._seen_members: list[str] = []
        self._replaced: list[str] = []

    # --- documents --------------------------------------------------------------------------------

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with every value in it replaced, whatever its depth; names of fields stay."""
        replaced = {name: self._field(name, value) for name, value in document.items()}
        if document.get("method") == "CONNECT":  # a proxy's; the path is a host
            replaced["path"] = self.host(str(document.get("path", "")))
        return replaced

    def _field(self, path: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._field(f"{path}.{name}", inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._field(path, each) for each in value]
        kind = kind_of_field(path)
        if isinstance(value, str):
            return self._whole[kind](value) if kind else self.text(value)
        if kind in (USER, SECRET) and isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._pseudonyms.number(int(value))
        return value

    def user(self, text: str) -> str:
        """The name of a user, whole; an address as the name keeps its form."""
        core = text.rstrip(".:!?")
        replaced = core if _PAIRED.search(core) else self._words[core]
        return (replaced if replaced != core else self._pseudonyms.word(core)) + text[len(core) :]

    def secret(self, text: str) -> str:
        """A password, token or cookie, whole."""
        return self._pseudonyms.value(text)

    def host(self, text: str) -> str:
        """The name of a host, label by label but for a common last one; or an address."""
        replaced = text if _PAIRED.search(text) else self._words[text]
        if replaced != text:
            return replaced
        name, colon, port = text.partition(":")
        return self._labels(name) + colon + port

    def query(self, text: str) -> str:
        """A query string, with or without its question mark; parts without a name are values."""
        return "".join(part if part in "?&;" else self._parameter(part) for part in re.split(r"([?&;])", text) if part)

    # --- texts ------------------------------------------------------------------------------------

    def lines(self, text: str) -> str:
        """Many documents as lines of JSON with no escapes but of quotes, their times first and their messages last."""
        if ',","' in text or ',"}' in text:  # a value that ends with a comma; then members cannot be told that easily
            return "".join(f"{as_json(self.document(json.loads(line)))}\n" for line in text.split("\n")[:-1])
        documents = [line.partition(',"message":"') for line in text.split("\n")]
        members = "\n".join([head[_TIME_ENDS:] for head, _, _ in documents]).split(',"')
        self._seen_members += members
        heads = ',"'.join(map(self._members.__getitem__, members)).split("\n")
        messages = self.text("\n".join([message for _, _, message in documents])).split("\n")
        return "\n".join(
            [
                f"{head[:_TIME_ENDS]}{changed}{between}{message}"
                for (head, between, _), changed, message in zip(documents, heads, messages, strict=True)
            ]
        )

    def _member(self, member: str) -> str:
        """A member of a document and what is behind it: name":"value" or name":number, and perhaps }."""
        name, colon, value = member.partition('":"')
        text, quote, behind = value.rpartition('"')
        if not quote:
            return member
        before = len(self._seen)
        kind = kind_of_field(name)
        replaced = self._whole[kind](text) if kind else self.text(text)
        self._words_of[member] = self._seen[before:]
        del self._seen[before:]
        return f"{name}{colon}{replaced}{quote}{behind}"

    def text(self, text: str) -> str:
        """Any text, also of many lines: as long as it was."""
        pieces = _SEPARATOR.split(text)
        words = pieces[::2]
        kinds = list(map(self._kinds.__getitem__, words))
        changed = list(map(self._words.__getitem__, words))
        self._seen += words
        gaps = pieces[1::2]
        places = [place for place, kind in enumerate(kinds) if kind]
        if " : " in text or ("<" in text and "@" in text):
            more = [place for place, gap in enumerate(gaps) if gap == " : " or "<" in gap]
            places = sorted({*places, *more})
        for place, word in self._by_context(places, words, gaps, kinds) if places else ():
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
                    while name < last and words[name] in ("invalid", "user", "illegal"):
                        name += 1
                    if name < last and words[name + 1] == "from":
                        yield name, self._user(words[name])
                elif kind == "scheme" and len(words[place + 1]) >= 8 and gap.isspace():
                    yield place + 1, self.secret(words[place + 1])
                elif kind == "connect" and _PORT.search(words[place + 1]):
                    yield place + 1, self.host(words[place + 1])
                elif kind == "folder" and set(gap) == {"\\"}:
                    yield place + 1, self._user(words[place + 1])
            if kind == "command" and place > 1 and gaps[place - 1].startswith(")") and gaps[place - 2].endswith("("):
                yield place - 1, self._user(words[place - 1])  # (X) CMD
            elif kind == "uid" and place and gaps[place - 1] == "(" and words[place - 1]:
                yield place - 1, self._user(words[place - 1])  # X(uid=0)
            elif gap == " : " and words[place] and _begins(words, gaps, place):
                yield place, self._user(words[place])  # sudo: X : TTY=
            elif "<" in gap and place < last and "@" in words[place + 1]:
                yield from self._display_name(place, words, gaps)

    def _assigned(self, kind: str, place: int, words: list[str], gaps: list[str]) -> Iterable[tuple[int, str]]:
        """The value behind a name, in quotes or not."""
        word, gap, value = words[place], gaps[place], words[place + 1]
        replace = self._whole[kind]
        field = gap.startswith('":"')
        if (field and '"' in gap[3:]) or (kind in (QUERY, HOST) and not field):
            return
        if not (field or _ASSIGNED.fullmatch(gap)) or (word[-1:] == "=" and gap.isspace()):
            return
        if word[-1:] not in (":", "=") and ":" not in gap and "=" not in gap:
            named = word.lower() in _NAMED_BEHIND and not gap.strip(" \t\"'([")
            if named and value and "=" not in value and value.lower() not in _NO_NAMES:
                yield place + 1, self._user(value)
            return
        if value.lower() in _SCHEMES and place + 2 < len(words) and gaps[place + 1].isspace():
            yield place + 2, replace(words[place + 2])
            return
        if "{" in gap:  # an object: what is no name in it
            for further in range(place + 1, len(words)):
                behind = gaps[further] if further < len(gaps) else "}"
                if '":' not in behind:
                    yield further, replace(words[further])
                if "}" in behind or "\n" in behind:
                    return
        quote = ['"'] if field else _QUOTES.search(gap[::-1])
        end = place + 1
        while quote and end < len(gaps) and quote[0] not in gaps[end] and "\n" not in gaps[end]:
            end += 1
        pieces = [value, *(piece for each in range(place + 1, end) for piece in (gaps[each], words[each + 1]))]
        before = gap[3:] if field else ""
        replaced = replace("".join([before, *pieces, gaps[end].partition('"')[0] if field and end < len(gaps) else ""]))
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
            yield further, f"{name}={self.secret(value)}" if equals else self.secret(name)

    def _display_name(self, place: int, words: list[str], gaps: list[str]) -> Iterable[tuple[int, str]]:
        """Alice Smith <alice@...>: up to three words that begin with a capital, or what stands in quotes."""
        quoted = '"' in gaps[place] or "'" in gaps[place]
        for before in range(place, max(place - (8 if quoted else 3), -1), -1):
            if not words[before] or not (quoted or words[before][0].isupper()):
                return
            yield before, self._pseudonyms.word(words[before])
            if before and ("\n" in gaps[before - 1] or not gaps[before - 1].isspace()):
                return

    # --- words ------------------------------------------------------------------------------------

    def _word(self, word: str) -> str:
        """What a word becomes wherever it stands."""
        if word.isdigit() or (word.isalpha() and len(word) < _LEAST_RANDOM):
            return word
        first, *rest = _PARTS.split(word)
        result = [self._pair(first)]
        for mark, part in zip(rest[::2], rest[1::2], strict=True):
            result += (mark, self._parameter(part) if "=" in part else self._pair(part))
        return "".join(result)

    def _parameter(self, part: str) -> str:
        name, equals, value = part.partition("=")
        return f"{name}={self._pseudonyms.value(value)}" if equals else self._pseudonyms.value(part)

    def _pair(self, text: str) -> str:
        """name=value, whose name tells whether the value is anybody's; or something else."""
        parts = text.split("=")
        for number, name in enumerate(parts[:-1]):
            kind = USER if name == "name" else kind_of_field(name)
            if kind and kind != QUERY:
                value = "=".join(parts[number + 1 :])
                return "=".join([*map(self._place, parts[:number]), name, value and self._whole[kind](value)])
        return "=".join(map(self._place, parts))

    def _place(self, text: str) -> str:
        """An address of the web, a path, or a word without a slash."""
        if "/" not in text:
            return self._mail(text) if "@" in text or "%40" in text else self._shape(text)
        scheme, separator, rest = text.partition("://")
        if separator:
            authority, slash, path = rest.partition("/")
            return f"{scheme}://{self._authority(authority)}{slash}{self._path(path)}"
        if _BROWSER.fullmatch(text):
            return text
        return self._path(text)

    def _authority(self, text: str) -> str:
        login, at, host = text.rpartition("@")
        name, colon, port = host.partition(":")
        return f"{self._pseudonyms.word(login)}{at}{self.host(name) if name else ''}{colon}{port}"

    def _path(self, path: str) -> str:
        result: list[str] = []
        before = ""
        for segment in path.split("/"):
            if segment[:1] == "~" or (before in _HOMES and segment and not _PAGES.fullmatch(segment)):
                result.append(self._user(segment))
            elif before in _RESETS and len(segment) >= 8:
                result.append(self.secret(segment))
            elif "@" in segment or "%40" in segment:
                result.append(self._mail(segment))
            else:
                result.append(self._shape(segment))
            before = segment
        return "/".join(result)

    def _mail(self, text: str) -> str:
        """E-mail addresses: what is before the @ down to the last of :=, and the domain behind it."""
        at = "@" if "@" in text else "%40"
        pieces = text.split(at)
        for number in range(len(pieces) - 1):
            local = pieces[number]
            begin = max(local.rfind(sign) for sign in ":=,;") + 1
            domain = _DOMAIN.match(pieces[number + 1])
            if domain and begin < len(local):
                pieces[number] = local[:begin] + self._pseudonyms.value(local[begin:])
                pieces[number + 1] = self._labels(domain[0]) + pieces[number + 1][domain.end() :]
        return at.join(pieces) if at.join(pieces) != text else self._shape(text)

    def _shape(self, text: str) -> str:
        """What can be told by its form: addresses of networks and devices, ids, long random texts, hosts."""
        if text.count(":") >= 2:
            found = self._ipv6(text)
            if found is not None:
                return found
        if "." in text:
            host = text.rstrip(".:")
            name = _PORT.sub("", host)
            last = name.rpartition(".")[2].lower()
            known = last in _DOMAINS or (last in _AMBIGUOUS_DOMAINS and name.count(".") > 1 and name.islower())
            if known and _DOMAIN.fullmatch(name):
                return self._labels(name) + text[len(name) :]
        if text.count("-") >= 3 or text.count(".") >= 2 or text.count(":") >= 5 or text.count("_") >= 3:
            text = _HARDWARE.sub(lambda each: self._pseudonyms.hexadecimal(each[0]), text)
            text = _ADDRESS.sub(self._ipv4, text)
        if len(text) >= _LEAST_RANDOM:
            text = _RANDOM.sub(self._random, text)
        return text

    def _labels(self, host: str) -> str:
        """Each label of a name; the last one stays where it is common."""
        labels = host.split(".")
        kept = labels.pop() if len(labels) > 1 and labels[-1].lower() in _DOMAINS | _AMBIGUOUS_DOMAINS else None
        replaced = [self._shape(label) if _ADDRESS.search(label) else self._pseudonyms.word(label) for label in labels]
        return ".".join([*replaced, kept] if kept is not None else replaced)

    def _ipv4(self, found: re.Match[str]) -> str:
        octets = [found[1], *found.groups()[2:]]
        if any(int(octet) > 255 for octet in octets):
            return found[0]
        return found[2].join(self._pseudonyms.octets(octets))

    def _ipv6(self, text: str) -> str | None:
        """An IPv6 address, perhaps with a name before it and a port or a full stop behind it; None if it is none."""
        begin, end = 0, len(text.rstrip("."))
        for _ in range(4):
            try:
                return text[:begin] + self._pseudonyms.address(text[begin:end]) + text[end:]
            except ValueError:
                pass
            head, colon, tail = text[begin:end].rpartition(":")
            if colon and (not tail or (tail.isdigit() and ":" in head)):
                end -= len(tail) + 1
            elif ":" in text[begin:end]:
                begin = text.index(":", begin) + 1
            else:
                break
        return None

    def _random(self, found: re.Match[str]) -> str:
        digits = sum(map(str.isdigit, found[0]))
        if digits < _MOST_DIGITS or len(found[0]) - digits < _MOST_DIGITS:
            return found[0]
        if all(character in _HEX for character in found[0].lower()):
            return self._pseudonyms.hexadecimal(found[0])
        return self._pseudonyms.word(found[0])

    # --- what stays -------------------------------------------------------------------------------

    def kept(self) -> Counter[str]:
        """How often each word stood in the texts since the last call and stayed; of changed words, their parts."""
        counts = Counter(self._seen)
        for member, count in Counter(self._seen_members).items():
            for word in self._words_of.get(member, ()):
                counts[word] += count
        counts.subtract(Counter(self._replaced))
        self._seen, self._seen_members, self._replaced = [], [], []
        if len(self._words_of) > _CACHED:
            self._words_of.clear()
            self._members.clear()
        result: Counter[str] = Counter()
        for word, count in counts.items():
            if count <= 0 or not word:
                continue
            replaced = self._words[word]
            if replaced == word:
                result[word.strip(".:=!?-*#/")] += count
            else:
                remains = set(_INNER.split(replaced))
                for part in {each for each in _INNER.split(word) if each in remains}:
                    result[part] += count
        del result[""]
        return result


_HEX = frozenset("0123456789abcdef")
_INNER = re.compile(r"[^\w.-]+")


def _begins(words: list[str], gaps: list[str], place: int) -> bool:
    """Whether a word is the first one of a text, a line or a field, or comes after sudo."""
    return (
        place == 0
        or "\n" in gaps[place - 1]
        or words[place - 1] == "sudo:"
        or gaps[place - 1].rstrip().endswith('":"')
        or (place == 1 and not words[0] and gaps[0].isspace())
    )


class _Remembered(dict[str, str]):
    """A function's answers; forgets them when there are many."""

    def __init__(self, function: Callable[[str], str]):
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> str:
        answer = self._function(word)
        # Numbers are many, and quickly answered.
        if not word.isdigit():
            if len(self) >= _CACHED:
                self.clear()
            self[word] = answer
        return answer
