"""The names of latent models: to be told and checked without loading any of them."""

COMBINATION = "combination"
LATENT_NAMES = (
    "um", "plsa", "bltm", "bltm-1v", "bltm-pr", "bltm-pr-1v", "bltm-pr-tied", "wtm", "vsm", "lsa", "cl-lsa", "opca",
    "s2net", COMBINATION,
)  # fmt: skip
