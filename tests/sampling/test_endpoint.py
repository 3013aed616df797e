"""Where the cluster is, from what Rally's options say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.sampling import Endpoint


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
    "hosts", ["", "user:geheim@es:port", "{", '{"default": []}', "gone.json", "[::1", "[]", "[geheim]", *NO_LISTS]
)
def test_unusable_hosts_end_in_a_sentence_without_secrets(hosts: str) -> None:
    """What cannot be understood is a UsageError that repeats no password."""
    with pytest.raises(UsageError) as error:
        Endpoint.from_client_options(hosts)
    assert "geheim" not in str(error.value)
    assert str(error.value).endswith(".")
