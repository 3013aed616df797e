"""./inv tracks, challenges, cars, engines, corpora, tournaments, results, doctor: what there is and can run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invoke import Context, Exit

from paddock import numbers
from paddock.command_line.sentences import command, task
from paddock.console import as_json, print_result, stdout_has_colours, table
from paddock.errors import MachineError, UsageError, unknown
from paddock.files import gibibytes, read_record

if TYPE_CHECKING:
    from paddock.costs import Prices

# So many races and tournaments are listed unless all are asked for.
LATEST = 25


@dataclass(frozen=True)
class Listing:
    """One or more tables.

    :param sections: title, column headers, rows; headers serve as keys in JSON.
    :param closing: a sentence below the tables.
    """

    sections: Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]
    closing: str = ""


def show(listing: Listing, machine: bool) -> None:
    """Print it on stdout, as tables or as JSON."""
    if machine:
        found = {title: [dict(zip(heads, row, strict=True)) for row in rows] for title, heads, rows in listing.sections}
        print_result(as_json(found))
        return
    blocks = [f"{title}\n\n{table(headers, rows)}" for title, headers, rows in listing.sections]
    print_result("\n\n".join([*blocks, listing.closing] if listing.closing else blocks))


def _listing(name: str, function: Callable[[], Listing]) -> Any:
    """The task that prints what the function lists; the function's docstring is what --help says of it."""

    def run(_context: Context, json: bool = False) -> None:
        show(function(), json)

    run.__name__, run.__doc__ = name, function.__doc__
    return task(help={"json": "for machines"})(command(run))


def all_tracks() -> Listing:
    """List the tracks: what can be indexed."""
    from paddock.tracks import load_tracks

    rows = [[track.name, track.description] for track in load_tracks()]
    return Listing([("Tracks", ("name", "description"), rows)], "'./inv track NAME' shows the parameters of one.")


def one_track(name: str) -> Listing:
    """One track with its challenges and parameters."""
    from paddock.tracks import load_track

    found = load_track(name)
    challenges = [[one.name + (" (default)" if one.default else ""), one.description] for one in found.challenges]
    parameters = [[one.name, one.default_text, one.unit, one.description] for one in found.parameters]
    return Listing(
        [
            (f"Challenges of {name}", ("name", "description"), challenges),
            (f"Parameters of {name}", ("name", "default", "unit", "description"), parameters),
        ]
    )


def all_challenges() -> Listing:
    """List the challenges: what can be done with a track."""
    from paddock.tracks import load_tracks

    rows: dict[str, list[str]] = {}
    for each in load_tracks():
        for challenge in each.challenges:
            row = rows.setdefault(challenge.name, [challenge.name, "", challenge.description])
            row[1] = ", ".join(filter(None, [row[1], each.name]))
    return Listing([("Challenges", ("name", "tracks", "description"), list(rows.values()))])


def all_cars() -> Listing:
    """List the cars and mixins: how a node is configured."""
    from paddock.cars import load_cars

    everything = load_cars().values()
    sections = [
        (title, ("name", "description"), [[car.name, car.description] for car in everything if car.kind == kind])
        for title, kind in (("Cars", "car"), ("Mixins", "mixin"))
    ]
    return Listing(
        sections,
        "One car and any mixins make a node: --car 1gheap,index-buffer-30. './inv car NAME' shows what one sets, and "
        "what its limits come to here.",
    )


def one_node(names: str) -> Listing:
    """What cars and mixins set together, base configuration included, and what holds their limits on this machine."""
    from paddock import paths
    from paddock.cars import combine, load_cars
    from paddock.plain_values import separated
    from paddock.race.clusters import limits_on

    known, chosen = load_cars(), separated(names)
    for name in chosen:
        if name not in known:
            raise unknown("car", name, known, "./inv cars")
    if all(known[name].kind == "mixin" for name in chosen):
        variables = {variable: value for name in chosen for variable, value in known[name].variables.items()}
        closing = (
            "A mixin goes with a car, which brings the rest: './inv car 1gheap," + ",".join(chosen) + "' shows both."
        )
    else:
        node = combine(chosen, known)
        variables = {one: value for one, value in node.variables.items() if "." not in one}  # Rally's have a dot
        closing = "It has no limits: the node takes what the machine has."
        if node.limits:
            try:
                closing = f"Limits here: {limits_on(node, paths.races_folder(), fetch=False).text}."
            except MachineError as error:
                closing = str(error)
    described = [[name, known[name].description] for name in chosen]
    rows = [[one, value or numbers.NOTHING] for one, value in variables.items()]
    return Listing([("Cars", ("name", "description"), described), ("Variables", ("name", "value"), rows)], closing)


