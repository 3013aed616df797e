"""Secrets for someone else's cluster: from a file or the environment, and never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.rally.request import OPTIONS_VARIABLE as VARIABLE
from paddock.rally.request import read_client_options


def test_options_from_a_file(tmp_path: Path) -> None:
    """The file is given to Rally as it is."""
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"default": {"use_ssl": True, "basic_auth_password": "hush"}}))
    options = read_client_options(str(file), {})
    assert (options.file, options.private) == (file, {})
    assert options.values["use_ssl"] is True


RELATIVE = {"api_key": "hush", "ca_certs": "ca.pem"}


@pytest.mark.parametrize("written", [RELATIVE, {"default": RELATIVE}])
def test_what_rally_would_not_understand_is_told_it_in_its_own_way(
    written: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without the name of a cluster, a path from its folder, https:// before a host: all in a private file."""
    (tmp_path / "ca.pem").touch()
    monkeypatch.chdir("/")
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(written))
    read = read_client_options(str(file), {}, hosts="https://es:9243")
    told = {"timeout": 60, "api_key": "hush", "ca_certs": str(tmp_path / "ca.pem"), "use_ssl": True}
    assert (read.file, read.private) == (None, {"default": told})


def test_the_variable_names_files_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies in no folder; what is not there is told with the whole path, for the file of options, too."""
    (tmp_path / "ca.pem").touch()
    monkeypatch.chdir(tmp_path)
    assert read_client_options(None, {VARIABLE: json.dumps(RELATIVE)}).values["ca_certs"] == str(tmp_path / "ca.pem")
    file = tmp_path / "folder" / "cluster.json"
    file.parent.mkdir()
    file.write_text(json.dumps(RELATIVE))
    with pytest.raises(UsageError, match=rf"name {file.parent / 'ca.pem'} as ca_certs, and there is no such file"):
        read_client_options(str(file), {})


def test_each_cluster_has_its_own(tmp_path: Path) -> None:
    """A file, or the variable, may name several clusters, by what contenders are called.

    One that is not named gets nobody else's password; options of the default alone are everybody's, as with Rally.
    """
    both = json.dumps({"default": {"api_key": "a"}, "theirs": {"api_key": "b"}})
    file = tmp_path / "clusters.json"
    file.write_text(both)
    for option, environment in ((str(file), {}), (None, {VARIABLE: both})):
        for cluster, called, key in (
            ("theirs", (), "b"),
            ("theirs", ("Theirs",), "b"),
            ("default", ("Ours",), "a"),
            ("default", ("theirs",), "b"),
        ):
            read = read_client_options(option, environment, cluster=cluster, called=called)
            assert read.values["api_key"] == key
        with pytest.raises(UsageError, match="has client options of default, theirs, and none of 'Another One': add"):
            read_client_options(option, environment, cluster="another-one", called=("Another One",))
    alone = {VARIABLE: '{"default": {"api_key": "a"}}'}
    assert read_client_options(None, alone, cluster="other").values["api_key"] == "a"


def test_an_option_that_nobody_knows_is_refused() -> None:
    """Rally would fail with it, or do without an authority; what may be a piece of a password is not repeated."""
    with pytest.raises(UsageError, match=r"'ca_cert' is no client option .*: did you mean 'ca_certs'"):
        read_client_options(None, {VARIABLE: '{"ca_cert": "ours.pem"}'})
    with pytest.raises(UsageError, match="basic_auth_user with basic_auth_password, or api_key") as caught:
        read_client_options(None, {VARIABLE: "hush4711:1"})
    assert "hush" not in str(caught.value)
    told = {"use_ssl": True, "verify_certs": False, "request_timeout": 3, "max_connections": 9, "compressed": True}
    assert read_client_options(None, {VARIABLE: json.dumps(told)}).values == told


def test_a_certificate_that_is_not_there_is_named() -> None:
    """Else somebody would look for a cluster that does not answer."""
    with pytest.raises(UsageError, match=r"name /no/such\.pem as ca_certs, and there is no such file: correct it"):
        read_client_options(None, {VARIABLE: '{"ca_certs": "/no/such.pem"}'})


def test_options_from_the_environment_are_written_nowhere(rally_home: Path) -> None:
    """Rally is given them in a file when it starts, not before: a race that is refused leaves no password behind."""
    options = read_client_options(None, {VARIABLE: "use_ssl:true,basic_auth_password:hush"})
    assert options.file is None
    assert options.private == {"default": {"timeout": 60, "use_ssl": True, "basic_auth_password": "hush"}}
    assert list(rally_home.rglob("*")) == []


def test_no_secret_is_shown() -> None:
    """The object can be printed without giving anything away."""
    assert "hush" not in repr(read_client_options(None, {VARIABLE: "basic_auth_password:hush"}))


def test_options_on_the_command_line_are_refused_without_repeating_them() -> None:
    """They would stay in the shell's history; the sentence must not print the secret again."""
    with pytest.raises(UsageError, match=VARIABLE) as caught:
        read_client_options("basic_auth_password:hush", {})
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["basic_auth_password:hush,hush", "hush", "hush:1,hush:2", "{hush", '{"a": hush}', "a:hush.json"]
)
def test_what_is_no_options_is_not_repeated(text: str, tmp_path: Path) -> None:
    """Any piece of it may be a password's; from the variable and from a file."""
    file = tmp_path / "cluster.json"
    file.write_text(text.removesuffix(".json"))
    with pytest.raises(UsageError, match=VARIABLE) as caught:
        read_client_options(None, {VARIABLE: text})
    assert "hush" not in str(caught.value)
    if not text.endswith(".json"):
        with pytest.raises(UsageError, match="--client-options") as caught:
            read_client_options(str(file), {})
        assert "hush" not in str(caught.value)


def test_a_file_that_is_no_text_ends_in_a_sentence(tmp_path: Path) -> None:
    """A byte that is no UTF-8, which is not repeated either."""
    file = tmp_path / "cluster.json"
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="check that it is there and is text in UTF-8"):
        read_client_options(str(file), {})


def test_without_options_rally_uses_its_defaults() -> None:
    """No option, no variable: no file."""
    assert read_client_options(None, {}).file is None
