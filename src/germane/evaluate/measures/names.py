"""Measures by name: those of ir_measures (`AP`, `nDCG@10`, `P(rel=2)@5`), and trec_eval's own (`map`, `ndcg_cut_10`).

A name is an expression `NAME(parameter=value, ...)@value`. What follows the @ is the cutoff, or the recall of `IPrec`.
A measure is one function in `formulas` and one line in `FAMILIES` here.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any, NamedTuple, Protocol

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.classification import micro_bep
from germane.evaluate.measures import formulas, further
from germane.evaluate.measures.judged import Case, JudgedRankings
from germane.evaluate.screening import wss_of_ranking

MAX_CUTOFF = 10_000_000
EXAMPLES = "AP, nDCG@10, P@10, R@100, RR, Rprec, Success@5, Bpref, SetF, BEP, microBEP, WSS@95"
KINDS: Mapping[str, type] = {
    "cutoff": int, "rel": int, "judged_only": bool, "recall": float, "beta": float, "p": float, "relative": bool,
    "dcg": str, "gains": dict,
}  # fmt: skip
"""What the parameters are; those of one name are the same in all measures."""


class Measure(Protocol):
    """What a name stands for."""

    def of(self, case: Case) -> tuple[Floats, float]:
        """The value of each query, and of all together."""
        ...


def _mean(values: Floats, _: JudgedRankings) -> float:
    return float(np.mean(values))


def _sum(values: Floats, _: JudgedRankings) -> float:
    return float(np.sum(values))


def _geometric_mean(logarithms: Floats, _: JudgedRankings) -> float:
    return float(np.exp(np.mean(logarithms)))


def _by_relevant(values: Floats, rankings: JudgedRankings) -> float:
    return micro_bep(values, rankings.n_relevant())


class Family(NamedTuple):
    """Measures of one formula: the parameter that the @ sets, how queries become one value, and other defaults."""

    formula: Callable[..., Floats]
    overall: Callable[[Floats, JudgedRankings], float] = _mean
    at: str = "cutoff"
    defaults: Mapping[str, Any] = {}


FAMILIES: Mapping[str, Family] = {
    "AP": Family(formulas.average_precision),
    "BEP": Family(formulas.r_precision),
    "Bpref": Family(formulas.binary_preference),
    "ERR": Family(formulas.expected_reciprocal_rank),
    "IPrec": Family(formulas.interpolated_precision, at="recall"),
    "Judged": Family(formulas.judged),
    "NumQ": Family(formulas.n_queries, _sum),
    "NumRel": Family(formulas.n_relevant, _sum),
    "NumRelRet": Family(formulas.n_relevant_retrieved, _sum),
    "NumRet": Family(formulas.n_retrieved, _sum),
    "P": Family(formulas.precision),
    "R": Family(formulas.recall),
    "RBP": Family(formulas.rank_biased_precision),
    "RR": Family(formulas.reciprocal_rank),
    "Rprec": Family(formulas.r_precision),
    "SetAP": Family(formulas.set_average_precision),
    "SetF": Family(formulas.set_f),
    "SetP": Family(formulas.set_precision),
    "SetR": Family(formulas.set_recall),
    "SetRelP": Family(formulas.set_precision, defaults={"relative": True}),
    "Success": Family(formulas.success),
    "gm_bpref": Family(formulas.log_binary_preference, _geometric_mean),
    "gm_map": Family(formulas.log_average_precision, _geometric_mean),
    "infAP": Family(formulas.inferred_average_precision),
    "microBEP": Family(formulas.r_precision, _by_relevant),
    "nDCG": Family(formulas.ndcg),
}
SYNONYMS = {
    "BPref": "Bpref", "MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "Precision": "P", "RPrec": "Rprec", "Recall": "R",
    "macroBEP": "BEP",
}  # fmt: skip
"""Other names of families, most of them ir_measures'."""

TREC_NAMES = {
    "bpref": "Bpref", "map": "AP", "ndcg": "nDCG", "num_q": "NumQ", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet", "recip_rank": "RR", "set_F": "SetF", "set_P": "SetP", "set_map": "SetAP", "set_recall": "SetR",
    "set_relative_P": "SetRelP",
}  # fmt: skip
"""trec_eval's names of measures without a parameter, where they are others."""
TREC_FAMILIES = {
    "P": "P@{}", "iprec_at_recall": "IPrec@{}", "map_cut": "AP@{}", "ndcg_cut": "nDCG@{}", "recall": "R@{}",
    "set_F": "SetF(beta={})", "success": "Success@{}",
}  # fmt: skip
"""trec_eval's names of measures with a parameter, as in P_5 or P.5."""
TREC_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TREC_SERIES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("P", "map_cut", "ndcg_cut", "recall"), TREC_CUTOFFS),
    "iprec_at_recall": tuple(f"{level / 10:.2f}" for level in range(11)),
    "success": ("1", "5", "10"),
}
"""The parameters that trec_eval takes where a measure is named without one."""
OFFICIAL = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall",
    "P",
)  # fmt: skip
"""What trec_eval measures where nothing is named, or `official`."""
_TREC_PARAMETER = re.compile(rf"({'|'.join(TREC_FAMILIES)})[._](\d*\.?\d+)")


