"""Vector instructions that Numba does not find by itself: unpacking of vertically packed blocks.

A full block holds 128 values of `bits` bits in 32 rows of 4 lanes (see `index.kernels`). For each width from 1 to 32
the row loop is unrolled here as LLVM vectors of four 32-bit lanes, which every processor Numba supports has. Both
functions are checked against the plain loop `index.kernels.unpack_short` and NumPy in the tests.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_I32 = ir.IntType(32)
_VEC = ir.VectorType(_I32, 4)
_ROWS = 32


def _splat(values: list[int]) -> ir.Constant:
    return ir.Constant(_VEC, [ir.Constant(_I32, value) for value in values])


def _broadcast(builder: ir.IRBuilder, scalar: ir.Value) -> ir.Value:
    first = builder.insert_element(ir.Constant(_VEC, ir.Undefined), scalar, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, ir.Constant(_VEC, ir.Undefined), _splat([0, 0, 0, 0]))


def _row(builder: ir.IRBuilder, words: ir.Value, width: int, row: int) -> ir.Value:
    """The four values of one row: shift down, join with the next word where a value straddles, mask."""

    def load(index: int) -> ir.Value:
        pointer = builder.gep(words, [ir.Constant(_I32, index * 4)])
        return builder.load(builder.bitcast(pointer, _VEC.as_pointer()), align=4)

    word, shift = divmod(row * width, 32)
    value = load(word)
    if shift:
        value = builder.lshr(value, _splat([shift] * 4))
    if shift + width > 32:
        value = builder.or_(value, builder.shl(load(word + 1), _splat([32 - shift] * 4)))
    if shift + width != 32:
        value = builder.and_(value, _splat([(1 << width) - 1] * 4))
    return value


def _prefix_sum(builder: ir.IRBuilder, gaps: ir.Value, carry: ir.Value) -> ir.Value:
    """Documents from gaps: carry + (g0+1, g0+g1+2, ...), by two shifted additions."""
    zero = ir.Constant(_VEC, [ir.Constant(_I32, 0)] * 4)
    by_one = builder.shuffle_vector(zero, gaps, _splat([0, 4, 5, 6]))
    summed = builder.add(gaps, by_one)
    by_two = builder.shuffle_vector(zero, summed, _splat([0, 1, 4, 5]))
    summed = builder.add(summed, by_two)
    return builder.add(builder.add(summed, _splat([1, 2, 3, 4])), carry)


def _unpack_function(module: ir.Module, delta: bool) -> ir.Function:
    """void f(i32* words, i32* out, i32 bits, i32 previous), made once a module."""
    name = "germane_unpack_documents" if delta else "germane_unpack_values"
    if name in module.globals:
        return module.globals[name]
    pointer = _I32.as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer, _I32, _I32]), name)
    function.linkage = "internal"
    words, out, bits, previous = function.args
    for argument in (words, out):
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    done = function.append_basic_block("done")
    switch = builder.switch(bits, done)
    for width in range(33):
        block = function.append_basic_block(f"bits{width}")
        switch.add_case(ir.Constant(_I32, width), block)
        builder.position_at_end(block)
        carry = _broadcast(builder, previous)
        for row in range(_ROWS):
            value = _row(builder, words, width, row) if width else _splat([0, 0, 0, 0])
            if delta:
                value = _prefix_sum(builder, value, carry)
                carry = builder.shuffle_vector(value, ir.Constant(_VEC, ir.Undefined), _splat([3, 3, 3, 3]))
            target = builder.gep(out, [ir.Constant(_I32, row * 4)])
            builder.store(value, builder.bitcast(target, _VEC.as_pointer()), align=4)
        builder.branch(done)
    builder.position_at_end(done)
    builder.ret_void()
    return function


def _element_pointer(
    context: Any, builder: ir.IRBuilder, array_type: Any, array: ir.Value, index: ir.Value
) -> ir.Value:
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [index]), _I32.as_pointer())


def _make(delta: bool) -> Callable[..., Any]:
    def typing(typingctx: Any, words: Any, at: Any, bits: Any, out: Any, base: Any, previous: Any) -> Any:
        signature = types.void(words, types.int64, types.int64, out, types.int64, types.int64)

        def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
            words_v, at_v, bits_v, out_v, base_v, previous_v = args
            source = _element_pointer(context, builder, sig.args[0], words_v, at_v)
            target = _element_pointer(context, builder, sig.args[3], out_v, base_v)
            function = _unpack_function(builder.module, delta)
            builder.call(function, [source, target, builder.trunc(bits_v, _I32), builder.trunc(previous_v, _I32)])
            return context.get_dummy_value()

        return signature, codegen

    return typing


unpack_documents = intrinsic(_make(delta=True))
"""unpack_documents(words, at, bits, out, base, previous): gaps -> documents in out[base:base+128] (uint32)."""

unpack_values = intrinsic(_make(delta=False))
"""unpack_values(words, at, bits, out, base, 0): values in out[base:base+128] (uint32)."""
