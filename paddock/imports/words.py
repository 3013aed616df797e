"""Words that are somebody's: by their form (addresses, hosts, ids, paths, name=value), or by the name of a field.

Names tell what a value is (a user, a secret, a query, a host), judged by every part of them; other words tell what
their neighbours are. No rule takes more than linear time.
"""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from paddock.imports.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from paddock.imports.alike import Marks

USER, SECRET, QUERY, HOST = "user", "secret", "query", "host"
NUMERIC = "numeric"  # a field whose numbers are nobody's
NAMED = "named"  # a user, perhaps, who is behind the word without a sign
# As cutting.py numbers them.
KINDS = ("", USER, SECRET, QUERY, HOST, "uid", "command", "for", NAMED, "scheme", "cookie", "folder", "connect",
         NUMERIC)  # fmt: skip


def words_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_USERS = words_of(
    "user users username userid login loginname logname account acct accountname owner ruser email mail emailaddress "
    "realname nickname nick author customer customerid member person ident displayname fullname firstname lastname "
    "givenname surname middlename maidenname screenname auth uname phone phones telephone msisdn ugi principal street "
    "postcode postalcode zipcode iban birthday birthdate birth dob cardnumber creditcard "
    "cardholder cvv cvc ssn passport taxid address addresses"
)
_SECRETS = words_of(
    "password passwd pwd pass passphrase passcode secret secrets token tokens apikey authorization cookie cookies "
    "session sessionid sid sessid jsessionid phpsessid credential credentials signature otp csrf xsrf csrftoken jwt "
    "bearer accesskey privatekey secretkey authtoken accesstoken refreshtoken idtoken"
)
_PAIRS = {
    ("display", "name"): USER, ("full", "name"): USER, ("first", "name"): USER, ("last", "name"): USER,
    ("given", "name"): USER, ("real", "name"): USER, ("family", "name"): USER, ("screen", "name"): USER,
    ("middle", "name"): USER, ("maiden", "name"): USER, ("mobile", "number"): USER, ("card", "number"): USER,
    ("credit", "card"): USER, ("postal", "code"): USER, ("zip", "code"): USER, ("tax", "id"): USER,
    ("api", "key"): SECRET, ("access", "key"): SECRET, ("private", "key"): SECRET, ("secret", "key"): SECRET,
    ("session", "id"): SECRET, ("sess", "id"): SECRET,
}  # fmt: skip
_ENTRIES = frozenset(("uid", "cn", "sn"))  # of a directory
_QUERIES = frozenset(("query", "query_string", "querystring", "args", "params", "parameters"))
_HOSTS = frozenset(
    ("host", "hostname", "rhost", "client", "clientip", "clienthost", "remotehost", "remoteaddr", "servername", "vhost",
     "peer", "xforwardedfor")
)  # fmt: skip
HOMES = frozenset(("home", "Users", "users", "user", "staging", "u", "accounts", "customers", "members", "profiles"))
RESETS = frozenset(("reset", "password-reset", "reset-password", "reset_password", "verify", "confirm", "activate",
                     "activation", "invite", "unsubscribe", "token", "tokens", "session", "sessions"))  # fmt: skip
# Pages below /user that are nobody's.
PAGES = re.compile(
    r"(?:log|sign)[_-]?(?:in|out|up|on|off)|new|edit|me|list|search|index|register|settings|profile|password|view"
    r"|all|add|delete|update|create|.*\.\w{2,5}",
    re.IGNORECASE,
)
# Last labels by which the name of a host is told; those that are words as well need two labels before them.
DOMAINS = words_of(
    "com net org edu gov mil biz example local localdomain internal intern lan corp arpa cloud online site shop dev de "
    "uk fr nl dk fi ch eu us ca au jp cn ru br kr tw hk sg pl cz gr pt ro hu tr ua il za mx ar cl nz ie vn th"
)
AMBIGUOUS_DOMAINS = words_of("info name test home app it es se no at be in id my me is io ai co")
# "user X" names somebody, "user not found" nobody.
NAMED_BEHIND = words_of("user username login logname account acct owner ruser userid")
NO_NAMES = words_of(
    "not is was are has had have with from for and or to by in on of at as does did can could will who that agent name "
    "id unknown logged login session account error failed failure succeeded success successful attempt attempts denied "
    "locked timeout number page form request process service services manager data space mode"
)
SCHEMES = frozenset(("basic", "bearer", "digest", "token", "negotiate", "ntlm", "apikey"))
_CONTEXTS = {
    "for": "for", "basic": "scheme", "bearer": "scheme", "cookie": "cookie", "set-cookie": "cookie", "users": "folder",
    "connect": "connect", "cmd": "command", "list": "command", "replace": "command", "end": "command",
}  # fmt: skip


