"""What a level says of a shipper: read into settings, the level's over the track's, and refused where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from esrally import exceptions
from shared.limit_groups import GroupLimits
from shared.shipper_parsing import PARSINGS
from shared.shipper_programs import PROGRAMS, QUEUES
from shared.shipper_settings import INPUTS, KEYS, SHIPPERS, MainQueue, ShipperSettings, shipper_settings

from paddock.tournaments import load_shape
from paddock.tracks import read_parameters

DEFAULTS = {"shipper": "rally", "shipper_queue": "memory"}


def read(level: dict[str, Any], params: dict[str, Any] | None = None) -> ShipperSettings | None:
    """The settings of a level whose laps have bulks of 500 by three clients."""
    return shipper_settings(level, {**DEFAULTS, "shipper_input": "tcp", **(params or {})}, 500, 3, "a level")


def test_without_a_shipper_rallys_own_clients_send() -> None:
    """Nothing said, and Rally named by a level where the track names a shipper."""
    assert read({}) is None
    assert read({"shipper": "rally"}, {"shipper": "rsyslog"}) is None


def test_batch_and_workers_are_those_of_the_clients_unless_it_says_otherwise() -> None:
    """So that a shipper races Rally's own clients with the same bulks at the same time."""
    assert read({"shipper": "syslog-ng"}) == ShipperSettings("syslog-ng", 500, 3)
    said = read({"shipper_workers": 2}, {"shipper": "rsyslog", "shipper_batch": 5000, "shipper_workers": 9})
    assert said == ShipperSettings("rsyslog", 5000, 2, input="imtcp")


