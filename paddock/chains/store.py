"""Chains on disk: a folder each, with the journal of every step, the steps' tournament files and the page.

journal.jsonl    everything that happened
steps/N/         the tournament file of a step, as it was held; N counts from 1, and on after a step that failed
report.html      the page, and report.md, result.json: written when the chain ends or is stopped

What happens inside a step is in the journal of its tournament, which is found by the file that it was begun with. Every
line has "at" in epoch seconds and "elapsed", the seconds that the chain has been running, breaks left out. Kinds:
  chain      how it began: the chain itself with the contents of all its steps, options, seed
  resumed    it goes on after it was cut off, or after a step had failed
  step       a step begins: its minutes, its file, what winners bring into it
  done       it has come to its end, and what became of it
  finished   the chain is over, and why
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock import journals, paths
from paddock.chains import ChainOptions
from paddock.chains.model import FAILED, STEP_FAILED, Chain, Outcome, Settings
from paddock.errors import FileError, UsageError, unknown
from paddock.plain_values import built
from paddock.tournaments.store import Stored as StoredTournament
from paddock.tournaments.store import tournament_ids

_DAMAGED = "this journal is damaged here: restore it, or begin a chain anew."


@dataclass(frozen=True)
class Begun:
    """A step that was begun.

    :param attempt: which one, from 1.
    :param minutes: that it was given; ``resolves`` says what that can tell apart.
    :param file: of its tournament, in the chain's folder; empty for a race.
    :param built_on: what winners bring into it.
    """

    name: str
    attempt: int
    minutes: float
    file: str = ""
    resolves: str = ""
    built_on: Settings = field(default_factory=Settings)


@dataclass
class ChainHistory:
    """A journal, read.

    :param begun: the latest attempt at every step that was begun.
    :param outcomes: of the steps that are over, by name.
    :param stopped: why it is over; None if it is not.
    :param elapsed: seconds that the chain has been running, breaks left out.
    :param since: the same, when the latest step began.
    """

    header: dict[str, Any] = field(default_factory=dict)
    begun: dict[str, Begun] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    stopped: str | None = None
    elapsed: float = 0.0
    since: float = 0.0

    @property
    def chain(self) -> Chain:
        """The chain as it was when it began, whatever has become of its file since."""
        chain: Chain = built(Chain, self.header["chain"], "the chain")
        return chain

    @property
    def options(self) -> ChainOptions:
        """The options with which it began."""
        options: ChainOptions = built(ChainOptions, self.header["options"], "options")
        return options

    def take(self, line: Mapping[str, Any]) -> None:
        """Add what a line says.

        :raises KeyError, TypeError, ValueError: if it is no line of a chain's journal.
        """
        self.elapsed = float(line["elapsed"])
        kind = line["kind"]
        if kind == "chain":
            self.header = dict(line)
        elif kind == "resumed":
            if self.stopped == STEP_FAILED:  # that step is tried again
                for name in [name for name, one in self.outcomes.items() if one.kind == FAILED]:
                    del self.outcomes[name]
                    self._forget(name)
            self.stopped = None
        elif kind == "step":
            begun: Begun = built(Begun, line["step"], "step")
            self.begun[begun.name], self.since = begun, self.elapsed
        elif kind == "done":
            self.outcomes[line["name"]] = built(Outcome, line["outcome"], "outcome")
        elif kind == "finished":
            self.stopped = line["stopped"]

    def attempts(self, name: str) -> int:
        """How often that step was begun."""
        return self._attempts.get(name, 0) if name not in self.begun else self.begun[name].attempt

    _attempts: dict[str, int] = field(default_factory=dict)

    def _forget(self, name: str) -> None:
        if name in self.begun:
            self._attempts[name] = self.begun.pop(name).attempt


class ChainJournal:
    """Appends to a chain's journal, and keeps what has been written as a :class:`ChainHistory`."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.history = read_journal(file)
        self._before = self.history.elapsed
        self._began = time.monotonic()
        journals.drop_half_line(file)

    @property
    def elapsed(self) -> float:
        """Seconds that the chain has been running, breaks left out."""
        return self._before + time.monotonic() - self._began

    def add(self, kind: str, **values: Any) -> None:
        """Add a line and wait until it is on disk.

        :raises MachineError: if the disk is full; the journal is then as it was.
        """
        line = {"kind": kind, "at": time.time(), "elapsed": round(self.elapsed, 3), **values}
        journals.append(self.file, line)
        self.history.take(line)

    def resume(self, tournament_seconds: float) -> None:
        """Go on with the chain.

        :param tournament_seconds: how long the tournament has been running in which it was cut off; 0 if in none. The
            chain was killed in it, so no line of its own tells of that time.
        """
        self._before = max(self._before, self.history.since + tournament_seconds)
        self._began = time.monotonic()
        self.add("resumed")


