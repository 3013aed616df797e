"""Makes corpora of a team's own logs, and query logs of their slow logs: see docs/corpora.md and docs/replay.md.

``paddock.imports.run.import_corpus`` and ``paddock.imports.queries.import_queries`` do it. What is asked of an import
stands here, so that the command line need not load what does it.
"""

from dataclasses import dataclass
from typing import Annotated

DEFAULT_ZONE = "UTC"


@dataclass(frozen=True)
class ImportOptions:
    """The options of ``./inv corpus.import``, each with what its help says.

    :param files: names, or patterns such as access.log*; "-" is standard input.
    """

    files: tuple[str, ...] = ()
    name: Annotated[str, "what the corpus is called"] = ""
    format: Annotated[
        str, "auto, or one of docs/corpora.md: apache-combined, syslog, log4j, json-lines, regex=..., grok=..."
    ] = "auto"
    track: Annotated[str | None, "the track whose documents these are to be (from the format)"] = None
    max_bad: Annotated[str, "how many bad lines there may be, a number or a percentage (1%)"] = "1%"
    anonymise: Annotated[bool, "replace addresses, hosts, user names, e-mail addresses, secrets and query values"] = (
        False
    )
    key_file: Annotated[
        str | None, "the key of --anonymise, so that imports agree; otherwise a new one that nobody keeps"
    ] = None
    audit: Annotated[str | None, "a file for all that --anonymise left as it was, to be looked through"] = None
    shift_to_now: Annotated[bool, "move all times by one constant, so that the last one is now"] = False
    year: Annotated[
        int | None, "of the first line, for formats without years; otherwise the file's modification time tells"
    ] = None
    zone: Annotated[str, "of times without one: Europe/Berlin or +02:00 (UTC)"] = DEFAULT_ZONE
    time_field: Annotated[str | None, "which field of JSON, regex or grok is the time"] = None
    time_format: Annotated[str | None, "epoch, epoch-ms or a strptime format, where the time is in no usual form"] = (
        None
    )
    force: Annotated[bool, "replace the corpus that was imported under this name"] = False


@dataclass(frozen=True)
class QueryImportOptions:
    """The options of ``./inv queries.import``, each with what its help says.

    :param files: names, or patterns such as node*_index_search_slowlog.json; "-" is standard input.
    """

    files: tuple[str, ...] = ()
    output: Annotated[str, "the query log to write: queries.jsonl"] = ""
    index: Annotated[
        tuple[str, ...], "only searches of these indices or data streams, names or patterns: 'access-*,web' (all)"
    ] = ()
    zone: Annotated[str, "of the times in the text form, which have none: Europe/Berlin or +02:00 (UTC)"] = DEFAULT_ZONE
    force: Annotated[bool, "replace a query log that is there"] = False
