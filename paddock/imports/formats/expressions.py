"""Formats that the user describes: a regular expression with named groups, or grok.

Grok is %{PATTERN:field} and %{PATTERN:field:int}, compiled to a regular expression; its patterns have the names that
Logstash gave them, the expressions are this project's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paddock.errors import UsageError, nearest
from paddock.imports.formats.base import BadLine, LineFormat
from paddock.imports.formats.json_lines import TIME_FIELDS
from paddock.imports.text import readable
from paddock.imports.times import Clock

_IPV4 = r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d])"
_IPV6 = r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})?(?:%\w+)?(?![\w:])"

PATTERNS = {
    # texts
    "WORD": r"\b\w+\b",
    "NOTSPACE": r"\S+",
    "SPACE": r"\s*",
    "DATA": r".*?",
    "GREEDYDATA": r".*",
    "QUOTEDSTRING": r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'",
    "QS": "%{QUOTEDSTRING}",
    "UUID": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    # numbers
    "INT": r"[+-]?\d+",
    "POSINT": r"\b[1-9]\d*\b",
    "NONNEGINT": r"\b\d+\b",
    "BASE10NUM": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)",
    "NUMBER": "%{BASE10NUM}",
    "BASE16NUM": r"[+-]?(?:0[xX])?[0-9A-Fa-f]+",
    # networks
    "IPV4": _IPV4,
    "IPV6": _IPV6,
    "IP": "%{IPV6}|%{IPV4}",
    "MAC": r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}",
    "HOSTNAME": r"\b[A-Za-z0-9](?:[\w-]{0,62})(?:\.[A-Za-z0-9][\w-]{0,62})*\.?",
    "IPORHOST": "%{IP}|%{HOSTNAME}",
    "HOSTPORT": "%{IPORHOST}:%{POSINT}",
    # users
    "USERNAME": r"[\w.-]+",
    "USER": "%{USERNAME}",
    "EMAILLOCALPART": r"[\w.!#$%&'*+/=?^`{|}~-]+",
    "EMAILADDRESS": "%{EMAILLOCALPART}@%{HOSTNAME}",
    "HTTPDUSER": "%{EMAILADDRESS}|%{USER}",
    # paths and addresses of the web
    "UNIXPATH": r"(?:/[^\s/:]*)+",
    "WINPATH": r"(?:[A-Za-z]:|\\)(?:\\[^\\?*\s]*)+",
    "PATH": "%{UNIXPATH}|%{WINPATH}",
    "URIPROTO": r"[A-Za-z][\w+.-]*",
    "URIHOST": "%{IPORHOST}(?::%{POSINT})?",
    "URIPATH": r"(?:/[^\s?#]*)+",
    "URIPARAM": r"\?[^\s#]*",
    "URIPATHPARAM": "%{URIPATH}(?:%{URIPARAM})?",
    "URI": "%{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATHPARAM})?",
    # times
    "MONTH": r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b",
    "MONTHNUM": r"0?[1-9]|1[0-2]",
    "MONTHDAY": r"0[1-9]|[12]\d|3[01]|[1-9]",
    "DAY": r"\b(?:Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)\b",
    "YEAR": r"\d\d(?:\d\d)?",
    "HOUR": r"2[0-3]|[01]?\d",
    "MINUTE": r"[0-5]\d",
    "SECOND": r"(?:[0-5]?\d|60)(?:[:.,]\d+)?",
    "TIME": "(?<!\\d)%{HOUR}:%{MINUTE}(?::%{SECOND})(?!\\d)",
    "DATE_US": "%{MONTHNUM}[/-]%{MONTHDAY}[/-]%{YEAR}",
    "DATE_EU": "%{MONTHDAY}[./-]%{MONTHNUM}[./-]%{YEAR}",
    "DATE": "%{DATE_US}|%{DATE_EU}",
    "DATESTAMP": "%{DATE}[- ]%{TIME}",
    "ISO8601_TIMEZONE": r"Z|[+-]%{HOUR}(?::?%{MINUTE})?",
    "TIMESTAMP_ISO8601": r"\d{4}[-/]%{MONTHNUM}[-/]%{MONTHDAY}[T ]%{HOUR}:?%{MINUTE}(?::?%{SECOND})?"
    r"(?:%{ISO8601_TIMEZONE})?",
    "HTTPDATE": r"%{MONTHDAY}/%{MONTH}/\d{4}:%{TIME} [+-]\d{4}",
    "SYSLOGTIMESTAMP": "%{MONTH} +%{MONTHDAY} %{TIME}",
    # programs
    "LOGLEVEL": r"(?i:trace|debug|info(?:rmation)?|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|severe|alert"
    r"|emerg(?:ency)?)",
    "PROG": r"[!-Z\\^-~]+",
    "SYSLOGPROG": r"%{PROG:program}(?:\[%{POSINT:pid}\])?",
    "SYSLOGHOST": "%{IPORHOST}",
    "SYSLOGFACILITY": "<%{NONNEGINT:facility}\\.%{NONNEGINT:priority}>",
    "SYSLOGBASE": "%{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:host} %{SYSLOGPROG}:",
    "JAVACLASS": r"(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*",
    "JAVAFILE": r"[\w$. -]+",
    "JAVAMETHOD": r"<init>|<clinit>|[A-Za-z_$][\w$]*",
    # whole lines
    "COMMONAPACHELOG": r"%{IPORHOST:clientip} %{HTTPDUSER:ident} %{HTTPDUSER:auth} \[%{HTTPDATE:timestamp}\] "
    r'"(?:%{WORD:method} %{NOTSPACE:request}(?: HTTP/%{NUMBER:http_version})?|%{DATA:raw_request})" '
    r"(?:-|%{NONNEGINT:status:int}) (?:-|%{NONNEGINT:bytes:int})",
    "COMBINEDAPACHELOG": "%{COMMONAPACHELOG} %{QS:referrer} %{QS:user_agent}",
}


_REFERENCE = re.compile(r"%\{([^{}:]*)(?::([^{}:]+))?(?::([^{}:]+))?\}")
_INLINE = re.compile(r"\(\?P?<(?![=!])([^>]*)>")
_DEEPEST = 20  # patterns within patterns; more is a circle
_TYPES: dict[str, Callable[[str], Any]] = {
    "int": int, "long": int, "float": float, "double": float, "string": str, "keyword": str,
}  # fmt: skip


@dataclass(frozen=True)
class Capture:
    """What becomes of a group: the field's name, and its value from the text (ValueError if it is none)."""

    field: str
    convert: Callable[[str], Any]


