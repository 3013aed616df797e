"""Formats of lines of text: what a line looks like, which fields its document has, and where its event begins.

Documents have the fields of the format's track; what the log shows as "-" is left out, never null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.imports.formats.patterns import expanded
from paddock.imports.text import unescaped

Document = dict[str, Any]
# How fields are written: text, text without spaces around it, text in capitals, a number, and text that is put together
# when all is known.
TEXT, NAME, CAPITALS, WHOLE_NUMBER, PART = "text", "name", "capitals", "number", "part"
MESSAGE, TRACE = "message", "stack_trace"

SEVERITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
FACILITIES = (
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "security", "console", "solaris-cron", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
    "local7",
)  # fmt: skip
_PRIORITIES = {
    str(number): {"severity": SEVERITIES[number % 8], "facility": FACILITIES[number // 8]} for number in range(192)
}
_ANDROID_LEVELS = {
    "V": {"level": "VERBOSE"}, "D": {"level": "DEBUG"}, "I": {"level": "INFO"}, "W": {"level": "WARN"},
    "E": {"level": "ERROR"}, "F": {"level": "FATAL"}, "A": {"level": "ASSERT"},
}  # fmt: skip
_KLOG_LEVELS = {"I": {"level": "INFO"}, "W": {"level": "WARNING"}, "E": {"level": "ERROR"}, "F": {"level": "FATAL"}}


@dataclass(frozen=True)
class Layout:
    """One format.

    :param pattern: of a whole line, as patterns.py has it; its groups are fields, but for those of the time.
    :param fields: in the order of the documents: how each is written, or what stands for its values; the message need
        not be named, it is the last one.
    :param track: whose documents these are.
    :param start: what an event begins with that may have several lines; None if each line is one.
    :param second: what a second record begins with on a line whose end was lost: a regular expression.
    :param mend: puts a document right that has parts, or of whose line something is escaped.
    :param escapes: whether a backslash means that something is.
    :param request: whether the message is only for tracks that take any fields.
    :param wrong: why a line is none: it begins as no event does, or as one.
    """

    pattern: str
    fields: Mapping[str, str | Mapping[str, Mapping[str, str]]]
    track: str = "logs"
    start: str | None = None
    second: str | None = None
    mend: Callable[[Document], Document] = field(default=lambda document: document)
    escapes: bool = False
    request: bool = False
    wrong: tuple[str, str] | None = None


# Patterns that others name.
PATTERNS = {
    "clock": r"(?P<clock>\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?",
    "zone": r"(?P<zone>Z| ?[+\-]\d\d:?[0-5]\d| UTC| GMT)",
    "clf": r"(?P<time>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:){clock}{zone}?",
    "bsd": r"(?P<time>[A-Z][a-z]{2} (?:[ \d]\d|\d) (?:\d{4} )?\d\d:){clock}",
    "zoned": r"(?P<time>\d{4}-\d\d-\d\dT\d\d:){clock}{zone}",
    "iso": r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:){clock}{zone}?",
    "log4j": r"(?P<time>(?:\d{4}[\-/]\d\d[\-/]\d\d[T ]|\d\d/\d\d/\d\d |\d\d[ \-][A-Z][a-z]{2}[ \-]\d{4} )\d\d:)"
    r"{clock}{zone}?",
    "ctime": r"(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:){clock}(?P<zone> \d{4})",
    "android": r"(?P<time>(?:\d{4}-)?\d\d-\d\d \d\d:){clock}",
    "klog": r"(?P<time>\d{4} \d\d:){clock}",
    "level": "(?i:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|SEVERE|CONFIG|FINE(?:ST|R)?|CRITICAL|NOTICE|AUDIT)",
    "inner": r"(?:[^\[\]]+|\[[^\[\]]*\])*",
    "logger": r"(?P<logger>[\w$][\w$.\-/<>]*(?:[:(]\d+\)?)?)(?:\s+-|\s*:)(?:\s+|$)",
    "kafka": r" \((?P<logger>[\w$]+(?:\.[\w$]+)+)\)$",
}
TRACE_LINE = (
    r"(?:\s+at [\w$.<]|\s*Caused by: |\s*Suppressed: |\s*\.\.\. \d+ (?:more|common frames)"
    r"|Exception in thread |Traceback \(most recent"
    r"|(?:(?!(?:Exception|Error|Throwable)(?!\w))[\w$.])+(?:Exception|Error|Throwable)(?!\w)).*"
)


# --- access logs ----------------------------------------------------------------------------------


def _unescaped(document: Document) -> Document:
    return {name: unescaped(value) if isinstance(value, str) else value for name, value in document.items()}


_ACCESS_FIELDS = {
    "clientip": TEXT, "user": TEXT, "method": TEXT, "path": TEXT, "query": TEXT, "status": WHOLE_NUMBER,
    "bytes": WHOLE_NUMBER, "referrer": TEXT, "http_version": TEXT, "user_agent": TEXT, "ident": TEXT, "vhost": TEXT,
    "extra": TEXT,
}  # fmt: skip


def _access(ending: str) -> Layout:
    # A virtual host before the client, as Apache's vhost_combined has it; a user without a name is "". What is no HTTP
    # request (a scanner's bytes, say) is kept as the path.
    pattern = (
        r"(?:(?P<vhost>[A-Za-z][\w.\-]*:\d{1,5}) (?=[\d.]{7,15} |[\dA-Fa-f]*:))?(?P<clientip>\S+) (?P<ident>\S+) "
        r'(?:(?P<user>[^ \["]+) \[|(?P<user>(?:(?! \[)[^\["])*) \[|"" \[)(?:{clf}\]|(?P<time>[^\[\]]+)\]) '
        r'"(?:(?P<message>(?P<method>[A-Za-z][\w\-]*) (?P<path>(?:[^\s"?\\]|\\.)*)(?:\?(?P<query>(?:[^\s"\\]|\\.)*))?'
        r'(?: HTTP/(?P<http_version>\d(?:\.\d)?))?)"|(?P<message>(?P<path>(?:[^"\\]|\\.)*))") '
        r"(?P<status>\d{3}|-) (?P<bytes>\d+|-)"
    )
    return Layout(
        pattern + ending,
        _ACCESS_FIELDS,
        "apache",
        second=r"(?<=[A-Za-z)\"])(?=(?:\d{1,3}\.){3}\d{1,3} \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:)",
        mend=_unescaped,
        escapes=True,
        request=True,
    )


_COMBINED = r' "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<user_agent>(?:[^"\\]|\\.)*)"'


# --- syslog ---------------------------------------------------------------------------------------


def _tagged(document: Document) -> Document:
    """RFC 5424's program and process as rsyslog's property ``syslogtag`` has them."""
    program, process = document.pop("program", ""), document.pop("process", "")
    if program:
        tag = f"{program}[{process}]:" if process else f"{program}:"
        message = document.pop(MESSAGE)
        document |= {"syslogtag": tag, MESSAGE: message}
    return document


_SYSLOG = (
    # RFC 3164, with the times of RFC 3339 as well; a number alone is MySQL's thread, no host
    r"(?:<(?P<severity>\d{1,3})>)?(?:{bsd}|{zoned}) "
    r"(?:(?P<host>\S+) (?P<syslogtag>[^\s:\[]{1,64}(?:\[[^\]]*\])?:) ?|(?!\d+ )(?P<host>\S+) )(?P<message>.*)$"
    # RFC 5424
    r"|<(?P<severity>\d{1,3})>\d{1,2} (?:{zoned} |- |(?P<time>\S+) )(?P<host>\S+) (?P<program>\S+) "
    r"(?P<process>\S+) (?P<msgid>\S+) "
    r'(?P<structured_data>-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?: (?:'
    "\ufeff"
    r")?(?P<message>.*))?"
)
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"


# --- log4j and its kin ----------------------------------------------------------------------------

_LOG4J = (
    # Elasticsearch: [%d][%-5p][%-25c] [%node] %m
    r"\[{log4j}\]\[(?P<level>{level}) *\]\[(?P<logger>[^\[\]]+)\] \[(?P<node>[^\[\]]+)\] ?(?P<message>.*)$"
    # Kafka: [%d] %p %m (%c)
    r"|\[{log4j}\]\s+(?P<level>{level})\s+(?P<message>(?:(?!{kafka}).)*){kafka}"
    # log4j, logback, Hadoop, Spring Boot, Tomcat, ZooKeeper, Python
    r"|\[?{log4j}\]?\s*(?:-\s+)?(?:(?!{level}\s)(?P<logger>\w[\w.]*) - )?"
    r"(?:\[(?P<thread>{inner})\]\s*(?:\[(?P<level>{level})\s*\]|(?P<level>{level}))(?!\w|\.)\s*"
    r"(?:(?P<pid>\d+)\s+---\s*)?(?:\[(?P<application>{inner}(?:\]\s*\[{inner})?)\]\s*)?"
    r"|(?:\[(?P<level>{level})\s*\]|(?P<level>{level}))(?!\w|\.)\s*(?:(?P<pid>\d+)\s+---\s*)?"
    r"(?:\[(?P<application>{inner})\]\s*(?=\[{inner}\]))?(?:\[(?P<thread>{inner})\]\s*)?)"
    r"(?:-\s+|{logger}|(?P<logger>(?:[a-z_]\w*\.){2}[\w$.<>]+)\s+)?(?P<message>.*)"
)


# --- the others -----------------------------------------------------------------------------------


def _unquoted(document: Document) -> Document:
    r"""Go's quoted text: \" is a quote, \\ a backslash, \n the end of a line."""
    message = re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), document[MESSAGE])
    return {**document, MESSAGE: message}


