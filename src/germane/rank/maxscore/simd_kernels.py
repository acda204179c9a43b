# mypy: ignore-errors
"""Instructions that Numba has no words for."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from germane.rank.maxscore.records import LANES

_I32, _I64 = ir.IntType(32), ir.IntType(64)


@intrinsic
def reach_mask(typingctx: Any, values: Any, begin: Any, limit: Any) -> Any:
    """Bit i is set where values[begin + i] >= limit, for 64 values: `np.packbits(v >= limit, bitorder="little")`.

    The values and the limit are unsigned integers.
    """
    signature = types.uint64(values, types.int64, values.dtype)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        array, start, bound = args
        data = context.make_array(sig.args[0])(context, builder, value=array).data
        vector_type = ir.VectorType(bound.type, LANES)
        pointer = builder.bitcast(builder.gep(data, [start]), vector_type.as_pointer())
        vector = builder.load(pointer, align=sig.args[0].dtype.bitwidth // 8)
        undefined = ir.Constant(vector_type, ir.Undefined)
        first = builder.insert_element(undefined, bound, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, 0)] * LANES)
        bounds = builder.shuffle_vector(first, undefined, zeros)
        return builder.bitcast(builder.icmp_unsigned(">=", vector, bounds), _I64)

    return signature, codegen


@intrinsic
def lowest_bit(typingctx: Any, mask: Any) -> Any:
    """Position of the lowest set bit of a non-zero uint64: `(m & -m).bit_length() - 1`."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, codegen


@intrinsic
def four_at(typingctx: Any, values: Any, begin: Any) -> Any:
    """Four unsigned integers of 8 or 16 bits from values[begin] on, by one load: the first has the lowest bits."""
    signature = types.uint64(values, types.int64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        bits = sig.args[0].dtype.bitwidth
        first = builder.gep(context.make_array(sig.args[0])(context, builder, value=args[0]).data, [args[1]])
        loaded = builder.load(builder.bitcast(first, ir.IntType(4 * bits).as_pointer()), align=bits // 8)
        return loaded if bits == 16 else builder.zext(loaded, _I64)

    return signature, codegen


@intrinsic
def count_bits(typingctx: Any, mask: Any) -> Any:
    """Number of set bits of a uint64: `m.bit_count()`."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return signature, codegen
