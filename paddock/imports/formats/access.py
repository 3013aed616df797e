"""Access logs: Apache's common and combined formats and nginx's, which is Apache's combined with perhaps more behind.

Documents have the fields of the track apache; what the log shows as "-" is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.text import unescaped
from paddock.imports.times import Clock

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_COMMON = rf"(\S+) (\S+) (.*?) \[([^\]]+)\] {_QUOTED} (\d{{3}}|-) (\d+|-)"
_REFERRER_AND_AGENT = rf" {_QUOTED} {_QUOTED}"
_ENDINGS = {"apache-common": "", "apache-combined": _REFERRER_AND_AGENT, "nginx": rf"{_REFERRER_AND_AGENT}(?: (.*))?"}
# A virtual host before the client, as Apache's vhost_combined has it.
_VHOST = r"(?:([A-Za-z][\w.-]*:\d{1,5}) (?=[\d.]{7,15} |[\dA-Fa-f]*:))?"
_SECOND_TIME = re.compile(r"\[\d\d/[A-Z][a-z]{2}/\d{4}:")
_REQUEST = re.compile(r"([A-Za-z][\w-]*) (\S+)(?: HTTP/(\d(?:\.\d)?))?", re.ASCII)


class AccessLog(LineFormat):
    """One of the three, by its name.

    :ivar with_message: whether documents have the request as their ``message``, which the track apache has no need of.
    """

    glued = re.compile(r"(?<=[A-Za-z)\"])(?=(?:\d{1,3}\.){3}\d{1,3} \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:)")

    def __init__(self, name: str, clock: Clock):
        super().__init__(clock)
        self.name = name
        self.with_message = False
        self._line = re.compile(_VHOST + _COMMON + _ENDINGS[name])

    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        found = self._line.fullmatch(line)
        if not found:
            raise BadLine(f"not the format {self.name}")
        vhost, client, ident, user, time, request, status, size, *rest = found.groups()
        document: dict[str, Any] = {"clientip": client}
        if user not in ("-", ""):
            document["user"] = unescaped(user)
        document |= _request(unescaped(request))
        if status != "-":
            document["status"] = int(status)
        if size != "-":
            document["bytes"] = int(size)
        referrer, agent, extra = (*rest, None, None, None)[:3]
        if referrer not in (None, "-", ""):
            document["referrer"] = unescaped(referrer)
        if (version := document.pop("http_version", None)) is not None:
            document["http_version"] = version  # in the order of the track's own documents
        if agent not in (None, "-", ""):
            document["user_agent"] = unescaped(agent)
        if ident not in ("-", ""):
            document["ident"] = unescaped(ident)
        if vhost:
            document["vhost"] = vhost
        if extra and _SECOND_TIME.search(extra):
            raise BadLine("two records on one line")
        if extra:
            document["extra"] = unescaped(extra)
        if self.with_message:
            document["message"] = unescaped(request)
        return self.time(time), document


def _request(text: str) -> dict[str, str]:
    """Method, path, query and version; what is no HTTP request (a scanner's bytes, say) is kept as the path."""
    if text in ("-", ""):
        return {}
    found = _REQUEST.fullmatch(text)
    if not found:
        return {"path": text}
    method, target, version = found.groups()
    path, mark, query = target.partition("?")
    parts = {"method": method, "path": path}
    if mark and query:
        parts["query"] = query
    if version:
        parts["http_version"] = version
    return parts