def measure_names(text: str) -> list[str]:
    """The names in a text with commas between them, and trec_eval's names of several measures spelt out.

    >>> measure_names("AP, nDCG(dcg='exp-log2', gains={1: 3})@10, P.5,10, success, recall_5")
    ['AP', "nDCG(dcg='exp-log2', gains={1: 3})@10", 'P.5', 'P.10', 'success_1', 'success_5', 'success_10', 'recall_5']
    """
    names: list[str] = []
    series = None
    for part in _between_commas(text):
        trec = _TREC_PARAMETER.fullmatch(part)
        if trec and part[len(trec[1])] == ".":
            series = trec[1]
            names.append(part)
        elif series is not None and re.fullmatch(r"\d*\.?\d+", part):  # the 10 of P.5,10
            names.append(f"{series}.{part}")
        else:
            series = None
            named = OFFICIAL if part == "official" else (part,)
            names += [full for name in named for full in ([f"{name}_{x}" for x in TREC_SERIES.get(name, ())] or [name])]
    return names


def _between_commas(text: str) -> list[str]:
    """The parts of a text between commas that stand outside all brackets; empty parts are left out."""
    parts, depth = [""], 0
    for mark in text:
        depth += (mark in "({[") - (mark in ")}]")
        if mark == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += mark
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class Formula:
    """One of our own formulas with its parameters."""

    family: Family
    parameters: Mapping[str, Any]

    def of(self, case: Case) -> tuple[Floats, float]:
        """The value of each query, and of all together."""
        values = self.family.formula(case.rankings, **self.parameters)
        return values, self.family.overall(values, case.rankings)


@dataclass(frozen=True)
class WorkSaved:
    """WSS@95: see `screening.work_saved_over_sampling`. NaN where nothing is relevant, and left out of the mean."""

    recall: float

    def of(self, case: Case) -> tuple[Floats, float]:
        """The value of each query, and of all together."""
        values = np.array([wss_of_ranking(case.run[q], grades, self.recall) for q, grades in case.qrels.items()])
        return values, float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")


@lru_cache(512)
def parse_measure(name: str) -> Measure:
    """The measure of that name; a name that is none raises `ParameterError`."""
    if name.startswith("WSS@"):
        try:
            return WorkSaved(float(name[4:]) / 100.0)
        except ValueError:
            raise ParameterError(f"'{name}' is not a measure: WSS@95 is") from None
    if name == "11pt_avg":  # no expression
        return Formula(Family(formulas.eleven_point_average), {})
    base, parameters, at = _parts(name)
    family = FAMILIES.get(SYNONYMS.get(base, base))
    if family is None:
        return further.measure_named(name, EXAMPLES)
    given = {**family.defaults, **parameters, **({} if at is None else {family.at: at})}
    return Formula(family, _checked(name, family, given))


def _parts(name: str) -> tuple[str, dict[str, Any], Any]:
    """The family's name, the parameters in parentheses, and what follows the @."""
    trec = _TREC_PARAMETER.fullmatch(name)
    text = TREC_FAMILIES[trec[1]].format(trec[2]) if trec else TREC_NAMES.get(name, name)
    at = None
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at = ast.literal_eval(node.right)
            node = node.left
        parameters: dict[str, Any] = {}
        if isinstance(node, ast.Call) and not node.args:
            parameters = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, parameters, at
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        pass
    raise _misspelt(name)


def _checked(name: str, family: Family, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters, if they are the formula's, of the right kinds and within their ranges."""
    known = [p for p in signature(family.formula).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    if given.keys() - {p.name for p in known} or {p.name for p in known if p.default is Parameter.empty} - given.keys():
        raise _misspelt(name)
    for parameter, value in given.items():
        kind = KINDS[parameter]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            given[parameter] = float(value)
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _misspelt(name)
    if not 1 <= given.get("cutoff", 1) <= MAX_CUTOFF:
        raise ParameterError(f"the cutoff of '{name}' must lie between 1 and {MAX_CUTOFF:,}")
    if given.get("rel", 1) < 1:
        raise ParameterError(f"the rel of '{name}' must be 1 or more")
    if not all(isinstance(x, int) for pair in given.get("gains", {}).items() for x in pair):
        raise ParameterError(f"the gains of '{name}' must be whole numbers for grades, as in nDCG(gains={{2: 3}})")
    return given


def _misspelt(name: str) -> ParameterError:
    return ParameterError(f"'{name}' is not a measure as ir_measures writes it, such as P(rel=2)@10")
