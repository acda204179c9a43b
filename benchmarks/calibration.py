"""How far can P(relevant) of `auto` be trusted on lists of a collection that had no part in the fit?

    python benchmarks/calibration.py [--plot FILE]
    python benchmarks/calibration.py --method mmem-sd     # the constants of another method, fitted to all lists

The lists are those of `germane reproduce refine` and `refine-held-out`, with all marks and with those down to the
second relevant one. The constants of `CarriedEvidence.calibration` are fitted by penalised logistic regression, each
list counting alike and each collection by the root of its lists, to all collections but the one they are applied to.
Expected calibration error of the unmarked results in per cent, and F1 of the predicted set, with all marks: *printed*,
by the constants in the source, which had all collections in the fit; *left out*; and *without h*, left out too, without
the mean cosine of the rest. Then reviews and the others, each left out as a whole. `--plot` draws the reliability, left
out. Exit status 1 if a bar is missed: 5 % over all lists of each experiment, 12 % for any review.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from germane.arrays import Floats, Mask
from germane.evaluate import plots
from germane.evaluate.calibration import Reliability, reliability
from germane.experiments import published_experiments, read_experiment
from germane.experiments.marked_lists import MarkedList, marked_lists, set_f1
from germane.refine.calibration import LIKENESS, Calibration, likeness, predicted_set, standardised
from germane.refine.carried import CarriedEvidence
from germane.refine.registry import method_named
from germane.types import Mark

EXPERIMENTS = ("refine", "refine-held-out")
PENALTY = np.array([1e-3, 1e-3, 0.05, 0.05, 0.05, 0.05])
"""On the constants, in the order of `Calibration`: hardly any on base and slope."""
BAR, REVIEW_BAR = 0.05, 0.12
REVIEWS = "reviews_"


@dataclass(frozen=True)
class Case:
    """The unmarked results of a list: their scores' columns for the fit, the truth, and P by the source's constants."""

    experiment: str
    collection: str
    review: bool
    whole: bool
    columns: Floats
    truth: Mask
    printed: Floats


def case(name: str, experiment: str, review: bool, whole: bool, each: MarkedList) -> Case:
    """What the fit needs of a list. The columns are `Calibration.line`'s, read off with one constant at a time."""
    method, labels, rest = method_named(name), each.labels, each.rest
    log_odds = method.refine(each.results, labels).log_odds
    carried = isinstance(method, CarriedEvidence)
    score = method.score(each.results, labels) if carried else standardised(log_odds, labels)
    cosine = likeness(each.results.carried_unit, labels)
    columns = []
    for place in range(len(Calibration._fields)):
        one = Calibration(*np.eye(len(Calibration._fields))[place])
        intercept, slope = one.line(score, labels, cosine)
        columns.append(intercept + slope * score[rest])
    printed = method.probabilities(log_odds, labels)[rest]
    return Case(experiment, each.collection, review, whole, np.column_stack(columns), each.relevant[rest], printed)


def cases(method: str) -> list[Case]:
    """All lists, with all marks and, where there are more than two relevant ones, with those down to the second."""
    found = []
    for name in EXPERIMENTS:
        experiment = read_experiment(published_experiments() / f"{name}.toml")
        reviews = {each.name for each in experiment.collections if each.documents.startswith(REVIEWS)}
        for each in marked_lists(experiment.collections, experiment.rules):
            found.append(case(method, name, each.collection in reviews, True, each))
            relevant = np.flatnonzero(each.labels == Mark.RELEVANT)
            if len(relevant) > 2:
                labels = each.labels.copy()
                labels[relevant[1] + 1 :] = Mark.UNMARKED
                if method_named(method).needs_rejected and Mark.NOT_RELEVANT not in labels:
                    continue
                found.append(case(method, name, each.collection in reviews, False, replace(each, labels=labels)))
    return found


