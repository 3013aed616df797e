"""The doctor's findings on machines that differ in one thing from this one."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import cars, limits
from paddock.cars import Machine
from paddock.command_line import doctor as examination
from paddock.command_line.doctor import BAD, CARE, GOOD, Finding, driver_headroom, examine, render
from paddock.corpora.record import CorpusRecord
from paddock.race.headroom import Headroom, Shape
from paddock.rally import preflight, privileges
from tests.race.test_headroom import a_corpus, pushed


def finding(subject: str) -> Finding:
    """What the doctor says of one thing."""
    (found,) = [each for each in examine() if each.subject == subject]
    return found


def test_everything_is_looked_at_and_said_in_words() -> None:
    """Each finding has a state and a sentence; what is not good has a remedy or says what to expect."""
    findings = examine()
    assert {f.subject for f in findings} >= {
        "software",
        "Java",
        "engine",
        "memory",
        "disk",
        "ports",
        "identity",
        "load",
    }
    assert all(f.state in (GOOD, CARE, BAD) and f.text for f in findings)
    assert all(f.remedy for f in findings if f.state == BAD)


def test_shippers_are_named_and_none_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are there with their versions, and where it stands how the others are installed."""
    monkeypatch.setattr(examination, "at_hand", lambda: ({"rsyslog": "8.2302.0"}, {"vector": "It is not there."}))
    assert (
        finding("shippers").text == "rsyslog 8.2302.0. Not here: vector (docs/shippers.md says how they are installed)."
    )
    monkeypatch.setattr(examination, "at_hand", lambda: ({}, {"vector": "It is not there."}))
    assert finding("shippers").text.startswith("None is installed. Not here: vector")
    assert finding("shippers").state == GOOD


def test_a_machine_too_small_for_any_heap_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a gigabyte of memory runs no race."""
    monkeypatch.setattr(cars, "this_machine", lambda: Machine(400 * 2**20, 2, None))
    assert finding("memory").state == BAD


def test_the_largest_heap_car_that_fits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 GiB of memory hold a heap of 4 GiB, and the name is one that --car takes."""
    monkeypatch.setattr(cars, "this_machine", lambda: Machine(8 * 2**30, 2, None))
    assert "4gheap" in finding("memory").text


def test_the_largest_heap_is_one_for_which_memory_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have most of 8 GiB: what fits now is named first; where nothing does, that is bad."""
    monkeypatch.setattr(cars, "this_machine", lambda: Machine(8 * 2**30, 2, None))
    memory = type("memory", (), {"available": 3 * 2**30, "total": 8 * 2**30})()
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    assert "the largest heap car that fits is 2gheap now, 4gheap if all of it were free" in finding("memory").text
    memory.available = 2**28
    assert finding("memory").state == BAD
    assert "too little for the smallest heap car" in finding("memory").text


def test_a_full_disk_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than 2 GiB stop a race; the remedy names RALLY_HOME."""
    usage = type("usage", (), {"free": 2**30, "used": 2**40, "total": 2**40 + 2**30})()
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert finding("disk").state == BAD
    assert "RALLY_HOME" in finding("disk").remedy


def test_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has the node's port is said, with the option that chooses another."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        monkeypatch.setattr("paddock.command_line.doctor.DEFAULT_HTTP_PORT", holder.getsockname()[1])
        monkeypatch.setattr(preflight, "other_rally_processes", list)
        found = finding("ports")
        assert preflight.port_holder(holder.getsockname()[1])
    assert found.state == CARE
    assert "--port" in found.remedy


def test_root_without_namespaces_is_told_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where namespaces are forbidden the doctor says as whom races run."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(privileges, "namespaces_work", lambda: False)
    assert finding("identity").state == CARE
    assert "PADDOCK_USER" in finding("identity").remedy


def test_a_single_processor_is_a_reason_for_care(monkeypatch: pytest.MonkeyPatch) -> None:
    """Node and load driver on one processor disturb each other."""
    monkeypatch.setattr(cars, "this_machine", lambda: Machine(8 * 2**30, 1, None))
    assert finding("processors").state == CARE


def test_colours_only_when_asked_for() -> None:
    """Piped output has no escape sequences."""
    findings = [Finding("disk", BAD, "Full.", "Free some.")]
    assert "\x1b" not in render(findings, colours=False)
    assert "\x1b[31m" in render(findings, colours=True)


def test_the_load_driver_is_measured_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shape of the largest corpus of each name; without a corpus a sentence says how to get one."""
    listing = driver_headroom()
    assert listing.sections[0][2] == [] and "./inv corpus.generate" in listing.closing
    small, large = a_corpus(tmp_path), replace(a_corpus(tmp_path), documents=500)
    monkeypatch.setattr(examination, "list_corpora", lambda: [large, small])
    asked: list[tuple[int, Shape]] = []

    def found(corpus: CorpusRecord, shape: Shape) -> Headroom:
        asked.append((corpus.documents, shape))
        return pushed(shape.bulk_size, shape.clients)

    monkeypatch.setattr(examination, "ensure", found)
    (_, heads, rows), *_ = driver_headroom().sections
    assert asked == [(500, Shape(size, clients)) for size in (100, 1000, 5000) for clients in (1, 8)]
    assert dict(zip(heads, rows[2], strict=True)) == {
        "corpus": "apache",
        "bulk size": 1000,
        "clients": 1,
        "docs/s": 100_000,
        "MB/s": 35.0,
        "CPU ms/bulk": 10.0,
        "CPU us/doc": 10.0,
        "others had": "2 %",
    }


def test_limits_are_told_with_what_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some hold and some do not: care, and what would help; all hold: good."""
    some = {"cores": "CPU affinity"}, {"memory": "It cannot be held here."}
    monkeypatch.setattr(limits, "holding_here", lambda _: some)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    found = finding("hardware")
    assert (found.state, found.text) == (CARE, "Cars can limit cores by CPU affinity. Not: memory.")
    assert found.remedy == "Call ./inv as root, with a writable /sys/fs/cgroup, for these."
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert finding("hardware").remedy == "It cannot be held here."
    every = dict.fromkeys(("cores", "processor time", "memory", "disk"), "control groups v2")
    monkeypatch.setattr(limits, "holding_here", lambda _: (every, {}))
    assert finding("hardware").state == GOOD
    assert "cores, processor time, memory, disk by control groups v2" in finding("hardware").text
