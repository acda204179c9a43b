"""Measures by their ir_measures names, and which of them trec_eval computes.

`ir_measures` gives the names (`AP`, `nDCG@10`, `P(rel=2)@5`); `pytrec_eval` (trec_eval's own C code) the values. It
gets all measures of one relevance level at once, without the intermediate objects of `ir_measures`.
"""

from typing import Any, NamedTuple

from germane.errors import MissingExtraError, ParameterError

MAX_GRADE = 1000
"""trec_eval takes time in proportion to the highest grade."""

MAX_CUTOFF = 10_000_000


class Invocation(NamedTuple):
    """What one call of trec_eval shares: the least relevant grade, whether unjudged documents go, its one β of F."""

    rel: int
    judged_only: bool
    beta: float


def libraries() -> tuple[Any, Any]:
    """The modules `ir_measures` and `pytrec_eval`."""
    try:
        import ir_measures
        import pytrec_eval
    except ImportError as error:
        raise MissingExtraError(error.name or "ir_measures", "evaluate", "Evaluating a run") from None
    return ir_measures, pytrec_eval


def parse_measure(name: str) -> Any:
    """The measure of that name; a name that is none raises `ParameterError`."""
    ir_measures, _ = libraries()
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except NameError:
        known = "AP, nDCG@10, P@10, R@100, RR, Rprec, Success@5, Bpref, SetF, BEP, microBEP, WSS@95"
        raise ParameterError(f"there is no measure '{name}'; for example {known}") from None
    except (ValueError, AssertionError, TypeError, SyntaxError):
        raise ParameterError(f"'{name}' is not a measure as ir_measures writes it, such as P(rel=2)@10") from None
    cutoff = measure.params.get("cutoff")
    if cutoff is not None and not 1 <= cutoff <= MAX_CUTOFF:
        raise ParameterError(f"the cutoff of '{name}' must lie between 1 and {MAX_CUTOFF:,}")
    return measure


def trec_name(measure: Any) -> tuple[Invocation, str, str] | None:
    """(invocation, the name to ask trec_eval for, the name it answers with), or None where it has no such measure."""
    ask = _asked(measure)
    if ask is None:
        return None
    known = measure.SUPPORTED_PARAMS
    rel = measure["rel"] if "rel" in known and isinstance(measure["rel"], int) else 1
    judged_only = bool(measure["judged_only"]) if "judged_only" in known else False
    beta = float(measure["beta"]) if measure.NAME == "SetF" else 1.0
    answer = "set_F" if measure.NAME == "SetF" else ask
    return Invocation(rel, judged_only, beta), ask, answer


def _asked(measure: Any) -> str | None:
    name, params = measure.NAME, measure.params
    cutoff = params.get("cutoff")
    if name == "nDCG" and ("gains" in params or measure["dcg"] != "log2"):
        return None
    if name == "NumRel" and measure["rel"] != 1:
        return None
    if name == "NumRet":
        return "num_rel_ret" if "rel" in params else "num_ret"
    if name == "SetF":
        return "set_F" if measure["beta"] == 1.0 else f"set_F_{float(measure['beta'])}"
    if name == "SetP":
        return "set_relative_P" if measure["relative"] else "set_P"
    if name == "IPrec":
        return f"iprec_at_recall_{measure['recall']:.2f}"
    if cutoff is not None:
        stem = {"P": "P", "AP": "map_cut", "nDCG": "ndcg_cut", "R": "recall", "Success": "success"}.get(name)
        return "recip_rank" if name == "RR" else f"{stem}_{cutoff}" if stem else None
    return {
        "RR": "recip_rank", "Rprec": "Rprec", "AP": "map", "nDCG": "ndcg", "Bpref": "bpref", "NumQ": "num_q",
        "NumRel": "num_rel", "SetAP": "set_map", "SetR": "set_recall", "infAP": "infAP",
    }.get(name)  # fmt: skip
