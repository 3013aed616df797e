"""Imports from end to end: a corpus like any other, every line accounted for, or a sentence and nothing."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import os
import re
import shlex
import stat
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.corpora.record import FROM_IMPORT, unfinished
from paddock.corpora.store import find_named, list_corpora, verify_corpus
from paddock.errors import FileError, MachineError, PaddockError, UsageError
from paddock.imports import ImportOptions
from paddock.imports import parsing as parsing_workers
from paddock.imports.run import import_corpus
from paddock.imports.summary import A_LAP, ImportSummary
from paddock.paths import PROJECT, data_folder
from tests.imports.samples import BROWSER, ERRORS, USUAL, access_log, write_lines

APACHE = "paddock-apache"


def run(*files: Path | str, processes: int = 1, **options: Any) -> ImportSummary:
    """An import called web of these files."""
    names = tuple(map(str, files))
    return import_corpus(ImportOptions(names, **{"name": "web", **options}), processes=processes)


def documents(summary: ImportSummary) -> list[dict[str, Any]]:
    """What was written."""
    return [json.loads(line) for line in summary.record.file.read_text().split("\n")[:-1]]


def files(folder: str = APACHE) -> set[str]:
    """Everything in a track's folder but the lock."""
    return {path.name for path in data_folder(folder).glob("*")} | {
        path.name for path in data_folder(folder).glob(".unfinished*")
    }


def test_the_result_is_a_corpus_like_any_other(tmp_path: Path) -> None:
    """Where Rally looks, with its companions, listed, verified, found by its name."""
    summary = run(write_lines(tmp_path / "access.log", access_log(1500)), format="apache-combined")
    assert files() == {"web-1500.json", "web-1500-1k.json", "web-1500.json.offset", "web-1500.record.json", ".lock"}
    [record] = list_corpora()
    assert record == summary.record == find_named("apache", "web")
    assert (record.origin, record.track, record.documents) == (FROM_IMPORT, "apache", 1500)
    verify_corpus(record)
    found = documents(summary)
    assert len(found) == 1500
    assert found[0]["@timestamp"] == record.details["first_time"] == "2026-01-05T09:00:00.000Z"
    assert found[-1]["@timestamp"] == record.details["last_time"]
    assert record.details["sources"] == [
        {"name": str(tmp_path / "access.log"), "bytes": (tmp_path / "access.log").stat().st_size, "lines": 1500}
    ]


def test_every_line_is_accounted_for(tmp_path: Path) -> None:
    """Lines = events + joined + blank + bad; bad ones are in the file, with place and reason, as they were."""
    lines = [
        *access_log(200),
        "",
        *ERRORS,
        USUAL.replace("lamp", "caf\udce9"),
        "",
        "x" * (3 << 20),
        "y" * (10 << 20),
        USUAL,
    ]
    summary = run(write_lines(tmp_path / "access.log", lines), max_bad="5%")
    details = summary.record.details
    assert summary.record.documents == 202
    assert (details["lines"], details["blank"], details["joined"], details["bad"]) == (210, 2, 0, 6)
    assert details["lines"] == summary.record.documents + details["blank"] + details["joined"] + details["bad"]
    assert sum(details["bad_reasons"].values()) == 6
    assert details["not_utf8"] == 1
    assert summary.bad_file == data_folder(APACHE) / "web.bad.txt"
    assert stat.S_IMODE(summary.bad_file.stat().st_mode) == 0o600
    set_aside = [line.split("\t", 3) for line in summary.bad_file.read_text(errors="surrogateescape").splitlines()]
    assert [(int(number), text) for _, number, _, text in set_aside][:4] == list(enumerate(ERRORS, 202))
    assert {source for source, _, _, _ in set_aside} == {str(tmp_path / "access.log")}
    assert set_aside[4][1:3] == ["208", "longer than 1 MiB"]
    assert set_aside[4][3].endswith("... (3,145,728 bytes)")
    assert set_aside[5][1:] == ["209", "longer than 1 MiB", f"{'y' * 1000} ... (10,485,760 bytes)"]
    text = summary.render()
    for part in (
        "202 documents",
        "210 lines",
        "2 blank lines",
        "6 bad ones",
        "2 x longer than 1 MiB",
        "no UTF-8",
        "web.bad.txt",
    ):
        assert part in text


