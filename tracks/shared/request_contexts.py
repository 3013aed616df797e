"""Requests beside the measured ones.

Rally's client notes the first start and the last end of all requests below one context, and calls the difference the
service time. What is done before, after and beside the load must not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unmeasured(es: Any) -> Iterator[None]:
    """Requests in this block leave no trace in the enclosing measurement."""
    _, token = es.init_request_context()
    try:
        yield
    finally:
        es.restore_context(token)