LONGEST_PATH = 200  # characters of a field's path that are looked at


def kind_of_field(path: str) -> str:
    """USER, SECRET, QUERY, HOST or nothing.

    :param path: the names from the outside in, with dots between them; parts may also be divided by - and _ or as in
        displayName. Those of Java begin with -D. Of a long path the innermost names count.
    """
    return _kind_of_field(path[-LONGEST_PATH:].removeprefix("-D"))


@lru_cache(maxsize=10_000)
def _kind_of_field(path: str) -> str:
    last = path.rpartition(".")[2].lower()
    if last in _QUERIES:
        return QUERY
    parts = [part.lower() for part in _PART.findall(path)]
    pairs = list(itertools.pairwise(parts))
    if ("user", "agent") in pairs or "useragent" in parts:
        return ""
    if path != "PWD" and not _SECRETS.isdisjoint(parts):  # PWD is a folder
        return SECRET
    for pair in pairs:
        if pair in _PAIRS:
            return _PAIRS[pair]
    if not _USERS.isdisjoint(parts):
        return USER
    return HOST if "".join(_PART.findall(last)).lower() in _HOSTS or pairs[-1:] == [("host", "name")] else ""


def kind_of_word(word: str) -> str:
    """What a word of a text says of its neighbours: a kind of field, NAMED, or one of the contexts; nothing mostly."""
    if word.lower() in NAMED_BEHIND:
        return NAMED
    name = word.rstrip(":=")
    if not name or len(name) > 64 or not name[-1].isalpha() or "=" in name or "/" in name:
        return "uid" if name.startswith("uid=") else ""
    return _CONTEXTS.get(name.lower()) or kind_of_field(name)


_remembered = lru_cache(maxsize=200)  # values may be long
_MOST_DIGITS, _LEAST_RANDOM = 4, 24
_PLAIN = re.compile(rf"\d*|[A-Za-z0-9]{{,{_LEAST_RANDOM - 1}}}[.:]?", re.ASCII)
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
# Behind an @, where an object of Java has a hexadecimal number.
_HOST_ALONE = re.compile(r"(?![0-9a-f]+$)[A-Za-z][\w-]*")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)*")
PORT = re.compile(r"(?<=[A-Za-z]):\d{2,5}$")
_HEX = frozenset("0123456789abcdef")


