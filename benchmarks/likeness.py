"""What documents are like: checked before a generator's speed is worth anything, and measured for the peers.

Checked are valid JSON, the order of time, size and variety. Measured are Paddock's documents, so that peers make the
same fields with the same values equally often.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.model import Sample
from benchmarks.peers.protocol import TIME_FIELD, LongText, Pool, Profile
from paddock.errors import CorpusError
from paddock.inspection.lines import time_of_value

_SIZE_TOLERANCE = 0.3  # of the mean
_LEAST_VARIETY = 0.5  # of the different values in as many of Paddock's documents
_LONG = 100  # characters on average from which a field whose values hardly recur is a long text
_MOST_LINES = 50_000


def read_sample(generator: str, lines: Sequence[bytes]) -> tuple[Sample, list[dict[str, Any]]]:
    """Read a generator's first documents.

    :raises CorpusError: if one is no JSON object, has no time, or an earlier one than the document before it.
    """
    documents = []
    before = float("-inf")
    for number, line in enumerate(lines, 1):
        try:
            document = json.loads(line)
        except ValueError:
            document = None
        moment = time_of_value(document.get(TIME_FIELD)) if isinstance(document, dict) else None
        if not isinstance(document, dict) or moment is None:
            raise CorpusError(f"Document {number} of the generator {generator} is no JSON object with a time.")
        if moment.seconds < before:
            raise CorpusError(f"Document {number} of the generator {generator} is earlier than the one before it.")
        before = moment.seconds
        documents.append(document)
    distinct: dict[str, set[str]] = {}
    for document in documents:
        for field, value in document.items():
            distinct.setdefault(field, set()).add(json.dumps(value))
    size = sum(map(len, lines)) / len(lines)
    return Sample(generator, len(lines), size, {field: len(values) for field, values in distinct.items()}), documents


def require_likeness(sample: Sample, model: Sample) -> None:
    """Check that documents are about as large and as varied as the model's, in the same fields.

    :raises CorpusError: if they are not: then speeds cannot be compared.
    """
    beginning = f"The documents of the generator {sample.generator} cannot be compared with {model.generator}'s: "
    if abs(sample.bytes_per_document / model.bytes_per_document - 1) > _SIZE_TOLERANCE:
        raise CorpusError(f"{beginning}{sample.bytes_per_document:.0f} bytes each, not {model.bytes_per_document:.0f}.")
    if set(sample.distinct) != set(model.distinct):
        differing = ", ".join(sorted(set(sample.distinct) ^ set(model.distinct)))
        raise CorpusError(f"{beginning}these fields are only in one of them: {differing}.")
    for field, values in model.distinct.items():
        if sample.distinct[field] < _LEAST_VARIETY * values:
            raise CorpusError(f"{beginning}the field {field} has {sample.distinct[field]} values, not {values}.")


def profile_of(documents: Sequence[dict[str, Any]]) -> Profile:
    """The profile of documents in the order of time; the first field of each is the time."""
    counts: dict[str, Counter[str]] = {}
    for document in documents:
        for field, value in document.items():
            if field != TIME_FIELD:
                counts.setdefault(field, Counter())[_json(value)] += 1
    long_field = next((field for field, values in counts.items() if _is_long_text(values)), None)
    pools = []
    for field, values in counts.items():
        if field == long_field:
            continue
        absent = len(documents) - values.total()
        listed = values.most_common() + ([("", absent)] if absent else [])
        pools.append(Pool(field, tuple(value for value, _ in listed), tuple(count for _, count in listed)))
    first, last = (time_of_value(documents[place][TIME_FIELD]) for place in (0, -1))
    if first is None or last is None:
        raise ValueError(f"the field {TIME_FIELD} is no time")
    return Profile(
        first_milliseconds=int(first.seconds * 1000),
        step_milliseconds=(last.seconds - first.seconds) * 1000 / (len(documents) - 1),
        pools=tuple(pools),
        text=_long_text(long_field, documents) if long_field else None,
    )


def write_profile(profile: Profile, path: Path) -> None:
    """Write it as the peers read it."""
    path.write_text(json.dumps(dataclasses.asdict(profile)), encoding="utf-8")


def _is_long_text(values: Counter[str]) -> bool:
    return 2 * len(values) > values.total() and sum(map(len, values)) > _LONG * len(values)


def _long_text(field: str, documents: Sequence[dict[str, Any]]) -> LongText:
    texts = [document[field] for document in documents if field in document]
    # From the middle of the texts as well, else every line were a first one.
    lines = [line for text in texts for line in text.split("\n")][:_MOST_LINES]
    return LongText(field, tuple(lines), tuple(len(text) for text in texts))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
