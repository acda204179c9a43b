"""Required and excluded words as filters over documents."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from germane.index.segment import Segment

Condition = Callable[[Segment], npt.NDArray[np.bool_]]


def holds(term: str, *, negated: bool = False) -> Condition:
    """Documents that hold the term (or do not)."""

    def mask(segment: Segment) -> npt.NDArray[np.bool_]:
        passed = np.zeros(segment.n_docs, np.bool_)
        number = int(segment.find_terms([term])[0])
        if number >= 0:
            docs, _ = segment.postings(number)
            passed[docs] = True
        return ~passed if negated else passed

    return mask


def word_conditions(required: Sequence[str], excluded: Sequence[str]) -> list[Condition]:
    """All required words and none of the excluded ones."""
    return [holds(term) for term in required] + [holds(term, negated=True) for term in excluded]
