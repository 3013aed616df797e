"""./inv bench.corpus: Paddock's generator beside others."""

from __future__ import annotations

from invoke import Collection, Context

from paddock.command_line.sentences import command, task, whole_number


@task(
    help={
        "rounds": "how often each generator runs; a round takes up to a minute for each kind of documents",
        "peers": "generators to compare with: polars,elastic,orjson,json,mimesis,faker (all that can be had)",
        "seed": "decides the documents and the order",
        "into": "put the tables into this Markdown page, between its marks (docs/corpus-speed.md)",
        "json": "for machines",
    }
)
@command
def bench_corpus(
    _context: Context,
    rounds: str = "5",
    peers: str = "polars,elastic,orjson,json,mimesis,faker",
    seed: str = "1",
    into: str = "",
    json: bool = False,
) -> None:
    """Compare the speed of making documents with others.

    Examples:
      ./inv bench.corpus --rounds 3 --peers polars,orjson
    """
    from pathlib import Path

    from benchmarks.catalogue import PEERS
    from benchmarks.report import as_values, inserted, markdown, render
    from benchmarks.run import RECIPES, benchmark
    from paddock.console import as_json, print_result, progress
    from paddock.errors import FileError, unknown
    from paddock.files import replacing

    names = [name.strip() for name in peers.split(",") if name.strip()]
    for name in names:
        if name not in PEERS:
            raise unknown("generator", name, PEERS, "./inv bench.corpus --help")
    count, used_seed = whole_number("--rounds", rounds) or 0, whole_number("--seed", seed, least=0) or 0
    page = Path(into)
    if into:
        try:
            inserted(page.read_text(encoding="utf-8"), "")  # before minutes are spent
        except OSError as error:
            raise FileError(page, f"cannot be read ({error.strerror}).") from None
        except ValueError as error:
            raise FileError(page, f"{error}.") from None
    with progress("Comparing generators", count * len(RECIPES)) as advance:
        result = benchmark(names, count, used_seed, advance=advance)
    if into:
        with replacing(page) as temporary:
            temporary.write_text(inserted(page.read_text(encoding="utf-8"), markdown(result)), encoding="utf-8")
    print_result(as_json(as_values(result)) if json else render(result))


bench = Collection("bench")
bench.add_task(bench_corpus, "corpus")
