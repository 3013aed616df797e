"""The command line: what it lists, what bad input gets, exit codes. No race is run."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from dataclasses import replace

import pytest

import tasks
from paddock.paths import PROJECT, data_folder, distributions_folder, races_folder
from tests.command_line import command_line, one_sentence, run_here, run_paddock
from tests.reports.results import undecided


def test_every_task_has_one_clear_line() -> None:
    """--list shows each task with a description that fits on a line."""
    lines = [line for line in run_paddock("--list").stdout.splitlines() if line.startswith("  ")]
    names = {line.split()[0] for line in lines}
    assert {"race", "doctor", "tracks", "challenges", "cars", "engines", "corpora", "validate", "test", "lint"} <= names
    assert all(re.match(r"  [\w.-]+ {2,}\S.*[.)]$", line) for line in lines)


def test_help_has_examples_and_explains_each_option() -> None:
    """./inv race --help: examples, and no option without a word."""
    text = run_paddock("race", "--help").stdout
    assert "Examples:" in text
    assert "./inv race --track app-logs --challenge ingest-and-search" in text
    options = re.findall(r"^  (?:-\w[^,]*, )?(--[\w-]+)(?:=\S+)?(?: {2,}(\S.*))?$", text, re.MULTILINE)
    assert len(options) >= 20 or text.count("--") >= 20


@pytest.mark.parametrize(
    ("words", "exit_code", "sentence"),
    [
        (("--track", "apach"), 2, r"There is no track 'apach'\. Did you mean 'apache'.*\./inv tracks"),
        (("--challenge", "ingset"), 2, r"There is no challenge 'ingset'\. Did you mean 'ingest'.*\./inv challenges"),
        (("--car", "1gheep"), 2, r"There is no car '1gheep'\. Did you mean .*'1gheap'.*\./inv cars"),
        (("--car", "index-buffer-30"), 2, r"heap car"),
        (("--car", "1gheap,gc-g1,gc-parallel"), 2, r"gc-g1.*gc-parallel"),
        (("--params", "bulk_sice:5"), 2, r"bulk_sice.*bulk_size"),
        (("--params", "bulk_size:0"), 2, r"bulk_size"),
        (("--params", "bulk_size"), 2, r"name:value"),
        (("--version", "8.8.7"), 2, r"8\.8\.7 is not available embedded"),
        (("--engine", "oficial"), 2, r"'embedded', 'official' or the path"),
        (("--on-error", "explode"), 2, r"'explode'"),
        (("--race-id", "../x"), 2, r"race id"),
        (("--documents", "10"), 2, r"1,?000"),
        (("--target-hosts", "localhost:9200", "--car", "2gheap"), 2, r"--car would build a node"),
        (("--client-options", "basic_auth_password:hush"), 2, r"--target-hosts"),
        (("--data-path", "/nowhere/at/all"), 2, r"/nowhere/at/all"),
        (("--car-params", "heap_size:1m"), 2, r"'1m' is no heap"),
        (("--java", "/nowhere"), 2, r"has no bin/java"),
    ],
)
def test_bad_input_ends_in_one_sentence(words: tuple[str, ...], exit_code: int, sentence: str) -> None:
    """Each mistake is named with a way out; nothing is downloaded, made or started."""
    result = run_here("race", "--dry-run", *words)
    assert re.search(sentence, one_sentence(result))
    assert result.returncode == exit_code
    assert not races_folder().exists()


NUMBERS = [
    *(("race", option) for option in ("--documents", "--seed", "--port")),
    *(("tournament heap", f"--{name}") for name in ("seed", "budget", "blocks", "starts", "documents", "corpus-seed")),
    ("tournament heap", "--port"),
    *(("corpus.generate apache", option) for option in ("--documents", "--seed")),
    ("corpus.import x.log --name x", "--year"),
    ("corpus.inspect x.log", "--lines"),
    *(("bench.corpus", option) for option in ("--rounds", "--seed")),
]
MAY_BE_ZERO = {"--seed", "--corpus-seed", "--lines"}


@pytest.mark.parametrize(("task", "option"), NUMBERS)
def test_what_is_no_number_is_said(task: str, option: str) -> None:
    """Words, fractions, negative numbers and 0, which is not the same as nothing: wrong usage, and one sentence."""
    for text in (
        "abc",
        "-1",
        *(() if option in MAY_BE_ZERO else ("0",)),
        *(("inf",) if "budget" in option else ()),
    ):
        result = run_here(*task.split(), f"{option}={text}")
        sentence = rf"{option} wants a (whole )?number .*, not '{text}': correct it, or leave it out\."
        assert re.fullmatch(sentence, one_sentence(result))
        assert result.returncode == 2


TEXTS = [
    (task, option)
    for task in ("race", "tournament")
    for option, argument in next(one for one in tasks.namespace.to_contexts() if one.name == task).flags.items()
    if argument.kind is str and option.startswith("--")
]


@pytest.mark.parametrize(("task", "option"), TEXTS)
def test_an_empty_value_is_not_the_same_as_none(task: str, option: str) -> None:
    """--target-hosts "$HOSTS" of a variable that is not set would else build a node, with no word about the cluster."""
    name = ("heap",) if task == "tournament" and option != "--name" else ()
    result = run_here(task, *name, "--dry-run", f"{option}=")
    assert re.match(f"{option} is empty, as where a variable of the shell is not set", one_sentence(result))
    assert result.returncode == 2


def test_a_result_that_cannot_be_printed_is_said() -> None:
    """Standard output that is closed, or on a full disk, which is not the disk of Rally's home: one sentence each."""
    words = command_line("cars")
    for shell, why in (('exec "$@" >&-', "it is closed"), ('exec "$@" >/dev/full', "No space left on device")):
        run = ["sh", "-c", shell, "sh", *words]
        result = subprocess.run(run, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert result.stderr == f"The result could not be printed on standard output ({why}): send it elsewhere.\n"
        assert result.returncode == 3


def test_every_number_is_read_by_us() -> None:
    """Invoke's own conversion ends in a traceback, so no task of ours has an option of its types."""
    contexts = tasks.namespace.to_contexts()
    assert {argument.kind for context in contexts for argument in context.args.values()} <= {str, bool, list}


def test_no_option_has_a_letter_of_its_own() -> None:
    """Invoke would give -s to --seed in one task and to --skip in another, and -h to what is no help."""
    contexts = tasks.namespace.to_contexts()
    assert [name for context in contexts for one in context.args.values() for name in one.names if len(name) == 1] == []


@pytest.mark.parametrize("task", ["tournament", "track", "report", "compare", "corpus.generate", "corpus.import"])
def test_help_after_a_task_that_wants_a_name_is_the_help(task: str) -> None:
    """Invoke takes --help for the name there; who asks gets what --help before the task prints."""
    result = run_here(task, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == run_here("--help", task).stdout
    assert "Docstring:" in result.stdout


def test_where_nothing_answers_rally_is_not_started(fake_rally: object) -> None:
    """--target-hosts of a cluster that is not there: one sentence, before anything is made."""
    result = run_here("race", "--target-hosts", "localhost:1")
    assert re.match(r"Nothing answers at http://localhost:1 \(.*\): start the cluster", one_sentence(result))
    assert result.returncode == 3
    assert not races_folder().exists()
    assert not data_folder("paddock-apache").exists()


def test_an_impossible_heap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heap that this machine's memory cannot hold is named with the memory there is."""
    result = run_paddock("race", "--dry-run", "--car", "1gheap", "--car-params", "heap_size:900g")
    if result.returncode == 0:
        pytest.fail(f"a heap of 900g was accepted: {result.stdout}")
    assert re.search(r"900", one_sentence(result))


def test_dry_run_prints_the_esrally_command_and_does_nothing() -> None:
    """On stdout is the command alone, so that it can be piped into a shell."""
    result = run_paddock("race", "--dry-run", "--test-mode", "--params", "refresh_interval:30s")
    assert result.returncode == 0
    assert result.stdout.count("\n") == 1
    for part in (
        "/esrally race --race-id=",
        "--track-path=",
        "--car=1gheap",
        "--test-mode",
        '"refresh_interval": "30s"',
    ):
        assert part in result.stdout
    assert not races_folder().exists()


def test_a_dry_run_for_programs_is_one_object() -> None:
    """The command and the notes as JSON, so that nobody has to tell them apart."""
    result = run_paddock("race", "--dry-run", "--json", "--test-mode")
    assert result.returncode == 0
    told = json.loads(result.stdout)
    assert "/esrally race --race-id=" in told["command"]
    assert isinstance(told["notes"], list)


def test_a_chains_preview_is_for_people() -> None:
    """Its JSON is that of a result; both at once are refused with a sentence."""
    result = run_paddock("chain", "tune-coffee", "--dry-run", "--json")
    assert result.returncode == 2
    assert "leave one of them out" in one_sentence(result)


def test_a_taken_port_is_said(fake_rally: object) -> None:
    """The real command line names the port before Rally starts."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])
        result = run_paddock("race", "--target-hosts", "x:1", "--port", port, "--dry-run")
    assert result.returncode == 0  # nothing is started against somebody else's cluster, so no port is needed


@pytest.mark.parametrize("task", ["tracks", "challenges", "cars", "corpora", "doctor"])
def test_lists_are_for_people_and_machines(task: str) -> None:
    """Every list has a table and JSON, and neither has colours when it is piped."""
    people = run_paddock(task)
    machines = run_here(task, "--json")
    assert people.returncode in (0, 3)
    assert "\x1b" not in people.stdout
    assert json.loads(machines.stdout)


def test_a_tracks_parameters_are_shown() -> None:
    """./inv track apache: name, default, unit and meaning of each parameter."""
    text = run_paddock("track", "apache").stdout
    for name in ("number_of_shards", "refresh_interval", "bulk_size", "translog_durability"):
        assert re.search(rf"^{name}\s+\S+", text, re.MULTILINE)


def test_validate_passes() -> None:
    """All files of this checkout are right."""
    result = run_paddock("validate")
    assert re.search(r"All \d+ checks passed", result.stdout), result.stdout + result.stderr


def test_unexpected_failures_have_a_traceback_only_with_debug() -> None:
    """--debug shows where; without it a sentence does."""
    result = run_paddock("race", "--dry-run", "--track", "apach", "--debug")
    assert "Traceback" in result.stderr


def test_a_damaged_corpus_is_refused_with_the_way_to_mend_it() -> None:
    """A corpus that is not what its record says is not raced; the sentence has the command that makes it anew."""
    assert run_here("corpus.generate", "apache", "--documents", "1000").returncode == 0
    file = data_folder("paddock-apache") / "apache-1000.json"
    file.write_bytes(file.read_bytes().replace(b"GET", b"PUT", 1))
    result = run_here("race", "--dry-run", "--documents", "1000")
    assert re.search(r"apache-1000\.json .*\./inv corpus\.generate apache .*--force", one_sentence(result))
    assert result.returncode == 4
    assert run_here("corpus.verify").returncode == 4
    assert run_here("corpus.generate", "apache", "--documents", "1000", "--force").returncode == 0
    assert run_here("corpus.verify").returncode == 0


def test_no_network_on_the_first_race_is_said() -> None:
    """Nothing in Rally's cache and no network: one sentence, and nothing half-made."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{closed.getsockname()[1]}"
        result = run_paddock("race", "--documents", "1000", PADDOCK_MAVEN_REPOSITORY=mirror, NO_PROXY="127.0.0.1")
    assert re.search(r"could not be downloaded .* network", one_sentence(result))
    assert result.returncode == 3
    assert not distributions_folder().exists() or list(distributions_folder().iterdir()) == []


@pytest.mark.parametrize("words", [("race",), ("tournament", "refresh-interval")])
def test_names_that_name_nothing_are_refused(words: tuple[str, ...]) -> None:
    """--car with a comma alone, as of two variables that are not set, is not taken for the cars of the file."""
    result = run_here(*words, "--dry-run", "--car", ",")
    assert result.returncode == 2
    assert one_sentence(result).startswith("--car wants names with commas between them, not ','")


@pytest.mark.parametrize(("stopped", "code"), [("races failed", 5), ("all blocks done", 0)])
def test_a_tournament_whose_races_all_failed_says_so_by_its_exit_code(
    stopped: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a race does; the report is written, and what was measured in others is no failure."""
    measured = undecided()
    nothing = tuple(replace(verdict, ratio=None) for verdict in measured.main.verdicts)
    result = replace(measured, stopped=stopped, main=replace(measured.main, verdicts=nothing))
    monkeypatch.setattr("paddock.tournaments.command.run_tournament", lambda *_, **__: result)
    finished = run_here("tournament", "heap")
    assert finished.returncode == code
    assert ("No race of the tournament came so far" in finished.stderr) == (code == 5)
    assert "Report: " in finished.stdout
