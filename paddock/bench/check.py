"""Checks a generator's documents before its speed is worth anything: valid, in order, of the right size, varied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from paddock.bench.model import Sample
from paddock.errors import CorpusError
from paddock.inspection.times import time_of_value

_SIZE_TOLERANCE = 0.3  # of the mean
_LEAST_VARIETY = 0.5  # of the different values in as many of Paddock's documents


def read_sample(generator: str, lines: Sequence[bytes], time_field: str) -> tuple[Sample, list[dict[str, Any]]]:
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
        moment = time_of_value(document.get(time_field)) if isinstance(document, dict) else None
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
