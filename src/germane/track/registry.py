"""Methods of tracking by name, as the command line and configuration write them. Naming them loads nothing."""

from typing import TYPE_CHECKING, Any

from germane.lazy import LazyClasses, on_first_use

with on_first_use(__name__):
    from germane.lm import parameters as lm_parameters

if TYPE_CHECKING:
    from germane.track.method import TrackMethod

METHODS: "LazyClasses[TrackMethod]" = LazyClasses(
    {
        "germane": "germane.track.bounded_mean.BoundedMean",
        "vsm": "germane.track.vector_space.VectorSpace",
        "rm": "germane.track.relevance_model.RelevanceModel",
        "nb": "germane.track.naive_bayes.NaiveBayes",
        "sd": "germane.track.smoothed_dirichlet.SmoothedDirichlet",
    },
)

METHOD_TITLES = {
    "germane": "bounded mean",
    "vsm": "vector space",
    "rm": "relevance model",
    "nb": "naive Bayes",
    "sd": "smoothed Dirichlet",
}
"""Title of each method for people."""

METHOD_NAMES = tuple(METHODS)


def method_named(name: str, **parameters: Any) -> "TrackMethod":
    """The method of that name; a parameter left None keeps its default, one the method does not have is an error."""
    return lm_parameters.named("method", name, METHODS, parameters)
