"""Questions over TLS: a certificate is checked unless the user says otherwise."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.sampling.cluster import Cluster, Unreachable
from paddock.sampling.endpoint import Endpoint
from tests.sampling.fake_elasticsearch import FakeElasticsearch

x509 = pytest.importorskip("cryptography.x509", reason="makes the certificate; comes with Rally on Linux")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that has signed itself, with its key."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def server(certificate: Path) -> Iterator[FakeElasticsearch]:
    """A cluster that speaks TLS."""
    with FakeElasticsearch(certificate=certificate) as running:
        yield running


def test_a_certificate_that_the_given_authority_signed(server: FakeElasticsearch, certificate: Path) -> None:
    """ca_certs makes a cluster with a private authority reachable."""
    options = {"use_ssl": True, "ca_certs": str(certificate)}
    cluster = Cluster(Endpoint.from_client_options(server.host, options))
    assert cluster.version()["version"]["number"] == "8.8.2"
    cluster.close()


def test_an_unknown_certificate_is_refused(server: FakeElasticsearch) -> None:
    """Without the authority there is no answer, and no login is sent."""
    options = {"use_ssl": True, "basic_auth_user": "elastic", "basic_auth_password": "geheim"}
    cluster = Cluster(Endpoint.from_client_options(server.host, options))
    with pytest.raises(Unreachable, match="SSLError"):
        cluster.version()
    assert server.asked == []
    cluster.close()


def test_any_certificate_if_the_user_says_so(server: FakeElasticsearch) -> None:
    """verify_certs: false is obeyed, without a warning in the middle of the progress display."""
    cluster = Cluster(Endpoint.from_client_options(f"https://{server.host}", {"verify_certs": False}))
    assert cluster.version()["version"]["number"] == "8.8.2"
    cluster.close()
