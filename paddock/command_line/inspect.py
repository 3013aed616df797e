"""./inv corpus.inspect: what a corpus or log file is like."""

from __future__ import annotations

from invoke import Context, task

from paddock.command_line.sentences import command, whole_number


@task(
    positional=["file"],
    help={
        "file": "a log file or corpus, plain or compressed (gzip, bzip2, zstd); - is standard input",
        "lines": "how many lines at most (1,000,000); 0: all",
        "field": "inspect only the text of this field of JSON documents: message",
        "combined": "inspect documents of an access log as combined log lines",
        "json": "for machines",
    },
)
@command
def corpus_inspect(
    _context: Context,
    file: str,
    lines: str = "1000000",
    field: str = "",
    combined: bool = False,
    json: bool = False,
) -> None:
    """Measure what a corpus or a log file is like.

    Examples:
      ./inv corpus.inspect /var/log/apache2/access.log.1.gz
      ./inv corpus.inspect corpus.json --field message --lines 10000
    """
    import dataclasses

    from paddock.console import print_result, progress
    from paddock.inspection import inspect, render
    from paddock.tables import as_json

    most = whole_number("--lines", lines, least=0) or 0
    with progress(f"Inspecting {file}", most) as advance:
        found = inspect(file, most, field, combined, advance)
    print_result(as_json(dataclasses.asdict(found)) if json else render(found))
