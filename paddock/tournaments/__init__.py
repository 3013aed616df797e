"""Tournaments: configurations compared by paired laps in randomised blocks, as docs/tournaments.md says.

Here is what enters, TournamentOptions; what leaves is the Result of model.

model         what passes between the layers: definition, laps, result
files         tournament files (tournaments/*.yml) and options -> definition, checked; placed: what options add
published     a study's figures, as a tournament file has them; studies: what was measured beside them
clusters      contenders -> the clusters that they run on, side by side
checks        what a tournament cannot be, in its file or where it is held
schedule      definition + seed -> the order of everything
laps          the lap runner's lines -> laps, those void that do not count
pairing       laps -> figures and paired differences in each metric; cautions: what they cannot tell
store         tournaments on disk: the journal of everything that happens, appended and fsynced; resume
headroom      what the load driver alone can push of the contenders' loads, and how much of it they reach
growth        slices of a load into indices that grow: what to expect of them, and how they held
thresholds    translog flush thresholds that loads do not reach
load_shape    bulks, clients and processes of a contender's laps
inputs        what must not change before a tournament ends, by its checksums
durations     how long laps and starts take, and what earlier journals say of it
plan          schedule + durations -> minutes, what fits, what can be resolved
analysis      laps -> result, by the pure statistics of paddock.statistics; notes: what is said beside it
costs         what contenders cost in money, where prices were named
races         a start -> the race that Rally is asked for
run           schedule -> races -> journal; view: what a person sees of it
command       ./inv tournament
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from paddock.race import LARGEST_PORT
from paddock.rally import DEFAULT_HTTP_PORT

DataPaths = Annotated[Mapping[str, Any], "contenders more, where data paths are compared: name:folder,name:folder"]
ContenderHosts = Annotated[
    str | None, "a .yml file of clusters that are there, by the names of the contenders that are held on them"
]


@dataclass(frozen=True)
class TournamentOptions:
    """The options of ``./inv tournament``, as RaceOptions has those of a race; what is not said, the file says."""

    quick: Annotated[bool, "fewer and shorter laps, for a coffee break; the plan says what that cannot resolve"] = False
    dry_run: Annotated[bool, "show the plan and the esrally command lines, and do nothing"] = False
    resume: Annotated[bool, "go on with the one that was cut off, by its id or its name"] = False
    seed: Annotated[
        int | None, "of the order of laps; recorded, and taken from the clock if it is left out", 0, None
    ] = None
    budget: Annotated[float | None, "minutes after which no new race begins"] = None
    blocks: Annotated[int | None, "measured blocks per start of the node", 1, None] = None
    starts: Annotated[int | None, "starts of the node", 1, None] = None
    driver_processes: Annotated[
        int | None, "processes that send the load of a lap (1 on up to three cores, else up to half of them)", 1, 64
    ] = None
    car: Annotated[tuple[str, ...], "cars and mixins for every contender"] = ()
    params: Annotated[Mapping[str, Any], "track parameters for every contender, written as for ./inv race"] = field(
        default_factory=dict
    )
    car_params: Annotated[Mapping[str, Any], "car variables for every contender"] = field(default_factory=dict)
    corpus: Annotated[str | None, "what is indexed: a recipe of the track or an imported corpus (./inv corpora)"] = None
    documents: Annotated[int | None, "how many documents the corpus has", 1, None] = None
    corpus_seed: Annotated[int | None, "the corpus's seed", 0, None] = None
    version: Annotated[str | None, "the Elasticsearch version (./inv engines)"] = None
    engine: Annotated[str | None, "embedded, official or the path of a .tar.gz"] = None
    java: Annotated[str | None, "a Java's folder, a release such as 17, or embedded"] = None
    target_hosts: Annotated[str | None, "race against this cluster (host:port,...)"] = None
    client_options: Annotated[str | None, "a .json file with Rally's client options for --target-hosts"] = None
    control: Annotated[bool, "add a twin of the baseline; without --quick there is one"] = False
    no_control: Annotated[bool, "leave the twin of the baseline out"] = False
    apart: Annotated[
        bool,
        "start contenders that differ at the node, or keep indices that grow, one after the other, where they do not "
        "fit side by side",
    ] = False
    port: Annotated[
        int, "HTTP port of the node that is started (39200); more nodes get those that follow", 1, LARGEST_PORT
    ] = DEFAULT_HTTP_PORT
    data_path: Annotated[str | None, "put the node's data into a folder of its own in this one"] = None
    data_paths: DataPaths = field(default_factory=dict)
    contender_hosts: ContenderHosts = None
    prices: Annotated[str | None, "a file of prices (docs/costs.md): what contenders cost in money, too"] = None
