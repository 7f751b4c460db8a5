"""Instructions of the processor for numba kernels: prefetch, and the position of the lowest bit."""

from __future__ import annotations

from typing import Any

from bagpack.kernels import intrinsic


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