def test_more_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """The order of blocks is the order of lines, whoever parses them; anonymised, because only then it is several."""
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    options = {"max_bad": "10%", "anonymise": True, "key_file": str(key)}
    lines = access_log(30_000)
    lines[100::500] = ERRORS * 15
    log = write_lines(tmp_path / "access.log", lines)
    alone = run(log, processes=1, **options)
    bad = alone.bad_file.read_bytes() if alone.bad_file else b""
    together = run(log, processes=3, force=True, **options)
    assert together.record.sha256 == alone.record.sha256
    assert together.bad_file is not None
    assert together.bad_file.read_bytes() == bad != b""


def test_a_killed_worker_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing hangs, and nothing looks finished."""
    log = write_lines(tmp_path / "access.log", access_log(60_000))
    monkeypatch.setattr(parsing_workers, "_parse", _die)
    with pytest.raises(MachineError, match="A process that parses the logs was killed"):
        run(log, processes=2, anonymise=True)
    assert files() == {".lock"}


def _die(_block: object) -> None:
    os.kill(os.getpid(), 9)


def test_rotated_files_come_out_in_their_order(tmp_path: Path) -> None:
    """By the first time stamp, whatever their names say; compressed or not."""
    lines = access_log(300)
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines[:100]).encode()))
    write_lines(tmp_path / "access.log.1", lines[100:200])
    write_lines(tmp_path / "access.log", lines[200:])
    said: list[str] = []
    summary = import_corpus(ImportOptions((str(tmp_path / "access.log*"),), "web"), say=said.append, processes=1)
    times = [document["@timestamp"] for document in documents(summary)]
    assert times == sorted(times)
    assert len(times) == 300
    assert [Path(source["name"]).name for source in summary.record.details["sources"]] == [
        "access.log.2.gz", "access.log.1", "access.log"
    ]  # fmt: skip
    assert summary.record.details["backwards"] == 0
    assert any("In the order of their first time stamps" in sentence for sentence in said)


def test_time_going_backwards_is_counted(tmp_path: Path) -> None:
    """Within a file and between files; the order stays."""
    lines = access_log(10)
    write_lines(tmp_path / "a.log", [lines[0], lines[9], lines[2], lines[8]])
    write_lines(tmp_path / "b.log", [lines[4], lines[5], lines[3]])
    summary = run(tmp_path / "a.log", tmp_path / "b.log")
    assert summary.record.details["backwards"] == 3
    assert "Time goes backwards 3 times; the order was kept" in summary.render()
    assert summary.record.details["last_time"] == "2026-01-05T09:00:04.000Z"


def test_shifting_moves_all_times_by_whole_seconds(tmp_path: Path) -> None:
    """The last one is now; distances and everything else stay; the record says how far."""
    log = write_lines(tmp_path / "access.log", access_log(500))
    plain = documents(run(log))
    before = int(time.time())
    summary = run(log, shift_to_now=True, force=True)
    shifted = documents(summary)
    seconds = summary.record.details["shifted_seconds"]
    moment = datetime.datetime.fromisoformat(shifted[-1]["@timestamp"].replace("Z", "+00:00")).timestamp()
    assert before <= moment <= time.time()
    assert [_seconds(document) for document in shifted] == [_seconds(document) + seconds for document in plain]
    assert [{**document, "@timestamp": 0} for document in shifted] == [
        {**document, "@timestamp": 0} for document in plain
    ]
    assert shifted[-1]["@timestamp"] == summary.record.details["last_time"]
    verify_corpus(summary.record)
    assert not any("unshifted" in name for name in files())


def _seconds(document: dict[str, Any]) -> float:
    return datetime.datetime.fromisoformat(document["@timestamp"].replace("Z", "+00:00")).timestamp()


def test_two_anonymised_imports_with_one_key_agree(tmp_path: Path) -> None:
    """With a key file the same pseudonyms, without one others each time; no original is left."""
    log = write_lines(tmp_path / "access.log", access_log(300))
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    one = documents(run(log, anonymise=True, key_file=str(key)))
    assert one == documents(run(log, anonymise=True, key_file=str(key), name="web2"))
    other = run(log, anonymise=True, name="web3")
    assert one != documents(other)
    for number in range(10):
        assert f"203.0.113.{number}" not in other.record.file.read_text()
    assert '"bob"' not in other.record.file.read_text()
    assert other.record.details["anonymised"] is True
    assert "0123456789abcdef" not in other.record.file.with_name("web3-300.record.json").read_text()


def test_log_events_become_documents_of_the_track_logs(tmp_path: Path) -> None:
    """Formats that no other track has a place for; stack traces joined."""
    lines = []
    for number in range(20):
        lines.append(f"2024-05-01 12:34:{number:02d},789 ERROR [w-1] o.e.Orders - order {number} failed")
        lines += ["java.lang.IllegalStateException: closed", "\tat org.example.Line.read(Line.java:7)"]
    summary = run(write_lines(tmp_path / "app.log", lines), name="app", zone="Europe/Berlin")
    assert summary.record.track == "logs"
    assert summary.record.details["joined"] == 40
    found = documents(summary)
    assert found[3]["@timestamp"] == "2024-05-01T10:34:03.789Z"
    assert found[3]["stack_trace"] == "\n".join(lines[1:3])


def test_events_are_whole_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack trace that reaches into the next block belongs to its event."""
    lines = [f"2024-05-01 12:34:00,{number % 1000:03d} INFO [w-1] o.e.Orders - {'x' * 500}" for number in range(12_000)]
    lines = [part for line in lines for part in (line, "a.b.SomeException: x", "\tat a.b.C.d(C.java:1)")]
    summary = run(write_lines(tmp_path / "app.log", lines), name="app", processes=2)
    assert (summary.record.documents, summary.record.details["joined"]) == (12_000, 24_000)
    assert all(document["stack_trace"].count("\n") == 1 for document in documents(summary))


