"""Where a cluster is, how it is asked over TLS, and what is in the way of a race against it."""

from __future__ import annotations

import datetime
import ipaddress
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.errors import MachineError, UsageError
from paddock.sampling.cluster import Cluster, Endpoint, Unreachable, check_cluster
from tests.authority import Authority
from tests.sampling.fake_elasticsearch import FakeElasticsearch


@pytest.mark.parametrize(
    ("hosts", "options", "urls"),
    [
        ("127.0.0.1:39200", {}, ("http://127.0.0.1:39200",)),
        ("a:1, b:2", {}, ("http://a:1", "http://b:2")),
        ("es", {}, ("http://es:9200",)),
        ("https://es", {}, ("https://es:443",)),
        ("es:9243", {"use_ssl": True}, ("https://es:9243",)),
        ("https://es:9243/proxy/", {}, ("https://es:9243/proxy",)),
        ("[::1]:9200", {}, ("http://[::1]:9200",)),
        ('{"default": ["a:1", "b:2"], "other": ["c:3"]}', {}, ("http://a:1", "http://b:2")),
    ],
)
def test_hosts_are_read_as_rally_reads_them(hosts: str, options: dict[str, object], urls: tuple[str, ...]) -> None:
    """All notations that --target-hosts knows lead to the URLs that Rally itself would use."""
    assert Endpoint.from_client_options(hosts, options).urls == urls


def test_hosts_may_lie_in_a_file(tmp_path: Path) -> None:
    """A .json file of hosts is read as Rally reads it."""
    file = tmp_path / "hosts.json"
    file.write_text(json.dumps({"default": ["a:1"]}))
    assert Endpoint.from_client_options(str(file)).urls == ("http://a:1",)


def test_a_file_of_hosts_that_is_no_text_ends_in_a_sentence(tmp_path: Path) -> None:
    """A byte that is no UTF-8."""
    file = tmp_path / "hosts.json"
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="names a file that cannot be read"):
        Endpoint.from_client_options(str(file))


@pytest.mark.parametrize(
    ("options", "authorization"),
    [
        ({"basic_auth_user": "elastic", "basic_auth_password": "secret"}, "Basic ZWxhc3RpYzpzZWNyZXQ="),
        ({"api_key": "abc=="}, "ApiKey abc=="),
        ({"api_key": ["id", "key"]}, "ApiKey aWQ6a2V5"),
        ({"timeout": 60}, None),
    ],
)
def test_logins(options: dict[str, object], authorization: str | None) -> None:
    """Rally's ways to log in become an Authorization header."""
    assert Endpoint.from_client_options("es:9200", options).authorization == authorization


@pytest.mark.parametrize(
    "hosts",
    [
        "https://elastic:s%40cret@es:9200",
        "es:9200,elastic@es:9200",
        '{"default": ["es:9200"], "other": "https://elastic:s%40cret@es"}',
        *(f"https://elastic:{mark}s{mark}cret@es:9200" for mark in "/?#"),
    ],
)
def test_a_login_in_a_host_is_refused_without_being_repeated(hosts: str) -> None:
    """Rally does not use it, and lists of processes, journals and reports would show it; the sentence has the way."""
    with pytest.raises(UsageError, match=r"--client-options, or into the variable PADDOCK_CLIENT_OPTIONS") as error:
        Endpoint.from_client_options(hosts)
    assert "cret" not in str(error.value)
    assert "elastic" not in str(error.value)


NO_LISTS = [f'{{"default": {value}}}' for value in ("5", "null", "[5]", '{"a": 1}')]


@pytest.mark.parametrize(
    "hosts",
    [
        "",
        "user:geheim@es:port",
        "{",
        '{"default": []}',
        "gone.json",
        "[::1",
        "[]",
        "[geheim]",
        "ftp://es:9200",
        *NO_LISTS,
    ],
)
def test_unusable_hosts_end_in_a_sentence_without_secrets(hosts: str) -> None:
    """What cannot be understood is a UsageError that repeats no password."""
    with pytest.raises(UsageError) as error:
        Endpoint.from_client_options(hosts)
    assert "geheim" not in str(error.value)
    assert str(error.value).endswith(".")


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


def refused(hosts: str, kind: type[Exception] = MachineError, **options: object) -> str:
    """What is said of a cluster that cannot be raced."""
    with pytest.raises(kind) as error:
        check_cluster(Endpoint.from_client_options(hosts, options))
    return str(error.value)


