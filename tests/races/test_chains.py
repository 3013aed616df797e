"""A small chain on real Elasticsearch: two tournaments and the last one, killed with kill -9 and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from paddock.chains.store import StoredChain, chain_ids
from paddock.paths import PROJECT
from paddock.tournaments.store import find_tournament, tournament_ids
from tests.command_line import command_line, run_paddock
from tests.machine import wait_until

# Five minutes of six races. With a Rally that stands in for the real one tests/chains does so in each of its steps.
pytestmark = [pytest.mark.race, pytest.mark.long]


def a_chain(folder: Path) -> Path:
    """Bulks of 50 against 1,000, then everything indexed against nothing: differences that are there, found soon."""
    sizes = "lap_documents: 10000\nwarmup_blocks: 3\nblocks: 7\nstarts: 1\nbudget_minutes: 10\n"
    bulks = 'challenge: bulk-size\nbaseline: "50"\ncontenders: [{name: "50", level: 50}, {name: "1000", level: 1000}]\n'
    both = "[{name: full, level: full}, {name: nothing-stored, level: nothing-stored}]"
    mapping = f"challenge: mapping-cost\nbaseline: full\ncontenders: {both}\n"
    for name, compared in (("small-bulks", bulks), ("small-mapping", mapping)):
        text = f"description: A test\nquestion: Does it work?\ntrack: apache\n{compared}{sizes}"
        (folder / f"{name}.yml").write_text(text)
    file = folder / "small-chain.yml"
    file.write_text(
        f"question: Does it work?\nbudget_minutes: 15\nsteps:\n  - tournament: {folder}/small-bulks.yml\n"
        f"  - tournament: {folder}/small-mapping.yml\n"
        f"final: {{lap_documents: 10000, warmup_blocks: 3, blocks: 7, starts: 1}}\n"
    )
    return file


def test_a_chain_goes_on_after_kill_9_to_its_page(tmp_path: Path) -> None:
    """The bulk size that won is in the second tournament and in the last one, which confirms it."""
    file, before, chains = a_chain(tmp_path), set(tournament_ids()), set(chain_ids())
    process = subprocess.Popen(
        command_line("chain", str(file), "--params", "bulk_size:50", "--seed", "7"),
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def laps_of_the_second() -> int:
        begun = [one for one in set(tournament_ids()) - before if one.startswith("small-mapping")]
        return sum(len(one.records) for name in begun for one in find_tournament(name).history().attempts)

    try:
        wait_until(lambda: laps_of_the_second() >= 4 or process.poll() is not None)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (chain_id,) = set(chain_ids()) - chains
    finished = run_paddock("chain", chain_id, "--resume", "--json")
    assert finished.returncode == 0, finished.stderr[-3000:]
    content = json.loads(finished.stdout)
    steps = content["result"]["steps"]
    assert (steps[0]["outcome"]["kind"], steps[0]["outcome"]["winner"]) == ("won", "1000")
    assert len(set(tournament_ids()) - before) == 3
    second = find_tournament(steps[1]["outcome"]["result_id"])
    assert second.tournament(second.history()).track_params == {"bulk_size": 1000}
    assert steps[1]["outcome"]["kind"] == "no winner"  # a mapping is not carried, whatever it gains
    assert [one.outcome for one in second.history().attempts] == ["cut off", "done"]
    assert content["result"]["final"]["outcome"]["winner"] == "tuned"
    assert content["result"]["apply"]["--params"].startswith("bulk_size:1000")
    page = (StoredChain(chain_id).folder / "report.html").read_text()
    assert "Apply this" in page
    assert chain_id in run_paddock("results").stdout
    assert run_paddock("report", chain_id).returncode == 0
