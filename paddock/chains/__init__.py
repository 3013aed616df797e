"""Chains: tournaments and races one after the other under one budget, as docs/chains.md says.

The winner of a step is in every contender of those that build on it; at the end the tuned configuration races the
default one. Here is what enters, ChainOptions; what leaves is the ChainResult of model.

model      what passes between the layers: chain, step, settings, result
files      chain files (tournaments/chains/*.yml) -> chain; steps -> contents of tournament files
carrying   what contenders differ in, what a winner brings, and how that gets into later steps
budget     minutes -> a form of every step that fits, and what it can resolve
store      chains on disk: the journal of every step, appended and fsynced; resume
preview    a chain before it runs: its plan, and what speaks against it here
run        steps in their order -> journal; who holds a tournament or a race is handed in
command    ./inv chain, ./inv tune
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from paddock.race import LARGEST_PORT
from paddock.rally import DEFAULT_HTTP_PORT
from paddock.tournaments import ContenderHosts, DataPaths


@dataclass(frozen=True)
class ChainOptions:
    """The options of ``./inv chain`` and ``./inv tune``; what is not said, the file says."""

    budget: Annotated[float | None, "minutes for all steps together"] = None
    quick: Annotated[bool, "hold the quick form of every tournament"] = False
    dry_run: Annotated[bool, "show the steps, their minutes and what they can resolve, and do nothing"] = False
    track: Annotated[str | None, "what is indexed (./inv tracks); the track of the corpus that --corpus names"] = None
    corpus: Annotated[str | None, "what is indexed: a recipe of the track or an imported corpus (./inv corpora)"] = None
    documents: Annotated[int | None, "how many documents the corpus has", 1, None] = None
    corpus_seed: Annotated[int | None, "the corpus's seed", 0, None] = None
    car: Annotated[tuple[str, ...], "the default configuration: cars and mixins (1gheap)"] = ()
    params: Annotated[Mapping[str, Any], "track parameters of the default configuration, as for ./inv race"] = field(
        default_factory=dict
    )
    car_params: Annotated[Mapping[str, Any], "car variables of the default configuration"] = field(default_factory=dict)
    seed: Annotated[int | None, "of the order of laps, from which each step's is made", 0, None] = None
    version: Annotated[str | None, "the Elasticsearch version (./inv engines)"] = None
    engine: Annotated[str | None, "embedded, official or the path of a .tar.gz"] = None
    java: Annotated[str | None, "a Java's folder, a release such as 17, or embedded"] = None
    apart: Annotated[bool, "start contenders that differ at the node one after the other"] = False
    port: Annotated[int, "HTTP port of the node that is started (39200)", 1, LARGEST_PORT] = DEFAULT_HTTP_PORT
    data_path: Annotated[str | None, "put the node's data into a folder of its own in this one"] = None
    data_paths: DataPaths = field(default_factory=dict)
    contender_hosts: ContenderHosts = None
    prices: Annotated[str | None, "a file of prices (docs/costs.md): what is compared costs in money, too"] = None