@pytest.mark.parametrize(
    ("year", "expected"), [(None, ["2025-12-31", "2026-01-01"]), (2019, ["2019-12-31", "2020-01-01"])]
)
def test_syslog_years_are_resolved(tmp_path: Path, year: int | None, expected: list[str]) -> None:
    """From the file's modification time, or from --year on."""
    log = write_lines(tmp_path / "syslog", ["Dec 31 23:59:59 web-1 a[1]: x", "Jan  1 00:00:01 web-1 a[1]: y"])
    written = datetime.datetime(2026, 1, 1, 8, tzinfo=datetime.timezone.utc).timestamp()
    os.utime(log, (written, written))
    summary = run(log, year=year, name="sys")
    assert summary.record.track == "syslog"
    assert [document["@timestamp"][:10] for document in documents(summary)] == expected


def test_json_lines_of_changing_kinds_are_said(tmp_path: Path) -> None:
    """Elasticsearch would refuse some of them in a race."""
    log = write_lines(tmp_path / "x.json", ['{"time":1714566896,"code":7}', '{"time":1714566897,"code":"E7"}'])
    summary = run(log, name="json")
    assert summary.record.details["mixed_fields"] == {"code": ["numbers", "texts"]}
    assert "The field 'code' has numbers and texts" in summary.render()


