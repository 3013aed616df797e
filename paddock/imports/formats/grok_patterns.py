"""The grok patterns that are known, by the names that Logstash gave them; the expressions are this project's own."""

from __future__ import annotations

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
