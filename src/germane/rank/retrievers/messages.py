"""Requests and answers as bytes: one format for what a retriever is asked and what it answers.

    "GMSG" | version: 2 bytes | 2 bytes of zeros | length of the text: 8 bytes | the text, JSON | zeros | arrays

The text holds plain values; what JSON has no form for is an object with one key, which says what it is:

| key | value |
|---|---|
| `t`, `s` | a tuple; a set |
| `m`, `d` | a mapping with texts as keys; with other keys: pairs |
| `a` | an array: its type, its shape, and where its numbers begin behind the text |
| `b` | bytes: where they begin, and how many |
| `f`, `i` | a float that is not finite, its 8 bytes in hexadecimal digits; a whole number of more than 63 bits |
| `u` | a text that is not Unicode: its bytes in hexadecimal digits |
| `date` | a date, or a time |
| `o` | the name of a class in `CLASSES`, and its fields in their order |

Numbers survive to the last bit. Arrays are little-endian, begin at multiples of 8 and are read into memory of their
own. Nothing is looked up by name but these classes, whose constructors check what they are given.
"""

import datetime
import math
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import orjson

from germane.errors import GermaneError, InputError, ParameterError
from germane.index.snapshot import Readings, TermStats
from germane.index.vector_fields import VectorField
from germane.lm.smoothing import AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage
from germane.rank import retriever
from germane.rank.models.bayesian_likelihoods import BigramLikelihood, DirichletMultinomial, SmoothedDirichletIntegral
from germane.rank.models.bm25 import BM25, AdaptiveBM25
from germane.rank.models.comparison import DCrossEntropy, LikelihoodRatio
from germane.rank.models.dependence import SequentialDependence
from germane.rank.models.fields import BM25F, FieldMixture
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.models.tfidf import TfIdf
from germane.rank.query.conditions import And, HoldsAny, Not, Or, Phrase
from germane.rank.query.expansion import Expanded
from germane.rank.query.filters import FieldFilter, HasValue, StartsWith
from germane.rank.scoring.explain import Explanation, TermPart, WordProbability
from germane.rank.scoring.facets import Facet, FacetValue, NumberCounts, WordCounts
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior
from germane.rank.scoring.statistics import CollectionStatistics, Need, Pair, PairStats, Vocabulary
from germane.rank.snippets import Snippet
from germane.rank.spellings import PairSample
from germane.text import Analyzer
from germane.types import Document

VERSION = 1
MOST_BYTES = 1 << 31
"""A longer message is refused, by who writes it and by who reads it."""
_HEAD = struct.Struct("<4sHHQ")
_MAGIC = b"GMSG"
_ALIGNED = 8
_SMALL = 1 << 62
_TEXT, _FLOAT = {str}, {float}
_TYPES = {
    code: (np.dtype(code), np.dtype(code).newbyteorder("="))
    for code in ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
}
"""The numbers that arrays may hold, as they are written and as they are read."""


class _Form(NamedTuple):
    """How a class is written: its fields as a sequence, and the value of these."""

    parts: Callable[[Any], Iterable[Any]]
    made: Callable[[Sequence[Any]], Any]


def encode(value: object, most: int = MOST_BYTES) -> bytes:
    """Write a value; `ParameterError` names what no message holds."""
    writer = _Writer()
    try:
        text = orjson.dumps(writer.plain(value))
    except (orjson.JSONEncodeError, RecursionError) as problem:
        raise ParameterError(f"this cannot be written as a message: {problem}") from None
    begin = _HEAD.size + len(text)
    size = begin + -begin % _ALIGNED + writer.size
    if size > most:
        raise ParameterError(f"a message of {size:,} bytes, where {most:,} are allowed: ask for less at once")
    return b"".join([_HEAD.pack(_MAGIC, VERSION, 0, len(text)), text, bytes(-begin % _ALIGNED), *writer.buffers])


