"""Backends that compute the sums over training pairs on a device, behind one protocol. Today: the CPU.

A backend computes the E-step, fold-in and gradients of one part of the pairs, in the memory layout of its device.
Priors, parameter updates, mixtures and stopping rules are in the models, once for all backends. Start with
`protocol.py`.
"""

from germane.latent.backends.protocol import Backend, EStep, Layout, Triples

__all__ = ["Backend", "EStep", "Layout", "Triples"]
