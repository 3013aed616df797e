"""What is replaced in an anonymised import, wherever it stands: addresses, e-mail addresses, user names, query values.

Found by their form, so the rules would rather replace a word too many than one too few. What has no form (a customer's
name in a sentence) is not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from paddock.imports.pseudonyms import Pseudonyms

_CACHED = 100_000  # replacements remembered per rule; then it begins anew, so that memory stays constant

_IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d]|\.\d)", re.ASCII)
# Chrome/131.0.0.0 is a version.
_IPV4_NO_VERSION = re.compile(r"(?<![\d.])(?<![A-Za-z]/)\d{1,3}(?:\.\d{1,3}){3}(?![\d]|\.\d)", re.ASCII)
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?![\w:])", re.ASCII)
_EMAIL = re.compile(r"[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@\"]+(?=@)")
_PARAMETER = re.compile(r"(?<=[?&;])([\w.~\[\]%+-]+=)([^&;#\s\"'<>]+)")
# user bob, user=bob, user 'bob', for bob from, /home/bob
_USER = re.compile(
    r"((?<![?&;])\b(?:user|username|user_name|userid|user_id|login|logname|account|owner|acct|ruser)\b\s*[=:]?\s*[\"'(\[]?)"
    r"([\w.@\\-]+)"
    r"|(\bfor (?:invalid user )?)([\w.@\\-]+)(?= from\b)"
    r"|((?:/home/|/Users/)|\b[A-Z]:\\Users\\)([\w.-]+)",
    re.IGNORECASE,
)
_USER_FIELDS = frozenset(
    ("user", "username", "user_name", "userid", "user_id", "login", "account", "owner", "email", "e-mail", "mail",
     "remote_user", "auth", "ident")
)  # fmt: skip
_QUERY_FIELDS = frozenset(("query", "query_string", "querystring", "args", "params", "parameters"))


class Anonymiser:
    """Replaces in texts and documents under one key.

    :param key: 16 to 64 bytes; two imports under one key agree.
    """

    def __init__(self, key: bytes):
        self._pseudonyms = Pseudonyms(key)
        self.text = remembered(self._text)
        self.user = remembered(self._user)
        self.query = remembered(self._query)
        self.user_agent = remembered(self._user_agent)
        self.address = remembered(self._pseudonyms.address)
        self._word = remembered(self._pseudonyms.word)
        self._value = remembered(self._pseudonyms.query_value)

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with every text in it replaced, whatever its depth; keys stay."""
        return {name: self._field(name, value) for name, value in document.items()}

    def _field(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            last = name.rpartition(".")[2].lower()
            if last in _USER_FIELDS:
                return self.user(value)
            if last in _QUERY_FIELDS:
                return self.query(value)
            if last == "user_agent":
                return self.user_agent(value)
            return self.text(value)
        if isinstance(value, dict):
            # {"user": {"name": "bob"}} names a user as well as {"user": "bob"} does.
            whose = name.lower() in _USER_FIELDS
            return {
                key: self._field("user" if whose and key.lower() in ("name", "id", "full_name") else key, inner)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._field(name, each) for each in value]
        return value

    def _user(self, text: str) -> str:
        replaced = self._text(text)
        # An e-mail address or an IP address as the name keeps its form.
        return replaced if replaced != text else self._word(text)

    def _query(self, text: str) -> str:
        """A query string, with or without its question mark; parts without a name are values."""
        return "".join(part if part in "?&;" else self._query_part(part) for part in re.split(r"([?&;])", text) if part)

    def _query_part(self, part: str) -> str:
        name, equals, value = part.partition("=")
        return f"{name}={self._value(value)}" if equals else self._value(part)

    def _user_agent(self, text: str) -> str:
        return self._replaced(text, _IPV4_NO_VERSION)

    def _text(self, text: str) -> str:
        return self._replaced(text, _IPV4)

    def _replaced(self, text: str, ipv4: re.Pattern[str]) -> str:
        """The rules, each only where a character that it needs is there."""
        if "=" in text:
            text = _PARAMETER.sub(lambda found: found[1] + self._value(found[2]), text)
        if "@" in text or "%40" in text:
            text = _CREDENTIALS.sub(lambda found: self._word(found[0]), text)
            text = _EMAIL.sub(lambda found: self._value(found[0]), text)
        text = _USER.sub(self._user_in_text, text)
        # Once each: an IPv6 address may end in an IPv4 one.
        if text.count(":") >= 2:
            return self._addresses(text, ipv4)
        return ipv4.sub(self._address_in_text, text) if text.count(".") >= 3 else text

    def _addresses(self, text: str, ipv4: re.Pattern[str]) -> str:
        """Both kinds of addresses, in text that may have IPv6 ones."""
        pieces, at = [], 0
        for found in _IPV6.finditer(text):
            replaced = self._address_in_text(found)
            if replaced != found[0]:
                pieces += [ipv4.sub(self._address_in_text, text[at : found.start()]), replaced]
                at = found.end()
        return "".join([*pieces, ipv4.sub(self._address_in_text, text[at:])])

    def _user_in_text(self, found: re.Match[str]) -> str:
        before, name = next((found[at], found[at + 1]) for at in (1, 3, 5) if found[at] is not None)
        # What the other rules find in this place they replace by its own form.
        if _IPV4.fullmatch(name) or _EMAIL.fullmatch(name):
            return found[0]
        return before + self._word(name)

    def _address_in_text(self, found: re.Match[str]) -> str:
        try:
            return self.address(found[0])
        except ValueError:
            return found[0]


def remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """The function with a memory of a bounded number of answers."""
    known: dict[str, str] = {}

    def answer(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = function(text)
            if len(known) >= _CACHED:
                known.clear()
            known[text] = found
        return found

    return answer
