"""The backend of a processor: Numba kernels over padded tables, a thread for each block of pairs; S2Net in SciPy."""

from germane.latent.backends.cpu.backend import CPU

__all__ = ["CPU"]
