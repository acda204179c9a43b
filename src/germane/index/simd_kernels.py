# mypy: ignore-errors
"""Instructions that Numba does not find by itself: unpacking of vertically packed blocks, and prefetching.

A full block holds 128 values of `bits` bits in 32 rows of 4 lanes (see `index.block_kernels`). One loop serves all
widths: it shifts and masks two rows, eight values, at a time. (A loop unrolled for each width is faster and
takes many times as long to compile, once for every kernel that unpacks.) Both are checked against the plain
loop `unpack_short` and NumPy in the tests.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_I32 = ir.IntType(32)
_ROW, _ROWS = ir.VectorType(_I32, 4), ir.VectorType(_I32, 8)
_UNDEFINED = ir.Constant(_ROWS, ir.Undefined)
_BLOCK = 128


def _number(value: int) -> ir.Constant:
    return ir.Constant(_I32, value)


def _vector(values: Sequence[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(_I32, len(values)), [_number(value) for value in values])


def _broadcast(builder: ir.IRBuilder, scalar: ir.Value) -> ir.Value:
    first = builder.insert_element(_UNDEFINED, scalar, _number(0))
    return builder.shuffle_vector(first, _UNDEFINED, _vector([0] * 8))


def _two_rows(builder: ir.IRBuilder, words: ir.Value, bit: ir.Value, bits: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The words in which the values of two rows begin, the first at `bit`, and the words behind these."""

    def load(row: ir.Value, further: int) -> ir.Value:
        place = builder.gep(words, [builder.add(builder.shl(row, _number(2)), _number(4 * further))])
        return builder.load(builder.bitcast(place, _ROW.as_pointer()), align=4)

    rows = [builder.lshr(place, _number(5)) for place in (bit, builder.add(bit, bits))]
    low, high = (builder.shuffle_vector(*(load(row, further) for row in rows), _vector(range(8))) for further in (0, 1))
    return low, high


def _prefix_sum(builder: ir.IRBuilder, gaps: ir.Value) -> ir.Value:
    """(g0 + 1, g0 + g1 + 2, ...), by three shifted additions."""
    zero = _vector([0] * 8)
    for shift in ([8, 0, 1, 2, 8, 4, 5, 6], [8, 8, 0, 1, 8, 8, 4, 5], [8, 8, 8, 8, 3, 3, 3, 3]):
        gaps = builder.add(gaps, builder.shuffle_vector(gaps, zero, _vector(shift)))
    return builder.add(gaps, _vector(range(1, 9)))


def _unpack_function(module: ir.Module, delta: bool) -> ir.Function:
    """void f(i32* words, i32* out, i32 bits, i32 previous), made once a module."""
    name = "germane_unpack_documents" if delta else "germane_unpack_values"
    if name in module.globals:
        return module.globals[name]
    pointer = _I32.as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer, _I32, _I32]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    words, out, bits, previous = function.args
    for argument in (words, out):
        argument.add_attribute("noalias")
    entry, loop, done = (function.append_basic_block(label) for label in ("entry", "loop", "done"))
    builder = ir.IRBuilder(entry)
    nothing = builder.icmp_unsigned("==", bits, _number(0))
    limit = builder.select(nothing, _number(1), builder.shl(_number(2), builder.sub(bits, _number(1))))
    mask, width = _broadcast(builder, builder.sub(limit, _number(1))), _broadcast(builder, bits)
    first, start = builder.mul(width, _vector([0] * 4 + [1] * 4)), _broadcast(builder, previous)
    builder.branch(loop)
    builder.position_at_end(loop)
    at, bit, places, carry = (builder.phi(kind) for kind in (_I32, _I32, _ROWS, _ROWS))
    for phi, value in ((at, _number(0)), (bit, _number(0)), (places, first), (carry, start)):
        phi.add_incoming(value, entry)
    low, high = _two_rows(builder, words, bit, bits)
    shift = builder.and_(places, _vector([31] * 8))
    # what straddles two words: shifted up by 1 and then by 31 - shift, for a shift by 32 is undefined
    upper = builder.shl(builder.shl(high, _vector([1] * 8)), builder.xor(shift, _vector([31] * 8)))
    value = builder.and_(builder.or_(builder.lshr(low, shift), upper), mask)
    following = carry
    if delta:
        summed = _prefix_sum(builder, value)
        value = builder.add(summed, carry)
        following = builder.add(carry, builder.shuffle_vector(summed, _UNDEFINED, _vector([7] * 8)))
    builder.store(value, builder.bitcast(builder.gep(out, [at]), _ROWS.as_pointer()), align=4)
    next_at = builder.add(at, _number(8))
    at.add_incoming(next_at, loop)
    bit.add_incoming(builder.add(bit, builder.add(bits, bits)), loop)
    places.add_incoming(builder.add(places, builder.add(width, width)), loop)
    carry.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("<", next_at, _number(_BLOCK)), loop, done)
    builder.position_at_end(done)
    builder.ret_void()
    return function


def _make(delta: bool) -> Callable[..., Any]:
    def typing(typingctx: Any, words: Any, at: Any, bits: Any, out: Any, base: Any, previous: Any) -> Any:
        signature = types.void(words, types.int64, types.int64, out, types.int64, types.int64)

        def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
            def element(i: int, index: ir.Value) -> ir.Value:
                data = context.make_array(sig.args[i])(context, builder, value=args[i]).data
                return builder.bitcast(builder.gep(data, [index]), _I32.as_pointer())

            _, at_v, bits_v, _, base_v, previous_v = args
            numbers = builder.trunc(bits_v, _I32), builder.trunc(previous_v, _I32)
            function = _unpack_function(builder.module, delta)
            builder.call(function, [element(0, at_v), element(3, base_v), *numbers])
            return context.get_dummy_value()

        return signature, codegen

    return typing


unpack_documents = intrinsic(_make(delta=True))
"""unpack_documents(words, at, bits, out, base, previous): gaps -> documents in out[base:base+128] (uint32)."""

unpack_values = intrinsic(_make(delta=False))
"""unpack_values(words, at, bits, out, base, 0): values in out[base:base+128] (uint32)."""


@intrinsic
def copy_eight(typingctx: Any, source: Any, begin: Any, target: Any, at: Any) -> Any:
    """target[at : at + 8] = source[begin : begin + 8], of bytes."""
    signature = types.void(source, types.int64, target, types.int64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        def eight(i: int) -> ir.Value:
            data = context.make_array(sig.args[i])(context, builder, value=args[i]).data
            return builder.bitcast(builder.gep(data, [args[i + 1]]), ir.IntType(64).as_pointer())

        builder.store(builder.load(eight(0), align=1), eight(2), align=1)
        return context.get_dummy_value()

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