def test_standard_input_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also compressed, and with its format found."""
    data = gzip.compress("".join(f"{line}\n" for line in access_log(5000)).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run("-").record.documents == 5000


@pytest.mark.parametrize(
    ("lines", "format"),
    [
        (access_log(50), "apache-combined"),
        ([line + " 0.004" for line in access_log(50)], "nginx"),
        ([line.partition(' "-"')[0].partition(' "https')[0] for line in access_log(50)], "apache-common"),
        (['{"time":1714566896,"message":"x"}'] * 50, "json-lines"),
        (["Jan  1 10:00:00 web-1 app[7]: started"] * 50, "syslog"),
        (["2024-05-01 12:34:56,789 INFO [main] o.e.S - x", "a.b.CException: y", "\tat a.b(C.java:1)"] * 50, "log4j"),
    ],
)
def test_the_format_that_fits_best_is_found(tmp_path: Path, lines: list[str], format: str) -> None:  # noqa: A002
    """Without --format; and it is said."""
    said: list[str] = []
    log = write_lines(tmp_path / "log", [*lines, "something else"])
    summary = import_corpus(ImportOptions((str(log),), "found", max_bad="2%"), say=said.append, processes=1)
    assert summary.record.details["format"] == format
    assert re.match(rf"The best fit is {format} \(\d+ of \d+ lines\).*; taking {format}\.", said[0])


def test_a_wrong_format_is_told_the_right_one(tmp_path: Path) -> None:
    """Before anything is written."""
    log = write_lines(tmp_path / "access.log", access_log(2000))
    sentence = r"the format syslog fits 0 of the first 1,000 lines\. The best fit is apache-combined \(1,000 of 1,000"
    with pytest.raises(FileError, match=sentence):
        run(log, format="syslog")
    with pytest.raises(FileError, match=r"the format regex fits 0 .* The best fit is apache-combined"):
        run(log, format="regex=(?P<time>x)")
    assert files() == set()


def test_a_log_that_nothing_fits_gets_an_expression_that_does(tmp_path: Path) -> None:
    """Made from its first lines, tried on them, and ready to be copied; none where no line has a time."""
    for number, lines in enumerate(
        (
            [f"[{n + 1:02d}.05.2024 12:34:{n:02d}] WARN (main) it's {n}" for n in range(20)],
            [f"id{n}|17145668{n:02d}.123|INFO|it's {n}" for n in range(20)],
            [f"svc-{n}: 05/{n + 3:02d}/2024 10:11:12 it {n}" for n in range(20)],
        )
    ):
        log = write_lines(tmp_path / f"{number}.log", lines)
        with pytest.raises(FileError, match="which reads 20 of the first 20 lines") as refused:
            run(log)
        words = shlex.split(str(refused.value).partition("for example ")[2].partition(", which")[0])
        options = {name[2:].replace("-", "_"): value for name, value in zip(words[::2], words[1::2], strict=True)}
        found = documents(run(log, name=f"own{number}", **options))
        assert len({document["@timestamp"] for document in found}) == 20
        assert found[7]["message"].endswith(("it's 7", "it 7"))
        assert found[0].get("level") == ["WARN", "INFO", None][number]
    prose = write_lines(tmp_path / "prose.txt", ["It was a dark and stormy night."] * 10)
    with pytest.raises(FileError, match=r"first 10 lines\. No format .*, with a field for the time\."):
        run(prose)


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ('{"time":"5 o\'clock","a":1}\n', {}, r"x\.json:1: .* time '5 o'clock' cannot be read: .* --time-format"),
        ('{"time":"soon"}\n', {"format": "json-lines"}, r"time 'soon' cannot be read: .* --time-format"),
        (
            '{"when":"2026-01-05T10:00:00Z","a":1}\n',
            {},
            r"no field with a time \(the first one has when, a\)",
        ),
        (
            '{"a":1}\n',
            {"format": "json-lines", "time_field": "b"},
            r"no field 'b' .*jq -c '\.time",
        ),
        ('[{"time":1},{"time":2}]', {}, r"one array, .*: make them with \"jq -c '\.\[\]' /.*/x\.json \| ./inv corpus"),
        ('[\n {"time":1},\n {"time":2}\n]\n', {"format": "json-lines"}, r"one array, .*jq -c '\.\[\]' "),
        ('{\n "time":1\n}\n', {}, r"one object over several lines, .*jq -c '\.' "),
    ],
)
def test_json_that_is_no_log_yet_is_told_what_it_lacks(
    tmp_path: Path, content: str, options: dict[str, Any], sentence: str
) -> None:
    """A time that can be read, with the value that cannot; a field with a time at all; an object per line."""
    log = tmp_path / "x.json"
    log.write_text(content)
    with pytest.raises(FileError, match=sentence):
        run(log, name="json", **options)
    assert files("paddock-logs") == set()


def test_too_many_bad_lines_end_it(tmp_path: Path) -> None:
    """By number at once, by percentage at the latest at the end; the bad file stays to be looked at."""
    log = write_lines(tmp_path / "access.log", [*access_log(100), *ERRORS])
    sentence = r"4 of the first 104 lines are bad, more than --max-bad {} allows; most often: not the format"
    for limit in ("1%", "3", "3.5%"):
        with pytest.raises(UsageError, match=sentence.format(limit)):
            run(log, max_bad=limit)
        assert len((data_folder(APACHE) / "web.bad.failed.txt").read_text().splitlines()) == 4
        assert list_corpora() == []
    for limit in ("4", "4%", "100%"):
        assert run(log, max_bad=limit, force=True).record.documents == 100


def test_an_import_is_only_replaced_when_asked(tmp_path: Path) -> None:
    """--force takes the place of the earlier one, even with another number of documents."""
    log = write_lines(tmp_path / "access.log", access_log(100))
    run(log)
    longer = write_lines(tmp_path / "longer.log", access_log(200))
    with pytest.raises(UsageError, match=r"imported corpus 'web' of the track apache already \(web-100\.json\)"):
        run(longer)
    run(longer, force=True)
    assert [record.documents for record in list_corpora()] == [200]
    assert not any("web-100" in name for name in files())


def test_a_failed_replacement_leaves_the_earlier_corpus(tmp_path: Path) -> None:
    """A truncated archive at the end of a long import costs nothing that was there."""
    first = run(write_lines(tmp_path / "access.log", access_log(100)))
    archive = tmp_path / "cut.gz"
    archive.write_bytes(gzip.compress("".join(f"{line}\n" for line in access_log(9000)).encode())[:-50])
    with pytest.raises(FileError, match="ends in the middle"):
        run(archive, force=True)
    verify_corpus(first.record)
    assert list_corpora() == [first.record]
    assert not any(name.startswith(".unfinished") for name in files())


def test_an_audit_overwrites_nothing_that_is_read(tmp_path: Path) -> None:
    """Neither the log, by whatever name, nor the key; and what cannot be written ends the import before it is made."""
    log, key = write_lines(tmp_path / "access.log", access_log(10)), tmp_path / "key"
    key.write_bytes(bytes(32))
    before = log.read_bytes()
    (tmp_path / "link").symlink_to(log)
    for audit in (log, tmp_path / "link", key):
        with pytest.raises(UsageError, match="--audit would overwrite"):
            run(f"{tmp_path}/access*", anonymise=True, key_file=str(key), audit=str(audit))
    with pytest.raises(FileError, match="this is a folder"):
        run(log, anonymise=True, audit=str(tmp_path))
    with pytest.raises(FileError, match="the audit cannot be written"):
        run(log, anonymise=True, audit="/dev/full")
    assert (log.read_bytes(), key.read_bytes()) == (before, bytes(32))
    assert list_corpora() == []


def test_few_documents_are_enough(tmp_path: Path) -> None:
    """Fewer than Rally's test mode takes: the -1k file has what there is."""
    summary = run(write_lines(tmp_path / "access.log", access_log(3)))
    assert summary.record.documents == 3
    assert summary.record.file.with_name("web-3-1k.json").read_bytes() == summary.record.file.read_bytes()
    verify_corpus(summary.record)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": "apache"}, r"'apache' is the name of a recipe"),
        ({"name": "../x"}, r"cannot be the name of a corpus: use letters"),
        ({"name": ""}, r"cannot be the name of a corpus"),
        ({"name": "x y"}, r"cannot be the name of a corpus"),
        ({"name": "x" * 101}, r"cannot be the name of a corpus"),
        ({"track": "apach"}, r"no track 'apach'\. Did you mean 'apache'"),
        ({"format": "apache"}, r"no format 'apache'"),
        ({"max_bad": "lots"}, r"--max-bad is a number of lines or a percentage of them, such as 100 or 5%, not 'lots'"),
        ({"max_bad": "101%"}, r"--max-bad is a number"),
        ({"max_bad": "-1"}, r"--max-bad is a number"),
        ({"zone": "Berlin"}, r"no time zone 'Berlin'"),
        ({"year": 70}, r"--year 70 is no year"),
        ({"key_file": "k"}, r"--key-file is for --anonymise"),
        ({"anonymise": True, "key_file": "/nowhere/key"}, r"the key cannot be read .* make one with 'head -c 32"),
        ({"anonymise": True, "key_file": "/proc/self/comm"}, r"a key has 16 bytes or more"),
        ({"time_format": "nonsense", "format": "nginx"}, r"time format 'nonsense'"),
        ({"files": ("/nowhere/*.log",)}, r"no file matches this pattern"),
        ({"files": ("/nowhere/x.log",)}, r"this file does not exist"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(tmp_path: Path, options: dict[str, Any], sentence: str) -> None:
    """Each before anything is written."""
    log = write_lines(tmp_path / "access.log", access_log(10))
    with pytest.raises(UsageError, match=sentence):
        import_corpus(ImportOptions(**{"files": (str(log),), "name": "web", **options}))
    assert files() == set()


def test_bad_inputs_leave_nothing(tmp_path: Path) -> None:
    """Only broken lines, only blank ones, one endless line."""
    for content, sentence in (
        ("\n" * 50, "no format fits"),
        ("x" * (10 << 20), "no format fits"),
        ("\n".join(ERRORS), "no format fits"),
    ):
        path = tmp_path / "log"
        path.write_text(content)
        with pytest.raises(PaddockError, match=sentence):
            run(path)
    assert files() == set()


def test_fields_that_the_track_lacks_are_counted(tmp_path: Path) -> None:
    """JSON lines for the track apache: what fits stays, what has no place is said, a wrong type is bad."""
    good = '{"time":1714566896,"clientip":"203.0.113.9","status":200,"zone":"a"}'
    wrong = '{"time":1714566896,"clientip":"203.0.113.9","status":"many"}'
    log = write_lines(tmp_path / "x.json", [good] * 9 + [wrong])
    summary = run(log, track="apache", max_bad="1")
    assert summary.record.details["left_out"] == {"zone": 9}
    assert summary.record.details["bad_reasons"] == {"'status' is no short, as the track apache has it": 1}
    assert documents(summary)[0] == {"@timestamp": "2024-05-01T12:34:56.000Z", "clientip": "203.0.113.9", "status": 200}


def test_access_logs_of_hosts_by_name_go_to_the_track_logs(tmp_path: Path) -> None:
    """The track apache wants addresses; the track logs takes what comes."""
    log = write_lines(tmp_path / "access.log", [ERRORS[3]] * 5)
    assert documents(run(log, track="logs", name="named"))[0]["clientip"] == "client.example"
    with pytest.raises(UsageError, match=r"'clientip' is no ip.*, such as --track logs, which takes any values"):
        run(log)
    assert BROWSER not in (data_folder(APACHE) / "web.bad.failed.txt").read_text()


@pytest.mark.parametrize("anonymise", [False, True])
def test_a_track_without_a_place_for_the_fields_is_refused(tmp_path: Path, anonymise: bool) -> None:
    """Usual lines are no exception; a corpus of times alone would be no success."""
    log = write_lines(tmp_path / "access.log", access_log(100))
    with pytest.raises(UsageError, match=r"track syslog has no field for nearly all .*clientip.*: leave --track out"):
        run(log, track="syslog", anonymise=anonymise)
    assert list_corpora() == []


def test_fields_lost_only_later_are_noticed_too(tmp_path: Path) -> None:
    """The first thousand lines fit, the many behind them do not."""
    fits = ['{"time":1714566896,"clientip":"203.0.113.9","status":200}'] * 1000
    log = write_lines(tmp_path / "x.json", [*fits, *(['{"time":1714566896,"a":1,"b":2,"c":3,"d":4}'] * 20_000)])
    with pytest.raises(UsageError, match="track apache has no field for nearly all"):
        run(log, track="apache")
    assert list_corpora() == []


def test_assumed_years_and_zones_are_said(tmp_path: Path) -> None:
    """Lines of 2005 would quietly become this year's; an option that was given is not recommended."""
    log = write_lines(tmp_path / "syslog", ["Jun 14 15:16:01 combo sshd[19939]: session opened"] * 5)
    said = run(log, name="sys").render()
    assert "Lines have no year: it was concluded from the time when each file was last changed" in said
    assert "so check the times above; --year says otherwise." in said
    assert "Times have no zone: they were taken as UTC; --zone says otherwise." in said
    said = run(log, name="sys2", year=2005, zone="+02:00").render()
    assert "concluded from --year 2005, so check the times above." in said
    assert "they were taken as +02:00." in said
    assert "says otherwise" not in said
    assert "Times from 2005-06-14T13:16:01.000Z to" in said
    web = write_lines(tmp_path / "access.log", access_log(50))
    assert not re.search("no year|no zone|not used", run(web).render())


def test_years_and_zones_that_times_have_themselves_are_said_to_be_unused(tmp_path: Path) -> None:
    """Who gives them expects them to do something."""
    web = write_lines(tmp_path / "access.log", access_log(50))
    said = run(web, year=2020, zone="Europe/Berlin").render()
    assert "--year 2020 was not used: all times have a year of their own." in said
    assert "--zone Europe/Berlin was not used: all times have a zone of their own." in said


def test_times_before_there_were_logs_are_doubted(tmp_path: Path) -> None:
    """Seconds since a program's start become 1970; not doubted where they are moved to now anyway."""
    log = write_lines(tmp_path / "x.json", [f'{{"t":{number}.5,"m":"x"}}' for number in range(20)])
    assert "Times before 1990 are seldom meant" in run(log, name="json").render()
    assert "Times before 1990" not in run(log, name="json2", shift_to_now=True).render()
    assert "Times before 1990" not in run(write_lines(tmp_path / "access.log", access_log(50))).render()


def test_few_documents_are_warned_of(tmp_path: Path) -> None:
    """With the number that a lap of most shipped tournaments takes, which is what their files say."""
    files = [yaml.safe_load(file.read_text()) for file in (PROJECT / "tournaments").glob("*.yml")]
    assert statistics.median([file["lap_documents"] for file in files if "lap_documents" in file]) == A_LAP
    line = USUAL + "\n"
    (tmp_path / "few.log").write_text(line * 300)
    assert "300 documents are fewer than the 200,000 of a lap of most tournaments" in run(tmp_path / "few.log").render()
    (tmp_path / "enough.log").write_text(line * A_LAP)
    assert "are fewer" not in run(tmp_path / "enough.log", name="enough").render()


def test_the_summary_counts_what_there_is(tmp_path: Path) -> None:
    """Lines joined to events where there are any, and sizes below a MiB."""
    lines = ["2024-05-01 12:34:56,789 INFO [main] o.e.S - x", "a.b.CException: y", "\tat a.b(C.java:1)"] * 5
    said = run(write_lines(tmp_path / "app.log", lines), name="app").render()
    assert "5 events, 10 more that belong to an event before them, 0 blank lines, 0 bad ones." in said
    assert not re.search(r"\b0 (MiB|KiB|MB/s)", said)
    assert "belong to an event" not in run(write_lines(tmp_path / "access.log", access_log(5))).render()


def test_a_fitting_regex_with_an_unreadable_time_is_told_so(tmp_path: Path) -> None:
    """Not the expression is wrong, but how times are written has to be said."""
    log = write_lines(tmp_path / "log", ["01.05.2024 12:34:56 started"] * 20)
    expression = r"regex=(?P<time>\S+ \S+) (?P<message>.*)"
    with pytest.raises(FileError, match=r"log:1: the format regex fits 20 of the first 20 lines, but .* --time-format"):
        run(log, format=expression)
    assert run(log, format=expression, time_format="%d.%m.%Y %H:%M:%S").record.documents == 20


def test_documents_that_an_index_refuses_are_warned_of(tmp_path: Path) -> None:
    """Each is well by itself: many fields, depth, numbers beyond a long, arrays of several kinds."""
    deep = "{" + '"a":{' * 40 + '"b":1' + "}" * 41
    lines = [
        *(f'{{"time":1714566896,"field{number}":1}}' for number in range(1500)),
        '{"time":1714566896,"id":18446744073709551616}',
        '{"time":1714566896,"tags":["a",1]}',
        '{"time":1714566896,"user":"a"}',
        '{"time":1714566896,"user.name":"b"}',
        f'{{"time":1714566896,"x":{deep}}}',
    ]
    summary = run(write_lines(tmp_path / "x.json", lines), name="json")
    said = summary.render()
    assert "1,5" in said.partition("different fields")[0].rpartition("Documents have")[2]
    assert "Objects are nested 42 deep, and an index takes 20 levels" in said
    assert "The field 'id' has numbers beyond 64 bits" in said
    assert summary.record.details["mixed_fields"] == {
        "tags": ["numbers", "texts"],
        "user": ["objects", "texts"],
    }


def test_many_fields_of_a_kind_are_told_of_together(tmp_path: Path) -> None:
    """A screen of sentences, not thousands."""
    lines = [f'{{"time":1714566896,"field{number // 2}":{number % 2 or "true"}}}' for number in range(200)]
    said = run(write_lines(tmp_path / "x.json", lines), name="json").render()
    assert said.count("has booleans and numbers") == 10
    assert "The same goes for 90 further fields" in said


def test_times_too_far_apart_are_not_shifted(tmp_path: Path) -> None:
    """A sentinel of the year 9999 would take the others before the year 1."""
    log = write_lines(tmp_path / "x.json", ['{"time":"2026-01-05T10:00:00Z"}', '{"time":"9999-12-31T00:00:00Z"}'])
    with pytest.raises(UsageError, match=r"2026-01-05T10:00:00\.000Z to 9999-12-31T00:00:00\.000Z, too far apart"):
        run(log, name="json", shift_to_now=True)
    assert list_corpora() == []


def test_bad_lines_belong_to_the_corpus_that_survives(tmp_path: Path) -> None:
    """A failed --force leaves those of the earlier import; a successful one takes their place."""
    bad_file = data_folder(APACHE) / "web.bad.txt"
    run(write_lines(tmp_path / "a.log", [*access_log(100), *ERRORS]), max_bad="10")
    before = bad_file.read_bytes()
    with pytest.raises(UsageError, match=r"web\.bad\.failed\.txt"):
        run(write_lines(tmp_path / "b.log", [*access_log(10), *ERRORS[:3]]), max_bad="1", force=True)
    assert bad_file.read_bytes() == before
    run(write_lines(tmp_path / "c.log", access_log(10)), force=True)
    assert not bad_file.exists()


def test_bad_lines_of_a_failed_import_are_no_other_corpus_s(tmp_path: Path) -> None:
    """Whatever that is called."""
    for other in ("web.failed", "web.bad.failed"):
        run(write_lines(tmp_path / "a.log", [*access_log(100), *ERRORS]), name=other, max_bad="10")
    before = {path: path.read_bytes() for path in data_folder(APACHE).glob("web.*.bad.txt")}
    assert len(before) == 2
    with pytest.raises(UsageError, match="are bad"):
        run(write_lines(tmp_path / "b.log", [*access_log(10), *ERRORS[:3]]), max_bad="1")
    assert {path: path.read_bytes() for path in before} == before


def test_two_imports_of_one_name_at_once(tmp_path: Path) -> None:
    """The second waits for the first, then finds that the name is taken; nothing of the first one's goes."""
    log = write_lines(tmp_path / "a.log", [*access_log(100), *ERRORS])
    ended: list[object] = []

    def second() -> None:
        try:
            ended.append(run(log, max_bad="10"))
        except PaddockError as error:
            ended.append(error)

    with unfinished("apache"):
        threads = [threading.Thread(target=second) for _ in range(2)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(each).__name__ for each in ended) == ["ImportSummary", "UsageError"]
    [record] = list_corpora()
    verify_corpus(record)
    assert len((data_folder(APACHE) / "web.bad.txt").read_text().splitlines()) == 4


def test_a_carriage_return_alone_may_end_lines(tmp_path: Path) -> None:
    """A thousand lines, not one document."""
    path = tmp_path / "log"
    path.write_bytes("\r".join(access_log(1000)).encode())
    assert run(path).record.documents == 1000


def test_two_records_on_a_line_are_two_events(tmp_path: Path) -> None:
    """And it is said, because lines and events no longer agree."""
    lines = [f"Jan  1 10:00:0{number} web-1 app[7]: text {number}" for number in range(9)]
    summary = run(write_lines(tmp_path / "log", [lines[0] + lines[1], *lines[2:]]), name="sys")
    assert [document["message"] for document in documents(summary)] == [f"text {number}" for number in range(9)]
    details = summary.record.details
    assert details["lines"] + details["further"] == summary.record.documents + details["bad"] == 9
    assert "1 record stood behind another one on its line" in summary.render()


def test_an_anonymised_import_ends_with_an_audit(tmp_path: Path) -> None:
    """The summary names what stayed most often; --audit writes all of it; what was replaced is not among it."""
    lines = [f"Jan  1 10:00:00 web-1 sshd[7]: Accepted password for bob{n} from 203.0.113.9 port 22" for n in range(60)]
    audit = tmp_path / "audit.txt"
    summary = run(write_lines(tmp_path / "log", lines), name="sys", anonymise=True, audit=str(audit))
    assert re.search(r"words that stayed: .*Accepted \(60\)", summary.render())
    written = [line.split("\t") for line in audit.read_text().splitlines()]
    assert ["words", "60", "Accepted"] in written
    assert ["numbers", "60", "22"] in written
    assert not re.search(r"bob|203\.0\.113", audit.read_text() + summary.record.file.read_text())
    other = tmp_path / "other.txt"
    lines = ['{"time":1,"bob":7,"m":"at build.zone with blk_3886504 9 9 9 again again"}']
    run(write_lines(tmp_path / "x", lines), name="json", anonymise=True, audit=str(other))
    found = other.read_text().splitlines()
    assert found[0].startswith("# What --anonymise left as it was: kind, how often, text. Look through it")
    assert [line for line in found if line and line[0] != "#"] == [
        "words\t2\tagain", "words\t1\tat", "words\t1\twith", "names\t\tbob", "names\t\tm", "hosts\t1\tbuild.zone",
        "tokens\t1\tblk_3886504", "numbers\t3\t9", "numbers\t1\t7",
    ]  # fmt: skip
    assert [line.split(",")[0] for line in found if line[:2] == "# "][2:] == [
        "# words", "# names", "# hosts", "# tokens", "# numbers"
    ]  # fmt: skip
    with pytest.raises(UsageError, match="--audit is for --anonymise"):
        run(tmp_path / "log", name="sys2", audit=str(audit))
