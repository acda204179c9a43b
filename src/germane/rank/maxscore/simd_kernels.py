# mypy: ignore-errors
"""Instructions that Numba has no words for."""

from collections.abc import Sequence
from platform import machine
from typing import Any, NamedTuple

from llvmlite import binding, ir
from numba.core import cgutils, config, types
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


_OCTET = ir.IntType(8)
_BEFORE_SSSE3 = frozenset({"generic", "x86-64", "athlon64", "k8", "k8-sse3", "opteron", "nocona", "amdfam10"})
TABLE_SIZE = 16
"""Bytes of a table that a processor looks bytes up in at once."""


class Permutation(NamedTuple):
    """An instruction that looks so many bytes up in a table of TABLE_SIZE at once; without a name code does without."""

    name: str
    bytes: int


def _permutation() -> Permutation:
    """That of the processor that is compiled for."""
    if machine().lower() in ("aarch64", "arm64"):
        return Permutation("llvm.aarch64.neon.tbl1.v16i8", 16)
    known, refused = binding.get_host_cpu_features(), config.CPU_FEATURES or ""
    if machine().lower() in ("x86_64", "amd64"):
        chosen = config.CPU_NAME
        if chosen is None and known.get("avx2", False) and "-avx2" not in refused:
            return Permutation("llvm.x86.avx2.pshuf.b", 32)
        has_it = known.get("ssse3", False) if chosen is None else chosen not in _BEFORE_SSSE3
        if has_it and "-ssse3" not in refused:
            return Permutation("llvm.x86.ssse3.pshuf.b.128", 16)
    return Permutation("", 16)


_PERMUTATION = _permutation()


def _vector(n: int, bits: int = 8) -> ir.VectorType:
    return ir.VectorType(ir.IntType(bits), n)


def _chosen(builder: ir.IRBuilder, vector: ir.Value, lanes: Sequence[int]) -> ir.Value:
    """Some lanes of a vector, as a vector."""
    return builder.shuffle_vector(vector, vector, ir.Constant(_vector(len(lanes), 32), list(lanes)))


def _look_up(builder: ir.IRBuilder, table: ir.Value, places: ir.Value) -> ir.Value:
    """table[places], as many bytes as the instruction takes."""
    name, n = _PERMUTATION
    if name:
        permute = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_vector(n), [_vector(n)] * 2), name)
        whole = builder.load(builder.bitcast(table, _vector(TABLE_SIZE).as_pointer()), align=1)
        return builder.call(permute, [_chosen(builder, whole, [i % TABLE_SIZE for i in range(n)]), places])
    found = ir.Constant(_vector(n), ir.Undefined)
    for lane in (ir.Constant(_I32, i) for i in range(n)):
        place = builder.zext(builder.extract_element(places, lane), _I64)
        found = builder.insert_element(found, builder.load(builder.gep(table, [place])), lane)
    return found


def _add_classes_function(module: ir.Module, n_lists: int) -> ir.Function:
    """void f(i16* acc, i64 n, and of each list: i8* classes, i8* table, i8 factor), once a module; acc is apart."""
    name = f"germane_add_classes_{n_lists}"
    if name in module.globals:
        return module.globals[name]
    at_once, row = _PERMUTATION.bytes, _vector(16, 16)
    of_lists = [_OCTET.as_pointer(), _OCTET.as_pointer(), _OCTET] * n_lists
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(16).as_pointer(), _I64, *of_lists]), name)
    function.linkage = "internal"
    acc, n, *lists = function.args
    acc.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    low, four = (ir.Constant(_vector(at_once), [ir.Constant(_OCTET, x)] * at_once) for x in (15, 4))
    factors = []
    for factor in lists[2::3]:
        first = builder.insert_element(ir.Constant(_vector(16), ir.Undefined), factor, ir.Constant(_I32, 0))
        factors.append(builder.zext(_chosen(builder, first, [0] * 16), row))
    step = ir.Constant(_I64, 2 * at_once)
    with cgutils.for_range_slice(builder, ir.Constant(_I64, 0), n, step, _I64) as (i, _):
        rows = range(0, 2 * at_once, 16)
        places = [builder.gep(acc, [builder.add(i, ir.Constant(_I64, at))]) for at in rows]
        places = [builder.bitcast(place, row.as_pointer()) for place in places]
        sums = [builder.load(place, align=2) for place in places]
        for classes, table, factor in zip(lists[::3], lists[1::3], factors, strict=True):
            held = builder.gep(classes, [builder.lshr(i, ir.Constant(_I64, 1))])
            held = builder.load(builder.bitcast(held, _vector(at_once).as_pointer()), align=1)
            halves = builder.and_(held, low), builder.lshr(held, four)
            units = [_look_up(builder, table, own) for own in halves]
            for at in range(len(rows)):  # sixteen bytes hold the lower halves of a row, and the upper ones of the next
                own = _chosen(builder, units[at % 2], range(at // 2 * 16, at // 2 * 16 + 16))
                sums[at] = builder.add(sums[at], builder.mul(builder.zext(own, row), factor))
        for place, total in zip(places, sums, strict=True):
            builder.store(total, place, align=2)
    builder.ret_void()
    return function


@intrinsic
def add_classes(typingctx: Any, acc: Any, n: Any, begin: Any, lists: Any) -> Any:
    """acc[i] += factor * table[c] for i < n, a multiple of 64, and for each list: its classes, table and factor.

    c is four bits of classes[begin + 16 * (i // 32) + i % 16], the lower ones where i % 32 < 16.
    """
    signature = types.void(acc, types.int64, types.int64, lists)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        def element(kind: Any, array: ir.Value, index: ir.Value) -> ir.Value:
            return builder.gep(context.make_array(kind)(context, builder, value=array).data, [index])

        zero = ir.Constant(_I64, 0)
        arguments = [element(sig.args[0], args[0], zero), args[1]]
        for kinds, own in zip(sig.args[3], cgutils.unpack_tuple(builder, args[3]), strict=True):
            classes, table, factor = cgutils.unpack_tuple(builder, own)
            arguments += [element(kinds[0], classes, args[2]), element(kinds[1], table, zero), factor]
        builder.call(_add_classes_function(builder.module, len(sig.args[3])), arguments)
        return context.get_dummy_value()

    return signature, codegen
