"""The five kinds of impact (see `rank.kernels`), named apart from the kernels so that naming one loads no compiler."""

LOG_COUNT_RATIO = 0
LOG_SIZE_RATIO = 1
SATURATION = 2
LOG_COUNT = 3
COUNT = 4

BY_COUNT = frozenset({LOG_COUNT_RATIO, LOG_COUNT, COUNT})
"""Kinds whose impact depends on the count alone."""
