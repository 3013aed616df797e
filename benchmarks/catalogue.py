"""The generators that are compared, and how each is started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.model import PADDOCK
from paddock.console import say
from paddock.errors import MachineError
from paddock.files import checksum, locked
from paddock.paths import PROJECT, state_folder

PEERS_FOLDER = Path(__file__).parent / "peers"
_REQUIREMENTS = PEERS_FOLDER / "requirements.txt"
_ELASTIC = PEERS_FOLDER / "elastic"
_ELASTIC_MODULE = "elastic-integration-corpus-generator-tool"
_BUILD_MINUTES = 10


@dataclass(frozen=True)
class Peer:
    """Another generator."""

    name: str
    title: str
    module: str  # of benchmarks.peers; empty for the one that is written in Go


PEERS = {
    peer.name: peer
    for peer in (
        Peer("polars", "polars concat_str", "polars_columns"),
        Peer("elastic", "elastic-integration-corpus-generator-tool, placeholder engine", ""),
        Peer("orjson", "Python, orjson per document", "orjson_dumps"),
        Peer("json", "Python, json.dumps per document", "json_dumps"),
        Peer("mimesis", "mimesis", "mimesis_documents"),
        Peer("faker", "Faker", "faker_documents"),
    )
}
TITLES = {
    PADDOCK: "Paddock",
    **{peer.name: peer.title for peer in PEERS.values()},
    "dd direct": "dd oflag=direct conv=fsync",
    "dd buffered": "dd conv=fsync",
}


def prepare_peers() -> Path:
    """The Python of the peers' environment, which is made on the first call; needs a network then.

    :raises MachineError: if it cannot be made.
    """
    mark = f"{sys.version_info.major}.{sys.version_info.minor}-{checksum(_REQUIREMENTS)[:12]}"
    folder = state_folder() / "bench" / f"python-{mark}"
    finished = folder / "finished"
    with locked(folder.with_suffix(".lock"), "another process that installs the generators"):
        if not finished.exists():
            say("Installing the generators to compare with (once) ...")
            shutil.rmtree(folder, ignore_errors=True)
            uv = [sys.executable, "-m", "uv", "--quiet"]
            install = [*uv, "pip", "install", "--system-certs", "--python", str(folder), "-r", str(_REQUIREMENTS)]
            _run([*uv, "venv", "--no-project", "--python", sys.executable, str(folder)], "the environment")
            _run(install, "the generators to compare with")
            finished.touch()
    return folder / "bin" / "python"


def build_elastic() -> tuple[Path, str]:
    """The program around Elastic's generator and the version in it, built on the first call; needs a network then.

    :raises MachineError: if there is no Go, or it cannot be built.
    """
    if not shutil.which("go"):
        raise MachineError("There is no Go on the PATH, which builds this generator: install Go 1.21 or newer.")
    sources = [_ELASTIC / name for name in ("main.go", "go.mod", "go.sum")]
    program = state_folder() / "bench" / f"elastic-{'-'.join(checksum(source)[:8] for source in sources)}"
    with locked(program.with_suffix(".lock"), "another process that builds this generator"):
        if not program.exists():
            say("Building Elastic's generator (once, a minute or two) ...")
            begun = program.with_suffix(".part")
            _run(["go", "build", "-C", str(_ELASTIC), "-o", str(begun), "."], "Elastic's generator")
            begun.replace(program)
    lines = (_ELASTIC / "go.mod").read_text(encoding="utf-8").splitlines()
    return program, next(line.split()[-1] for line in lines if _ELASTIC_MODULE in line)


def paddock_command(recipe: str, seed: int, threads: int) -> list[str]:
    """Starts Paddock's own generator."""
    return [sys.executable, "-m", "benchmarks.paddock_worker", recipe, str(seed), str(threads)]


def peer_command(peer: Peer, profile: Path, seed: int, worker: int, workers: int) -> list[str]:
    """Starts one of ``workers`` processes of a peer.

    :raises MachineError: if it cannot be had on this machine.
    """
    share = ["--seed", str(seed), "--worker", str(worker), "--workers", str(workers)]
    if not peer.module:
        program, version = build_elastic()
        return [str(program), *share, "--version", version, str(profile)]
    return [str(prepare_peers()), "-m", f"benchmarks.peers.{peer.module}", *share, str(profile)]


def _run(command: list[str], what: str) -> None:
    try:
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True, timeout=_BUILD_MINUTES * 60)
    except FileNotFoundError as error:
        raise MachineError(f"{what} cannot be installed: {error.filename} is missing.") from None
    except subprocess.TimeoutExpired:
        raise MachineError(f"{what} cannot be installed: not done after {_BUILD_MINUTES} minutes.") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise MachineError(f"{what} cannot be installed ({last}): check the network, or leave it out.") from None
