"""How much of what the load driver alone can push the contenders ask for: measured before the first race, and said."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from paddock.console import say, warn
from paddock.corpora.record import CorpusRecord
from paddock.errors import MachineError
from paddock.plain_values import built
from paddock.race.headroom import SHARED, Headroom, Shape, between, ensure, remembered
from paddock.tournaments.load_shape import load_shape, parsed_on_node, ships
from paddock.tournaments.model import Tournament

# So many shapes are measured one by one, five seconds each; of more, their corners, and the others are reckoned.
MOST_MEASURED = 5
# No further one is begun after these seconds.
MOST_SECONDS = 25.0


def known_headroom(tournament: Tournament, corpora: Mapping[str, CorpusRecord]) -> dict[str, Headroom]:
    """What is remembered of the contenders' loads, by their names; nothing is measured.

    :param corpora: contender -> its corpus; those of whom it is not known are missing.
    """
    found: dict[str, Headroom] = {}
    for corpus, shapes in _wanted(tournament, corpora):
        measured = remembered(corpus)
        for name, shape in shapes.items():
            if headroom := measured.get(shape) or between(measured, shape):
                found[name] = headroom
    return found


def measured_headroom(tournament: Tournament, corpora: Mapping[str, CorpusRecord]) -> dict[str, Headroom]:
    """The same; what is not remembered is measured now, as far as half a minute suffices, and remembered.

    What cannot be measured is missing, and a warning says why: no tournament fails for want of it.
    """
    began = time.monotonic()
    for corpus, shapes in _wanted(tournament, corpora):
        if not corpus.file.is_file():
            continue  # Rally unpacks it, or finds it elsewhere
        known = remembered(corpus)
        missing = [one for one in chosen(shapes.values()) if one not in known or known[one].others > SHARED]
        if missing:
            say(
                f"Measuring what the load driver alone can push of {corpus.name} "
                f"(about {5 * len(missing)} s, and remembered) ..."
            )
        for shape in missing:
            if time.monotonic() - began > MOST_SECONDS:
                break
            try:
                ensure(corpus, shape)
            except MachineError as error:
                warn(f"What the load driver alone can push is not known: {error}")
                return known_headroom(tournament, corpora)
    return known_headroom(tournament, corpora)


def recorded_headroom(header: Mapping[str, Any]) -> dict[str, Headroom]:
    """What the first line of a journal says of it; nothing where it was not measured.

    :raises ValueError: if that is damaged.
    """
    headroom: dict[str, Headroom] = built(dict[str, Headroom], header.get("headroom", {}), "headroom")
    return headroom


def chosen(shapes: Iterable[Shape]) -> list[Shape]:
    """Those of the shapes that are measured: all where they are few, else the least and the largest of everything."""
    each = list(dict.fromkeys(shapes))
    if len(each) <= MOST_MEASURED:
        return each
    sizes, clients = [one.bulk_size for one in each], [one.clients for one in each]
    corners = itertools.product((min(sizes), max(sizes)), (min(clients), max(clients)), {one.processes for one in each})
    return list(dict.fromkeys(itertools.starmap(Shape, corners)))


def _wanted(tournament: Tournament, corpora: Mapping[str, CorpusRecord]) -> list[tuple[CorpusRecord, dict[str, Shape]]]:
    """For every corpus the shape of each contender's load."""
    found: dict[str, tuple[CorpusRecord, dict[str, Shape]]] = {}
    for contender in tournament.contenders:
        # What a shipper can push is nothing that Rally's client could tell, and lines are not the corpus's documents.
        other = ships(tournament, contender) or parsed_on_node(tournament, contender)
        if (corpus := corpora.get(contender.name)) is not None and not other:
            _, shapes = found.setdefault(str(corpus.file), (corpus, {}))
            shapes[contender.name] = Shape(*load_shape(tournament, contender), tournament.driver_processes)
    return list(found.values())


def undisturbed(headroom: Mapping[str, Headroom]) -> dict[str, Headroom]:
    """Those that cautions may rest on: a driver that had to share its core can push more than was seen."""
    return {name: one for name, one in headroom.items() if one.others <= SHARED}


def shares(headroom: Mapping[str, Headroom], rates: Mapping[str, float]) -> dict[str, float]:
    """What each contender's docs/s are of what the driver alone pushes, 1 for all of it."""
    return {name: rate / headroom[name].docs_per_second for name, rate in rates.items() if name in headroom}


def headroom_sentence(headroom: Mapping[str, Headroom], rates: Mapping[str, float], expected: bool = False) -> str:
    """How much the driver alone can push, and what the contenders had of it; empty if nothing is known.

    :param rates: contender -> docs/s.
    :param expected: whether the rates are those that are expected.
    """
    if not headroom:
        return ""
    known = sorted(headroom.values(), key=lambda one: one.docs_per_second)
    pushes = _pushes(known[0])
    if known[0].shape != known[-1].shape:
        pushes = f"{pushes} to {_pushes(known[-1])}"
    sentence = f"The load driver alone pushes {pushes} into a sink"
    reached = shares(headroom, rates)
    if reached:
        most = max(reached, key=lambda name: reached[name])
        of = f"{100 * reached[most]:.0f} %"
        if known[0].shape == known[-1].shape:
            sentence += f": the fastest contender {'is expected to reach' if expected else 'reached'} {of} of it"
        else:
            near = "is expected to come nearest to its own limit" if expected else "came nearest to its own limit"
            sentence += f": '{most}' {near}, {of} of {_rounded(headroom[most].docs_per_second)} docs/s"
    disturbed = max(one.others for one in known)
    if disturbed > SHARED:
        sentence += f" (measured while others had {100 * disturbed:.0f} % of the cores, so it may be more)"
    return f"{sentence}."


def headroom_facts(headroom: Mapping[str, Headroom]) -> list[str]:
    """All that is known of each shape, a line each; of many, those in which the driver pushes least and most."""
    found = sorted(dict.fromkeys(headroom.values()), key=lambda one: one.docs_per_second)
    found = found if len(found) <= MOST_MEASURED else [found[0], found[-1]]
    return [
        f"{_pushes(one)}, {one.bytes_per_second / 1e6:,.0f} MB/s, {1e3 * one.cpu_seconds_per_bulk:.2f} ms of a "
        f"processor for a bulk{', reckoned from other shapes' if one.reckoned else ''}"
        for one in found
    ]


def _pushes(headroom: Headroom) -> str:
    return f"{_rounded(headroom.docs_per_second)} docs/s ({headroom.shape})"


def _rounded(rate: float) -> str:
    """To two digits: rounds differ by some percent."""
    return f"{round(rate, 1 - math.floor(math.log10(rate))) if rate > 0 else 0:,.0f}"
