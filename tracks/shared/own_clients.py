"""Clients for those clusters of a race that have client options of their own.

Rally 2.13.0 hands a runner clients for all clusters, and makes each with the options of the cluster ``default``
(``driver.py``, ``es_clients``; ``opts.py``, ``ConnectOptions.__getitem__``): the others would refuse them, and be sent
the default's password. What is asked of such a cluster goes through a client of our own, made as Rally makes its.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from esrally import exceptions
from esrally.client import EsClientFactory

DEFAULT_CLUSTER = "default"


class OwnClients:
    """The clients of one process, each made when it is needed first and closed with the event loop."""

    def __init__(self) -> None:
        self._made: dict[tuple[asyncio.AbstractEventLoop, str], Any] = {}
        self._ends: list[AsyncGenerator[None, None]] = []

    async def of(self, cluster: str, clients: Mapping[str, Any], file: Path | None) -> Any:
        """The client for a cluster.

        :param clients: Rally's, by the names of their clusters.
        :param file: client options of all clusters by their names, as ``--client-options`` takes it; None where they
            are the same.
        :raises exceptions.RallyAssertionError: if the file cannot be read.
        """
        rallys = clients[cluster]
        if file is None or cluster == DEFAULT_CLUSTER:
            return rallys
        key = (asyncio.get_running_loop(), cluster)
        if key not in self._made:
            options = _options(file).get(cluster)
            if options is None:
                raise exceptions.RallyAssertionError(
                    f"The client options in {file} have none for the cluster '{cluster}': name it there, too."
                )
            client = self._made[key] = _like(rallys, options)
            # Rally closes what its event loop has begun of this kind, however the race ends.
            end = _until_the_end(client)
            await anext(end)
            self._ends.append(end)
        return self._made[key]


async def _until_the_end(client: Any) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.close()


def _options(file: Path) -> dict[str, dict[str, Any]]:
    try:
        options = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Nothing of it is quoted: it holds passwords.
        raise exceptions.RallyAssertionError(
            f"The client options in {file} cannot be read as JSON: lap_client_options wants the file of "
            f"--client-options, with those of each cluster by its name."
        ) from None
    return options if isinstance(options, dict) else {}


def _like(rallys: Any, options: Mapping[str, Any]) -> Any:
    """A client for the same hosts, with those options."""
    hosts = [
        {"host": node.config.host, "port": node.config.port, "url_prefix": node.config.path_prefix}
        for node in rallys.transport.node_pool.all()
    ]
    client_id = rallys.transport.node_pool.all()[0].client_id
    factory = EsClientFactory(
        [{name: value for name, value in host.items() if value} for host in hosts],
        dict(options),
        distribution_version=rallys.distribution_version,
        distribution_flavor=rallys.distribution_flavor,
    )
    return factory.create_async(client_id=client_id)