# In this order they are tried; the first of several that fit equally well is the more exact one.
LAYOUTS = {
    "apache-common": _access(""),
    "apache-combined": _access(_COMBINED),
    "nginx": _access(rf"{_COMBINED}(?: (?P<extra>(?:(?!\[{{clf}}\]).)*))?"),
    # 2024-05-01T12:34:56.789012345Z stdout F text
    "kubernetes-cri": Layout(
        r"{iso} (?P<stream>stdout|stderr) (?P<logtag>[PF](?::\w+)*) (?P<message>.*)", {"stream": TEXT, "logtag": TEXT}
    ),
    # time="2024-05-01T12:34:56Z" level=info msg="text" id=7; other programs in Go leave the first quotes out
    "containerd": Layout(
        r'time="?{iso}"? level=(?P<level>\w+) msg=(?:"(?P<message>(?:[^"\\]|\\.)*)"|(?P<message>[^\s"\\]+))'
        r"(?: (?P<fields>.*))?",
        {"level": CAPITALS, "fields": TEXT},
        mend=_unquoted,
        escapes=True,
    ),
    # Feb  6 12:14:14 lb haproxy[14389]: 192.0.2.2:33317 [06/Feb/2009:12:14:14.655] in app/s1 10/0/30/69/109 200 27 ...
    "haproxy": Layout(
        r"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\S+) (?P<host>\S+) haproxy\[(?P<pid>\d+)\]: "
        r"(?P<client>(?:(?!:\d+ )\S)+):(?P<client_port>\d+) \[{clf}\] (?P<frontend>\S+) (?P<backend>[^\s/]+)/"
        r"(?P<server>\S+) (?P<timers>[\d/+\-]+) (?:(?P<status>\d{3}|-1) (?=\+?\d+ ))?\+?(?P<bytes>\d+) (?P<message>.*)",
        {"host": TEXT, "pid": WHOLE_NUMBER, "client": TEXT, "client_port": WHOLE_NUMBER, "frontend": TEXT,
         "backend": TEXT, "server": TEXT, "timers": TEXT, "status": WHOLE_NUMBER, "bytes": WHOLE_NUMBER},
    ),
    # [Sun Dec 04 04:47:44 2005] [error] [client 192.0.2.7] text, and with module, process and thread since 2.4
    "apache-error": Layout(
        r"\[{ctime}\] \[(?:(?P<module>\w*):)?(?P<level>\w+)\] (?:\[pid (?P<pid>\d+)(?::tid (?P<thread>\d+))?\] )?"
        r"(?:\[client (?P<client>[^\s\]]+)\] )?(?P<message>.*)",
        {"module": TEXT, "level": CAPITALS, "pid": WHOLE_NUMBER, "thread": TEXT, "client": TEXT},
    ),
    # nova-api.log 2017-05-16 00:00:00.008 25746 INFO nova.osapi [req-1 u p - - -] text
    "openstack": Layout(
        r"(?:(?P<file>\S+) (?=\d{4}-))?{iso} (?P<pid>\d+) (?P<level>[A-Z]{4,8}) (?P<logger>[\w.]+) "
        r"\[(?P<request>[^\]]*)\] (?P<message>.*)",
        {"file": TEXT, "pid": WHOLE_NUMBER, "level": TEXT, "logger": TEXT, "request": TEXT},
    ),
    # 081109 203615 148 INFO dfs.DataNode$PacketResponder: text
    "hdfs": Layout(
        r"(?P<time>\d{6} \d{6}) (?P<thread>\d+) (?P<level>[A-Z]{4,5}) (?P<logger>[\w.$]+): (?P<message>.*)",
        {"thread": TEXT, "level": TEXT, "logger": TEXT},
    ),
    # 03-17 16:13:38.811  1702  2395 D WindowManager: text
    "android": Layout(
        r"{android} +(?P<pid>\d+) +(?P<thread>\d+) (?P<level>[VDIWEFA]) "
        r"(?P<logger>[^:]*(?::(?! )[^:]*)*): (?P<message>.*)",
        {"pid": WHOLE_NUMBER, "thread": TEXT, "level": _ANDROID_LEVELS, "logger": NAME},
    ),
    # 2016-09-28 04:30:30, Info                  CBS    text
    "windows-cbs": Layout(
        r"{iso}, (?P<level>[A-Z][a-z]+) +(?P<logger>[A-Z]{2,8}) +(?P<message>.*)", {"level": CAPITALS, "logger": TEXT}
    ),
    # 2024-05-01 12:34:56.789 UTC [1234] bob@shop LOG:  text, and further lines behind a tab
    "postgresql": Layout(
        r"{iso} \[(?P<pid>\d+)(?:-\d+)?\]:? (?:(?P<user>[^\s@]+)@(?P<database>\S+) )?"
        r"(?P<level>DEBUG\d?|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|STATEMENT|CONTEXT|QUERY|LOCATION): +"
        r"(?P<message>.*)",
        {"pid": WHOLE_NUMBER, "user": TEXT, "database": TEXT, "level": TEXT},
        start=r"{iso} \[\d",
    ),
    # I0501 12:34:56.789012    1234 server.go:12] text
    "klog": Layout(
        r"(?P<level>[IWEF]){klog} +(?P<thread>\d+) (?P<logger>[^\s:\]]+:\d+)\] (?P<message>.*)",
        {"level": _KLOG_LEVELS, "thread": TEXT, "logger": TEXT},
        start=r"[IWEF]{klog} ",
    ),
    # 2024-05-01 12:34:56,789 -not-actor-/PID:1234 esrally.racecontrol INFO text
    "rally": Layout(
        r"{iso} (?P<actor>(?:(?!/PID:)\S)+)/PID:(?P<pid>\d+) (?P<logger>[\w.]+) (?P<level>[A-Z]+) (?P<message>.*)",
        {"level": TEXT, "pid": WHOLE_NUMBER, "actor": TEXT, "logger": TEXT},
        start="{iso} ",
    ),
    "syslog": Layout(
        _SYSLOG,
        {"host": TEXT, "severity": _PRIORITIES, "syslogtag": TEXT, "program": PART, "process": PART, "msgid": TEXT,
         "structured_data": TEXT},
        "syslog",
        second=rf"(?<=[^\s\"'(\[=:,<])(?=(?:<\d{{1,3}}>)?(?=(?:{_MONTHS}) ){{bsd}} \S+ [^\s:\[]{{1,64}}(?:\[\d+\])?: )",
        mend=_tagged,
    ),
    "log4j": Layout(
        _LOG4J,
        {"level": CAPITALS, "thread": NAME, "application": NAME, "pid": WHOLE_NUMBER, "logger": NAME, "node": NAME},
        start=r"\[?{log4j}\]?(?=[\s\[]|$)",
        # Python tries loops again, so none is within another here (as it would be with {inner}).
        second=r"(?<=[^\s\"'(\[=:,])(?=\[?{log4j}\]?\s*(?:-\s*)?(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)?\[?{level}\b)",
        wrong=("no time at the beginning", "no level after the time"),
    ),
}  # fmt: skip


def as_expression(pattern: str) -> str:
    """A pattern as Python's own regular expression, whose groups have no names."""
    return re.sub(r"\(\?P<\w+>", "(?:", expanded(pattern, PATTERNS))
