"""Cooling schedules of simulated annealing, Refine §V, §VI and (as future work) §X: temperatures from T0 down to 1."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from germane.errors import ParameterError

Cooling: TypeAlias = Literal["linear", "geometric", "logarithmic"]
COOLINGS: tuple[str, ...] = get_args(Cooling)


def temperatures(cooling: Cooling, T0: float, iterations: int) -> tuple[float, ...]:
    """T_1 = T0, ..., T_n = 1 over n iterations (a single one is at 1); with u = t/(n-1), t = 0...n-1:

    linear       T = T0 + (1 - T0)·u, Refine §VI
    geometric    T = T0^(1-u)
    logarithmic  T ∝ 1/log(t + 2), Geman & Geman 1984, scaled to end at 1: T = 1 + (T0 - 1)·(g_t - g_n)/(g_1 - g_n)
    """
    if cooling not in COOLINGS:
        raise ParameterError(f"cooling is one of {', '.join(COOLINGS)}, not {cooling!r}")
    if iterations < 2:
        return (1.0,) * iterations
    u = np.linspace(0.0, 1.0, iterations)
    if cooling == "linear":
        schedule = T0 + (1.0 - T0) * u
    elif cooling == "geometric":
        schedule = T0 ** (1.0 - u)
    else:
        g = 1.0 / np.log(np.arange(iterations) + 2.0)
        schedule = 1.0 + (T0 - 1.0) * (g - g[-1]) / (g[0] - g[-1])
    return tuple(schedule.tolist())
