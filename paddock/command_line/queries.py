"""./inv queries.import: recorded searches for a replay."""

from __future__ import annotations

import dataclasses
import sys

from invoke import Collection, Context

from paddock.command_line.sentences import command, helps, takes, task
from paddock.console import print_result
from paddock.imports import QueryImportOptions


@task(
    positional=["file"],
    help=helps(
        QueryImportOptions,
        file="a search slow log, text or JSON, plain, .gz, .bz2 or .zst; a pattern in quotes; - is standard input; "
        "further ones after --",
    ),
)
@command
@takes(QueryImportOptions)
def queries_import(context: Context, file: str, options: QueryImportOptions) -> None:
    """Make a query log of search slow logs, for a replay.

    Examples:
      ./inv queries.import logs/prod_index_search_slowlog.json --output queries.jsonl
      ./inv queries.import 'node*/*_index_search_slowlog.json*' --output queries.jsonl --index 'access-*'
      ./inv queries.import prod_index_search_slowlog.log --output queries.jsonl --zone Europe/Berlin
      ./inv race --corpus our-web --challenge replay --params replay_factor:60,query_log:queries.jsonl
    """
    from paddock.imports.queries import import_queries

    # Invoke has what follows -- as one text, in which a space may belong to a name.
    further = sys.argv[sys.argv.index("--") + 1 :] if context.remainder else []
    print_result(import_queries(dataclasses.replace(options, files=(file, *further))).render())


queries = Collection("queries")
queries.add_task(queries_import, "import")
