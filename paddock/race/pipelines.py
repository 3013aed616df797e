"""The ingest pipelines that a race asks for: whether the nodes have the processors that they are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from paddock import paths
from paddock.engine import EMBEDDED
from paddock.errors import UsageError
from paddock.race.clusters import PreparedClusters
from paddock.rally.clusters import DEFAULT_CLUSTER
from paddock.sampling import Endpoint, ingest_processors

# By the name of a processor the pipelines that it is used in.
Asked = Mapping[str, tuple[str, ...]]
_FOLDER = "shared/ingest-pipelines"


def asked_processors(params: Mapping[str, Any]) -> dict[str, Asked]:
    """The processors that the nodes of each cluster need for the pipelines of a race, by Rally's name of the cluster.

    :param params: the track's parameters: levels name pipelines of the tracks, ``ingest_pipelines`` defines those of
        all clusters that levels name.
    :raises UsageError: if a level names a pipeline that there is not.
    """
    every = dict(params.get("ingest_pipelines") or {})
    found: dict[str, dict[str, Any]] = {}
    levels = params.get("levels")
    for level in levels if isinstance(levels, list | tuple) and levels else [{}]:
        level = level if isinstance(level, Mapping) else {}
        pipelines = found.setdefault(str(level.get("cluster", DEFAULT_CLUSTER)), dict(every))
        if (name := level.get("pipeline")) is not None:
            pipelines[str(name)] = _of_tracks(name)
    asked = {cluster: _users(pipelines) for cluster, pipelines in found.items()}
    return {cluster: processors for cluster, processors in asked.items() if processors}


def check_engine(asked: Asked, kind: str, ingest: bool) -> None:
    """Check that a node that is started has what pipelines are made of.

    :param kind: of the engine.
    :param ingest: whether it has Elastic's ingest processors.
    :raises UsageError: if it lacks them.
    """
    if asked and not ingest:
        which = "embedded Elasticsearch" if kind == EMBEDDED else "Elasticsearch of the archive"
        raise UsageError(
            f"The {which} lacks {_named(asked, asked)}, because it comes without Elastic's module ingest-common, which "
            f"Maven Central does not have for it: race Elastic's own distribution with --engine official or --engine "
            f"PATH (its archive), or name a cluster with --target-hosts."
        )


def check_endpoint(asked: Asked, endpoint: Endpoint) -> None:
    """Check that all nodes of a cluster that is there have these processors; nothing where it does not tell.

    :raises UsageError: if one lacks one.
    """
    for node, there in ingest_processors(endpoint).items() if asked else ():
        if lacking := [one for one in asked if one not in there]:
            raise UsageError(
                f"The node '{node}' of the cluster at {' or '.join(endpoint.urls)} lacks {_named(asked, lacking)}: "
                f"name a cluster of Elastic's own distribution with --target-hosts, or leave that pipeline out."
            )


def check_clusters(asked: Mapping[str, Asked], prepared: PreparedClusters, fetch: bool) -> None:
    """The same of all clusters of a race, started or there.

    :param asked: by the name of the cluster; one that levels name and that is none of them is another's to refuse.
    :param fetch: whether clusters that are there may be asked.
    :raises UsageError: if one lacks one.
    """
    for cluster in prepared.clusters:
        processors = asked.get(cluster.name, {})
        if cluster.engine is not None:
            check_engine(processors, cluster.engine.kind, cluster.engine.ingest)
        elif fetch:
            told = prepared.client_options.private.get(cluster.name, {})
            check_endpoint(processors, Endpoint.from_client_options(",".join(cluster.hosts), told))


def _of_tracks(name: Any) -> Mapping[str, Any]:
    """The definition of a pipeline; of one that is written wrongly the track itself tells what is wrong."""
    known = {file.stem: file for file in sorted((paths.TRACKS / _FOLDER).glob("*.json"))}
    if name not in known:
        raise UsageError(
            f"There is no ingest pipeline {name!r}, which a level names: tracks/{_FOLDER}/ has {', '.join(known)}."
        )
    try:
        definition = json.loads(known[name].read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{known[name]} is no JSON: {error}.") from None
    return definition if isinstance(definition, Mapping) else {}


def _users(pipelines: Mapping[str, Any]) -> Asked:
    users: dict[str, list[str]] = {}
    for name, definition in pipelines.items():
        for processor in _processors(definition):
            users.setdefault(processor, []).append(name)
    return {processor: tuple(dict.fromkeys(names)) for processor, names in users.items()}


def _processors(definition: Mapping[str, Any]) -> Iterator[str]:
    """The kinds of all processors of a pipeline, those for failures and those in others included."""
    for key in ("processors", "on_failure"):
        for one in definition.get(key) or ():
            for kind, options in one.items() if isinstance(one, Mapping) else ():
                yield str(kind)
                if isinstance(options, Mapping):
                    yield from _processors({"on_failure": options.get("on_failure")})
                    if isinstance(inner := options.get("processor"), Mapping):
                        yield from _processors({"processors": [inner]})


def _named(asked: Asked, lacking: Iterable[str]) -> str:
    """The processors that are not there, with who wants them."""
    kinds = list(lacking)
    users = list(dict.fromkeys(name for one in kinds for name in asked[one]))
    return (
        f"the ingest processor{'s' * (len(kinds) > 1)} {_listed(kinds)}, which the pipeline{'s' * (len(users) > 1)} "
        f"{_listed(users)} {'are' if len(users) > 1 else 'is'} made of"
    )


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
