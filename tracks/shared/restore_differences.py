"""What two heaps of documents do not have in common, and how that is told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from shared.read_back import differing, fields_of, short, written
from shared.replay_times import MILLISECOND, time_text

_EXAMPLES = 5
# Documents that are compared each with each to find the one that was changed.
_MOST_PAIRED = 200
_MOST_TRIES = 100_000
# Share of fields that differ up to which two documents are one that was changed.
_NEAR = 0.5


class NothingStored(Exception):
    """The index keeps no documents that could be read."""


class Differences:
    """Takes documents of the archive and of the index; those that are the same cancel each other.

    They come in the order of their times, those of the same time in any order: what has no counterpart when a later
    time comes will have none. Documents without a time (None) wait for theirs to the end.

    :param most_left: when so many have no counterpart, nobody need look further.
    """

    def __init__(self, most_left: int) -> None:
        self.compared = 0
        self._most = most_left
        # By what is in a document, as a text: the milliseconds and ids of those that were sent and not read.
        self._sent: dict[str, list[tuple[int | None, str]]] = {}
        self._read: dict[str, list[tuple[int | None, str]]] = {}
        self._timed = self._left = 0
        self._now: int | None = None

    @property
    def too_many(self) -> bool:
        """Whether to stop: so many differ that it is no matter of single documents."""
        return self._left > self._most

    def sent(self, at: int | None, document: Any) -> None:
        """A document of the archive; milliseconds since 1970."""
        self._add(self._sent, self._read, (at, ""), document)

    def read(self, at: int | None, identity: str, document: Any) -> None:
        """A document of the index."""
        self.compared += 1
        self._add(self._read, self._sent, (at, identity), document)

    def _add(self, mine: dict[str, Any], others: dict[str, Any], entry: tuple[int | None, str], document: Any) -> None:
        at = entry[0]
        if at is not None and at != self._now:
            self._now, self._left = at, self._timed
        key = written(fields_of(document))
        if key in others:
            self._timed -= others[key].pop()[0] is not None
            if not others[key]:
                del others[key]
            return
        mine.setdefault(key, []).append(entry)
        self._timed += at is not None

    def told(self) -> dict[str, Any]:
        """Figures and examples.

        :returns: ``compared`` documents of the index; ``missing`` and ``unexpected`` ones; ``changed`` ones, which are
            both in the index and in the archive with other values, with ``fields`` (how many ``documents`` differ in
            each, and of the first what was ``sent`` and ``read``); ``examples`` of each kind; ``stopped`` (whether the
            rest was not looked at).
        """
        sent, read = (
            [(*entry, fields) for key, same in side.items() for fields in (json.loads(key),) for entry in same]
            for side in (self._sent, self._read)
        )
        pairs = _pairs(sent, read)
        paired = {id(entry) for pair in pairs for entry in pair}
        fields: dict[str, dict[str, Any]] = {}
        examples = []
        changed = len(pairs)
        for before, after in pairs:
            for name, was, became in differing(before[2], after[2]):
                entry = fields.setdefault(name, {"documents": 0, "sent": short(was), "read": short(became)})
                entry["documents"] += 1
            if len(examples) < _EXAMPLES:
                examples.append(_example("changed", before, after))
        missing, unexpected = ([entry for entry in side if id(entry) not in paired] for side in (sent, read))
        examples += [_example("missing", one, None) for one in missing[:_EXAMPLES]]
        examples += [_example("unexpected", None, one) for one in unexpected[:_EXAMPLES]]
        return {
            "compared": self.compared,
            "missing": len(missing),
            "unexpected": len(unexpected),
            "changed": changed,
            "fields": fields,
            "examples": examples,
            "stopped": self.too_many,
        }


def _pairs(sent: Sequence[Any], read: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Documents of both sides that are probably the same one, changed: nearly the same contents, same times first."""
    by_time: dict[int | None, list[Any]] = {}
    for entry in read:
        by_time.setdefault(entry[0], []).append(entry)
    paired: set[int] = set()
    found, rest = [], []
    left = _MOST_TRIES

    def nearest(before: Any, candidates: Iterable[Any]) -> Any:
        nonlocal left
        open_ones = list(islice((one for one in candidates if id(one) not in paired), max(1, min(_MOST_PAIRED, left))))
        left -= len(open_ones)
        distance, after = min(
            ((_distance(before[2], one[2]), number) for number, one in enumerate(open_ones)), default=(1.0, -1)
        )
        return open_ones[after] if distance <= _NEAR else None

    for before in sent:
        after = nearest(before, by_time.get(before[0], ()))
        if after is None:
            rest.append(before)
            continue
        paired.add(id(after))
        found.append((before, after))
    for before in rest[:_MOST_PAIRED]:
        after = nearest(before, read)
        if after is not None:
            paired.add(id(after))
            found.append((before, after))
    return found


def _distance(sent: Mapping[str, Any], read: Mapping[str, Any]) -> float:
    """Share of the fields of either that differ, 0 to 1."""
    return len(list(differing(sent, read))) / (len({**sent, **read}) or 1)


def _example(kind: str, sent: Any, read: Any) -> dict[str, Any]:
    one = sent or read
    at = None if one[0] is None else time_text(one[0] * MILLISECOND)
    told: dict[str, Any] = {"kind": kind, "at": at, "id": read[1] if read else None}
    if sent and read:
        found = differing(sent[2], read[2])
        told["fields"] = {name: {"sent": short(was), "read": short(is_now)} for name, was, is_now in found}
    else:
        told["document"] = short(json.dumps(one[2], ensure_ascii=False))
    return told


def proof_sentence(outcome: Mapping[str, Any], index: str) -> str | None:
    """What is wrong, in one sentence; None if nothing is."""
    documents, counted = outcome["documents"], outcome["counted"]
    parts = []
    if outcome.get("nothing_stored"):
        parts.append("the index stores no documents, so none can be read back (set proof to none)")
    if counted != documents:
        parts.append(f"it has {counted:,} documents, and {documents:,} were sent")
    if outcome["missing"]:
        parts.append(f"{outcome['missing']:,} of those compared are missing")
    if outcome["changed"]:
        fields = ", ".join(list(outcome["fields"])[:3])
        parts.append(f"{outcome['changed']:,} read back otherwise than they were sent (in {fields})")
    if outcome["unexpected"]:
        parts.append(f"{outcome['unexpected']:,} were never sent")
    if outcome["parts"]:
        first = outcome["parts"][0]
        parts.append(f"from {first['from']} to {first['until']} there are {first['read']:,} of {first['sent']:,}")
    if not parts:
        return None
    stopped = "; the rest was not compared" if outcome["stopped"] else ""
    example = next((f", the first of {one['at']}" for one in outcome["examples"] if one["at"]), "")
    return f"The restore proof of the index '{index}' failed: {'; '.join(parts)}{example}{stopped}."