def decode(message: bytes, most: int = MOST_BYTES) -> Any:
    """Read a value; `InputError` says why a message cannot be read."""
    if len(message) > most:
        raise InputError(f"a message of {len(message):,} bytes, where {most:,} are allowed")
    if len(message) < _HEAD.size:
        raise InputError("a message that is cut short")
    magic, version, _, length = _HEAD.unpack_from(message)
    if magic != _MAGIC:
        raise InputError("this is not a message of Germane")
    if version != VERSION:
        raise InputError(f"a message of version {version}, where {VERSION} is read: use one release everywhere")
    begin = _HEAD.size + length
    if begin > len(message):
        raise InputError("a message that is cut short")
    try:
        return _Reader(message, begin + -begin % _ALIGNED).value(orjson.loads(memoryview(message)[_HEAD.size : begin]))
    except InputError:
        raise
    except (GermaneError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise InputError(f"a message that cannot be read: {problem}") from None


class _Writer:
    """Turns values into what JSON can hold, and collects the arrays."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []
        self.size = 0

    def plain(self, value: Any) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value if kind is not str or value.isascii() else _text(value)
        if kind is int:
            return value if -_SMALL < value < _SMALL else {"i": str(value)}
        if kind is float:
            return value if math.isfinite(value) else {"f": struct.pack(">d", value).hex()}
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value)
        form = CLASSES.get(kind.__name__)
        if form is not None and form[0] is kind:
            return {"o": [kind.__name__, [self.plain(part) for part in form[1].parts(value)]]}
        return self._other(value)

    def _other(self, value: Any) -> Any:
        """Subclasses of what is known, by what they are."""
        if isinstance(value, np.generic):
            return self.plain(value.item())
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return self.plain(kind(value))
        if isinstance(value, np.ndarray):
            return self.array(np.asarray(value))
        if isinstance(value, Mapping):
            return self.mapping(value)
        if isinstance(value, Sequence) and not isinstance(value, tuple):
            return self.items(list(value))
        raise ParameterError(
            f"a message cannot hold {value!r:.80} ({type(value).__name__}): see rank.retrievers.messages.CLASSES"
        )

    def items(self, values: Collection[Any]) -> list[Any]:
        kinds = set(map(type, values))
        if kinds == _TEXT and all(map(str.isascii, values)):
            return list(values)
        if kinds == _FLOAT and all(map(math.isfinite, values)):
            return list(values)
        return [self.plain(value) for value in values]

    def mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        if set(map(type, value)) <= _TEXT and all(map(str.isascii, value)):
            return {"m": dict(zip(value, self.items(value.values()), strict=True))}
        return {"d": [[self.plain(key), self.plain(own)] for key, own in value.items()]}

    def array(self, value: Any) -> dict[str, Any]:
        code = value.dtype.newbyteorder("<").str
        if code not in _TYPES:
            raise ParameterError(f"a message cannot hold an array of {value.dtype}")
        return {"a": [code, list(value.shape), self._buffer(value.astype(_TYPES[code][0], copy=False).tobytes())]}

    def raw(self, value: bytes) -> dict[str, Any]:
        return {"b": [self._buffer(value), len(value)]}

    def _buffer(self, content: bytes) -> int:
        begin, rest = self.size, -len(content) % _ALIGNED
        self.buffers += [content, bytes(rest)]
        self.size += len(content) + rest
        return begin


def _text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"u": value.encode("utf-8", "surrogatepass").hex()}
    return value


_WRITERS: dict[type, Callable[[_Writer, Any], Any]] = {
    list: _Writer.items,
    tuple: lambda writer, value: {"t": writer.items(value)},
    set: lambda writer, value: {"s": writer.items(sorted(value))},
    frozenset: lambda writer, value: {"s": writer.items(sorted(value))},
    dict: _Writer.mapping,
    np.ndarray: _Writer.array,
    bytes: _Writer.raw,
    datetime.date: lambda writer, value: {"date": value.isoformat()},
    datetime.datetime: lambda writer, value: {"date": value.isoformat()},
}


class _Reader:
    """Turns what `_Writer` made back into values."""

    def __init__(self, message: bytes, begin: int) -> None:
        self._message, self._begin = message, begin

    def value(self, plain: Any) -> Any:
        if type(plain) is list:
            return self.items(plain)
        if type(plain) is not dict:
            return plain
        [(key, content)] = plain.items()
        return _READERS[key](self, content)

    def items(self, plain: list[Any]) -> list[Any]:
        kinds = set(map(type, plain))
        return plain if dict not in kinds and list not in kinds else [self.value(own) for own in plain]

    def mapping(self, content: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(content, self.items([*content.values()]), strict=True))

    def pairs(self, content: list[Any]) -> dict[Any, Any]:
        return {self.value(key): self.value(own) for key, own in content}

    def array(self, content: list[Any]) -> Any:
        code, shape, at = content
        stored, native = _TYPES[code]
        n = math.prod(shape)
        if type(n) is not int or type(at) is not int or at < 0 or min(shape, default=0) < 0:
            raise InputError(f"a message with an impossible array: {content!r:.80}")
        if len(self._message) - self._begin - at < n * stored.itemsize:
            raise InputError("a message that is cut short")
        read = np.frombuffer(self._message, stored, n, self._begin + at) if n else np.empty(0, stored)
        return read.astype(native) if len(shape) == 1 else read.astype(native).reshape(shape)

    def raw(self, content: list[Any]) -> bytes:
        at, n = content
        if min(at, n) < 0 or self._begin + at + n > len(self._message):
            raise InputError("a message that is cut short")
        return self._message[self._begin + at : self._begin + at + n]

    def instance(self, content: list[Any]) -> Any:
        name, parts = content
        if name not in CLASSES:
            raise InputError(f"a message with an unknown '{name}'")
        return CLASSES[name][1].made(self.items(parts))


def _moment(content: str) -> datetime.date:
    made = datetime.datetime.fromisoformat(content)
    return made if "T" in content else made.date()


_READERS: dict[str, Callable[[_Reader, Any], Any]] = {
    "t": lambda reader, content: tuple(reader.items(content)),
    "s": lambda reader, content: frozenset(reader.items(content)),
    "m": _Reader.mapping,
    "d": _Reader.pairs,
    "a": _Reader.array,
    "b": _Reader.raw,
    "f": lambda reader, content: struct.unpack(">d", bytes.fromhex(content))[0],
    "i": lambda reader, content: int(content),
    "u": lambda reader, content: bytes.fromhex(content).decode("utf-8", "surrogatepass"),
    "date": lambda reader, content: _moment(content),
    "o": _Reader.instance,
}


# -- classes -----------------------------------------------------------------------------------------------------------


def allow(*classes: type) -> None:
    """Let messages hold values of frozen dataclasses or named tuples, each under its own name: models of your own."""
    for kind in classes:
        known = CLASSES.get(kind.__name__)
        if known is not None and known[0] is not kind:
            raise ParameterError(f"messages hold another class named {kind.__name__}")
        CLASSES[kind.__name__] = kind, _form_of(kind)


def _form_of(kind: type) -> _Form:
    if issubclass(kind, tuple):
        return _Form(tuple, kind._make)  # type: ignore[attr-defined]
    if not is_dataclass(kind):
        raise ParameterError(f"{kind.__name__} is neither a dataclass nor a named tuple")
    names = [item.name for item in fields(kind) if item.init]
    if len(names) == 1:
        return _Form(lambda value: [getattr(value, names[0])], lambda parts: kind(*parts))
    return _Form(attrgetter(*names) if names else lambda value: (), lambda parts: kind(*parts))


def _columns_of(statistics: CollectionStatistics) -> list[Any]:
    """The terms of statistics as three lists, which takes a tenth of the time and room."""
    n_docs, n_tokens, terms, *others = _FIELDS_OF_STATISTICS(statistics)
    return [n_docs, n_tokens, [*terms], *map(list, zip(*terms.values(), strict=True) if terms else ((), ())), *others]


def _of_columns(parts: Sequence[Any]) -> CollectionStatistics:
    n_docs, n_tokens, terms, df, cf, *others = parts
    stats = map(TermStats, df, cf)
    return CollectionStatistics(n_docs, n_tokens, dict(zip(terms, stats, strict=True)), *others)


_FIELDS_OF_STATISTICS = attrgetter(*(item.name for item in fields(CollectionStatistics)))

CLASSES: dict[str, tuple[type, _Form]] = {
    "Analyzer": (
        Analyzer,
        _Form(lambda analyzer: [analyzer.to_dict()], lambda parts: Analyzer.from_dict(*parts)),
    ),
    "CollectionStatistics": (CollectionStatistics, _Form(_columns_of, _of_columns)),
}
"""The classes whose values messages hold, by their names."""
allow(And, HoldsAny, Not, Or, Phrase, FieldFilter, HasValue, StartsWith)
allow(AdaptiveBM25, BM25, DCrossEntropy, LikelihoodRatio, QueryLikelihood, TfIdf)
allow(BM25F, FieldMixture, SequentialDependence)
allow(BigramLikelihood, DirichletMultinomial, SmoothedDirichletIntegral)
allow(AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage)
allow(FieldPrior, FreshnessPrior, LengthPrior)
allow(Need, Pair, PairStats, TermStats, Vocabulary)
allow(Expanded, Explanation, Facet, FacetValue, NumberCounts, PairSample, Readings, Snippet, TermPart, WordCounts)
allow(Document, VectorField, WordProbability)
allow(retriever.Counts, retriever.FieldVectors, retriever.FoldedRequest, retriever.Hits, retriever.Inspection)
allow(retriever.Match, retriever.NearestRequest, retriever.Schema, retriever.Scoring, retriever.SignedTopic)
allow(retriever.SortRequest, retriever.TermCounts, retriever.TopRequest)
