"""Names that tell what a value is: a user, a secret, a query or a host; judged by every part of a name."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

USER, SECRET, QUERY, HOST = "user", "secret", "query", "host"


def words_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_USERS = words_of(
    "user users username userid login loginname logname account acct accountname owner ruser email mail emailaddress "
    "realname nickname nick author customer customerid member person ident displayname fullname firstname lastname "
    "givenname surname screenname auth uname phone"
)
_SECRETS = words_of(
    "password passwd pwd pass passphrase passcode secret secrets token tokens apikey authorization cookie cookies "
    "session sessionid sid sessid jsessionid phpsessid credential credentials signature otp csrf xsrf csrftoken jwt "
    "bearer accesskey privatekey secretkey authtoken accesstoken refreshtoken idtoken"
)
_PAIRS = {
    ("display", "name"): USER, ("full", "name"): USER, ("first", "name"): USER, ("last", "name"): USER,
    ("given", "name"): USER, ("real", "name"): USER, ("family", "name"): USER, ("screen", "name"): USER,
    ("api", "key"): SECRET, ("access", "key"): SECRET, ("private", "key"): SECRET, ("secret", "key"): SECRET,
    ("session", "id"): SECRET, ("sess", "id"): SECRET,
}  # fmt: skip
_QUERIES = frozenset(("query", "query_string", "querystring", "args", "params", "parameters"))
_HOSTS = frozenset(
    ("host", "hostname", "rhost", "client", "clientip", "clienthost", "remotehost", "remoteaddr", "servername", "vhost",
     "peer", "xforwardedfor")
)  # fmt: skip
_CONTEXTS = {
    "for": "for", "basic": "scheme", "bearer": "scheme", "cookie": "cookie", "set-cookie": "cookie", "users": "folder",
    "connect": "connect", "cmd": "command", "list": "command", "replace": "command", "end": "command",
}  # fmt: skip


@lru_cache(maxsize=10_000)
def kind_of_field(path: str) -> str:
    """USER, SECRET, QUERY, HOST or nothing.

    :param path: the names from the outside in, with dots between them; parts may also be divided by - and _ or as in
        displayName.
    """
    if len(path) > 200:
        return ""
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
    """What a word of a text says of its neighbours: a kind of field, or one of the contexts; nothing mostly."""
    name = word.rstrip(":=")
    if not name or len(name) > 64 or not name[-1].isalpha() or "=" in name or "/" in name:
        return "uid" if name.startswith("uid=") else ""
    return _CONTEXTS.get(name.lower()) or kind_of_field(name)
