"""How well a distribution over counts predicts unseen documents."""

import numpy as np
import numpy.typing as npt

from germane.errors import InputError


def document_perplexity(log_probabilities: npt.ArrayLike, len_d: npt.ArrayLike) -> float:
    """exp(-Σ_i log P(f^i) / Σ_i |D_i|), lower is better. Source: SD (3.42).

    `log_probabilities` are those of a mass function (`Multinomial`, `DCM`), all with or all without the coefficient;
    densities cannot be compared with them, SD §3.4. ∞ where a document has probability 0. For one document under a
    multinomial without the coefficient it is `germane.lm.perplexity` of the document's MLE.
    """
    logs, lengths = np.asarray(log_probabilities, dtype=np.float64), np.asarray(len_d, dtype=np.float64)
    if logs.shape != lengths.shape or logs.ndim != 1:
        raise InputError(f"{logs.shape} log-probabilities do not match {lengths.shape} lengths")
    if np.isnan(logs).any() or not lengths.sum() > 0:
        raise InputError("perplexity needs log-probabilities that are numbers, and at least one word")
    return float(np.exp(-logs.sum() / lengths.sum()))
