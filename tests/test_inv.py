"""The script ./inv: what it needs, what it says, and that a broken-off installation is no installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paddock.paths import PROJECT
from tests.machine import wait_until

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with nothing but the script and the lock files."""
    for name in ("inv", "requirements.lock", "requirements-development.lock"):
        shutil.copy(PROJECT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with the shell's tools and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("dirname", "cmp", "sed", "rm", "cp", "flock", "cat", "sleep"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def call(checkout: Path, path: Path, word: str = "--list", **environment: str) -> subprocess.CompletedProcess[str]:
    """Call ./inv --list, or another task, with that PATH."""
    return subprocess.run(
        [str(checkout / "inv"), word],
        env={"PATH": str(path), "HOME": str(checkout), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def a_python(tools: Path, name: str, version: tuple[int, int], body: str = "exit 1") -> Path:
    """A stand-in for a Python of that version; asked to make an environment it runs ``body``."""
    file = tools / name
    suitable = 0 if (3, 10) <= version <= (3, 13) else 1
    file.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *sys.version_info*) exit {suitable};; --version) echo Python {version[0]}.{version[1]};;\n'
        f"*) {body};; esac\n"
    )
    file.chmod(0o755)
    return file


def test_without_a_python_one_sentence(checkout: Path, tools: Path) -> None:
    """No Python at all: what is needed and how to name one."""
    result = call(checkout, tools)
    assert result.returncode == 3
    assert result.stderr.strip() == (
        "Paddock needs Python 3.10, 3.11, 3.12 or 3.13, and none is on the PATH: install one, "
        "or set PADDOCK_PYTHON to its path."
    )


def test_a_home_that_is_no_folder_is_named(checkout: Path, tools: Path) -> None:
    """Invoke looks for its settings there, and would end in a traceback."""
    home = checkout / "inv"
    result = call(checkout, tools, HOME=str(home))
    assert result.stderr == f"HOME is '{home}', which is no folder: set it to one.\n"
    assert result.returncode == 3


@pytest.mark.parametrize("version", [(3, 9), (3, 14), (2, 7)])
def test_an_unsuitable_python_is_none(checkout: Path, tools: Path, version: tuple[int, int]) -> None:
    """A Python that Rally does not support is passed over, and refused by name if it was named."""
    python = a_python(tools, "python3", version)
    assert "none is on the PATH" in call(checkout, tools).stderr
    named = call(checkout, tools, PADDOCK_PYTHON=str(python))
    assert "which is no Python 3.10 to 3.13" in named.stderr
    assert named.returncode == 3


def test_a_suitable_python_of_another_name_is_found(checkout: Path, tools: Path) -> None:
    """python3 may be too old where python3.12 is not."""
    a_python(tools, "python3", (3, 9))
    a_python(tools, "python3.12", (3, 12))
    assert "Setting up .venv with Python 3.12" in call(checkout, tools).stderr


def test_a_python_without_venv_is_told_from_a_missing_one(checkout: Path, tools: Path) -> None:
    """Debian's python3 without python3-venv: the sentence names the package."""
    a_python(tools, "python3", (3, 11))
    result = call(checkout, tools)
    assert "apt-get install python3-venv" in result.stderr
    assert result.returncode == 3


def test_without_a_network_the_first_call_says_so(checkout: Path, tools: Path) -> None:
    """An environment is there, but nothing can be fetched into it: a sentence, and no installation."""
    (tools / "mkdir").symlink_to(shutil.which("mkdir"))
    make = (
        'for last in "$@"; do :; done; case "$*" in *-m*venv*) mkdir -p "$last/bin"; '
        'printf "#!/bin/sh\\necho no route to host >&2; exit 1\\n" >"$last/bin/python"; '
        '/bin/chmod +x "$last/bin/python"; : >"$last/bin/pip"; exit 0;; esac; exit 0'
    )
    a_python(tools, "python3", (3, 11), body=make)
    result = call(checkout, tools)
    assert "the first call needs a network" in result.stderr
    assert result.returncode == 3
    assert not (checkout / ".venv" / "requirements.lock").exists()


@pytest.mark.parametrize(
    ("environment", "compiled"), [({"PYTHONDONTWRITEBYTECODE": "1"}, True), ({"PYTHONDONTWRITEBYTECODE": ""}, False)]
)
def test_bytecode_is_made_once_where_python_keeps_none(
    checkout: Path, tools: Path, environment: dict[str, str], compiled: bool
) -> None:
    """Container images often forbid it, and then every ./inv would compile all that it imports."""
    installing_python(tools)
    result = call(checkout, tools, **environment)
    assert result.returncode == 0, result.stderr
    pip, uv, without_uv, invoke = (checkout / ".venv" / "calls").read_text().splitlines()
    assert pip.startswith("python -m pip")
    assert uv.startswith("uv pip install")
    assert ("--compile-bytecode" in uv) is compiled
    assert without_uv.startswith("uv pip uninstall")
    assert invoke.startswith("invoke --search-root")


