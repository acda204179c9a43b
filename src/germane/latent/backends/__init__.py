"""Where the sums over pairs are computed: a processor today, others behind the same protocol.

For: the E-step, folding in and gradients, each over one part of the pairs, in whatever layout of memory suits a device.
Not for: priors, updates, mixtures and stopping; these stand once, in the models above. Begin with `protocol.py`.
"""

from germane.latent.backends.protocol import Backend, EStep, Layout, Triples

__all__ = ["Backend", "EStep", "Layout", "Triples"]
