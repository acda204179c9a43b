"""Parameters that ranking models have where nothing is said, as docs/defaults.md tells."""

DEFAULT_MU = 400.0
DEFAULT_LAM = 0.3
"""Weight of the document in Jelinek-Mercer smoothing; long queries like less, titles more."""
