"""Probes of ranx."""

from ranx import Qrels, Run, compare, evaluate, fuse

QRELS = Qrels({"1": {"a": 1}, "2": {"b": 1}})
ONE = Run({"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}, name="one")
TWO = Run({"1": {"a": 1.0, "b": 2.0}, "2": {"a": 1.0, "b": 2.0}}, name="two")


def fusion() -> None:
    assert fuse(runs=[ONE, TWO], method="rrf").run


def measures() -> None:
    assert evaluate(QRELS, ONE, "map") == 0.75


def significance() -> None:
    assert "one" in str(compare(QRELS, [ONE, TWO], metrics=["map"], stat_test="student", max_p=0.01))