def compile_grok(expression: str) -> tuple[str, dict[str, Capture]]:
    """A regular expression for Python, and what its groups are.

    :raises UsageError: if a pattern or type is unknown.
    """
    captures: dict[str, Capture] = {}

    def group(field: str, convert: Callable[[str], Any]) -> str:
        name = f"group{len(captures)}"  # fields may have dots and @, groups may not
        captures[name] = Capture(_plain(field), convert)
        return name

    def expanded(reference: re.Match[str], depth: int) -> str:
        name, field, kind = reference.groups()
        if name not in PATTERNS:
            near = nearest(name, PATTERNS)
            guess = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(sorted(PATTERNS))}."
            raise UsageError(f"There is no grok pattern '{name}'.{guess}")
        if kind is not None and kind not in _TYPES:
            raise UsageError(f"'%{{{name}:{field}:{kind}}}' has the type '{kind}': use int, float or string.")
        if depth > _DEEPEST:
            raise UsageError(f"The grok pattern '{name}' contains itself.")
        opening = f"(?P<{group(field, _TYPES[kind or 'string'])}>" if field else "(?:"
        return f"{opening}{_REFERENCE.sub(lambda inner: expanded(inner, depth + 1), PATTERNS[name])})"

    named = _INLINE.sub(lambda inline: f"(?P<{group(inline[1], str)}>", expression)
    source = _REFERENCE.sub(lambda reference: expanded(reference, 0), named)
    if "%{" in source:
        raise UsageError(f"The grok expression '{expression}' has a '%{{' that is no %{{PATTERN:field}}.")
    return source, captures


def _plain(field: str) -> str:
    """[http][status] as http.status."""
    return ".".join(re.findall(r"\[([^\[\]]+)\]", field)) if field.startswith("[") else field


class NamedGroups(LineFormat):
    """A document per line; every group that matched something is a field.

    :param pattern: must match the whole line.
    :param captures: group -> the field and what its text becomes.
    :param time_field: the field with the time; it becomes @timestamp.
    """

    def __init__(
        self, name: str, clock: Clock, pattern: re.Pattern[str], captures: Mapping[str, Capture], time_field: str
    ):
        super().__init__(name, clock)
        self._pattern = pattern
        self._captures = captures
        self._time_field = time_field

    def event(self, line: str) -> tuple[int, dict[str, Any]]:
        """See LineFormat."""
        found = self._pattern.fullmatch(line)
        if not found:
            raise BadLine(f"does not match the {self.name} pattern")
        document: dict[str, Any] = {}
        time = None
        for group, text in found.groupdict().items():
            if text in (None, ""):
                continue
            capture = self._captures[group]
            if capture.field == self._time_field:
                time = text
                continue
            try:
                # The first of several groups for one field that matched holds.
                document.setdefault(capture.field, capture.convert(readable(text)))
            except ValueError:
                raise BadLine(f"'{capture.field}' is no number") from None
        if time is None:
            raise BadLine("no time")
        return self.time(time), document


def regex_format(expression: str, clock: Clock, time_field: str | None) -> NamedGroups:
    """The format of a regular expression with named groups.

    :raises UsageError: if it is none, or has no group for the time.
    """
    # Other languages write (?<name>...).
    python = re.sub(r"\(\?<(?![=!])", "(?P<", expression)
    pattern = _compiled(python, "regex", expression)
    captures = {group: Capture(group, str) for group in pattern.groupindex}
    return NamedGroups("regex", clock, pattern, captures, _time_field(captures, time_field, "(?P<timestamp>...)"))


def grok_format(expression: str, clock: Clock, time_field: str | None) -> NamedGroups:
    """The format of a grok expression.

    :raises UsageError: if it cannot be understood, or has no field for the time.
    """
    source, captures = compile_grok(expression)
    pattern = _compiled(source, "grok", expression)
    wanted = _time_field(captures, time_field, "%{TIMESTAMP_ISO8601:timestamp}")
    return NamedGroups("grok", clock, pattern, captures, wanted)


def _compiled(source: str, kind: str, expression: str) -> re.Pattern[str]:
    try:
        return re.compile(source)
    except re.error as error:
        raise UsageError(f"The {kind} expression '{expression}' cannot be compiled: {error}.") from None


def _time_field(captures: Mapping[str, Capture], wanted: str | None, example: str) -> str:
    fields = {capture.field for capture in captures.values()}
    names = TIME_FIELDS if wanted is None else (wanted,)
    found = next((name for name in names if name in fields), None)
    if found is None:
        looked_for = f"'{wanted}'" if wanted is not None else "a time"
        raise UsageError(
            f"The expression has no field for {looked_for} among {', '.join(sorted(fields)) or 'none'}: "
            f"add one such as {example}, or name it with --time-field."
        )
    return found
