"""The processor's prefetch instruction for numba kernels that know where they will read next."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for array[index] to be brought into the cache; any index will do, in the array or not."""

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


prefetch: Any = intrinsic(_prefetch)
