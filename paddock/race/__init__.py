"""One race: from what a user wrote to a race that is run, and what it came to.

Here is what enters, RaceOptions; what leaves is a RaceRecord (summary.py), kept with the race and read by reports.

options       the options -> a prepared race, every name checked before anything is started or made
drivers       how many processes send the load of a lap
clusters      the same for a race of several clusters, or of one with several nodes
circumstances on which machine, as whom, with which Paddock and on which corpus
run           the race itself, with its sampler, what a person sees of it and of its summary, and how to repeat it
race_results  what Rally's race.json says, queries while the data grows among it; sampled: what the samples say
summarise     both together -> the figures of summary; cautions: what makes them doubtful
costs         what its documents cost in money; advised: what Elastic says of its shards
headroom      what the load driver alone pushes: of driver_load, the load of a lap, into sink, a server of ours
load          a paced load, from the journal that it keeps; replay: a replay with its restore proof, from the same
pipelines     whether the nodes have the processors of the ingest pipelines that a race asks for
replay_check  what can be wrong with a replay, before anything is started
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from paddock.rally import DEFAULT_HTTP_PORT

# The node takes an HTTP port and the one 100 above.
LARGEST_PORT = 65435
DEFAULT_CARS = ("1gheap",)


@dataclass(frozen=True)
class RaceOptions:
    """The options of ``./inv race``, each with what its help says and, of numbers, the least and the largest."""

    track: Annotated[
        str | None, "what is indexed (./inv tracks); apache, or the track of the corpus that --corpus names"
    ] = None
    challenge: Annotated[str | None, "what is done with it (./inv challenges); the track's default is ingest"] = None
    car: Annotated[
        tuple[str, ...], "the node's configuration, a heap car and mixins: 1gheap,index-buffer-30 (./inv cars)"
    ] = DEFAULT_CARS
    params: Annotated[
        Mapping[str, Any], "track parameters, name:value,... or JSON or a .json file (./inv track NAME)"
    ] = field(default_factory=dict)
    car_params: Annotated[Mapping[str, Any], "car variables, written like --params"] = field(default_factory=dict)
    version: Annotated[str | None, "the Elasticsearch version (./inv engines)"] = None
    engine: Annotated[str | None, "embedded, official (Rally downloads Elastic's tarball) or the path of a .tar.gz"] = (
        None
    )
    java: Annotated[
        str | None, "a Java's folder, a release such as 17, or embedded; otherwise JAVA_HOME where it fits"
    ] = None
    target_hosts: Annotated[str | None, "race against this cluster (host:port,...) instead of starting a node"] = None
    client_options: Annotated[
        str | None, "a .json file with Rally's client options (TLS, passwords) for --target-hosts"
    ] = None
    corpus: Annotated[
        str | None, "a recipe of the track or an imported corpus (./inv corpora); the track's own by default"
    ] = None
    documents: Annotated[int | None, "how many documents the corpus has (1,000,000)", 1, None] = None
    seed: Annotated[int | None, "the corpus's seed", 0, None] = None
    test_mode: Annotated[bool, "1,000 documents, to see that everything works"] = False
    port: Annotated[int, "HTTP port of the node that is started (39200)", 1, LARGEST_PORT] = DEFAULT_HTTP_PORT
    data_path: Annotated[str | None, "put the node's data into a folder of its own in this one, to compare disks"] = (
        None
    )
    nodes: Annotated[int, "nodes of the cluster that is started, all on this machine (1)", 1, 8] = 1
    on_error: Annotated[str, "abort, continue or continue-on-network"] = "abort"
    user_tags: Annotated[Mapping[str, Any], "name:value,... kept with the result"] = field(default_factory=dict)
    race_id: Annotated[str | None, "Rally's race id"] = None
    rally_args: Annotated[str | None, "further arguments for esrally"] = None
    prices: Annotated[str | None, "a file of prices (docs/costs.md): what documents cost in money, too"] = None

    @property
    def further_arguments(self) -> tuple[str, ...]:
        """Those for esrally, as words."""
        return tuple((self.rally_args or "").split())
