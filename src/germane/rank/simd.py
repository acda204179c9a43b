"""Instructions that Numba has no words for."""

from platform import machine
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from germane.rank.records import LANES

_DOUBLE, _I32, _I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)


@intrinsic
def reach_mask(typingctx: Any, values: Any, begin: Any, limit: Any) -> Any:
    """Bit i is set where values[begin + i] >= limit, for 64 values: `np.packbits(v >= limit, bitorder="little")`.

    The values are doubles or unsigned integers, the limit as well.
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
        compare = builder.fcmp_ordered if isinstance(sig.args[2], types.Float) else builder.icmp_unsigned
        return builder.bitcast(compare(">=", vector, bounds), _I64)

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


def _add_table_function(module: ir.Module) -> ir.Function:
    """void f(double* acc, i32* docs, i32* extras, i64 n, double* table), once a module; no two arrays overlap."""
    name = "germane_add_table"
    if name in module.globals:
        return module.globals[name]
    values, integers = _DOUBLE.as_pointer(), _I32.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [values, integers, integers, _I64, values])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    acc, docs, extras, n, table = function.args
    for argument in (acc, docs, extras, table):
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    with cgutils.for_range(builder, n) as loop:
        doc = builder.zext(builder.load(builder.gep(docs, [loop.index])), _I64)
        extra = builder.zext(builder.load(builder.gep(extras, [loop.index])), _I64)
        place = builder.gep(acc, [doc])
        builder.store(builder.fadd(builder.load(place), builder.load(builder.gep(table, [extra]))), place)
    builder.ret_void()
    return function


@intrinsic
def add_table(typingctx: Any, acc: Any, base: Any, docs: Any, extras: Any, begin: Any, end: Any, table: Any) -> Any:
    """acc[docs[i] - base] += table[extras[i]] for begin <= i < end (docs, extras: uint32), which Numba's own loop does
    more slowly, for its arrays might overlap."""
    signature = types.void(acc, types.int64, docs, extras, types.int64, types.int64, table)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        def element(i: int, index: ir.Value) -> ir.Value:
            return builder.gep(context.make_array(sig.args[i])(context, builder, value=args[i]).data, [index])

        _, base_v, _, _, begin_v, end_v, _ = args
        count = builder.sub(end_v, begin_v)
        pointers = element(0, builder.neg(base_v)), element(2, begin_v), element(3, begin_v)
        table_v = element(6, ir.Constant(_I64, 0))
        builder.call(_add_table_function(builder.module), [*pointers, count, table_v])
        return context.get_dummy_value()

    return signature, codegen


_I16, _SIXTEEN = ir.IntType(16), ir.VectorType(ir.IntType(8), 16)
_BEFORE_SSSE3 = frozenset({"generic", "x86-64", "athlon64", "k8", "k8-sse3", "opteron", "nocona", "amdfam10"})


def _permutation() -> str | None:
    """The instruction that looks 16 bytes up in a table of 16 at once; None where code must do without."""
    if machine().lower() in ("aarch64", "arm64"):
        return "llvm.aarch64.neon.tbl1.v16i8"
    chosen = config.CPU_NAME
    has_it = binding.get_host_cpu_features().get("ssse3", False) if chosen is None else chosen not in _BEFORE_SSSE3
    has_it &= machine().lower() in ("x86_64", "amd64") and "-ssse3" not in (config.CPU_FEATURES or "")
    return "llvm.x86.ssse3.pshuf.b.128" if has_it else None


_PERMUTATION = _permutation()


def _look_up(builder: ir.IRBuilder, table: ir.Value, places: ir.Value) -> ir.Value:
    """table[places], of 16 bytes each."""
    if _PERMUTATION is not None:
        kind = ir.FunctionType(_SIXTEEN, [_SIXTEEN, _SIXTEEN])
        permute = cgutils.get_or_insert_function(builder.module, kind, _PERMUTATION)
        whole = builder.load(builder.bitcast(table, _SIXTEEN.as_pointer()), align=1)
        return builder.call(permute, [whole, places])
    found = ir.Constant(_SIXTEEN, ir.Undefined)
    for lane in (ir.Constant(_I32, i) for i in range(16)):
        place = builder.zext(builder.extract_element(places, lane), _I64)
        found = builder.insert_element(found, builder.load(builder.gep(table, [place])), lane)
    return found


def _add_classes_function(module: ir.Module) -> ir.Function:
    """void f(i16* acc, i8* classes, i64 n, i8* low, i8* high), once a module; no two arrays overlap."""
    name = "germane_add_classes"
    if name in module.globals:
        return module.globals[name]
    octets, row = ir.IntType(8).as_pointer(), ir.VectorType(_I16, 16)
    kind = ir.FunctionType(ir.VoidType(), [_I16.as_pointer(), octets, _I64, octets, octets])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    acc, classes, n, low, high = function.args
    for argument in (acc, classes, low, high):
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    in_turn = ir.Constant(ir.VectorType(_I32, 32), [ir.Constant(_I32, i) for j in range(16) for i in (j, j + 16)])
    with cgutils.for_range_slice(builder, ir.Constant(_I64, 0), n, ir.Constant(_I64, 16), _I64) as (i, _):
        held = builder.load(builder.bitcast(builder.gep(classes, [i]), _SIXTEEN.as_pointer()), align=1)
        halves = [_look_up(builder, table, held) for table in (low, high)]
        units = builder.bitcast(builder.shuffle_vector(*halves, in_turn), row)
        place = builder.bitcast(builder.gep(acc, [i]), row.as_pointer())
        builder.store(builder.add(builder.load(place, align=2), units), place, align=2)
    builder.ret_void()
    return function


@intrinsic
def add_classes(typingctx: Any, acc: Any, at: Any, classes: Any, begin: Any, n: Any, low: Any, high: Any) -> Any:
    """acc[at + i] += low[c] + 256 * high[c], c = classes[begin + i] < 16, for i < n, a multiple of 16."""
    signature = types.void(acc, types.int64, classes, types.int64, types.int64, low, high)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        acc_v, classes_v, low_v, high_v = (
            context.make_array(sig.args[i])(context, builder, value=args[i]).data for i in (0, 2, 5, 6)
        )
        arguments = [builder.gep(acc_v, [args[1]]), builder.gep(classes_v, [args[3]]), args[4], low_v, high_v]
        builder.call(_add_classes_function(builder.module), arguments)
        return context.get_dummy_value()

    return signature, codegen