def fitted(training: Sequence[Case], used: Sequence[int]) -> Floats:
    """The constants that make the most of the lists, by Newton's method; those not `used` are 0."""
    collections = [each.collection for each in training]
    A = np.concatenate([each.columns[:, used] for each in training])
    y = np.concatenate([each.truth for each in training]).astype(np.float64)
    weight = np.concatenate(
        [np.full(len(each.truth), 1 / len(each.truth) / collections.count(each.collection) ** 0.5) for each in training]
    )
    weight *= len(training) / weight.sum()
    penalty, found = PENALTY[used], np.zeros(len(used))
    for _ in range(40):
        p = expit(A @ found)
        curvature = (A * (weight * p * (1.0 - p))[:, None]).T @ A + np.diag(penalty)
        found = found + np.linalg.solve(curvature, A.T @ (weight * (y - p)) - penalty * found)
    every = np.zeros(len(PENALTY))
    every[list(used)] = found
    return every


def left_out(every: Sequence[Case], used: Sequence[int], part: Callable[[Case], object]) -> list[Floats]:
    """P of each list by constants that its part (its collection, or its family) had no part in."""
    parts = {part(each) for each in every}
    found = {name: fitted([each for each in every if part(each) != name], used) for name in parts}
    return [expit(each.columns @ found[part(each)]) for each in every]


def judged(every: Sequence[Case], probabilities: Sequence[Floats], which: Callable[[Case], bool]) -> Reliability:
    """The reliability over the lists with all marks that are wanted."""
    pairs = [(p, each.truth) for p, each in zip(probabilities, every, strict=True) if each.whole and which(each)]
    return reliability(np.concatenate([p for p, _ in pairs]), np.concatenate([y for _, y in pairs]))


def mean_f1(every: Sequence[Case], probabilities: Sequence[Floats], which: Callable[[Case], bool]) -> float:
    """Mean F1 of the predicted sets of the same lists."""
    pairs = [(p, each.truth) for p, each in zip(probabilities, every, strict=True) if each.whole and which(each)]
    return float(np.mean([set_f1(predicted_set(p), y) for p, y in pairs]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", default="", help="draw the reliability there (.png, .svg, .pdf)")
    parser.add_argument("--method", default="auto", help="print base, slope and rate of another method, and no more")
    options = parser.parse_args()
    every = cases(options.method)
    if options.method != "auto":
        print(Calibration(*np.round(fitted(every, range(3)), 3).tolist()))
        return 0
    all_of_them, without = range(len(PENALTY)), range(len(PENALTY) - 1)
    print(f"fitted to all: {Calibration(*np.round(fitted(every, all_of_them), 3).tolist())}, h in {LIKENESS}")
    ways = {
        "printed": [each.printed for each in every],
        "left out": left_out(every, all_of_them, lambda each: each.collection),
        "without h": left_out(every, without, lambda each: each.collection),
    }
    print(f"| lists | {' | '.join(f'ECE {way}' for way in ways)} | {' | '.join(f'F1 {way}' for way in ways)} |")
    print(f"|---|{'---|' * (2 * len(ways))}")
    missed = 0
    groups: dict[str, Callable[[Case], bool]] = {
        name: lambda each, name=name: each.experiment == name for name in EXPERIMENTS
    }
    reviews = {each.collection: each.review for each in every}
    groups |= {name: lambda each, name=name: each.collection == name for name in reviews}
    for name, which in groups.items():
        errors = [judged(every, found, which).ece for found in ways.values()]
        scores = [mean_f1(every, found, which) for found in ways.values()]
        print(f"| {name} | {' | '.join(f'{100 * value:.1f}' for value in [*errors, *scores])} |")
        missed += (name in EXPERIMENTS and errors[1] > BAR) or (reviews.get(name, False) and errors[1] > REVIEW_BAR)
    for used, what in ((all_of_them, "with h"), (without, "without h")):
        found = left_out(every, used, lambda each: each.review)
        parts = [
            judged(every, found, lambda each, review=review: each.review is review).ece for review in (True, False)
        ]
        print(f"left out as a whole, {what}: reviews {100 * parts[0]:.1f}, others {100 * parts[1]:.1f}")
    if options.plot:
        shown = {name: judged(every, ways["left out"], groups[name]) for name in EXPERIMENTS}
        plots.save(plots.calibration(shown, collection="left out"), options.plot)
    print(f"{missed} bars missed" if missed else "all bars reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