class Words:
    """What words become, wherever they stand, and the values that are somebody's as a whole.

    :param pseudonyms: what is put in their place; or marks, which say where it would be.
    :ivar whole: by the kind of a value, what becomes of it; remembered.
    """

    def __init__(self, pseudonyms: Pseudonyms | Marks):
        self._pseudonyms = pseudonyms
        kinds = {USER: self._user, SECRET: self._secret, QUERY: self._query, HOST: self._host}
        self.whole = {kind: _remembered(function) for kind, function in kinds.items()}
        self._label = _remembered(self._label_of)
        self.user, self.secret, self.host = self.whole[USER], self.whole[SECRET], self.whole[HOST]

    def _user(self, text: str) -> str:
        """The name of a user, whole; an address as the name keeps its form."""
        core = text.rstrip(".:!?")
        replaced = core if _PAIRED.search(core) else self.word(core)
        return (replaced if replaced != core else self._pseudonyms.word(core)) + text[len(core) :]

    def _secret(self, text: str) -> str:
        """A password, token or cookie, whole."""
        return self._pseudonyms.value(text)

    def _host(self, text: str) -> str:
        """The name of a host, label by label but for a common last one; or an address."""
        replaced = text if _PAIRED.search(text) else self.word(text)
        if replaced != text:
            return replaced
        name, colon, port = text.partition(":")
        return self._labels(name) + colon + port

    def _query(self, text: str) -> str:
        """A query string, with or without its question mark; parts without a name are values."""
        return "".join(part if part in "?&;" else self._parameter(part) for part in re.split(r"([?&;])", text) if part)

    def word(self, word: str) -> str:
        """What a word becomes wherever it stands."""
        if _PLAIN.fullmatch(word):
            return word
        address = _ADDRESS.fullmatch(word)  # the most frequent ones that become something else
        if address:
            return self._ipv4(address)
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
        if "=" not in text:
            return self._place(text)
        parts = text.split("=")
        for number, name in enumerate(parts[:-1]):
            kind = USER if name == "name" or (name in _ENTRIES and not parts[-1].isdigit()) else kind_of_field(name)
            if kind and kind != QUERY:
                value = "=".join(parts[number + 1 :])
                return "=".join([*map(self._place, parts[:number]), name, value and self.whole[kind](value)])
        return "=".join(map(self._place, parts))

    def _place(self, text: str) -> str:
        """An address of the web, a path, or a word without a slash."""
        name, _, value = text.partition(":")
        if value and name and value[0] not in ":/" and value not in NO_NAMES:  # user:X
            kind = kind_of_field(name) if name.isascii() and name[-1].isalpha() else ""
            if kind in (USER, SECRET):
                return f"{name}:{self._pseudonyms.value(value)}"
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
            if segment[:1] == "~" or (before in HOMES and segment and not PAGES.fullmatch(segment)):
                result.append(self.user(segment))
            elif before in RESETS and len(segment) >= 8:
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
            domain = _DOMAIN.match(pieces[number + 1]) or _HOST_ALONE.match(pieces[number + 1])
            if domain and begin < len(local):
                pieces[number] = local[:begin] + self._pseudonyms.value(local[begin:])
                pieces[number + 1] = self._labels(domain[0]) + pieces[number + 1][domain.end() :]
        return at.join(pieces) if at.join(pieces) != text else self._shape(text)

    def _shape(self, text: str) -> str:
        """What can be told by its form: addresses of networks and devices, ids, long random texts, hosts."""
        if "eyJ" in text:
            text = _DOTTED.sub(self._json_web_token, text)
        if "::" in text or text.count(":") >= 6:
            found = self._ipv6(text)
            if found is not None:
                return found
        if "." in text:
            host = text.rstrip(".:")
            name = PORT.sub("", host) if ":" in host else host
            last = name.rpartition(".")[2].lower()
            known = last in DOMAINS or (last in AMBIGUOUS_DOMAINS and name.count(".") > 1 and name.islower())
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
        kept = labels.pop() if len(labels) > 1 and labels[-1].lower() in DOMAINS | AMBIGUOUS_DOMAINS else None
        replaced = [*map(self._label, labels)]
        return ".".join([*replaced, kept] if kept is not None else replaced)

    def _label_of(self, label: str) -> str:
        return self._shape(label) if _ADDRESS.search(label) else self._pseudonyms.word(label)

    def _ipv4(self, found: re.Match[str]) -> str:
        octets = [found[1], *found.groups()[2:]]
        if max(map(int, octets)) > 255:
            return found[0]
        return found[2].join(self._pseudonyms.octets(octets))

    def _ipv6(self, text: str) -> str | None:
        """An IPv6 address, perhaps with a name before it and a port or a full stop behind it; None if it is none."""
        begin, end = 0, len(text.rstrip("."))
        for _ in range(4):
            if "::" in text[begin:end] or text.count(":", begin, end) in (6, 7):
                with suppress(ValueError):
                    return text[:begin] + self._pseudonyms.address(text[begin:end]) + text[end:]
            head, colon, tail = text[begin:end].rpartition(":")
            if colon and (not tail or (tail.isdigit() and ":" in head)):
                end -= len(tail) + 1
            elif ":" in text[begin:end]:
                begin = text.index(":", begin) + 1
            else:
                break
        return None

    def _json_web_token(self, found: re.Match[str]) -> str:
        before, begin, rest = found[0].partition("eyJ")
        return before + self._pseudonyms.word(begin + rest) if "." in rest else found[0]

    def _random(self, found: re.Match[str]) -> str:
        digits = sum(map(str.isdigit, found[0]))
        if digits < _MOST_DIGITS or len(found[0]) - digits < _MOST_DIGITS:
            return found[0]
        if all(character in _HEX for character in found[0].lower()):
            return self._pseudonyms.hexadecimal(found[0])
        return self._pseudonyms.word(found[0])
