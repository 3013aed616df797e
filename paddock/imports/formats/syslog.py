"""Syslog: RFC 5424, RFC 3164 with or without its priority, and rsyslog's files with ISO times.

RFC 3164 has neither year nor zone; the clock knows both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.text import readable

_PRIORITY = r"(?:<(?P<priority>\d{1,3})>)"
_RFC5424 = re.compile(
    rf"{_PRIORITY}\d{{1,2}} (?P<time>\S+) (?P<host>\S+) (?P<program>\S+) (?P<pid>\S+) (?P<msgid>\S+) "
    r'(?P<data>-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: \ufeff?(?P<message>.*))?'
)
_RFC3164 = re.compile(
    rf"{_PRIORITY}?(?P<time>[A-Z][a-z]{{2}} [ \d]?\d(?: \d{{4}})? \d\d:\d\d:\d\d(?:\.\d{{1,9}})?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?P<host>\S+) (?:(?P<program>[^\s:\[]{1,64})(?:\[(?P<pid>[^\]]*)\])?: ?)?(?P<message>.*)"
)
_WITH_YEAR = re.compile(r"([A-Z][a-z]{2}) +(\d+) (\d{4}) (.*)")
SEVERITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
FACILITIES = (
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "security", "console", "solaris-cron", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
    "local7",
)  # fmt: skip


class Syslog(LineFormat):
    """Both RFCs, told apart line by line."""

    name = "syslog"
    glued = re.compile(
        r"(?<=[^\s\"'(\[=:,<])(?=(?:<\d{1,3}>)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d "
        r"\d\d:\d\d:\d\d \S+ [^\s:\[]{1,64}(?:\[\d+\])?: )"
    )

    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        found = _RFC5424.fullmatch(line) or _RFC3164.fullmatch(line)
        if not found:
            raise BadLine("not the format syslog")
        parts = {name: text for name, text in found.groupdict().items() if text not in (None, "", "-")}
        if "time" not in parts:
            raise BadLine("no time")
        with_year = _WITH_YEAR.fullmatch(parts["time"])
        time = f"{with_year[2]:0>2} {with_year[1]} {with_year[3]} {with_year[4]}" if with_year else parts["time"]
        document: dict[str, Any] = {}
        if "host" in parts:
            document["host"] = readable(parts["host"])
        if "priority" in parts:
            facility, severity = divmod(int(parts["priority"]), 8)
            if facility >= len(FACILITIES):
                raise BadLine("a priority above 191")
            document |= {"severity": SEVERITIES[severity], "facility": FACILITIES[facility]}
        if "program" in parts:
            # As rsyslog's property of this name has it.
            process = f"[{parts['pid']}]" if "pid" in parts else ""
            document["syslogtag"] = readable(f"{parts['program']}{process}:")
        if "msgid" in parts:
            document["msgid"] = parts["msgid"]
        if "data" in parts:
            document["structured_data"] = readable(parts["data"])
        document["message"] = readable(parts.get("message", ""))
        return self.time(time), document