def all_engines() -> Listing:
    """List the versions of Elasticsearch that can be raced."""
    from paddock.engine import download, versions

    rows, wrong = [], ""
    for release in versions.RELEASES.values():
        try:
            java, _ = versions.choose_java(release.java, None, modules=release.java_modules)
            runs_on = f"Java {java.version} ({java.origin})"
        except UsageError as error:  # a variable that names no Java, which any race would refuse
            runs_on, wrong = f"none: {str(error).partition(':')[0]}", f"{error} "
        except MachineError:
            runs_on = f"none here: it needs a JDK of {release.oldest_java} to {max(release.java)} in JAVA_HOME"
        default = " (default)" if release.version == versions.DEFAULT_VERSION else ""
        modes = "standard, logsdb" if versions.has_index_modes(release.version) else "standard"
        rows.append([release.version + default, modes, runs_on, "yes" if download.is_present(release) else "no"])
    return Listing(
        [("Embedded Elasticsearch", ("version", "index modes", "runs on", "downloaded"), rows)],
        f"{wrong}'./inv race --version VERSION' races one; --engine official and --engine PATH take Elastic's own "
        f"archives.",
    )


def all_corpora() -> Listing:
    """List the recipes and the corpora made from them."""
    from paddock.corpora.recipe import load_recipe, recipe_names
    from paddock.corpora.record import FROM_RECIPE
    from paddock.corpora.store import list_corpora

    known = [load_recipe(name) for name in recipe_names()]
    recipes = [[recipe.name, recipe.track, recipe.description] for recipe in known]
    made = []
    for one in list_corpora():
        source = f"seed {one.seed}" if one.origin == FROM_RECIPE else "imported"
        made.append([one.name, one.track, source, f"{one.documents:,}", gibibytes(one.bytes), one.file])
    return Listing(
        [
            ("Recipes", ("name", "track", "description"), recipes),
            ("Corpora at hand", ("name", "track", "made from", "documents", "size", "file"), made),
        ],
        "'./inv corpus.generate RECIPE --documents N' makes one; races make what they need.",
    )


def all_tournaments() -> Listing:
    """List the tournaments that can be held."""
    from paddock.tournaments.files import find_file, read_tournament, tournament_names

    found = [read_tournament(find_file(name), sampled=False) for name in tournament_names()]
    rows = [[each.name, len(each.contenders), f"{each.budget_minutes:g} min", each.description] for each in found]
    return Listing(
        [("Tournaments", ("name", "contenders", "at most", "description"), rows)],
        "'./inv tournament NAME --dry-run' shows the plan; --quick fits a coffee break.",
    )


def latest_results(everything: bool = False) -> Listing:
    """Races with a summary, and tournaments, the latest last.

    :param everything: not only the latest ones, so that the list takes as long as there are results.
    """
    from paddock.tournaments.command import running_tournament
    from paddock.tournaments.store import INTERRUPTED, Stored, tournament_ids

    running = running_tournament()
    files, ids = _race_summaries(), tournament_ids()
    shown = slice(None) if everything else slice(-LATEST, None)
    races, held = [], []
    for file in files[shown]:
        record = read_record(file)
        if "race-id" in record and isinstance(summary := record.get("summary"), dict):
            told = (summary.get("track"), summary.get("challenge"), _corpus(summary.get("corpus")))
            races.append([record["race-id"], _when(file.stat().st_mtime), *told])
    for one in ids[shown]:
        stored = Stored(one)
        begun = stored.beginning()
        if begun.get("kind") == "tournament":
            corpora = ", ".join(name.split()[-1] for name in begun.get("corpora") or ())
            name, began = Path(str(begun.get("definition"))).stem, _when(float(begun.get("at") or 0))
            ended = "it is running" if one == running else stored.ended_because() or INTERRUPTED
            held.append([one, began, name, corpora, ended])
    chains = chains_begun()[shown]
    earlier = 0 if everything else max(0, len(files) - LATEST) + max(0, len(ids) - LATEST)
    more = f"There are {earlier:,} earlier ones: --all lists them. " if earlier else ""
    return Listing(
        [
            ("Races", ("id", "ended", "track", "challenge", "corpus"), races),
            ("Tournaments", ("id", "began", "tournament", "corpus", "ended because"), held),
            *([("Chains", ("id", "steps over", "ended because"), chains)] if chains else []),
        ],
        f"{more}'./inv report ID' makes the report of any of them, './inv report latest' that of the latest; "
        "'./inv compare ID ID' sets them side by side. The beginning of an id is enough.",
    )


def chains_begun() -> list[list[str]]:
    """Every chain that was begun, the latest last: id, how many of its steps are over, and why it ended."""
    from paddock.chains.command import is_running
    from paddock.chains.model import INTERRUPTED
    from paddock.chains.store import StoredChain, chain_ids, read_journal

    begun, known, running = [], chain_ids(), is_running()
    for chain_id in known:
        history = read_journal(StoredChain(chain_id).journal)
        if history.header:  # without one it was killed before it began
            steps = history.header["chain"]["steps"]
            over = sum(1 for one in steps if one["name"] in history.outcomes)
            ended = "it is running" if running and chain_id == known[-1] else INTERRUPTED
            begun.append([chain_id, f"{over} of {len(steps)}", history.stopped or ended])
    return begun


