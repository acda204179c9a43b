"""Parameters as texts: what is read, what is refused, and that what is written is read again as it was."""

from dataclasses import dataclass, field, fields
from typing import Literal

import pytest

from germane.errors import ParameterError
from germane.feedback.registry import METHODS as FEEDBACK
from germane.lm import MLE, AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing, TwoStage
from germane.lm.parameter_parsing import pairs, parameters_of, read, value_of, written
from germane.refine.registry import METHODS as REFINE


@dataclass(frozen=True)
class Kind:
    n: int = 3
    share: float | None = None
    on: bool = False
    name: Literal["red", "blue"] = "red"
    smoothing: Smoothing | Literal["bm25"] = field(default_factory=lambda: Dirichlet(5.0))
    random_state: int = 0


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n", "7", 7),
        ("share", "0.5", 0.5),
        ("share", "1e-4", 1e-4),
        ("share", "none", None),
        ("on", "true", True),
        ("on", "No", False),
        ("name", "blue", "blue"),
        ("smoothing", "bm25", "bm25"),
        ("smoothing", "jm:0.3", JelinekMercer(0.3)),
        ("smoothing", "dirichlet:700", Dirichlet(700.0)),
        ("smoothing", "absolute:0.7", AbsoluteDiscounting(0.7)),
        ("smoothing", "twostage:0.9:700", TwoStage(0.9, 700.0)),
        ("smoothing", "mle", MLE()),
    ],
)
def test_reading(name, text, value):
    assert read("kind", Kind, {name: text}) == {name: value}
    assert type(read("kind", Kind, {name: text})[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("n", "2.5", "n wants a whole number, not '2.5'"),
        ("n", "none", "n wants a whole number, not 'none'"),
        ("on", "3", "on wants true or false, not '3'"),
        ("share", "much", "share wants a number or none, not 'much'"),
        ("name", "green", "name wants red or blue, not 'green'"),
        ("smoothing", "dirichlet", "numbers after 'dirichlet', as in dirichlet:MU, not 'dirichlet'"),
        ("smoothing", "twostage:1", "as in twostage:LAM:MU"),
        ("smoothing", "jm:a", "as in jm:LAM"),
        ("smoothing", "jm:2", "lam must lie between 0 and 1"),
        ("smoothing", "laplace:1", "smoothing wants a smoothing"),
        ("size", "3", "kind has no parameter size; it takes n, share, on, name, smoothing"),
        ("random_state", "3", "kind has no parameter random_state"),
    ],
)
def test_refusing(name, text, message):
    with pytest.raises(ParameterError, match=message):
        read("kind", Kind, {name: text}, ["random_state"])


def test_pairs():
    assert pairs(["a=1", " b = jm:0.3 "], "--set") == {"a": "1", "b": "jm:0.3"}
    for wrong in ("a", "=1", "a="):
        with pytest.raises(ParameterError, match="--set wants NAME=VALUE"):
            pairs([wrong], "--set")
    with pytest.raises(ParameterError, match="--set gives 'a' twice"):
        pairs(["a=1", "a=2"], "--set")


@pytest.mark.parametrize("registry", [FEEDBACK, REFINE], ids=["feedback", "refine"])
def test_every_default_is_written_as_it_is_read(registry):
    for name, kind in registry.items():
        infos = parameters_of(kind)
        assert [info.name for info in infos] == [own.name for own in fields(kind)]
        texts = {info.name: info.default for info in infos}
        assert kind(**read(name, kind, texts)) == kind()


def test_values():
    assert [written(value) for value in (None, True, 3, 0.25, "red", TwoStage(0.9, 700.0), MLE())] == [
        *["none", "true", "3", "0.25", "red", "twostage:0.9:700", "mle"]
    ]
    assert value_of("x", float, "3") == 3.0
