"""Rows of tables taken `LANES` numbers at a time, by instructions that the compiler would not choose of itself.

Tables are words × topics with rows of a multiple of `LANES` numbers, zeros behind the topics (`lanes.py`). LLVM makes
of each operation what the processor has: one instruction, or several narrower ones.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

from germane.latent.lanes import LANES

_SUMS = ("reassoc", "contract", "nsz")


class Lanes(types.Type):
    """`LANES` numbers of one type, as the processor holds them."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        number = ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, lanes, ir.VectorType(number, LANES))


def _place(context, builder, array_type, array, row, column):
    """The address of `LANES` numbers of a row, and what their alignment is at least."""
    made = context.make_array(array_type)(context, builder, array)
    size = array_type.dtype.bitwidth // 8
    stride = builder.extract_value(made.strides, 0)
    offset = builder.add(builder.mul(row, stride), builder.mul(column, ir.IntType(64)(size)))
    start = builder.bitcast(made.data, ir.IntType(8).as_pointer())
    return builder.gep(start, [offset]), size


@intrinsic
def load(typing, table, row, column):
    """table[row, column : column + LANES]"""

    def code(context, builder, signature, args):
        place, size = _place(context, builder, signature.args[0], *args)
        lanes = context.get_value_type(signature.return_type)
        found = builder.load(builder.bitcast(place, lanes.as_pointer()))
        found.align = size
        return found

    return Lanes(table.dtype)(table, types.int64, types.int64), code


@intrinsic
def store(typing, table, row, column, lanes):
    """table[row, column : column + LANES] = lanes"""

    def code(context, builder, signature, args):
        place, size = _place(context, builder, signature.args[0], *args[:3])
        builder.store(args[3], builder.bitcast(place, args[3].type.as_pointer())).align = size
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64, lanes), code


@intrinsic
def prefetch(typing, table, row, column):
    """Have a part of a row near the processor soon."""

    def code(context, builder, signature, args):
        place, _ = _place(context, builder, signature.args[0], *args)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [place, number(0), number(3), number(1)])  # to read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64), code


@intrinsic
def spread(typing, number):
    """The same number in all lanes."""

    def code(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        nothing = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))

    return Lanes(number)(number), code


@intrinsic
def times(typing, a, b):
    """a·b, lane by lane"""

    def code(context, builder, signature, args):
        return builder.fmul(args[0], args[1], flags=_SUMS)

    return a(a, b), code


@intrinsic
def multiply_add(typing, a, b, c):
    """a·b + c, lane by lane"""

    def code(context, builder, signature, args):
        return builder.fadd(builder.fmul(args[0], args[1], flags=_SUMS), args[2], flags=_SUMS)

    return c(a, b, c), code


@intrinsic
def total(typing, lanes):
    """The sum of the lanes."""

    def code(context, builder, signature, args):
        kind = args[0].type
        letter = "f32" if isinstance(kind.element, ir.FloatType) else "f64"
        function = ir.FunctionType(kind.element, [kind.element, kind])
        name = f"llvm.vector.reduce.fadd.v{LANES}{letter}"
        call = cgutils.get_or_insert_function(builder.module, function, name)
        return builder.call(call, [kind.element(0.0), args[0]], fastmath=_SUMS)

    return lanes.dtype(lanes), code


@intrinsic
def bits_of(typing, number):
    """The bits of a single as a whole number."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), code


@intrinsic
def from_bits(typing, bits):
    """The single of these bits."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), code
