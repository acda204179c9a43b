# mypy: ignore-errors
"""Processor instructions that Numba lacks: read eight bytes as one number, fetch from memory ahead of use."""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_I32, _I64, _POINTER = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()


def _address(context, builder, signature, args):
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def eight(typing_context, data, at):
    """The bytes `data[at:at + 8]`, which must exist, as one number, the first byte lowest."""

    def generate(context, builder, signature, args):
        pointer = builder.bitcast(_address(context, builder, signature, args), _I64.as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(data, types.int64), generate


@intrinsic
def fetch(typing_context, data, at):
    """Have `data[at]` brought near, since it is needed soon; nothing else happens, whatever `at` is."""

    def generate(context, builder, signature, args):
        pointer = builder.bitcast(_address(context, builder, signature, args), _POINTER)
        kind = ir.FunctionType(ir.VoidType(), [_POINTER, _I32, _I32, _I32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (_POINTER,), kind)
        builder.call(prefetch, [pointer, _I32(1), _I32(3), _I32(1)])  # to be written, to the nearest cache, data
        return context.get_dummy_value()

    return types.none(data, types.int64), generate