def test_everything_can_be_said() -> None:
    """Each key reaches the settings; a level's own wins over the track's."""
    level = {
        "shipper": "rsyslog",
        "shipper_batch": 10,
        "shipper_workers": 2,
        "shipper_queue": "disk-assisted",
        "shipper_queue_size": 50,
        "shipper_main_queue_size": 2000,
        "shipper_main_batch": 7,
        "shipper_main_workers": 4,
        "shipper_parsing": "json",
        "shipper_retries": 0,
        "shipper_input": "imptcp",
        "shipper_processors": "0,2-3",
        "generator_processors": 1,
        "shipper_limit_cpu_quota": 0.5,
        "shipper_limit_memory": "512m",
        "generator_limit_cpu_quota": 1,
        "generator_limit_memory": "1g",
    }
    groups = {"shipper_groups": "/a", "generator_groups": "/b"}
    assert set(level) == set(KEYS)
    expected = ShipperSettings(
        "rsyslog", 10, 2, "disk-assisted", 50, 0, "imptcp", (0, 2, 3), (1,), main=MainQueue(2000, 7, 4), parsing="json"
    )
    limits, feeds = GroupLimits(0.5, 512 << 20, (Path("/a"),)), GroupLimits(1.0, 1 << 30, (Path("/b"),))
    expected = replace(expected, limits=limits, generator_limits=feeds)
    assert read(level, groups) == expected
    assert read({}, {**level, **groups}) == expected


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        ({"shipper": "rsylog"}, r"shipper of the level 'a level' must be one of rally, rsyslog, .* but is 'rsylog'"),
        ({"shipper_batch": 5}, r"has shipper_batch and no shipper: name one of rsyslog, syslog-ng, .* or leave it out"),
        ({"shipper": "syslog-ng", "shipper_input": "imtcp"}, "shipper_input imtcp, which syslog-ng does not have"),
        ({"shipper": "vector", "shipper_input": "udp"}, "must be one of tcp, imtcp, imptcp, file, but is 'udp'"),
        ({"shipper": "filebeat", "shipper_queue": "disk-assisted"}, "which filebeat does not have: choose from memory"),
        ({"shipper": "rsyslog", "shipper_queue": "disk", "shipper_workers": 2}, "that is disk has one: set .* to 1"),
        ({"shipper": "fluent-bit", "shipper_batch": 5}, "but fluent-bit sends its chunks of up to 2 MB as they are"),
        ({"shipper": "logstash", "shipper_retries": 5}, "but logstash sends again for ever: leave it out"),
        ({"shipper": "rsyslog", "shipper_batch": 0}, "must be a whole number from 1 on, but is 0"),
        ({"shipper": "rsyslog", "shipper_retries": -2}, "must be a whole number from 0 on, but is -2"),
        ({"shipper": "syslog-ng", "shipper_queue_size": 1499}, "too small for 3 workers .* of 500 .* make .* 1500 at"),
        ({"shipper": "rsyslog", "shipper_queue_size": 2999}, "make shipper_queue_size 3000 at least, or shipper_batch"),
        ({"shipper": "rsyslog", "shipper_workers": 9, "shipper_batch": 9999}, "make shipper_queue_size 179982 at"),
        ({"shipper": "syslog-ng", "shipper_main_queue_size": 9}, "but syslog-ng has one queue: leave it out"),
        ({"shipper": "syslog-ng", "shipper_parsing": "json"}, "but syslog-ng passes documents through as they are"),
        (
            {"shipper": "rsyslog", "shipper_parsing": "jsn"},
            "none, lines, json, places, syslog, but is .jsn.",
        ),
        ({"shipper": "rsyslog", "shipper_parsing": "places"}, "no client's address that it could: race web-events"),
        (
            {"shipper": "rsyslog", "shipper_parsing": "syslog", "shipper_input": "file"},
            "reads lines of syslog from a file",
        ),
        ({"shipper": "rsyslog", "shipper_main_workers": 2}, "no queue before that of the output: give shipper_main_q"),
        (
            {"shipper": "rsyslog", "shipper_main_queue_size": 999},
            "999 events, which cannot hold a batch of 1000 for each",
        ),
        (
            {"shipper": "rsyslog", "shipper_main_queue_size": 2000, "shipper_main_workers": 3},
            "2000 events, which cannot hold a batch of 1000 for each of 3 workers",
        ),
        (
            {"shipper": "rsyslog", "shipper_queue_size": 1999},
            "stands still where they do not fit: make shipper_queue_s",
        ),
        ({"shipper": "rsyslog", "shipper_main_queue_size": 1500}, "make shipper_main_queue_size 2000 at least"),
        ({"shipper": "rsyslog", "shipper_processors": "0-99999999999"}, "must be numbers of processors such as 0, 0-1"),
        ({"shipper": "rsyslog", "shipper_processors": "1-0"}, "must be numbers of processors such as 0, 0-1 or 0,2"),
        ({"shipper": "rsyslog", "shipper_limit_memory": "64m"}, "has shipper_limit_memory, which nobody holds here"),
        ({"shipper": "rsyslog", "generator_limit_cpu_quota": 1}, "name its folder with generator_groups"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(level: dict[str, Any], sentence: str) -> None:
    """Before anything is started, with what would be right."""
    with pytest.raises(exceptions.InvalidSyntax, match=sentence):
        read(level)


def test_a_quota_needs_the_processors_to_use_it_on() -> None:
    """More than it is pinned to would hold nothing."""
    level = {"shipper": "rsyslog", "generator_processors": "0", "generator_limit_cpu_quota": 1.5}
    with pytest.raises(
        exceptions.InvalidSyntax, match=r"_quota 1\.5, and generator_processors names 1 to use it on: make"
    ):
        read(level, {"generator_groups": "/x"})
    assert read({**level, "generator_processors": "0-1"}, {"generator_groups": "/x"}) is not None


def test_queues_may_be_as_small_as_the_batches_that_are_under_way() -> None:
    """What is refused is what no worker would ever find in there."""
    for name, size in (("syslog-ng", 1500), ("rsyslog", 3000), ("fluent-bit", None)):
        found = read({"shipper": name, "shipper_queue_size": size})
        assert found is not None
        assert found.queue_size == (size or 100_000)


def test_a_disk_queue_of_rsyslog_has_one_worker() -> None:
    """What nobody asked for is not refused, and the record says one."""
    found = read({"shipper": "rsyslog", "shipper_queue": "disk"})
    assert found is not None
    assert found.workers == 1


def test_a_place_is_looked_up_by_the_field_of_the_track() -> None:
    """Which field has the client's address is nothing that a level would have to say."""
    found = read({"shipper": "rsyslog", "shipper_parsing": "places"}, {"address_field": "clientip"})
    assert found is not None
    assert (found.parsing, found.address_field) == ("places", "clientip")


def test_tracks_and_tournaments_know_the_same() -> None:
    """Names, kinds of queues and inputs stand in parameters.yml, in the schema of tournaments and in the code."""
    known = {one.name: one for one in read_parameters("apache")}
    assert known["shipper"].choices == SHIPPERS == ("rally", *PROGRAMS)
    assert known["shipper_queue"].choices == QUEUES
    assert known["shipper_input"].choices == INPUTS
    assert known["shipper_parsing"].choices == PARSINGS
    assert load_shape.SHIPPER_KEYS == KEYS
    assert set(KEYS) <= set(known)
