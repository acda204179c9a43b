"""Messages: every value comes back as it was, and what is no message is refused."""

import contextlib
import datetime
import math
import struct
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import Analyzer, Document
from germane.errors import InputError, ParameterError
from germane.lm import AbsoluteDiscounting, Dirichlet, TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, model_named
from germane.rank.models.base import TermwiseModel
from germane.rank.models.fields import BM25F
from germane.rank.query.conditions import And, HoldsAny, Not, Or, Phrase
from germane.rank.query.filters import FieldFilter, HasValue, StartsWith
from germane.rank.retriever import Hits, Match, Scoring, SignedTopic, TopRequest
from germane.rank.retrievers.messages import CLASSES, VERSION, allow, decode, encode
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior
from germane.rank.scoring.statistics import Need, Vocabulary
from germane.text.synonyms import Synonyms

TYPES = ["?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", ">f8", ">i4"]
numbers = st.one_of(st.floats(), st.integers(), st.sampled_from([2**62, -(2**62), 2**64, -(2**90), -0.0, 5e-324]))
texts = st.one_of(st.text(max_size=5), st.sampled_from(["", "é", "\ud800", "a\0b"]))
arrays = st.tuples(st.sampled_from(TYPES), st.lists(st.integers(0, 4), max_size=3), st.binary(min_size=1, max_size=9))
leaves = st.one_of(
    st.none(), st.booleans(), numbers, texts, st.binary(max_size=9), st.dates(), st.datetimes(), arrays.map(
        lambda own: np.resize(np.frombuffer(own[2] * 8, own[0]), own[1])
    )
)  # fmt: skip
fieldnames = st.sampled_from(["year", "kind", "é"])
tests_of_fields = st.one_of(
    st.builds(FieldFilter, fieldnames, texts, st.none() | texts, st.booleans()),
    st.builds(HasValue, fieldnames, st.lists(texts, max_size=3).map(tuple), st.just((True,))),
    st.builds(StartsWith, fieldnames, texts),
    st.builds(HoldsAny, st.lists(texts, max_size=3).map(tuple), st.none() | fieldnames),
    st.builds(Phrase, st.lists(texts, max_size=3).map(tuple), st.integers(0, 3)),
)
conditions = st.recursive(
    tests_of_fields,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)
values = st.recursive(
    st.one_of(leaves, conditions),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(texts, inner, max_size=4),
        st.dictionaries(st.tuples(texts, st.integers()), inner, max_size=2),
        st.frozensets(st.text(max_size=3), max_size=3),
        st.builds(SignedTopic, st.dictionaries(texts, st.floats(), max_size=3), st.floats()),
        st.builds(Hits, st.just(np.array([0.5, -math.inf, math.nan])), st.just(np.arange(3)), st.none()),
    ),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are of one type and equal, to the last bit."""
    if isinstance(one, np.ndarray):
        native = one.astype(one.dtype.newbyteorder("="))
        return other.dtype == native.dtype and other.shape == one.shape and other.tobytes() == native.tobytes()
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if is_dataclass(one) and not isinstance(one, Analyzer):
        return all(same(getattr(one, own.name), getattr(other, own.name)) for own in fields(one))
    return bool(one == other)


@given(values)
def test_any_value_comes_back(value: Any) -> None:
    assert same(value, decode(encode(value)))


MODELS = [
    *map(model_named, MODEL_NAMES),
    QueryLikelihood(TwoStage(0.3, 7.0)),
    QueryLikelihood(AbsoluteDiscounting(0.1 + 0.2)),
    BM25F({"title": 3, "text": 0.5}, field_b={"title": 0.1}),
    model_named("sdm").of_query((("a", "b"), ("c",))),
    model_named("bigram").of_query((("a", "b"),)),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_models_and_priors(model) -> None:
    today = datetime.date(2020, 2, 29)
    priors = (LengthPrior(0.3), FieldPrior("stars", -1.0), FreshnessPrior("date", 30.0, today))
    request = TopRequest(
        Scoring(SignedTopic({"a": 1.0, "b": -0.1}, 0.3), model, priors), 10, (Not(Phrase(("a", "b"))),)
    )
    assert decode(encode(request)) == request
    assert hash(decode(encode(model))) == hash(model)


def test_what_stands_for_something_plain() -> None:
    """Numbers and arrays of NumPy, analysers and documents."""
    assert same(decode(encode([np.float64(0.1), np.int32(7), np.bool_(True)])), [0.1, 7, True])
    read = decode(encode(np.arange(6.0).reshape(2, 3)[:, ::2]))
    read += 1.0  # an array of its own
    assert read.tolist() == [[1.0, 3.0], [4.0, 6.0]]
    analyzer = Analyzer("lemma", ("a", "b"), synonyms=Synonyms({"heart attack": "myocardial infarction"}))
    assert decode(encode(analyzer)) == analyzer
    document = Document("1", {"text": "é", "tags": ["a", None], "n": 1.5})
    assert decode(encode(document)) == document


def test_what_no_message_holds() -> None:
    class Own(BM25):
        """A model of somebody's own."""

    for value in (object(), len, Own(), {1j}, np.array([None]), np.array(["a"])):
        with pytest.raises(ParameterError, match="a message cannot hold"):
            encode(value)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ParameterError, match="cannot be written"):
        encode(deep)
    with pytest.raises(ParameterError, match=r"8,0\d\d bytes, where 100 are allowed"):
        encode(np.zeros(1000), most=100)


