"""Clients for clusters with client options of their own: each is let in by its own, and told nobody else's."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from esrally import exceptions
from esrally.client import EsClientFactory
from shared.own_clients import OwnClients

# Rally's own factory uses it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'maxsize' parameter:DeprecationWarning")
OPTIONS = {
    "default": {"basic_auth_user": "rally", "basic_auth_password": "the default's"},
    "theirs": {"api_key": "theirs"},
}
BY_PASSWORD = f"Basic {base64.b64encode(b'rally:the default' + bytes([39]) + b's').decode()}"


def raced(file: Path | None, ask: Callable[[OwnClients, dict[str, Any]], Awaitable[None]]) -> dict[str, list[str]]:
    """What two clusters are told in the place of a login, while ``ask`` has Rally's clients for both."""
    seen: dict[str, list[str]] = {"default": [], "theirs": []}

    async def serve(name: str) -> tuple[web.AppRunner, int]:
        async def answer(request: web.Request) -> web.Response:
            seen[name].append(request.headers.get("Authorization", ""))
            return web.json_response({}, headers={"X-Elastic-Product": "Elasticsearch"})

        application = web.Application()
        application.router.add_route("*", "/{any:.*}", answer)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return runner, runner.addresses[0][1]

    async def race() -> None:
        served = {name: await serve(name) for name in seen}
        # As Rally does it: the options of the first for all.
        clients = {
            name: EsClientFactory([{"host": "127.0.0.1", "port": port}], dict(OPTIONS["default"])).create_async(
                client_id=0
            )
            for name, (_, port) in served.items()
        }
        try:
            await ask(OwnClients(), clients)
        finally:
            for client in clients.values():
                await client.close()
            await asyncio.get_running_loop().shutdown_asyncgens()
            for runner, _ in served.values():
                await runner.cleanup()

    asyncio.run(race())
    return seen


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The options of both clusters, as --client-options names them."""
    path = tmp_path / "options.json"
    path.write_text(json.dumps(OPTIONS))
    return path


def test_each_cluster_is_told_its_own_login(file: Path, recwarn: pytest.WarningsRecorder) -> None:
    """Nobody gets the default's password; a client is made once and closed with the event loop."""
    made: list[Any] = []

    async def ask(own: OwnClients, clients: dict[str, Any]) -> None:
        for _ in range(2):
            for name in clients:
                client = await own.of(name, clients, file)
                with client.new_request_context():
                    await client.perform_request(method="GET", path="/_count")
                made.append(client)

    seen = raced(file, ask)
    assert seen == {"default": [BY_PASSWORD] * 2, "theirs": ["ApiKey theirs"] * 2}
    assert made[:2] == made[2:]
    assert not [str(one.message) for one in recwarn if "nclosed" in str(one.message)]


def test_without_the_file_they_are_rallys(file: Path) -> None:
    """Where all clusters are let in alike there is no need of others."""

    async def ask(own: OwnClients, clients: dict[str, Any]) -> None:
        assert [await own.of(name, clients, None) for name in clients] == list(clients.values())
        assert await own.of("default", clients, file) is clients["default"]

    raced(None, ask)


@pytest.mark.parametrize(
    ("text", "told"), [("{", "cannot be read as JSON"), ('{"default": {}}', "have none for the cluster 'theirs'")]
)
def test_a_file_that_does_not_tell_is_said(file: Path, text: str, told: str) -> None:
    """Without a word of what stands in it."""
    file.write_text(text)

    async def ask(own: OwnClients, clients: dict[str, Any]) -> None:
        with pytest.raises(exceptions.RallyAssertionError, match=told):
            await own.of("theirs", clients, file)

    raced(file, ask)