def installing_python(tools: Path) -> None:
    """A Python whose environments write down what is called in them."""
    for name in ("mkdir", "chmod"):
        (tools / name).symlink_to(shutil.which(name))
    make = (
        'for last in "$@"; do :; done; case "$*" in *-m*venv*) mkdir -p "$last/bin"; for tool in python pip uv invoke; '
        'do printf "#!/bin/sh\necho $tool \\$* >>$last/calls\n" >"$last/bin/$tool"; chmod +x "$last/bin/$tool"; done; '
        "esac; exit 0"
    )
    a_python(tools, "python3", (3, 11), body=make)


def test_tools_for_tests_come_when_they_are_asked_for(checkout: Path, tools: Path) -> None:
    """Who races needs neither pytest nor mypy; the first lint adds them, and the second finds them there."""
    installing_python(tools)
    calls = checkout / ".venv" / "calls"
    call(checkout, tools)
    assert "development" not in calls.read_text()
    assert "Adding the tools" in call(checkout, tools, "lint").stderr
    assert str(checkout / "requirements-development.lock") in calls.read_text()
    calls.unlink()
    assert call(checkout, tools, "lint").stderr == ""
    assert calls.read_text().startswith("invoke --search-root")


def test_both_locks_pin_what_the_project_asks_for() -> None:
    """A dependency that was added to pyproject.toml and to no lock would be missing from a fresh clone."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for lock, asked in (
        ("requirements.lock", project["dependencies"]),
        ("requirements-development.lock", project["optional-dependencies"]["dev"]),
    ):
        pinned = set(re.findall(r"^([a-z0-9-]+)==", (PROJECT / lock).read_text(encoding="utf-8"), re.MULTILINE))
        assert {re.split(r"[<>=]", each)[0].lower() for each in asked} <= pinned


def test_a_folder_that_cannot_be_written_to_is_named(checkout: Path, tools: Path) -> None:
    """Somebody else's checkout: the sentence says where nothing can be installed."""
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    checkout.chmod(0o555)
    assert "cannot be written to" in call(checkout, tools).stderr


def test_a_broken_off_installation_is_no_installation(checkout: Path, tools: Path) -> None:
    """Killed in the middle, ./inv starts over the next time."""
    a_python(tools, "python3", (3, 11), body='case "$*" in *-m*venv*) : >"$HOME/installing"; sleep 600;; esac')
    process = subprocess.Popen(
        [str(checkout / "inv"), "--list"],
        env={"PATH": str(tools), "HOME": str(checkout)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        wait_until((checkout / "installing").exists)
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    process.stderr.close()
    assert not (checkout / ".venv" / "requirements.lock").exists()
    a_python(tools, "python3", (3, 11))
    assert "Setting up .venv" in call(checkout, tools).stderr


@pytest.fixture
def environment(checkout: Path) -> Path:
    """A finished .venv whose invoke prints its arguments."""
    binaries = checkout / ".venv" / "bin"
    binaries.mkdir(parents=True)
    shutil.copy(checkout / "requirements.lock", checkout / ".venv" / "requirements.lock")
    (binaries / "invoke").write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    (binaries / "python").write_text("#!/bin/sh\n")
    for program in binaries.iterdir():
        program.chmod(0o755)
    return checkout / ".venv"


def test_later_calls_hand_over_at_once(checkout: Path, environment: Path, tmp_path: Path) -> None:
    """With the environment in place two small programs and Invoke are all that runs; the arguments arrive unchanged."""
    few = tmp_path / "few"
    few.mkdir()
    for name in ("dirname", "cmp"):
        (few / name).symlink_to(shutil.which(name))
    result = call(checkout, few)
    assert result.stdout == f"<--search-root><{checkout}><--list>"
    assert result.stderr == ""
    assert call(checkout, few, "race").stdout == f"<--search-root><{checkout}><race>"
    # Invoke's own help of no task in particular tells of Invoke.
    assert call(checkout, few, "--help").stdout == result.stdout


def test_an_environment_from_another_place_is_set_up_anew(checkout: Path, environment: Path, tools: Path) -> None:
    """The programs of a copied or moved clone name the other one's Python: they would run that, or nothing."""
    (environment / "bin" / "invoke").write_text("#!/elsewhere/.venv/bin/python\n")
    a_python(tools, "python3", (3, 11))
    assert "Setting up .venv" in call(checkout, tools).stderr


def test_a_python_that_the_user_may_not_run_is_named(checkout: Path, environment: Path, tools: Path) -> None:
    """Root's own Python, called by somebody else: who can, and what to do instead."""
    (environment / "bin" / "python").chmod(0o644)
    (tools / "id").symlink_to(shutil.which("id"))
    result = call(checkout, tools)
    assert result.returncode == 3
    assert "cannot be run by" in result.stderr
