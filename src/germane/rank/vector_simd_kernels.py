# mypy: ignore-errors
"""The inner product of a stored vector with a query, in vector instructions that Numba does not find by itself.

Sixteen numbers at a time, in whatever registers the machine has: LLVM splits the vectors for ARM64 and plain x86-64.
Stored vectors are padded with zeros to whole steps (`index.vectors.padded`). Checked against NumPy in the tests.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

STEP = 16

_FLOAT, _I16, _I32, _I64 = ir.FloatType(), ir.IntType(16), ir.IntType(32), ir.IntType(64)
_FLOATS, _I32S = ir.VectorType(_FLOAT, STEP), ir.VectorType(_I32, STEP)


def _all(value: int) -> ir.Constant:
    return ir.Constant(_I32S, [ir.Constant(_I32, value)] * STEP)


def _load(builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value) -> ir.Value:
    """The sixteen numbers from `pointer[at]` on."""
    kind = ir.VectorType(pointer.type.pointee, STEP)
    place = builder.bitcast(builder.gep(pointer, [at]), kind.as_pointer())
    return builder.load(place, align=kind.element.width // 8 if isinstance(kind.element, ir.IntType) else 4)


def _from_half(builder: ir.IRBuilder, halves: ir.Value) -> ir.Value:
    """float16 to float32 by its bits: moved into the place of the larger format, whose exponents begin 112 lower."""
    wide = builder.zext(halves, _I32S)
    magnitude = builder.shl(builder.and_(wide, _all(0x7FFF)), _all(13))
    sign = builder.shl(builder.and_(wide, _all(0x8000)), _all(16))
    power = ir.Constant(_FLOATS, [ir.Constant(_FLOAT, 2.0**112)] * STEP)
    scaled = builder.fmul(builder.bitcast(magnitude, _FLOATS), power)
    return builder.bitcast(builder.or_(builder.bitcast(scaled, _I32S), sign), _FLOATS)


def _dot_function(module: ir.Module, stored: ir.Type, asked: ir.Type) -> ir.Function:
    """float or i32 f(stored* vector, asked* query, i64 n), made once a module; n is a whole number of steps."""
    exact = isinstance(asked, ir.IntType)
    name = "germane_dot_" + str(stored)
    if name in module.globals:
        return module.globals[name]
    result, sums = (_I32, _I32S) if exact else (_FLOAT, _FLOATS)
    kind = ir.FunctionType(result, [stored.as_pointer(), asked.as_pointer(), _I64])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    vector, query, n = function.args
    entry, loop, done = (function.append_basic_block(label) for label in ("entry", "loop", "done"))
    builder = ir.IRBuilder(entry)
    zero = ir.Constant(sums, [ir.Constant(result, 0)] * STEP)
    builder.branch(loop)
    builder.position_at_end(loop)
    at, sum_before = builder.phi(_I64), builder.phi(sums)
    at.add_incoming(ir.Constant(_I64, 0), entry)
    sum_before.add_incoming(zero, entry)
    values, weights = _load(builder, vector, at), _load(builder, query, at)
    if exact:
        product = builder.mul(builder.sext(values, _I32S), builder.sext(weights, _I32S))
        total = builder.add(sum_before, product)
    else:
        numbers = _from_half(builder, values) if stored == _I16 else values
        product = builder.fmul(numbers, weights, flags=("contract",))
        total = builder.fadd(sum_before, product, flags=("contract",))
    following = builder.add(at, ir.Constant(_I64, STEP))
    at.add_incoming(following, loop)
    sum_before.add_incoming(total, loop)
    builder.cbranch(builder.icmp_signed("<", following, n), loop, done)
    builder.position_at_end(done)
    builder.ret(_sum(builder, total, exact))
    return function


def _sum(builder: ir.IRBuilder, vector: ir.Value, exact: bool) -> ir.Value:
    """The sum of a vector's numbers, halves added to halves."""
    width = STEP
    undefined = ir.Constant(vector.type, ir.Undefined)
    while width > 1:
        width //= 2
        places = [ir.Constant(_I32, (i + width) % STEP) for i in range(STEP)]
        moved = builder.shuffle_vector(vector, undefined, ir.Constant(_I32S, places))
        vector = builder.add(vector, moved) if exact else builder.fadd(vector, moved)
    return builder.extract_element(vector, ir.Constant(_I32, 0))


@intrinsic
def dot(typingctx: Any, values: Any, at: Any, query: Any) -> Any:
    """Σ_j values[at + j] · query[j] over the whole query, whose length is a whole number of steps above 0.

    Of float32 (or float16, as uint16) with float32: in float32. Of int8 with int16: in int32, exactly.
    """
    result = types.int32 if values.dtype == types.int8 else types.float32
    signature = result(values, types.int64, query)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        stored = context.make_array(sig.args[0])(context, builder, value=args[0]).data
        asked = context.make_array(sig.args[2])(context, builder, value=args[2])
        n = builder.extract_value(asked.shape, 0)
        function = _dot_function(builder.module, stored.type.pointee, asked.data.type.pointee)
        return builder.call(function, [builder.gep(stored, [args[1]]), asked.data, n])

    return signature, codegen