def test_models_of_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pivoted(TermwiseModel):
        """No dataclass."""

    with pytest.raises(ParameterError, match="neither a dataclass nor a named tuple"):
        allow(Pivoted)
    monkeypatch.setitem(CLASSES, "Own", CLASSES["BM25"])
    with pytest.raises(ParameterError, match="another class named Own"):
        allow(type("Own", (BM25,), {}))
    monkeypatch.delitem(CLASSES, "Own")
    own = type("Own", (BM25,), {})
    allow(own)
    assert type(decode(encode(own(1.5)))) is own


MESSAGE = encode((Need(("a", "b"), vocabulary=True), Match(("é",), (HoldsAny(("a",)),)), np.arange(4), math.nan))


@given(st.data())
def test_damaged_messages_are_refused(data: st.DataObject) -> None:
    """A changed byte is an error, or another value; nothing else happens."""
    message = bytearray(MESSAGE)
    for _ in range(data.draw(st.integers(1, 4))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        decode(bytes(message[: data.draw(st.integers(0, len(message)))]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"o":["os.system",["ls"]]}', "unknown 'os.system'"),
        (b'{"o":["Need",[1,2,3]]}', "cannot be read"),
        (b'{"o":["BM25",[-1.0,0.5]]}', "k1 must be"),
        (b'{"o":["BM25",["a","b"]]}', "cannot be read"),
        (b'{"x":1}', "cannot be read"),
        (b'{"t":[1],"s":[2]}', "cannot be read"),
        (b'{"a":["|O8",[1],0]}', "cannot be read"),
        (b'{"a":["<f8",[1000000000000],0]}', "cut short"),
        (b'{"a":["<f8",[-1],0]}', "impossible array"),
        (b'{"a":["<f8",[1],-8]}', "impossible array"),
        (b'{"b":[-5,3]}', "cut short"),
        (b'{"d":[[{"m":{}},1]]}', "cannot be read"),
        (b"[" * 900 + b"]" * 900, "cannot be read"),
        (b"{", "cannot be read"),
    ],
)  # fmt: skip
def test_hostile_messages_are_refused(text: bytes, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        decode(struct.pack("<4sHHQ", b"GMSG", VERSION, 0, len(text)) + text)


def test_heads_are_checked() -> None:
    for message, expected in [
        (b"", "cut short"),
        (b"GET / HTTP/1.1\r\n\r\n", "not a message of Germane"),
        (struct.pack("<4sHHQ", b"GMSG", VERSION + 1, 0, 0), f"version {VERSION + 1}, where {VERSION} is read"),
        (struct.pack("<4sHHQ", b"GMSG", VERSION, 0, 1 << 60), "cut short"),
    ]:
        with pytest.raises(InputError, match=expected):
            decode(message)
    with pytest.raises(InputError, match="bytes, where 10 are allowed"):
        decode(MESSAGE, most=10)
    with pytest.raises(ParameterError, match="do not belong together"):
        Vocabulary((np.zeros(3, np.uint8), np.array([0, 9])), np.array([1]), np.array([1]))
    assert decode(encode(Dirichlet(3.0))) == Dirichlet(3.0)
