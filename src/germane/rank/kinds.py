"""The five kinds of impact (see `impact_kernels`), apart from the kernels so that naming one loads no compiler."""

LOG_COUNT_RATIO = 0
LOG_SIZE_RATIO = 1
SATURATION = 2
LOG_COUNT = 3
COUNT = 4

SIZED = frozenset({LOG_SIZE_RATIO, SATURATION})
"""Kinds whose impact depends on the document's size, too."""
