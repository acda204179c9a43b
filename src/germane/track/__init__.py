"""What belongs to this topic? Trackers that start from one story and follow it through a stream, online.

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.track.background import Background
    from germane.track.bags import Bag, BagMaker, WordNumbers
    from germane.track.follower import Follower, Following, Seen
    from germane.track.method import Tracker, TrackMethod, Weights
    from germane.track.percolator import Percolator
    from germane.track.registry import METHOD_NAMES, METHODS, method_named
    from germane.track.thresholds import Costs, Reference, Scale, Thresholds
    from germane.track.topics import Hits, TopicSet

__all__ = [
    "METHODS",
    "METHOD_NAMES",
    "Background",
    "Bag",
    "BagMaker",
    "Costs",
    "Follower",
    "Following",
    "Hits",
    "Percolator",
    "Reference",
    "Scale",
    "Seen",
    "Thresholds",
    "TopicSet",
    "TrackMethod",
    "Tracker",
    "Weights",
    "WordNumbers",
    "method_named",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "background": ["Background"],
        "bags": ["Bag", "BagMaker", "WordNumbers"],
        "follower": ["Follower", "Following", "Seen"],
        "method": ["Tracker", "TrackMethod", "Weights"],
        "percolator": ["Percolator"],
        "registry": ["METHOD_NAMES", "METHODS", "method_named"],
        "thresholds": ["Costs", "Reference", "Scale", "Thresholds"],
        "topics": ["Hits", "TopicSet"],
    },
)
