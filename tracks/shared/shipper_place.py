"""Where a shipper sends documents: the hosts, the login and the certificates that Rally's own client for them has."""

from __future__ import annotations

import base64
import ssl
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared.shipper_programs import Shipper

AUTHORITY = "authority.pem"


@dataclass(frozen=True)
class Place:
    """An index of a cluster.

    :param hosts: name or address, and port, of each node that documents may be sent to.
    :param path: below which Elasticsearch answers there, empty for none; it begins with a slash.
    :param api_key: as HTTP sends it; ``user`` and ``password`` are None with it, and without any login.
    :param trusted: certificates that its own are checked by, as text; empty for the machine's.
    :param authority: file with these; None before they are in one.
    """

    hosts: tuple[tuple[str, int], ...]
    index: str
    https: bool = False
    path: str = ""
    user: str | None = None
    password: str | None = None
    api_key: str | None = None
    trusted: str = ""
    authority: str | None = None
    verify: bool = True

    @property
    def host(self) -> str:
        """Of the first node."""
        return self.hosts[0][0]

    @property
    def port(self) -> int:
        """Of the first node."""
        return self.hosts[0][1]

    @property
    def urls(self) -> list[str]:
        """One for each host."""
        scheme = "https" if self.https else "http"
        named = [f"[{host}]" if ":" in host else host for host, _ in self.hosts]
        return [f"{scheme}://{host}:{port}{self.path}" for host, (_, port) in zip(named, self.hosts, strict=True)]

    @property
    def api_key_plain(self) -> str:
        """The key as Elastic's own shippers want it: its id and itself, with a colon between."""
        return base64.b64decode(self.api_key or "").decode("utf-8")

    @property
    def has_secrets(self) -> bool:
        """Whether a configuration with it must be nobody else's to read."""
        return self.password is not None or self.api_key is not None

    def with_authority_in(self, folder: Path) -> Place:
        """The same with its certificates in a file of that folder."""
        if not self.trusted:
            return self
        (folder / AUTHORITY).write_text(self.trusted, encoding="ascii")
        return replace(self, authority=str(folder / AUTHORITY))


def place_of(es: Any, index: str, program: Shipper) -> Place:
    """The place that Rally's client sends to.

    :raises exceptions.RallyTaskAssertionError: if the shipper cannot log in as that client does.
    """
    nodes = [node.config for node in es.transport.node_pool.all()]
    user = password = api_key = None
    # The client keeps its login as the header that it sends, and nothing else.
    how, _, secret = str(es._headers.get("authorization") or "").partition(" ")
    if how.lower() == "basic":
        user, _, password = base64.b64decode(secret).decode("utf-8").partition(":")
    elif how.lower() == "apikey":
        api_key = secret
    if api_key is not None and "api_key" not in program.logins:
        raise exceptions.RallyTaskAssertionError(
            f"{program.name} cannot log in with an API key: give --client-options basic_auth_user and "
            f"basic_auth_password"
        )
    https, context = nodes[0].scheme == "https", nodes[0].ssl_context
    verify, trusted = True, ""
    if https and context is not None:
        verify = context.verify_mode != ssl.CERT_NONE
        if verify:
            trusted = "".join(map(ssl.DER_cert_to_PEM_cert, context.get_ca_certs(binary_form=True)))
    return Place(
        hosts=tuple((node.host, node.port) for node in nodes),
        index=index,
        https=https,
        path=nodes[0].path_prefix.rstrip("/"),
        user=user,
        password=password,
        api_key=api_key,
        trusted=trusted,
        verify=verify,
    )
