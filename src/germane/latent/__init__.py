"""What do clicks say of words that queries and documents do not share? Models learnt from query-title pairs.

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.latent.combination import Combination
    from germane.latent.names import LATENT_NAMES
    from germane.latent.pairs import FoldedDocuments, Pair, Pairs
    from germane.latent.projection import CLLSA, LSA, OPCA, VSM
    from germane.latent.registry import latent_named
    from germane.latent.s2net import S2Net
    from germane.latent.saving import load, save
    from germane.latent.topics import BLTM
    from germane.latent.translation import WTM
    from germane.latent.unigram import UM

__all__ = [
    "BLTM",
    "CLLSA",
    "LATENT_NAMES",
    "LSA",
    "OPCA",
    "UM",
    "VSM",
    "WTM",
    "Combination",
    "FoldedDocuments",
    "Pair",
    "Pairs",
    "S2Net",
    "latent_named",
    "load",
    "save",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "combination": ["Combination"],
        "pairs": ["FoldedDocuments", "Pair", "Pairs"],
        "projection": ["CLLSA", "LSA", "OPCA", "VSM"],
        "names": ["LATENT_NAMES"],
        "registry": ["latent_named"],
        "s2net": ["S2Net"],
        "saving": ["load", "save"],
        "topics": ["BLTM"],
        "translation": ["WTM"],
        "unigram": ["UM"],
    },
)