def _corpus(told: object) -> str:
    """Name and size of the corpus, of what a race says of it (circumstances.corpus_text); a hyphen if it does not."""
    found = re.search(r"^\S+ (\S+) .*?with (\d+) documents", str(told or ""))
    return f"{found[1]}, {int(found[2]):,}" if found else numbers.NOTHING


def find_result(identity: str, chains: bool = False, prices: Prices | None = None) -> Any:
    """The race or tournament with that id, as reports compare them.

    :param chains: whether it may be a chain, too.
    :param prices: what money is reckoned with, in the place of what it was run with.
    :param identity: the id, a beginning that no other has, or "latest".
    :raises UsageError: if there is none, with the nearest ids; or several begin so.
    """
    from paddock.chains.command import load_chain
    from paddock.chains.store import StoredChain, chain_ids
    from paddock.race.summary import read_record as race_record
    from paddock.rally.outcome import race_file
    from paddock.tournaments.command import load_result
    from paddock.tournaments.store import Stored, tournament_ids

    races = {file.parent.name: file for file in _race_summaries()}
    files = races | {one: Stored(one).journal for one in tournament_ids()}
    of_chains = {one: StoredChain(one).journal for one in chain_ids()}
    files |= of_chains if chains else {}
    if not chains and (identity in of_chains or (identity not in files and _begins(identity, of_chains, files))):
        raise UsageError(f"'{identity}' is a chain, which is not compared as a whole: name tournaments of its steps.")
    if identity == "latest":
        if not files:
            raise UsageError("There is no race or tournament yet: './inv race' runs one.")
        chosen = [max(files, key=lambda one: files[one].stat().st_mtime)]
    else:
        chosen = [identity] if identity in files else [one for one in files if one.startswith(identity)]
    if len(chosen) > 1:
        listed = ", ".join(sorted(chosen)[:3]) + (", ..." if len(chosen) > 3 else "")
        raise UsageError(f"{len(chosen)} ids begin with '{identity}' ({listed}): write more of the one that you mean.")
    if not chosen:
        raise unknown("race or tournament with the id", identity, files, "./inv results")
    (found,) = chosen
    if found in of_chains:
        return load_chain(found, prices)
    if found in races:
        record = race_record(read_record(races[found]), read_record(race_file(found)))
        return replace(record, prices=prices) if prices is not None else record
    return load_result(found, prices)


def _begins(identity: str, some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether ids of some begin so, and none of the others."""
    return any(one.startswith(identity) for one in some) and not any(one.startswith(identity) for one in others)


def _race_summaries() -> list[Path]:
    """The summaries of races that came to their end, in the order of it."""
    from paddock.rally.run import race_records

    return sorted(race_records("*").parent.glob("*/summary.json"), key=lambda file: file.stat().st_mtime)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


tracks = _listing("tracks", all_tracks)
challenges = _listing("challenges", all_challenges)
cars = _listing("cars", all_cars)
engines = _listing("engines", all_engines)
corpora = _listing("corpora", all_corpora)
tournaments = _listing("tournaments", all_tournaments)


@task(positional=["name"], help={"name": "a track (./inv tracks)", "json": "for machines"})
@command
def track(_context: Context, name: str, json: bool = False) -> None:
    """Show the challenges and parameters of one track."""
    show(one_track(name), json)


@task(positional=["name"], help={"name": "a car, or several as --car takes them", "json": "for machines"})
@command
def car(_context: Context, name: str, json: bool = False) -> None:
    """Show what one car sets, and how its limits are held here."""
    show(one_node(name), json)


@task(help={"all": "the earlier ones as well", "json": "for machines"})
@command
def results(_context: Context, all: bool = False, json: bool = False) -> None:  # noqa: A002 - what users call it
    """List the latest races and tournaments that have been held."""
    show(latest_results(everything=all), json)


@task(
    help={
        "json": "for machines",
        "driver": "measure instead what the load driver alone can push of each corpus at hand (half a minute for each)",
        "target-hosts": "look at the heaps and shards of this cluster (host:port,...) instead; nothing is changed",
        "client-options": "a .json file with Rally's client options (TLS, passwords) for --target-hosts",
    }
)
@command
def doctor(
    _context: Context,
    json: bool = False,
    driver: bool = False,
    target_hosts: str | None = None,
    client_options: str | None = None,
) -> None:
    """Say what this machine can run and what to change.

    Examples:
      ./inv doctor
      ./inv doctor --target-hosts es1:9200,es2:9200 --client-options cluster.json
    """
    from dataclasses import asdict

    from paddock.command_line import doctor as examination

    if driver:
        show(examination.driver_headroom(), json)
        return
    if client_options and not target_hosts:
        raise UsageError("--client-options is for a cluster that is there: name it with --target-hosts.")
    examine = examination.examine
    findings = examination.examine_cluster(target_hosts, client_options) if target_hosts else examine()
    if json:
        print_result(as_json([asdict(finding) for finding in findings]))
    else:
        print_result(examination.render(findings, stdout_has_colours()))
    if any(finding.state == examination.BAD for finding in findings):
        raise Exit("No race can run here before the lines marked BAD are dealt with.", 3)
