# mypy: ignore-errors
"""Rows of tables as values, by instructions that the compiler would not choose of itself.

Tables have rows of a multiple of `LANES` numbers, zeros behind the topics (`lanes.py`). A row that is loaded lies in
the processor's registers, as far as they reach. How many times `LANES` numbers it has is a matter of its type, which
`parts`, a tuple as long, carries into a kernel (`parts_of`): a kernel is compiled for each width. LLVM makes of each
operation what the processor has: one instruction, or several narrower ones.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

from germane.latent.backends.cpu.lanes import LANES

_SUMS = ("reassoc", "contract", "nsz")


class Row(types.Type):
    """`n_parts` times `LANES` numbers of one type."""

    def __init__(self, dtype, n_parts):
        self.dtype, self.n_parts = dtype, n_parts
        super().__init__(name=f"Row({dtype}, {n_parts})")


@register_model(Row)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager, row):
        number = ir.FloatType() if row.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, row, ir.ArrayType(ir.VectorType(number, LANES), row.n_parts))


def _row(table, parts):
    return Row(table.dtype, len(parts))


def _places(context, builder, table_type, table, row, n_parts):
    """The addresses of a row's parts, and what their alignment is at least."""
    made = context.make_array(table_type)(context, builder, table)
    size = table_type.dtype.bitwidth // 8
    start = builder.bitcast(made.data, ir.IntType(8).as_pointer())
    first = builder.gep(start, [builder.mul(row, builder.extract_value(made.strides, 0))])
    return [builder.gep(first, [ir.IntType(64)(size * LANES * part)]) for part in range(n_parts)], size


def _parts(builder, row):
    return [builder.extract_value(row, part) for part in range(row.type.count)]


def _joined(builder, kind, parts):
    row = ir.Constant(kind, ir.Undefined)
    for place, part in enumerate(parts):
        row = builder.insert_value(row, part, place)
    return row


def _spread(builder, kind, number):
    """Broadcast a number to all lanes of one part."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


def _multiply_add(builder, a, b, c):
    return builder.fadd(builder.fmul(a, b, flags=_SUMS), c, flags=_SUMS)


def _total(builder, parts):
    """The sum of all numbers of some parts."""
    while len(parts) > 1:
        pairs = [builder.fadd(a, b, flags=_SUMS) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    kind = parts[0].type
    letter = "f32" if isinstance(kind.element, ir.FloatType) else "f64"
    function = ir.FunctionType(kind.element, [kind.element, kind])
    call = cgutils.get_or_insert_function(builder.module, function, f"llvm.vector.reduce.fadd.v{LANES}{letter}")
    return builder.call(call, [kind.element(0.0), parts[0]], fastmath=_SUMS)


@intrinsic
def load(typing, table, row, parts):
    """table[row]"""

    def code(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        places, size = _places(context, builder, signature.args[0], *args[:2], kind.count)
        found = [builder.load(builder.bitcast(place, kind.element.as_pointer())) for place in places]
        for part in found:
            part.align = size
        return _joined(builder, kind, found)

    return _row(table, parts)(table, types.int64, parts), code


@intrinsic
def store(typing, table, row, value):
    """table[row] = value"""

    def code(context, builder, signature, args):
        places, size = _places(context, builder, signature.args[0], *args[:2], args[2].type.count)
        for place, part in zip(places, _parts(builder, args[2]), strict=True):
            builder.store(part, builder.bitcast(place, part.type.as_pointer())).align = size
        return context.get_dummy_value()

    return types.void(table, types.int64, value), code


@intrinsic
def prefetch(typing, table, row, parts):
    """Have a row near the processor soon."""

    def code(context, builder, signature, args):
        number = ir.IntType(32)
        for place in _places(context, builder, signature.args[0], *args[:2], len(parts))[0]:
            kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
            call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(call, [place, number(0), number(3), number(1)])  # to read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(table, types.int64, parts), code


@intrinsic
def zeros(typing, table, parts):
    """A row of zeros, of a table's type."""

    def code(context, builder, signature, args):
        return ir.Constant(context.get_value_type(signature.return_type), None)

    return _row(table, parts)(table, parts), code


@intrinsic
def dot(typing, a, b):
    """Σ a·b"""

    def code(context, builder, signature, args):
        of_a, of_b = (_parts(builder, arg) for arg in args)
        chains = [builder.fmul(x, y, flags=_SUMS) for x, y in zip(of_a[:2], of_b[:2], strict=True)]
        for place in range(2, len(of_a)):
            chains[place % 2] = _multiply_add(builder, of_a[place], of_b[place], chains[place % 2])
        return _total(builder, chains)

    return a.dtype(a, b), code


@intrinsic
def total(typing, row):
    """The sum of a row."""

    def code(context, builder, signature, args):
        return _total(builder, _parts(builder, args[0]))

    return row.dtype(row), code


@intrinsic
def times(typing, a, b):
    """a·b, number by number"""

    def code(context, builder, signature, args):
        pairs = zip(*(_parts(builder, arg) for arg in args), strict=True)
        return _joined(builder, args[0].type, [builder.fmul(x, y, flags=_SUMS) for x, y in pairs])

    return a(a, b), code


@intrinsic
def multiply_add(typing, a, b, c):
    """a·b + c, number by number"""

    def code(context, builder, signature, args):
        triples = zip(*(_parts(builder, arg) for arg in args), strict=True)
        return _joined(builder, args[2].type, [_multiply_add(builder, x, y, z) for x, y, z in triples])

    return c(a, b, c), code


@intrinsic
def scaled(typing, number, row):
    """number · row"""

    def code(context, builder, signature, args):
        factor = _spread(builder, args[1].type.element, args[0])
        parts = [builder.fmul(factor, part, flags=_SUMS) for part in _parts(builder, args[1])]
        return _joined(builder, args[1].type, parts)

    return row(row.dtype, row), code


@intrinsic
def plus_scaled(typing, row, number, added):
    """row + number · added"""

    def code(context, builder, signature, args):
        factor = _spread(builder, args[0].type.element, args[1])
        pairs = zip(_parts(builder, args[0]), _parts(builder, args[2]), strict=True)
        return _joined(builder, args[0].type, [_multiply_add(builder, factor, y, x) for x, y in pairs])

    return row(row, row.dtype, added), code


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
