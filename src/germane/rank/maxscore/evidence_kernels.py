# mypy: ignore-errors
"""A Numba kernel of the models that make their own counts (`rank.models.evidence`)."""

import numpy as np

from germane.jit import kernel
from germane.rank.maxscore.document_kernels import set_impact
from germane.rank.maxscore.impact_kernels import impact
from germane.rank.maxscore.records import Asked


@kernel
def add_impacts(asked, i, docs, counts, size, term, model, out):
    """out[docs[j]] += the impact of counts[j] occurrences of term i, 0 for none; counts need not be whole."""
    asked, t, m = Asked(*asked), term[0], model[0]
    set_impact(asked.settings, m)
    t.weight, t.scale = asked.weight[i], asked.scale[i]
    for j in range(len(docs)):
        if counts[j] > 0.0:
            out[docs[j]] += impact(t, m, counts[j], m.x0 + m.x1 * np.float64(size[docs[j]]))
