"""Formats of lines of text: access logs, syslog, log4j, and a table of those with one layout each.

Documents have the fields of the format's track; what the log shows as "-" is left out, never null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.text import readable, unescaped
from paddock.imports.times import Clock

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_COMMON = rf"(\S+) (\S+) (.*?) \[([^\[\]]+)\] {_QUOTED} (\d{{3}}|-) (\d+|-)"
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


_PRIORITY = r"(?:<(?P<priority>\d{1,3})>)"
_RFC5424 = re.compile(
    rf"{_PRIORITY}\d{{1,2}} (?P<time>\S+) (?P<host>\S+) (?P<program>\S+) (?P<pid>\S+) (?P<msgid>\S+) "
    r'(?P<data>-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: \ufeff?(?P<message>.*))?'
)
_RFC3164 = re.compile(
    rf"{_PRIORITY}?(?P<time>[A-Z][a-z]{{2}} [ \d]?\d(?: \d{{4}})? \d\d:\d\d:\d\d(?:\.\d{{1,9}})?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) "
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
        if "program" not in parts and parts.get("host", "").isdigit():  # MySQL's thread
            raise BadLine("not the format syslog")
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


_TIME = (
    r"\[?(?P<time>(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d/\d\d/\d\d |\d\d[- ][A-Z][a-z]{2}[- ]\d{4} )"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC| GMT)?)\]?"
)
_LEVELS = "TRACE|DEBUG|INFO|WARNING|WARN|ERROR|FATAL|SEVERE|CONFIG|FINEST|FINER|FINE|CRITICAL|NOTICE|AUDIT"
_BRACKETS = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_LOGGER = r"[\w$][\w$.\-/<>]*(?:[:(]\d+\)?)?"
_HEAD = re.compile(
    rf"\s*(?:-\s+)?(?:(?!(?i:{_LEVELS})\s)(?P<name>\w[\w.]*) - )?(?:(?P<thread>{_BRACKETS})\s*)?"
    rf"(?P<bracket>\[)?(?P<level>(?i:{_LEVELS}))\s*(?(bracket)\])(?![\w.])\s*"
    rf"(?:(?P<pid>\d+)\s+---\s*)?"
    rf"(?P<brackets>(?:{_BRACKETS}\s*){{0,2}})"
    rf"(?:-\s+|(?P<logger>{_LOGGER})\s*(?:\s-|:)(?:\s+|$)|(?P<method>(?:[a-z_]\w*\.){{2}}[\w$.<>]+)\s+)?"
    r"(?P<message>.*)",
    re.DOTALL,
)
# Kafka: [%d] %p %m (%c)
_KAFKA = re.compile(rf"\s*(?P<level>{_LEVELS})\s+(?P<message>(?:\S.*)?) \((?P<logger>[\w$]+(?:\.[\w$]+)+)\)", re.DOTALL)
# Elasticsearch: [%d][%-5p][%-25c] [%node] %m
_ELASTICSEARCH = re.compile(
    rf"\[(?P<level>{_LEVELS})\s*\]\[(?P<logger>[^\[\]]+)\] \[(?P<node>[^\[\]]+)\] ?(?P<message>.*)", re.DOTALL
)
_ONE_BRACKET = re.compile(_BRACKETS)
_PRODUCT = ("logger", "node")
TRACE_LINE = re.compile(
    r"\s+at [\w$.<]|\s*Caused by: |\s*Suppressed: |\s*\.\.\. \d+ (?:more|common frames)"
    r"|(?:Exception in thread |[\w$]+(?:\.[\w$]+)*(?:Exception|Error|Throwable)\b)|Traceback \(most recent"
)


class Log4j(LineFormat):
    """Events that begin with a time and have a level."""

    name = "log4j"
    start = re.compile(rf"{_TIME}(?=[\s\[]|$)")
    glued = re.compile(rf"(?<=[^\s\"'(\[=:,])(?={_TIME}\s*(?:-\s*)?(?:{_BRACKETS}\s*)?\[?(?:{_LEVELS})\b)")

    def event(self, line: str, more: Sequence[str]) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        time = self.start.match(line)
        if not time:
            raise BadLine("no time at the beginning")
        product = None
        if line.startswith("["):
            product = _ELASTICSEARCH.fullmatch(line, time.end()) or _KAFKA.fullmatch(line, time.end())
        head = product or _HEAD.fullmatch(line, time.end())
        if not head:
            raise BadLine("no level after the time")
        milliseconds = self.time(time["time"])
        if product:
            names = {name: readable(text.strip()) for name, text in product.groupdict().items() if name in _PRODUCT}
            message = product["message"]
        else:
            names, message = _names(head)
        document: dict[str, Any] = {"level": head["level"].upper(), **names}
        of_trace = next((number for number, text in enumerate(more) if TRACE_LINE.match(text)), len(more))
        document["message"] = readable("\n".join([message, *more[:of_trace]]))
        if more[of_trace:]:
            document["stack_trace"] = readable("\n".join(more[of_trace:]))
        return milliseconds, document


def _names(head: re.Match[str]) -> tuple[dict[str, Any], str]:
    """Thread, logger and process, wherever the layout has them, and the message."""
    brackets = [readable(each[1:-1].strip()) for each in _ONE_BRACKET.findall(head["brackets"])]
    names: dict[str, Any] = {}
    thread = head["thread"][1:-1].strip() if head["thread"] else (brackets.pop() if brackets else "")
    if thread:
        names["thread"] = readable(thread)
    if any(brackets):
        names["application"] = "] [".join(brackets)
    if head["pid"]:
        names["pid"] = int(head["pid"])
    logger = head["logger"] or head["method"] or head["name"]
    if logger:
        names["logger"] = logger
    return names, head["message"]


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
    # time="2024-05-01T12:34:56Z" level=info msg="text" id=7; other programs in Go leave the first quotes out
    "containerd": Layout(
        re.compile(
            rf'time="?(?P<time>{_ISO})"? level=(?P<level>\w+) msg=(?:"(?P<message>(?:[^"\\]|\\.)*)"|(?P<word>[^\s"]+))'
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
            rf"(?:(?P<file>(?=\S+\.log)\S+) )?(?P<time>{_ISO}) (?P<pid>\d+) (?P<level>[A-Z]{{4,8}}) (?P<logger>[\w.]+) "
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
            r"(?P<level>[VDIWEFA]) (?P<logger>[^:]*(?::(?! )[^:]*)*): (?P<message>.*)"
        ),
        {"pid": int, "level": _ANDROID_LEVELS.__getitem__, "logger": str.strip},
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
            value = self._layout.convert.get(name, str)(readable(text))
            if value != "":
                document["message" if name == "word" else name] = value
        document["message"] = document.pop("message", "")
        return self.time(found["time"]), document
