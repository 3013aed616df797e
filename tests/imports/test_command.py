"""./inv corpus.import as a user calls it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from paddock.corpora.record import CorpusRecord
from paddock.corpora.store import ensure_corpus
from paddock.imports import ImportOptions
from paddock.imports.run import import_corpus
from paddock.paths import PROJECT, data_folder
from tests.command_line import command_line, one_sentence, run_here, run_paddock
from tests.imports.samples import ERRORS, access_log, write_lines


def test_a_log_becomes_a_corpus_that_a_race_takes(tmp_path: Path) -> None:
    """Import, list, verify, race: each with the name that was given."""
    first = write_lines(tmp_path / "access 1.log", access_log(300))
    second = write_lines(tmp_path / "access 2.log", ERRORS)
    words = ("--name", "our-web", "--format", "apache-combined", "--max-bad", "5%", "--json")
    result = run_paddock("corpus.import", str(first), *words, "--", str(second))
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["documents"], summary["bad"], summary["track"]) == (300, 4, "apache")
    assert re.search(r"^our-web +apache +imported +300 ", run_paddock("corpora").stdout, re.MULTILINE)
    assert "our-web-300.json: as recorded, 300 documents." in run_paddock("corpus.verify").stdout
    race = run_paddock("race", "--dry-run", "--corpus", "our-web")
    assert '"corpus_file": "our-web-300.json"' in race.stdout


def test_standard_input_is_a_dash() -> None:
    """A pipe into the import; the summary is for people."""
    result = subprocess.run(
        command_line("corpus.import", "-", "--name", "piped"),
        cwd=PROJECT,
        input="".join(f"{line}\n" for line in access_log(50)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "50 documents" in result.stdout
    assert "./inv race --track apache --corpus piped" in result.stdout
    assert (data_folder("paddock-apache") / "piped-50.json").exists()


def test_a_missing_name_is_a_sentence(tmp_path: Path) -> None:
    """With an example."""
    result = run_paddock("corpus.import", str(write_lines(tmp_path / "access.log", access_log(5))))
    assert result.returncode == 2
    assert "The corpus needs a name: add --name" in one_sentence(result)


def test_pipes_that_the_shell_names_lose_nothing(tmp_path: Path) -> None:
    """/dev/stdin and <(...): what can be opened once is, by the import and by the inspection."""
    log = write_lines(tmp_path / "access.log", access_log(30_000))
    program = " ".join(map(shlex.quote, command_line("corpus.import")))
    for number, words in enumerate((f"cat {log} | {program} /dev/stdin", f"{program} <(cat {log})")):
        result = subprocess.run(
            ["bash", "-c", f"{words} --name piped{number} --json"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["documents"] == 30_000
    program = " ".join(map(shlex.quote, command_line("corpus.inspect")))
    result = subprocess.run(
        ["bash", "-c", f"{program} <(cat {log}) --json"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert json.loads(result.stdout)["lines"] == 30_000


def test_an_import_that_is_terminated_leaves_nothing(tmp_path: Path) -> None:
    """SIGTERM in the middle: no half of a gigabyte in the folder."""
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    with subprocess.Popen(
        command_line("corpus.import", str(fifo), "--name", "ended", "--format", "syslog"),
        cwd=PROJECT, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        with fifo.open("w") as log:
            # More than is looked at beforehand, and no end.
            log.writelines("Jan  1 10:00:00 web-1 app[7]: something happened again and again\n" for _ in range(40_000))
            log.flush()
            folder = data_folder("paddock-syslog")
            assert process.stderr is not None
            assert "Importing 'ended'" in process.stderr.readline()
            assert [path.suffix for path in folder.glob(".unfinished*")] == [".part"]
            process.terminate()
        assert process.wait() == 143
    assert {path.name for path in folder.iterdir()} <= {".lock"}


def test_closed_standard_input_and_nonsense_are_sentences() -> None:
    """No traceback of anything."""
    words = " ".join(map(shlex.quote, command_line("corpus.import", "-", "--name", "x")))
    closed = subprocess.run(["bash", "-c", f"{words} <&-"], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert "standard input: this is closed" in one_sentence(closed)
    year = run_paddock("corpus.import", "x.log", "--name", "x", "--year", "abc")
    assert "--year wants a whole number" in one_sentence(year)
    expanded = run_paddock("corpus.import", "--name", "x", "access.log", "access.log.1", "--force")
    assert (expanded.returncode, expanded.stdout) == (2, "")
    assert "('access.log', 'access.log.1'): put a pattern in quotes" in one_sentence(expanded)
    assert "Make a corpus where Rally looks for it" in run_paddock("corpus.generate", "apache", "--help").stdout


def test_a_corpus_of_another_track_is_named(tmp_path: Path) -> None:
    """Not 'there is none', when there is one."""
    run_paddock(
        "corpus.import", str(write_lines(tmp_path / "l.log", access_log(20))), "--name", "mine", "--track", "logs"
    )
    result = run_paddock("race", "--dry-run", "--track", "apache", "--corpus", "mine")
    assert "of the track 'logs', not of 'apache': race it with --track logs" in one_sentence(result)
    assert "--track-path=" in (own := run_paddock("race", "--dry-run", "--corpus", "mine").stdout)
    assert "/tracks/logs " in own


def test_every_option_is_explained() -> None:
    """Also of the task whose words are looked at before Invoke has them."""
    text = run_paddock("--help", "corpus.import").stdout
    assert "how many bad lines there may be" in text
    assert "the track whose documents these are to be" in text


def test_no_file_is_lost_to_an_audit(tmp_path: Path) -> None:
    """What is there already is replaced only if that is asked for; the summary says where the audit is."""
    log, audit = write_lines(tmp_path / "l.log", access_log(20)), tmp_path / "notes.txt"
    audit.write_text("mine")
    words = ("corpus.import", str(log), "--name", "audited", "--anonymise", "--audit", str(audit))
    refused = run_paddock(*words)
    assert "--audit would overwrite" in one_sentence(refused)
    assert audit.read_text() == "mine"
    done = run_paddock(*words, "--force")
    assert f"all of it is in {audit}" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "corpus.import x --anonymize",
            "corpus.import has no option --anonymize. Did you mean --anonymise? './inv --help",
        ),
        ("corpus.import x --name", "The option --name needs a value behind it. './inv --help corpus.import' shows"),
        ("corpus.import", "corpus.import lacks its FILE: a log file, plain, .gz"),
        ("corpus.import a race --name x", "There is more than one file ('a', 'race'): put a pattern in quotes"),
        ("corpus.generat apache", "There is no task 'corpus.generat'. Did you mean corpus.generate? './inv --list'"),
        ("race --corpsu x", "The task race has no option --corpsu. Did you mean --corpus?"),
        ("race apache", "The task race takes no 'apache'. './inv --help race' shows what it takes."),
        ("--lsit", "There is no option --lsit. Did you mean --list?"),
    ],
)
def test_what_was_nearly_meant_is_a_sentence(words: str, sentence: str) -> None:
    """Of every task, not in the words of a parser."""
    result = run_paddock(*words.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in one_sentence(result)


def test_a_corpus_is_inspected_and_verified_by_its_name(tmp_path: Path) -> None:
    """An imported one as one of a recipe; what is no name of one, or of several, is a sentence."""
    log = write_lines(tmp_path / "access.log", access_log(1200))
    imported = run(log, "mine", "apache")
    generated = ensure_corpus("syslog", 1000)
    for record in (imported, generated):
        done = run_here("corpus.inspect", record.name, "--json")
        assert done.returncode == 0, done.stderr
        inspected = json.loads(done.stdout)
        assert (inspected["lines"], inspected["bytes"]) == (record.documents, record.bytes)
        verified = run_here("corpus.verify", "--name", record.name).stdout
        assert verified == f"{record.file}: as recorded, {record.documents:,} documents.\n"
    assert "No corpus of the recipe 'apache' is made yet: './inv corpus.generate apache'" in one_sentence(
        run_here("corpus.inspect", "apache")
    )
    assert "There is no corpus at hand 'mien'. Did you mean 'mine'?" in one_sentence(
        run_here("corpus.verify", "--name", "mien")
    )
    other = run(log, "mine", "logs")
    said = one_sentence(run_here("corpus.inspect", "mine"))
    assert f"There are 2 corpora called 'mine': name the file of one, {imported.file} or {other.file}." in said
    race = one_sentence(run_here("race", "--corpus", "mine", "--dry-run"))
    assert "Corpora of several tracks are called 'mine' (apache, logs): say which with --track" in race
    other.file.write_bytes(other.file.read_bytes()[:-1] + b" ")
    damaged = run_here("corpus.verify", "--name", "mine")
    assert (damaged.returncode, f"{imported.file}: as recorded" in damaged.stdout) == (4, True)
    assert f"{other.file} is not the file that its record describes" in one_sentence(damaged)


def run(log: Path, name: str, track: str) -> CorpusRecord:
    """An import."""
    return import_corpus(ImportOptions((str(log),), name=name, track=track), processes=1).record


def test_an_unknown_archive_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    """Before anything is read."""
    result = run_here("corpus.import", str(tmp_path / "x"), "--name", "x", "--archive", "gz")
    assert "--archive takes zst, or bz2 for older Rallies, not 'gz'." in one_sentence(result)
