"""Logs of log4j, logback and java.util.logging: time, level, thread, logger and message in the usual layouts.

A line that does not begin with a time belongs to the event before it: to its stack trace from the first line on that
looks like one, otherwise to its message. The layouts that are known:

2024-05-01 12:34:56,789 INFO  [main] org.example.Service - text       log4j, also with the thread first (logback)
2024-05-01 12:34:56,789 INFO org.example.Service: text                Hadoop; Spark with 24/05/01 and no fraction
2024-05-01T12:34:56.789Z  INFO 7 --- [app] [main] o.e.Service : text  Spring Boot
[2024-05-01T12:34:56,789][INFO ][o.e.n.Node] [node-1] text            Elasticsearch
[2024-05-01 12:34:56,789] INFO text (org.example.Service)             Kafka
01-May-2024 12:34:56.789 INFO [main] org.example.Service.run text     Tomcat
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.text import readable

_TIME = (
    r"\[?(?P<time>(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d/\d\d/\d\d |\d\d[- ][A-Z][a-z]{2}[- ]\d{4} )"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC| GMT)?)\]?"
)
_LEVELS = "TRACE|DEBUG|INFO|WARNING|WARN|ERROR|FATAL|SEVERE|CONFIG|FINEST|FINER|FINE|CRITICAL|NOTICE|AUDIT"
_BRACKETS = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_LOGGER = r"[\w$][\w$.\-/<>]*(?:[:(]\d+\)?)?"
_HEAD = re.compile(
    rf"\s*(?:-\s+)?(?:(?P<thread>{_BRACKETS})\s*)?"
    rf"(?P<bracket>\[)?(?P<level>(?i:{_LEVELS}))\s*(?(bracket)\])(?![\w.])\s*"
    rf"(?:(?P<pid>\d+)\s+---\s*)?"
    rf"(?P<brackets>(?:{_BRACKETS}\s*){{0,2}})"
    rf"(?:-\s+|(?P<logger>{_LOGGER})\s*(?:\s-|:)(?:\s+|$)|(?P<method>(?:[a-z_]\w*\.){{2,}}[\w$.<>]+)\s+)?"
    r"(?P<message>.*)",
    re.DOTALL,
)
# Kafka: [%d] %p %m (%c)
_KAFKA = re.compile(rf"\s*(?P<level>{_LEVELS})\s+(?P<message>.*) \((?P<logger>[\w$]+(?:\.[\w$]+)+)\)", re.DOTALL)
# Elasticsearch: [%d][%-5p][%-25c] [%node] %m
_ELASTICSEARCH = re.compile(
    rf"\[(?P<level>{_LEVELS})\s*\]\[(?P<logger>[^\[\]]+?)\s*\] \[(?P<node>[^\[\]]+)\] ?(?P<message>.*)", re.DOTALL
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
    glued = re.compile(rf"(?<=[^\s\"'(\[=:,])(?={_TIME}\s*-?\s*(?:{_BRACKETS}\s*)?\[?(?:{_LEVELS})\b)")

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
    logger = head["logger"] or head["method"]
    if logger:
        names["logger"] = logger
    return names, head["message"]
