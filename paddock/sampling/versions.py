"""What a cluster says of itself: whether anybody answers, whether it can be raced, and which Lucene it runs."""

from __future__ import annotations

import ssl
from dataclasses import replace
from typing import Any

import urllib3

from paddock.errors import MachineError, UsageError
from paddock.sampling.cluster import BadAnswer, Cluster, Unreachable
from paddock.sampling.endpoint import Endpoint

# Somebody's cluster may be far away, or busy.
PATIENCE = 10.0


def check_cluster(endpoint: Endpoint) -> None:
    """Ask a cluster who it is, before anything is made or started for a race against it.

    :raises MachineError: if nothing answers there, or not to us: certificate, login, an error.
    :raises UsageError: if what answers cannot be raced: no Elasticsearch, or a serverless one.
    """
    where = " or ".join(endpoint.urls)
    try:
        version = _ask(replace(endpoint, timeout=PATIENCE)).get("version")
    except Unreachable as error:
        raise MachineError(_not_reached(where, error.__cause__)) from None
    except BadAnswer as error:
        raise MachineError(_not_let_in(where, error, endpoint)) from None
    found = version if isinstance(version, dict) else {}
    if not found.get("number") or found.get("distribution"):  # OpenSearch names itself there
        raise UsageError(
            f"What answers at {where} is no Elasticsearch, or something between here and it answers in its place: "
            f"correct --target-hosts."
        )
    if found.get("build_flavor") == "serverless":
        raise UsageError(
            f"The cluster at {where} is serverless: it hides the nodes, their figures and most index settings, which "
            f"races are about. Take a cluster of nodes for --target-hosts."
        )


def lucene_version(endpoint: Endpoint) -> str:
    """The version of Lucene that the cluster tells, which Rally does not record; empty if it does not answer."""
    try:
        version = _ask(endpoint).get("version")
    except (Unreachable, BadAnswer):
        return ""
    return str(version.get("lucene_version") or "") if isinstance(version, dict) else ""


def _ask(endpoint: Endpoint) -> dict[str, Any]:
    cluster = Cluster(endpoint)
    try:
        return cluster.version()
    finally:
        cluster.close()


def _not_reached(where: str, cause: BaseException | None) -> str:
    """The sentence for a cluster from which no answer came."""
    if isinstance(cause, urllib3.exceptions.SSLError):
        reason = cause.args[0] if cause.args else None
        if isinstance(reason, ssl.SSLCertVerificationError) or "certificate" in str(cause).lower():
            return (
                f"The certificate of {where} cannot be verified ({getattr(reason, 'verify_message', '') or reason}): "
                f"name the file of its authority as ca_certs in the client options, or say verify_certs: false there."
            )
        return (
            f"What answers at {where} speaks no TLS that is understood here ({getattr(reason, 'reason', reason)}): "
            f"leave https:// and use_ssl out if it speaks plain HTTP."
        )
    if isinstance(cause, urllib3.exceptions.ProtocolError):
        return (
            f"What answers at {where} closes the connection without an answer: if it wants TLS, write https:// before "
            f"the host, or use_ssl: true into the client options."
        )
    # That no connection was made is a kind of timeout to urllib3.
    late = isinstance(cause, urllib3.exceptions.TimeoutError)
    if late and not isinstance(cause, urllib3.exceptions.NewConnectionError):
        return f"Nothing answers at {where} within {PATIENCE:.0f} s: start the cluster, or correct --target-hosts."
    reason = str(getattr(cause, "__context__", None) or cause or "no connection").rpartition("] ")[2]
    return f"Nothing answers at {where} ({reason}): start the cluster, or correct --target-hosts."


def _not_let_in(where: str, error: BadAnswer, endpoint: Endpoint) -> str:
    """The sentence for an answer other than the one that was asked for."""
    if error.status not in (401, 403):
        return f"What answers at {where} cannot be raced. {error} Look at the cluster, or correct --target-hosts."
    if endpoint.authorization or endpoint.client_certificate:
        return (
            f"The cluster at {where} refuses the login in the client options (HTTP status {error.status}): correct it, "
            f"or give its user the right to monitor the cluster."
        )
    return (
        f"The cluster at {where} wants a login (HTTP status {error.status}): put basic_auth_user and "
        f"basic_auth_password, or api_key, into a .json file for --client-options, or into the variable "
        f"PADDOCK_CLIENT_OPTIONS."
    )
