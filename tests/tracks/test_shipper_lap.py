"""A lap by a shipper: started, fed, counted and ended; what is said of one that loses, dies, stops or will not begin.

Real rsyslog and syslog-ng send to a sink where they are installed; what fails is a small program in a shipper's place.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import elasticsearch
import psutil
import pytest
from esrally import exceptions
from shared import shipper_lap
from shared.freshness import FreshnessProbe
from shared.lap_load import Load
from shared.limit_groups import GroupLimits
from shared.shipper_lap import Shipment
from shared.shipper_process import COMPONENT, GENERATOR, SHIPPER, Child
from shared.shipper_programs import PROGRAMS
from shared.shipper_settings import MainQueue, ShipperSettings

from paddock.errors import MachineError
from paddock.limits import Limits, NodeGroups, plan_limits
from paddock.paths import TRACKS
from tests.machine import PATIENCE, wait_until
from tests.tracks.lap_client import FakeElasticsearch, corpus, lap, meta
from tests.tracks.shipped import INDEX, Sink, SinkClient, StandIn

COUNT = 5000
# Seconds after which a lap is over in which nothing more will come; nothing else may take so long.
STANDSTILL = 10.0


class Sent:
    """What came of one lap by a shipper."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.load = Load()
        self.problems: list[str] = []
        self.record: dict[str, Any] = {}
        self.left: list[Path] = []

    @property
    def numbers(self) -> list[int]:
        """The documents that have arrived, by their numbers."""
        return [json.loads(document)["n"] for document in self.sink.documents]


def ship(
    tmp_path: Path,
    settings: ShipperSettings,
    sink: Sink | None = None,
    authorization: str | None = None,
    lines: Sequence[bytes] = (),
    probe: FreshnessProbe | None = None,
    **changes: Any,
) -> Sent:
    """One lap of 5,000 documents from the 2,500th on, of a corpus of 3,000 and 4,000 in two files; or these lines."""
    documents = corpus(tmp_path, [len(lines)] if lines else [3000, 4000])
    slice_of = {"count": COUNT, "first_document": 2500}
    if lines:
        Path(documents[0].document_file).write_bytes(b"\n".join(lines) + b"\n")
        slice_of = {"count": len(lines), "first_document": 0}

    async def run(sink: Sink) -> Sent:
        sent, client = Sent(sink), SinkClient(sink, authorization)
        given = {**slice_of, "index": INDEX, "shipper": settings, **changes}
        shipment = Shipment(client, lap(documents, None, **given))
        try:
            with client.new_request_context():
                await shipment.prepare()
                await shipment.look()
                sent.load = await shipment.load(probe, sent.problems)
                sent.load.bulks = await shipment.end()
        finally:
            sent.record = shipment.record(len(sink.documents))
            shipment.close()
            sent.left = list((tmp_path / "race").glob("shippers/*"))
        return sent

    with sink or Sink() as open_sink:
        return asyncio.run(run(open_sink))


@pytest.fixture(autouse=True)
def race_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a race, where a lap's own lies."""
    monkeypatch.setenv("PADDOCK_RACE", str(tmp_path / "race"))
    shipper_lap._version.cache_clear()
    return tmp_path / "race"


def stand_in(monkeypatch: pytest.MonkeyPatch, **does: int) -> ShipperSettings:
    """The small program in a shipper's place."""
    monkeypatch.setitem(PROGRAMS, "stand-in", StandIn({"of": COUNT, **does}))  # type: ignore[misc]
    return ShipperSettings("stand-in", 1000, 1, patience=PATIENCE)


