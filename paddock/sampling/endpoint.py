"""Where Elasticsearch answers and how to be let in; secrets stay out of every text."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from paddock.errors import UsageError

DEFAULT_PORT = 9200


@dataclass(frozen=True)
class Endpoint:
    """One cluster.

    :param urls: base URLs without user names, for example ``http://127.0.0.1:39200``; the first that answers is used.
    :param verify_certificates: False accepts any certificate.
    :param authorities: a file with the certificates of trusted authorities, or None for those that come with Rally.
    :param client_certificate: a file with this client's own certificate, or None.
    :param client_key: a file with its key, or None.
    :param authorization: the value of the Authorization header, or None.
    :param timeout: seconds to wait for a connection and for an answer.
    """

    urls: tuple[str, ...]
    verify_certificates: bool = True
    authorities: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    authorization: str | None = field(default=None, repr=False)
    timeout: float = 2.0

    @classmethod
    def from_client_options(cls, hosts: str | Iterable[str], options: Mapping[str, Any] | None = None) -> Endpoint:
        """The endpoint that Rally's ``--target-hosts`` and ``--client-options`` describe.

        :param hosts: "host:port,...", URLs, a JSON text or the name of a .json file as Rally takes them.
        :param options: Rally's client options; those that only concern Rally's own requests are ignored.
        :raises UsageError: if there is no host in it, or one with a password: Rally would not use it, but show it.
        """
        given = options or {}
        plain = _split(hosts) if isinstance(hosts, str) else [host for host in hosts if host]
        if not plain:
            raise UsageError("There is no host to sample: name at least one as host:port in --target-hosts.")
        encrypted = bool(given.get("use_ssl", False))
        return cls(
            urls=tuple(_url(host, encrypted) for host in plain),
            verify_certificates=bool(given.get("verify_certs", True)),
            authorities=_text(given.get("ca_certs")),
            client_certificate=_text(given.get("client_cert")),
            client_key=_text(given.get("client_key")),
            authorization=_authorization(given),
        )


def _split(hosts: str) -> list[str]:
    """The hosts of the default cluster; Rally's JSON names one list of hosts per cluster."""
    text = hosts.strip()
    if text.endswith(".json"):
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--target-hosts names a file that cannot be read: {error}.") from None
    if text.startswith("{"):
        try:
            named = json.loads(text)
        except json.JSONDecodeError as error:
            raise UsageError(f"--target-hosts is no valid JSON: {error}.") from None
        clusters = {name: [hosts] if isinstance(hosts, str) else hosts for name, hosts in named.items()}
        if not all(isinstance(one, list) and all(isinstance(host, str) for host in one) for one in clusters.values()):
            raise UsageError(
                '--target-hosts as JSON wants a list of hosts for each cluster: {"default": ["host:port"]}.'
            )
        for host in itertools.chain(*clusters.values()):
            _url(host, False)  # those of other clusters must hold no password either
        return clusters.get("default", [])
    return [host.strip() for host in text.split(",") if host.strip()]


def _url(host: str, encrypted: bool) -> str:
    """The base URL of one host."""
    # Anywhere, for a password may hold what ends a host: '/', '?' or '#'. The host is not repeated for it.
    if "@" in host:
        raise UsageError(
            "A host in --target-hosts holds a user name or a password, which lists of processes, journals and reports "
            "would show: write host:port alone, and put basic_auth_user and basic_auth_password into a .json file for "
            "--client-options, or into the variable PADDOCK_CLIENT_OPTIONS."
        )
    try:
        parts = urlsplit(host if "://" in host else f"//{host}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    if not parts.hostname or port == 0:
        raise UsageError("A host in --target-hosts cannot be understood: write host:port or https://host:port.")
    scheme = "https" if encrypted or parts.scheme == "https" else "http"
    # As Rally has it: 443 behind https://, 9200 elsewhere.
    port = port or (443 if parts.scheme == "https" else DEFAULT_PORT)
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{name}:{port}{parts.path.rstrip('/')}"


def _authorization(options: Mapping[str, Any]) -> str | None:
    key = options.get("api_key")
    if isinstance(key, str) and key:
        return f"ApiKey {key}"
    if isinstance(key, (list, tuple)) and len(key) == 2:
        return f"ApiKey {_base64(f'{key[0]}:{key[1]}')}"
    user, password = options.get("basic_auth_user"), options.get("basic_auth_password")
    if user and password is not None:
        return f"Basic {_base64(f'{user}:{password}')}"
    return None


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _text(value: Any) -> str | None:
    return str(value) if value else None
