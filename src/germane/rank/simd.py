"""Instructions that Numba has no words for."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 64

_DOUBLE, _I32, _I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)


@intrinsic
def reach_mask(typingctx: Any, values: Any, begin: Any, limit: Any) -> Any:
    """Bit i is set where values[begin + i] >= limit, for 64 values: `np.packbits(v >= limit, bitorder="little")`."""
    signature = types.uint64(values, types.int64, types.float64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        array, start, bound = args
        data = context.make_array(sig.args[0])(context, builder, value=array).data
        vector_type = ir.VectorType(_DOUBLE, LANES)
        pointer = builder.bitcast(builder.gep(data, [start]), vector_type.as_pointer())
        vector = builder.load(pointer, align=8)
        undefined = ir.Constant(vector_type, ir.Undefined)
        first = builder.insert_element(undefined, bound, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, 0)] * LANES)
        bounds = builder.shuffle_vector(first, undefined, zeros)
        return builder.bitcast(builder.fcmp_ordered(">=", vector, bounds), _I64)

    return signature, codegen


@intrinsic
def lowest_bit(typingctx: Any, mask: Any) -> Any:
    """Position of the lowest set bit of a non-zero uint64: `(m & -m).bit_length() - 1`."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, codegen


@intrinsic
def count_bits(typingctx: Any, mask: Any) -> Any:
    """Number of set bits of a uint64: `m.bit_count()`."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return signature, codegen


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array[index], which may lie outside the array."""
    signature = types.void(array, types.int64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, value=args[0]).data
        bytes_pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [bytes_pointer, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = builder.bitcast(builder.gep(data, [args[1]]), bytes_pointer)
        builder.call(function, [place, ir.Constant(_I32, 0), ir.Constant(_I32, 3), ir.Constant(_I32, 1)])
        return context.get_dummy_value()

    return signature, codegen