@pytest.mark.parametrize("fed_by", ["tcp", "file"])
def test_every_document_arrives_once(fed_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the lap's slice, across the ends of files; nothing is left of it, and the record says all of it."""
    sent = ship(tmp_path, replace(stand_in(monkeypatch), input=fed_by))
    assert sent.problems == []
    assert sent.numbers == [*range(2500, 7000), *range(500)]
    assert (
        sent.load.documents_sent == sent.load.documents_acknowledged == sum(sent.load.documents_per_second()) == COUNT
    )
    assert sent.load.seconds is not None
    assert sent.load.seconds > 0
    assert sum(sent.load.share_ms()) == pytest.approx(1000 * sent.load.seconds, abs=1)
    assert sent.load.bulks == len(sent.sink.sizes)
    record = sent.record
    assert (record["generated"], record["counted"], record["lost"], record["duplicates"]) == (COUNT, COUNT, 0, 0)
    assert record["bytes"] == sum(len(document) + 1 for document in sent.sink.documents)
    assert record["bulk_bytes"] == sent.sink.bytes
    assert (record["name"], record["input"]) == ("stand-in", fed_by)
    assert record["version"] == f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    assert record["peak_memory_bytes"] > 1_000_000
    assert record["cpu_seconds"] >= 0
    assert sent.left == []


@pytest.mark.parametrize(
    ("name", "fed_by", "queue", "queue_size"),
    [
        ("rsyslog", "imtcp", "memory", 2000),
        ("rsyslog", "imptcp", "disk-assisted", 2000),
        ("rsyslog", "imtcp", "disk", 2000),
        # Of less than two of the 1,024 events that it reads at once, rsyslog 8.2302 stands still for ever.
        ("rsyslog", "file", "disk-assisted", 20_000),
        ("rsyslog", "file", "memory", 2000),
        ("syslog-ng", "tcp", "memory", 2000),
        ("syslog-ng", "file", "memory", 2000),
        ("syslog-ng", "tcp", "disk-assisted", 2000),
        ("syslog-ng", "tcp", "disk", 2000),
    ],
)
def test_real_shippers_send_each_document_once(
    name: str, fed_by: str, queue: str, queue_size: int, tmp_path: Path
) -> None:
    """Batches are no larger than asked for, the login is the client's, and each document is as it was."""
    if why := PROGRAMS[name].missing():
        pytest.skip(why)
    login = base64.b64encode(b'me:p"a$s\\s`HOME`w`').decode()
    settings = ShipperSettings(name, 700, 1, queue, queue_size, input=fed_by)
    sent = ship(tmp_path, settings, authorization=f"Basic {login}")
    assert sent.problems == []
    assert sorted(sent.numbers) == sorted([*range(2500, 7000), *range(500)])
    assert sent.sink.actions == {"index"}
    assert 100 < max(sent.sink.sizes) <= 700
    assert sent.record["lost"] == sent.record["duplicates"] == 0
    assert sent.record["version"][:1].isdigit()
    assert {headers["Authorization"] for headers in sent.sink.headers} == {f"Basic {login}"}


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("name", ["rsyslog", "syslog-ng", "stand-in"])
def test_no_proxy_gets_documents_or_a_password(
    name: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Rally's own clients shippers send to the node itself, whatever proxy the environment names."""
    fed_by = "imtcp" if name == "rsyslog" else "tcp"
    settings = replace(stand_in(monkeypatch), name=name, input=fed_by, patience=STANDSTILL)
    if why := PROGRAMS[name].missing():
        pytest.skip(why)
    with Sink() as proxy:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        sent = ship(tmp_path, settings)
        assert proxy.sizes == []
    assert sent.problems == []
    assert len(sent.numbers) == COUNT


@pytest.mark.parametrize("main", [None, MainQueue(10_000, 1000, 2)])
def test_rsyslog_sends_as_many_batches_at_once_as_it_has_workers(main: MainQueue | None, tmp_path: Path) -> None:
    """Four, each full where enough wait: so cells of a grid are what they are called, with one queue and with two."""
    all_there, changing, under_way, most = threading.Event(), threading.Lock(), [0], [0]

    def arrival() -> None:
        with changing:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        if most[0] == 4:
            all_there.set()
        all_there.wait(PATIENCE)
        with changing:
            under_way[0] -= 1

    if why := PROGRAMS["rsyslog"].missing():
        pytest.skip(why)
    settings = ShipperSettings("rsyslog", 200, 4, input="imtcp", main=main, patience=PATIENCE)
    sent = ship(tmp_path, settings, Sink(on_arrival=arrival))
    assert sent.problems == []
    assert sorted(sent.numbers) == sorted([*range(2500, 7000), *range(500)])
    assert all_there.is_set()
    assert most[0] == 4
    assert sent.sink.sizes.count(200) >= COUNT // 200 // 2
    assert max(sent.sink.sizes) == 200
    assert sent.record["main_queue"] == (None if main is None else {"size": 10_000, "batch": 1000, "workers": 2})


@pytest.mark.skipif(not shutil.which("openssl"), reason="certificates are made with openssl")
@pytest.mark.parametrize(("name", "fed_by"), [("rsyslog", "imtcp"), ("syslog-ng", "tcp")])
def test_certificates_that_rally_trusts_are_trusted(name: str, fed_by: str, tmp_path: Path) -> None:
    """Documents reach a server whose certificate nobody else knows; one that Rally does not trust gets none."""
    if why := PROGRAMS[name].missing():
        pytest.skip(why)
    certificates = [tmp_path / f"{number}.pem" for number in range(2)]
    for certificate in certificates:
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "-", "-out", "-"]
        certificate.write_bytes(subprocess.run(made, capture_output=True, check=True).stdout)
    settings = ShipperSettings(name, 700, 1, input=fed_by)
    sent = ship(tmp_path, settings, Sink(certificate=certificates[0]))
    assert sent.problems == []
    assert sorted(sent.numbers) == sorted([*range(2500, 7000), *range(500)])
    sink = Sink(certificate=certificates[0])
    sink.certificate = certificates[1]
    assert ship(tmp_path, replace(settings, patience=2.0), sink).record["counted"] == 0


def test_lines_of_any_content_pass_through(tmp_path: Path) -> None:
    """Letters of any language, escapes, a tab, what looks like a macro, a line of 100 kB; as they are, byte by byte."""
    lines = [
        rb'{"n":1,"message":"a \"quoted\" \\ word\n and \t and %msg% ${MSG} $$ <13>"}',
        '{"n":2,"message":"Größe 大 \\u00e9 \U0001f600"}'.encode(),
        b'{"n":3,"message":"' + b"x" * 100_000 + b'"}',
        b'{"n":4,"message":"tab\tin it"}',
    ]
    documents = corpus(tmp_path, [4])
    Path(documents[0].document_file).write_bytes(b"\n".join(lines) + b"\n")

    async def run(name: str, sink: Sink) -> None:
        client = SinkClient(sink)
        settings = ShipperSettings(name, 2, 1, input="imtcp" if name == "rsyslog" else "tcp")
        shipment = Shipment(client, lap(documents, None, count=4, index=INDEX, shipper=settings))
        problems: list[str] = []
        try:
            with client.new_request_context():
                await shipment.prepare()
                await shipment.load(None, problems)
        finally:
            shipment.close()
        assert problems == []

    for name in ("rsyslog", "syslog-ng"):
        if PROGRAMS[name].missing() is None:
            with Sink() as sink:
                asyncio.run(run(name, sink))
                assert sorted(sink.documents) == sorted(lines), name


def test_a_loss_is_told_in_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tenth document is lost on the way: the lap ends once nothing comes any more."""
    sent = ship(tmp_path, replace(stand_in(monkeypatch, loses=10), patience=STANDSTILL))
    assert (sent.record["generated"], sent.record["counted"], sent.record["lost"]) == (COUNT, 4500, 500)
    (problem,) = sent.problems
    assert problem.startswith("no document was counted for 10 s after 4,500 of 5,000")


def test_documents_that_come_twice_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no loss, and no gain either."""
    sent = ship(tmp_path, stand_in(monkeypatch, twice=COUNT))
    assert (sent.record["lost"], sent.record["duplicates"]) == (0, 1)


def test_documents_that_came_twice_hide_none_that_are_still_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as were handed over are there before all have come: the rest comes before the shipper is ended."""
    over = threading.Event()
    end = Shipment.end

    async def the_end(self: Shipment) -> int:
        over.set()
        return await end(self)

    def arrival() -> None:
        if len(sink.documents) >= COUNT:
            over.wait(PATIENCE)

    monkeypatch.setattr(Shipment, "end", the_end)
    monkeypatch.setattr(shipper_lap, "_AT_REST", 2.0)
    sink = Sink(on_arrival=arrival)
    sent = ship(tmp_path, stand_in(monkeypatch, twice=2), sink)
    assert set(sent.numbers) == {*range(2500, 7000), *range(500)}
    assert (sent.record["counted"], sent.record["duplicates"]) == (COUNT + COUNT // 2, COUNT // 2)


def test_a_marker_that_is_refused_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The freshness probe ends with it, the lap does not: all documents are there."""
    client = FakeElasticsearch()

    async def refuse(**_: Any) -> None:
        raise elasticsearch.BadRequestError("document_parsing_exception", meta(400), {})

    async def refused() -> FreshnessProbe:
        with client.new_request_context():
            async with FreshnessProbe(client, INDEX) as probe:
                while probe.record()["problem"] is None:
                    await asyncio.sleep(0)
        return probe

    monkeypatch.setattr(client, "index", refuse)
    probe = asyncio.run(refused())
    assert (len(probe.names), probe.arrived) == (1, 0)
    sent = ship(tmp_path, replace(stand_in(monkeypatch), patience=STANDSTILL), probe=probe)
    assert sent.problems == []
    assert sent.load.documents_acknowledged == COUNT


def test_a_shipper_that_dies_is_told_with_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code and last line of its log; what was handed over by then and not counted is lost."""
    sent = ship(tmp_path, stand_in(monkeypatch, dies=2500))
    assert sent.problems[0] == (
        "stand-in ended in the middle of the lap (exit code 3); it said last: It has had enough."
    )
    assert sent.record["counted"] == 2000
    assert sent.record["lost"] == sent.record["generated"] - 2000 >= 500


def test_a_shipper_that_blocks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads no more, and what feeds it waits: that is not taken for a loss of what was never handed over."""
    documents = corpus(tmp_path, [300_000])

    async def run() -> tuple[list[str], dict[str, Any]]:
        with Sink() as sink:
            client, problems = SinkClient(sink), list[str]()
            settings = replace(stand_in(monkeypatch, stops=2500), patience=STANDSTILL)
            given = lap(documents, None, count=3_000_000, index=INDEX, shipper=settings)
            shipment = Shipment(client, given)
            try:
                with client.new_request_context():
                    await shipment.prepare()
                    await shipment.load(None, problems)
            finally:
                shipment.close()
            return problems, shipment.record(len(sink.documents))

    problems, record = asyncio.run(run())
    assert problems[0].startswith(
        "stand-in stood still: no document was counted for 10 s, and it took no more of them (its queue of 100,000 "
        "events is full, or nobody reads its input); 2,000 had come"
    )
    assert 2500 <= record["generated"] < 3_000_000
    assert record["counted"] == 2000


def test_a_real_shipper_loses_what_elasticsearch_refuses(tmp_path: Path) -> None:
    """A sink that keeps nine of ten: the same figures come of rsyslog."""
    if why := PROGRAMS["rsyslog"].missing():
        pytest.skip(why)
    settings = ShipperSettings("rsyslog", 500, 2, input="imtcp", patience=STANDSTILL)
    sent = ship(tmp_path, settings, Sink(lambda documents: documents[: len(documents) * 9 // 10]))
    assert sent.record["lost"] == COUNT - len(sent.sink.documents) > 0
    assert len(sent.problems) == 1


def test_a_clock_ends_a_slice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was handed over by then is what is waited for, and counted."""
    settings = replace(stand_in(monkeypatch, of=0), input="file")
    sent = ship(tmp_path, settings, count=10**12, seconds=0.005)
    assert sent.problems == []
    assert sent.record["generated"] == sent.record["counted"] < 10**12


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ({"refuses": 1}, "stand-in refuses its configuration: Error: it never takes one"),
        ({"dies": 0}, None),
    ],
)
def test_what_will_not_begin_is_told(
    does: dict[str, int], sentence: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration that it does not take, in its own words; a program that ends at once."""
    settings = stand_in(monkeypatch, **does)
    if sentence is None:
        monkeypatch.setattr(StandIn, "start_words", lambda *_: ["-c", "print('No more room.'); raise SystemExit(4)"])
        sentence = r"stand-in ended before it took a document \(exit code 4\); it said last: No more room\."
    with pytest.raises(exceptions.RallyTaskAssertionError, match=sentence):
        ship(tmp_path, settings)


def test_a_shipper_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setattr("shared.shipper_programs.shutil.which", lambda *_, **__: None)
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"syslog-ng is not installed .* apt-get install"):
        ship(tmp_path, ShipperSettings("syslog-ng", 10, 1))


def test_an_api_key_that_a_shipper_cannot_take_is_told(tmp_path: Path) -> None:
    """Rsyslog 8.2302 logs in with a password only."""
    if why := PROGRAMS["rsyslog"].missing():
        pytest.skip(why)
    with pytest.raises(
        exceptions.RallyTaskAssertionError, match=r"rsyslog cannot log in with an API key: .*basic_auth"
    ):
        ship(tmp_path, ShipperSettings("rsyslog", 10, 1, input="imtcp"), authorization="ApiKey aWQ6a2V5")


def test_processes_say_what_they_are_and_where_they_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a variable of theirs, beside the race's own mark; and on the processors that they were given."""
    first = min(os.sched_getaffinity(0))
    settings = replace(stand_in(monkeypatch), processors=(first,), generator_processors=(first,))
    seen: dict[str, Any] = {}

    async def look(self: Shipment, *_: Any) -> Load:
        for child in (self._shipper, self._generator):
            assert child is not None
            process = psutil.Process(child.process.pid)
            environment = process.environ()
            seen[environment[COMPONENT]] = (environment["PADDOCK_RACE"], process.cpu_affinity())
        return Load()

    monkeypatch.setattr(Shipment, "load", look)
    ship(tmp_path, settings)
    assert seen == dict.fromkeys(("shipper-stand-in", GENERATOR), (str(tmp_path / "race"), [first]))


@pytest.mark.parametrize("name", ["rsyslog", "syslog-ng", "stand-in"])
def test_no_password_is_in_a_file_once_it_takes_documents(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is killed during the load leaves none, wherever the lap's folder is."""
    settings = replace(stand_in(monkeypatch), name=name, input="imtcp" if name == "rsyslog" else "tcp")
    if why := PROGRAMS[name].missing():
        pytest.skip(why)
    load, left = Shipment.load, list[str]()

    async def look(self: Shipment, *given: Any) -> Load:
        assert self._folder is not None
        left.extend(file.name for file in self._folder.iterdir() if file.name in self.program.files)
        return await load(self, *given)

    monkeypatch.setattr(Shipment, "load", look)
    sent = ship(tmp_path, settings, authorization=f"Basic {base64.b64encode(b'me:secret').decode()}")
    assert (sent.problems, left) == ([], [])
    assert len(sent.numbers) == COUNT


def test_it_ends_with_whoever_has_started_it(tmp_path: Path) -> None:
    """Killed with no chance to clear up, a process takes its shipper with it."""
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from shared.shipper_process import Child, SHIPPER\n"
        "child = Child(['sleep', '600'], SHIPPER, Path('.'), Path('log'))\n"
        "print(child.process.pid, flush=True); time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(TRACKS)], stdout=subprocess.PIPE, cwd=tmp_path, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    wait_until(lambda: child.name() == "sleep")
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_processors_that_are_not_there_are_told(tmp_path: Path) -> None:
    """By the program that was to run on them, as its last words."""
    child = Child(["true"], SHIPPER, tmp_path, tmp_path / "log", processors=(4000,))
    assert child.process.wait() == 1
    assert "cannot run on the processors 4000" in child.last_words()


def test_limits_are_in_the_record_and_memory_that_is_too_small_in_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lap in real groups: each process joins its own; one that the kernel ends says why."""
    settings = stand_in(monkeypatch)
    plans = {quota: plan_limits(Limits(quota=quota), tmp_path, "x") for quota in (0.5, 0.75)}
    plans[0.0] = plan_limits(Limits(memory_bytes=4 << 20), tmp_path, "x")
    groups = [NodeGroups(plan, f"paddock-test-{tmp_path.name}-{number}") for number, plan in enumerate(plans.values())]
    try:
        for one in groups:
            one.make()
        folders = tuple(folder for one in groups for folder in one.folders)
        halves = {"limits": GroupLimits(0.5, None, folders), "generator_limits": GroupLimits(0.75, None, folders)}
        sent = ship(tmp_path, replace(settings, **halves))
        assert (sent.problems, len(sent.numbers)) == ([], COUNT)
        for key, quota, one in (("limits", 0.5, groups[0]), ("generator_limits", 0.75, groups[1])):
            assert sent.record[key]["cpu_quota"] == quota
            assert {Path(file).parent for file in sent.record[key]["files"]} == set(one.folders)
        with pytest.raises(
            exceptions.RallyTaskAssertionError, match="because it needed more memory than its limit of 4 "
        ):
            ship(tmp_path, replace(settings, limits=GroupLimits(None, 4 << 20, folders)))
        gone = replace(settings, limits=GroupLimits(0.5, None, (tmp_path,)))
        with pytest.raises(exceptions.RallyTaskAssertionError, match=r"the limits of stand-in are lost: .* no control"):
            ship(tmp_path, gone)
    except MachineError as error:
        pytest.skip(str(error))
    finally:
        for one in groups:
            one.remove()


def test_what_feeds_it_and_cannot_begin_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor that is not there, say."""
    settings = replace(stand_in(monkeypatch), generator_processors=(4000,))
    with pytest.raises(exceptions.RallyTaskAssertionError, match="feeds stand-in did not begin: It cannot run on the"):
        ship(tmp_path, settings)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As any other reason of the system's why it cannot be started."""
    (tmp_path / "race").touch()
    with pytest.raises(exceptions.RallyTaskAssertionError, match=r"^stand-in could not be started \(.*\)$"):
        ship(tmp_path, stand_in(monkeypatch))


def test_a_shipper_that_ignores_the_request_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it has started."""
    monkeypatch.setattr("shared.shipper_process._END_PATIENCE", 0.2)
    script = "trap '' TERM; sleep 600 & echo there; wait; sleep 600"
    child = Child(["/bin/sh", "-c", script], SHIPPER, tmp_path, tmp_path / "log")
    wait_until(lambda: child.last_words() == "there")
    children = psutil.Process(child.process.pid).children()
    assert asyncio.run(child.end()) == -signal.SIGKILL
    wait_until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in children))