def read_journal(file: Path) -> ChainHistory:
    """What the journal says; a last line that was cut off counts as never written.

    :raises FileError: if another line is damaged; with its number.
    """
    history = ChainHistory()
    journals.read(file, history.take, _DAMAGED)
    return history


@dataclass(frozen=True)
class StoredChain:
    """A chain in its folder."""

    id: str

    @property
    def folder(self) -> Path:
        """Where all of it lies."""
        return chains_folder() / self.id

    @property
    def journal(self) -> Path:
        """Everything that happened."""
        return self.folder / journals.JOURNAL

    def definition(self, name: str, attempt: int) -> Path:
        """The tournament file of a step."""
        return self.folder / "steps" / str(attempt) / f"{name}.yml"

    def history(self) -> ChainHistory:
        """Its journal, read.

        :raises FileError: if it is damaged.
        """
        history = read_journal(self.journal)
        if not history.header:
            raise FileError(self.journal, "this chain was cut off before it had begun: begin it anew.")
        return history


def chains_folder() -> Path:
    """The folder of all chains."""
    return paths.state_folder() / "chains"


def chain_ids() -> list[str]:
    """The ids of all chains that were begun, the latest last."""
    return journals.ids_in(chains_folder())


def new_id(name: str) -> str:
    """An id for a chain that is about to begin."""
    return journals.new_id(chains_folder(), name)


def find_unfinished(name: str | None) -> StoredChain:
    """The chain to go on with.

    :param name: its id or the name of its file; "latest" or nothing for the latest that has not come to its end.
    :raises UsageError: if there is none, or it is finished.
    """
    known = chain_ids()
    if name in known:
        stopped = StoredChain(name).history().stopped
        if stopped not in (None, STEP_FAILED):
            raise UsageError(f"The chain {name} has ended ({stopped}): './inv chain NAME' begins another.")
        return StoredChain(name)
    for chain_id in reversed(known):
        history = read_journal(StoredChain(chain_id).journal)
        unfinished = history.header and history.stopped in (None, STEP_FAILED)
        if unfinished and name in (None, "latest", history.header["chain"]["name"]):
            return StoredChain(chain_id)
    if name in (None, "latest") or name in {chain_id.rsplit("-", 2)[0] for chain_id in known}:
        raise UsageError("No chain is left to resume: all have come to their end. ./inv chain NAME begins one.")
    raise unknown("chain to resume called", name, known, "./inv chains")


def tournament_begun_with(file: Path) -> StoredTournament | None:
    """The tournament that was begun with this file of a step; None if there is none, or it was killed before it began.

    The folder of all chains may have moved since, or have two names: chains/ID/steps/N/NAME.yml is what tells.
    """
    for tournament_id in reversed(tournament_ids()):
        stored = StoredTournament(tournament_id)
        if Path(stored.beginning().get("definition", "")).parts[-5:] == file.parts[-5:]:
            return stored
    return None
