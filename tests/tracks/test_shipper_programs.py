"""What shippers are told: as it was when a person last looked at it, and as the programs themselves find it right.

``UPDATE_GOLDEN=1`` writes the files of ``golden-shippers`` anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from shared.shipper_place import Place
from shared.shipper_programs import PROGRAMS, refused
from shared.shipper_settings import shipper_settings

GOLDEN = Path(__file__).parent / "golden-shippers"
FOLDER = Path("/race/shippers/lap-1")
PLAIN = Place((("127.0.0.1", 39200),), "paddock-apache-lap")
SECURED = Place(
    (("es1", 9200), ("::1", 9201)),
    "paddock-apache-lap",
    https=True,
    path="/search",
    user="me",
    password='p"a$s\\s',  # noqa: S106 - nobody's
    authority="/race/shippers/lap-1/authority.pem",
)
DATABASE = "places.json"
# What differs from the defaults, where documents go, what feeds it.
CASES: dict[str, tuple[dict[str, Any], Place, dict[str, Any]]] = {
    "rsyslog": ({}, PLAIN, {"port": 5140}),
    "rsyslog-imptcp-disk": ({"shipper_input": "imptcp", "shipper_queue": "disk"}, SECURED, {"port": 5140}),
    "rsyslog-file-assisted": (
        {"shipper_input": "file", "shipper_queue": "disk-assisted", "shipper_retries": 3},
        PLAIN,
        {"file": "/race/shippers/lap-1/documents.json"},
    ),
    "rsyslog-two-queues": (
        {"shipper_batch": 5000, "shipper_workers": 5, "shipper_main_queue_size": 1_000_000, "shipper_main_workers": 2},
        PLAIN,
        {"port": 5140},
    ),
    "rsyslog-lines": ({"shipper_parsing": "lines"}, PLAIN, {"port": 5140}),
    "rsyslog-json": ({"shipper_parsing": "json"}, PLAIN, {"port": 5140}),
    "rsyslog-syslog": ({"shipper_parsing": "syslog"}, PLAIN, {"port": 5140}),
    "rsyslog-places": (
        {"shipper_parsing": "places", "shipper_main_queue_size": 1_000_000},
        PLAIN,
        {"port": 5140},
    ),
    "syslog-ng": ({}, PLAIN, {"port": 5140}),
    "syslog-ng-disk": ({"shipper_queue": "disk", "shipper_retries": 3}, SECURED, {"port": 5140}),
    "syslog-ng-file-assisted": (
        {"shipper_queue": "disk-assisted"},
        Place((("127.0.0.1", 39200),), "paddock-apache-lap", api_key="aWQ6a2V5"),
        {"file": "/race/shippers/lap-1/documents.json"},
    ),
    "vector": ({"shipper_queue": "disk-assisted"}, SECURED, {"port": 5140}),
    "vector-file": ({"shipper_retries": 3}, PLAIN, {"file": "/race/shippers/lap-1/documents.json"}),
    "fluent-bit": ({"shipper_queue": "disk"}, SECURED, {"port": 5140}),
    "fluent-bit-file": ({"shipper_retries": 3}, PLAIN, {"file": "/race/shippers/lap-1/documents.json"}),
    "filebeat": ({"shipper_queue": "disk"}, SECURED, {"port": 5140}),
    "filebeat-file": ({}, PLAIN, {"file": "/race/shippers/lap-1/documents.json"}),
    "logstash": ({"shipper_queue": "disk"}, SECURED, {"port": 5140}),
    "logstash-file": ({}, PLAIN, {"file": "/race/shippers/lap-1/documents.json"}),
}


def rendered(case: str, folder: Path = FOLDER) -> dict[str, str]:
    """The configuration of a case, text by name of the file."""
    level, place, fed_by = CASES[case]
    name = next(one for one in sorted(PROGRAMS, key=len, reverse=True) if case.startswith(one))
    settings = shipper_settings({"shipper": name, **level}, {"address_field": "user_ip"}, 1000, 4, case)
    assert settings is not None
    return PROGRAMS[name].render(folder, settings, place, fed_by)


@pytest.mark.parametrize("case", CASES)
def test_configurations_are_those_that_were_looked_at(case: str) -> None:
    """Every kind of queue, both kinds of input, a login, certificates, several hosts."""
    for name, text in rendered(case).items():
        if name == DATABASE:  # of thousands of places; test_shipper_parsing.py has a look at it
            continue
        file = GOLDEN / f"{case}.{name}"
        if os.environ.get("UPDATE_GOLDEN"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_the_programs_take_them(case: str, tmp_path: Path) -> None:
    """Where a program is installed, its own check finds nothing wrong."""
    program = PROGRAMS[next(one for one in sorted(PROGRAMS, key=len, reverse=True) if case.startswith(one))]
    if why := program.missing():
        pytest.skip(why)
    (tmp_path / "state").mkdir()
    for file in ("documents.json", "authority.pem"):
        (tmp_path / file).touch()
    for name, text in rendered(case, tmp_path).items():
        (tmp_path / name).write_text(text.replace(str(FOLDER), str(tmp_path)), encoding="utf-8")
    assert refused(program, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "wrong", "word"),
    [
        ("rsyslog", ("omelasticsearch", "omelastic"), "omelastic"),
        ("syslog-ng", ("http(", "htp("), "syslog-ng.conf:11:3"),
    ],
)
def test_a_refused_configuration_is_refused_in_the_programs_own_words(
    name: str, wrong: tuple[str, str], word: str, tmp_path: Path
) -> None:
    """What the program does not know, or where that is, is in what it says."""
    program = PROGRAMS[name]
    if why := program.missing():
        pytest.skip(why)
    (tmp_path / "state").mkdir()
    for file, text in rendered(name, tmp_path).items():
        (tmp_path / file).write_text(text.replace(*wrong), encoding="utf-8")
    assert word in (refused(program, tmp_path) or "")


def test_what_is_not_installed_is_said_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the command."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("shared.shipper_programs._PLACES", ("/nowhere",))
    assert PROGRAMS["rsyslog"].missing() == (
        "The shipper rsyslog is not installed (there is no program rsyslogd): "
        "apt-get install rsyslog rsyslog-elasticsearch."
    )
    assert all(program.missing() for program in PROGRAMS.values())
