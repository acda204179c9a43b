"""Topic tracking on live streams: fetch feeds, match documents to followed topics, and send notifications and digests.

State is in a workspace, so that a restart loses no document and no notification.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.stream.arrivals import Arrival
    from germane.stream.values import FollowedTopic, Judged, Processed, Sighting
    from germane.stream.watch import Watch

__all__ = ["Arrival", "FollowedTopic", "Judged", "Processed", "Sighting", "Watch"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "arrivals": ["Arrival"],
        "values": ["FollowedTopic", "Judged", "Processed", "Sighting"],
        "watch": ["Watch"],
    },
    "Following a stream",
)
