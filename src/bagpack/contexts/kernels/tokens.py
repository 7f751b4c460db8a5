"""What all kernels use: bounds of windows within a sentence, and two instructions of the processor."""

from __future__ import annotations

from typing import Any

from bagpack.corpus.format import SENTENCE_START
from bagpack.kernels import intrinsic, kernel


@kernel
def window_start(tokens, position, reach):  # type: ignore[no-untyped-def]
    """First token of the up to `reach` tokens before `position` in its sentence."""
    start = position
    while position - start < reach and start > 0 and not tokens[start] & SENTENCE_START:
        start -= 1
    return start


@kernel
def window_end(tokens, position, reach):  # type: ignore[no-untyped-def]
    """One past the last of the up to `reach` tokens from `position` on, before the next sentence starts."""
    end = position
    while end - position < reach and end < tokens.size and not tokens[end] & SENTENCE_START:
        end += 1
    return end


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch array[index] into the cache; the index may be out of bounds."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types
    from numba.core import cgutils

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        module: Any = cgutils
        function = module.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        reading, keep, data_cache = 0, 3, 1
        builder.call(function, [address, *(ir.Constant(number, n) for n in (reading, keep, data_cache))])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Position of the lowest bit that is set in a 64-bit word, which must not be 0."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate
