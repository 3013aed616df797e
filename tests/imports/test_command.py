"""./inv corpus.import as a user calls it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from paddock.paths import PROJECT, data_folder
from tests.command_line import command_line, one_sentence, run_paddock
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
    assert "our-web-300.json: as recorded." in run_paddock("corpus.verify").stdout
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
    assert "./inv --help corpus.import" in one_sentence(run_paddock("corpus.import", "--help"))
    assert "The corpus needs a name: add --name" in one_sentence(result)