def test_a_cluster_that_answers_can_be_raced(server: FakeElasticsearch, certificate: Path) -> None:
    """Client options are honoured, and one of several hosts is enough."""
    options = {"ca_certs": str(certificate)}
    check_cluster(Endpoint.from_client_options(f"https://127.0.0.1:1,https://{server.host}", options))
    with FakeElasticsearch() as plain:
        check_cluster(Endpoint.from_client_options(plain.host))


def test_where_nothing_answers_the_sentence_says_so() -> None:
    """A closed port, and a name that nobody knows."""
    assert refused("127.0.0.1:1") == (
        "Nothing answers at http://127.0.0.1:1 (Connection refused): start the cluster, or correct --target-hosts."
    )
    assert refused("no-such-host.invalid:9200").startswith("Nothing answers at http://no-such-host.invalid:9200 (")


def test_a_certificate_in_the_way_is_named(server: FakeElasticsearch) -> None:
    """With the two client options that help."""
    said = refused(f"https://{server.host}")
    assert said.startswith(f"The certificate of https://{server.host} cannot be verified (self")
    assert "ca_certs" in said
    assert "verify_certs: false" in said


@pytest.mark.parametrize(
    ("hosts", "days", "told"),
    [
        (("127.0.0.1",), -1, "has expired: have it renewed"),
        (("192.0.2.7", "es.example.org"), 1, "is made out to another name ("),
    ],
)
def test_a_certificate_of_the_right_authority_may_still_be_wrong(
    tmp_path: Path, hosts: tuple[str, ...], days: int, told: str
) -> None:
    """One that is over, and one for another host: neither sentence sends the user to look for an authority."""
    authority = Authority(tmp_path)
    certificate, key = authority.sign("server", hosts, days)
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    with FakeElasticsearch(certificate=both) as fake:
        said = refused(f"https://{fake.host}", ca_certs=str(authority.certificate), api_key="geheim")
        assert said.startswith(f"The certificate of https://{fake.host} {told}")
        assert fake.asked == []
    assert "geheim" not in said
    assert "name the file of its authority" not in said


def test_a_certificate_of_another_authority(tmp_path: Path) -> None:
    """ca_certs names one that has not signed it."""
    authority, other = Authority(tmp_path), Authority(tmp_path, "Another")
    certificate, key = authority.sign("server")
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    with FakeElasticsearch(certificate=both) as fake:
        said = refused(f"https://{fake.host}", ca_certs=str(other.certificate))
        assert "cannot be verified (unable to get local issuer certificate): name the file of its authority" in said
        check_cluster(Endpoint.from_client_options(f"https://{fake.host}", {"ca_certs": str(authority.certificate)}))


def test_tls_where_there_is_none_and_none_where_it_is_wanted(server: FakeElasticsearch) -> None:
    """Each says which of the two to write."""
    with FakeElasticsearch() as plain:
        assert "leave https:// and use_ssl out" in refused(f"https://{plain.host}")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=lambda: listening.accept()[0].close()).start()
        assert "write https:// before the host" in refused(f"127.0.0.1:{listening.getsockname()[1]}")


def test_a_missing_or_wrong_login_is_said_without_repeating_it() -> None:
    """401 and 403, with and without a login in the client options."""
    with FakeElasticsearch() as fake:
        for status in (401, 403):
            fake.statuses["version"] = status
            assert f"wants a login (HTTP status {status}): put basic_auth_user" in refused(fake.host)
            said = refused(fake.host, basic_auth_user="elastic", basic_auth_password="geheim")  # noqa: S106 - nobody's
            assert f"refuses the login in the client options (HTTP status {status})" in said
            assert "geheim" not in said


def test_other_answers_are_quoted() -> None:
    """A proxy's error page, and one that is no JSON."""
    with FakeElasticsearch() as fake:
        fake.statuses["version"] = 503
        assert "cannot be raced. The cluster answered / with HTTP status 503." in refused(fake.host)
        fake.statuses["version"] = 200
        fake.raw["version"] = b"<html>"
        assert "something that is no JSON object" in refused(fake.host)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"name": "x"}, "is no Elasticsearch"),
        ({"version": {"number": "2.11.0", "distribution": "opensearch"}}, "is no Elasticsearch"),
        ({"version": {"number": "8.11.0", "build_flavor": "serverless"}}, "is serverless"),
    ],
)
def test_what_cannot_be_raced_is_refused(answer: dict, sentence: str) -> None:
    """Something else on that port, OpenSearch, a serverless cluster."""
    with FakeElasticsearch() as fake:
        fake.answers["version"] = answer
        assert sentence in refused(fake.host, UsageError)
