"""Tables of a refinement experiment that are told beside its figures: Refine table I, and table II list by list."""

from collections.abc import Mapping, Sequence
from statistics import median
from textwrap import shorten

from germane.evaluate.calibration import Reliability
from germane.evaluate.refine_lists import MarkedList
from germane.types import Mark

QUERY_LENGTH = 60


def shortened(query: str) -> str:
    """A query as a table's cell holds it."""
    return shorten(query.replace("|", "/"), QUERY_LENGTH, placeholder=" ...")


def list_table(lists: Sequence[MarkedList]) -> list[list[str]]:
    """Refine table I: what is marked in each list, and what is left to find."""
    rows = [["", "collection", "query", "relevant (training)", "irrelevant (training)", "relevant (test)", "results"]]
    for number, each in enumerate(lists, start=1):
        counts = [
            *((each.labels == mark).sum() for mark in (Mark.RELEVANT, Mark.NOT_RELEVANT)),
            each.relevant[each.rest].sum(),
            len(each.labels),
        ]
        rows.append([str(number), each.collection, shortened(each.query), *map(str, counts)])
    return rows


def value_table(lists: Sequence[MarkedList], values: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    """Refine table II: lists, numbered as in `list_table`, down, systems across; in per cent."""
    rows = [["", "collection", *values]]
    for number, each in enumerate(lists):
        column = [found[number] for found in values.values()]
        cells = ["" if value is None else f"{100 * value:.1f}" for value in column]
        rows.append([str(number + 1), each.collection, *cells])
    return rows


def time_table(seconds: Mapping[str, Sequence[float]], against: str) -> list[list[str]]:
    """Median and mean milliseconds of a refinement, and how many times faster than one system it is at the median."""
    rows = [["", "median ms", "mean ms", f"times faster than {against}"]]
    baseline = median(seconds[against])
    for name, found in seconds.items():
        typical = median(found)
        ratio = f"{baseline / typical:.1f}" if typical else ""
        rows.append([name, f"{1000 * typical:.2f}", f"{1000 * sum(found) / len(found):.2f}", ratio])
    return rows


def reliability_table(bins: Mapping[str, Reliability]) -> list[list[str]]:
    """Expected and maximal calibration error and Brier score over the unmarked results of all lists."""
    rows = [["", "results", "ECE", "MCE", "Brier"]]
    for name, found in bins.items():
        numbers = [f"{value:.4f}" for value in (found.ece, found.mce, found.brier)]
        rows.append([name, str(int(found.count.sum())), *numbers])
    return rows
