"""Formats whose lines have one layout each: a table of regular expressions with named groups, a row per format.

A group is a field of the document; ``time`` becomes @timestamp. What the log shows as "-" or leaves empty is left out.
Documents are those of the track logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.text import readable
from paddock.imports.times import Clock

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:\d\d)?"
_ANDROID_LEVELS = {"V": "VERBOSE", "D": "DEBUG", "I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL", "A": "ASSERT"}


def _unquoted(text: str) -> str:
    r"""Go's quoted text: \" is a quote, \\ a backslash, \n the end of a line."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


@dataclass(frozen=True)
class Layout:
    """One format's lines.

    :param line: matches the whole line.
    :param convert: what becomes of a group's text, where it does not stay what it is.
    """

    line: re.Pattern[str]
    convert: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)


LAYOUTS = {
    # 2024-05-01T12:34:56.789012345Z stdout F text
    "kubernetes-cri": Layout(
        re.compile(rf"(?P<time>{_ISO}) (?P<stream>stdout|stderr) (?P<logtag>[PF](?::\w+)*) (?P<message>.*)")
    ),
    # time="2024-05-01T12:34:56Z" level=info msg="text" id=7
    "containerd": Layout(
        re.compile(
            rf'time="(?P<time>{_ISO})" level=(?P<level>\w+) msg=(?:"(?P<message>(?:[^"\\]|\\.)*)"|(?P<word>[^\s"]+))'
            r"(?: (?P<fields>.*))?"
        ),
        {"message": _unquoted, "level": str.upper},
    ),
    # Feb  6 12:14:14 lb haproxy[14389]: 192.0.2.2:33317 [06/Feb/2009:12:14:14.655] in app/s1 10/0/30/69/109 200 27 ...
    "haproxy": Layout(
        re.compile(
            r"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\S+) (?P<host>\S+) haproxy\[(?P<pid>\d+)\]: "
            r"(?P<client>\S+):(?P<client_port>\d+) "
            r"\[(?P<time>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3})\] (?P<frontend>\S+) "
            r"(?P<backend>[^\s/]+)/(?P<server>\S+) (?P<timers>[\d/+-]+) (?:(?P<status>\d{3}|-1) )?(?P<bytes>\+?\d+) "
            r"(?P<message>.*)"
        ),
        {"pid": int, "client_port": int, "status": int, "bytes": int},
    ),
    # [Sun Dec 04 04:47:44 2005] [error] [client 192.0.2.7] text, and with module, process and thread since 2.4
    "apache-error": Layout(
        re.compile(
            r"\[(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? \d{4})\] "
            r"\[(?:(?P<module>\w*):)?(?P<level>\w+)\] (?:\[pid (?P<pid>\d+)(?::tid (?P<thread>\d+))?\] )?"
            r"(?:\[client (?P<client>[^\s\]]+)\] )?(?P<message>.*)"
        ),
        {"level": str.upper, "pid": int},
    ),
    # nova-api.log 2017-05-16 00:00:00.008 25746 INFO nova.osapi [req-1 u p - - -] text
    "openstack": Layout(
        re.compile(
            rf"(?:(?P<file>\S+\.log\S*) )?(?P<time>{_ISO}) (?P<pid>\d+) (?P<level>[A-Z]{{4,8}}) (?P<logger>[\w.]+) "
            r"\[(?P<request>[^\]]*)\] (?P<message>.*)"
        ),
        {"pid": int},
    ),
    # 081109 203615 148 INFO dfs.DataNode$PacketResponder: text
    "hdfs": Layout(
        re.compile(r"(?P<time>\d{6} \d{6}) (?P<thread>\d+) (?P<level>[A-Z]{4,5}) (?P<logger>[\w.$]+): (?P<message>.*)")
    ),
    # 03-17 16:13:38.811  1702  2395 D WindowManager: text
    "android": Layout(
        re.compile(
            r"(?P<time>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,6}) +(?P<pid>\d+) +(?P<thread>\d+) "
            r"(?P<level>[VDIWEFA]) (?P<logger>.*?)\s*: (?P<message>.*)"
        ),
        {"pid": int, "level": _ANDROID_LEVELS.__getitem__},
    ),
    # 2016-09-28 04:30:30, Info                  CBS    text
    "windows-cbs": Layout(
        re.compile(
            r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d), (?P<level>[A-Z][a-z]+) +(?P<logger>[A-Z]{2,8}) +(?P<message>.*)"
        ),
        {"level": str.upper},
    ),
}


class OneLayout(LineFormat):
    """A format of the table."""

    def __init__(self, name: str, clock: Clock):
        super().__init__(clock)
        self.name = name
        self._layout = LAYOUTS[name]

    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        found = self._layout.line.fullmatch(line)
        if not found:
            raise BadLine(f"not the format {self.name}")
        document: dict[str, Any] = {}
        for name, text in found.groupdict().items():
            if name == "time" or text in (None, "", "-"):
                continue
            convert = self._layout.convert.get(name, str)
            document["message" if name == "word" else name] = convert(readable(text))
        document["message"] = document.pop("message", "")
        return self.time(found["time"]), document
