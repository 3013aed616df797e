"""./inv studies: the published studies - what there is, held as chains, kept, and the table of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from invoke import Context

from paddock.chains import ChainOptions
from paddock.command_line.chains import hold
from paddock.command_line.sentences import command, helps, takes, task
from paddock.console import print_result, say
from paddock.errors import UsageError
from paddock.race import LARGEST_PORT
from paddock.rally import DEFAULT_HTTP_PORT
from paddock.tournaments import ContenderHosts, DataPaths

if TYPE_CHECKING:
    from paddock.command_line.lists import Listing
    from paddock.studies.kept import KeptStep


@dataclass(frozen=True)
class StudyOptions:
    """The options of ``./inv studies`` that a chain takes as well; what is not said, the files say."""

    quick: Annotated[bool, "the quick form of each tournament, for 2 cores and 24 GiB: about ten minutes each"] = False
    dry_run: Annotated[bool, "show the steps, their minutes and what they can resolve, and do nothing"] = False
    seed: Annotated[int | None, "of the order of laps, from which each step's is made", 0, None] = None
    car_params: Annotated[
        Mapping[str, Any], "car variables for every contender; limits:off where none can be held (it is then said)"
    ] = field(default_factory=dict)
    version: Annotated[str | None, "the Elasticsearch version (./inv engines)"] = None
    engine: Annotated[str | None, "embedded, official or the path of a .tar.gz"] = None
    java: Annotated[str | None, "a Java's folder, a release such as 17, or embedded"] = None
    port: Annotated[int, "HTTP port of the node that is started (39200)", 1, LARGEST_PORT] = DEFAULT_HTTP_PORT
    data_path: Annotated[str | None, "put the nodes' data into a folder of its own in this one"] = None
    data_paths: DataPaths = field(default_factory=dict)
    contender_hosts: ContenderHosts = None
    prices: Annotated[str | None, "a file of prices (docs/costs.md): what is compared costs in money, too"] = None


@task(
    help=helps(
        StudyOptions,
        name="a study, or all; left out, they are listed",
        resume="go on with the one that was cut off: the latest, or that of the name or id",
        keep="put the result with this id (of a study's chain or tournament, or latest) into docs/studies",
        replace="with --keep: put it in the place of a result that says more, a full form or more pairs",
        table="make docs/studies.md anew of what is kept there",
        json="print the list or the result as JSON",
    ),
)
@command
@takes(StudyOptions)
def studies(
    _context: Context,
    options: StudyOptions,
    name: str = "",
    resume: bool = False,
    keep: str | None = None,
    replace: bool = False,
    table: bool = False,
    json: bool = False,
) -> None:
    """List the published studies, or run them again.

    Examples:
      ./inv studies
      ./inv studies refresh-interval --quick
      ./inv studies storage --data-paths nvme:/mnt/nvme,nfs:/mnt/nfs
      ./inv studies scale-out --contender-hosts clusters.yml
      ./inv studies all --dry-run
      ./inv studies --resume
      ./inv studies --keep latest
    """
    from paddock.studies import listed

    if table or keep:
        if name or resume or options != StudyOptions():
            raise UsageError("--keep and --table look at what was held already: leave the rest out.")
        for step in _kept(keep, replace) if keep else ():
            print_result(f"Kept: {step.folder}")
        from paddock.studies.page import write_page

        print_result(f"Table: {write_page()}")
    elif replace:
        raise UsageError("--replace says what --keep may do: name the result with --keep ID.")
    elif resume:
        if options != StudyOptions():
            raise UsageError("--resume takes everything from the study that it goes on with: leave the rest out.")
        hold(listed.unfinished(name or None), ChainOptions(), True, json)
    elif name:
        asked = {one.name: getattr(options, one.name) for one in fields(StudyOptions)}
        if options.contender_hosts:  # it may be gone on with from another folder
            asked["contender_hosts"] = str(Path(options.contender_hosts).expanduser().absolute())
        hold(listed.chain_of(name), ChainOptions(**asked), False, json)
    elif options != StudyOptions():
        raise UsageError("Which study? ./inv studies lists them, and 'all' is all of them.")
    else:
        from paddock.command_line.lists import show

        show(all_studies(), json)


def all_studies() -> Listing:
    """The studies that can be held, and what is kept of them."""
    from paddock.command_line.lists import Listing
    from paddock.studies.kept import kept_steps
    from paddock.studies.listed import rows
    from paddock.studies.listed import studies as known
    from paddock.tournaments.durations import gather_experience

    kept: dict[str, str] = {}
    for step in kept_steps():
        kept[step.study] = ", ".join(filter(None, [kept.get(step.study, ""), f"{step.step} ({step.form})"]))
    return Listing(
        [("Studies", ("name", "quick", "full", "kept", "question"), rows(known(), gather_experience(), kept))],
        "'./inv studies NAME --dry-run' shows the steps, './inv studies NAME --quick' holds them; docs/studies.md has "
        "what came of them.",
    )


def _kept(identity: str, replacing: bool) -> list[KeptStep]:
    """Keep what was held: every step of a study's chain that has a result, or one tournament."""
    from paddock.chains.model import RACED, ChainResult
    from paddock.chains.store import StoredChain
    from paddock.command_line.lists import find_result
    from paddock.studies.kept import keep_race, keep_result
    from paddock.studies.listed import study_with
    from paddock.tournaments.model import Result
    from paddock.tournaments.store import Stored, stored_options

    def keep(result: Result) -> KeptStep:
        stored = Stored(result.id)
        return keep_result(result, stored_options(stored.history()), stored.folder / "definition", replacing)

    found = find_result(identity, chains=True)
    if isinstance(found, Result):
        return [keep(found)]
    if not isinstance(found, ChainResult) or not found.chain.study:
        raise UsageError(f"'{identity}' is no study, and no tournament of one: ./inv results lists what was held.")
    options, steps = StoredChain(found.id).history().options, []
    for one in found.steps:
        study, raced = study_with(one.step.name), one.outcome and one.outcome.kind == RACED and one.outcome.result_id
        try:
            if one.result is not None and any(each.ratio is not None for each in one.result.main.verdicts):
                steps.append(keep(one.result))
            elif raced and study:
                record = find_result(raced)
                steps.append(keep_race(study.name, one.step, options, found.began, record, replacing))
            else:
                say(f"{one.step.name} has no result, and is left out.")
        except UsageError as error:
            say(f"{one.step.name} is left out. {error}")
    if not steps:
        raise UsageError(f"{found.id} has no result that could be kept: hold it again.")
    return steps
