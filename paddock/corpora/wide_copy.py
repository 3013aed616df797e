"""One compiled operation: copy 32 bytes between byte arrays with one load and one store.

Most fragments are shorter than that; copying more than is needed and moving on by the right length is
several times faster than a loop or a call of memcpy with a length known only at run time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from paddock.corpora.world import OVERCOPY


@intrinsic
def copy_32(typing_context: Any, target: Any, target_at: Any, source: Any, source_at: Any) -> Any:
    """Copy 32 bytes from ``source[source_at:]`` to ``target[target_at:]``; both must have that many left."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chunk = ir.VectorType(ir.IntType(8), OVERCOPY).as_pointer()

        def place(number: int) -> Any:
            array = context.make_array(signature.args[number])(context, builder, arguments[number])
            return builder.bitcast(builder.gep(array.data, [arguments[number + 1]]), chunk)

        loaded = builder.load(place(2))
        loaded.align = 1
        builder.store(loaded, place(0)).align = 1
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), generate
