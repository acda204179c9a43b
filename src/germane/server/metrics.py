"""Numbers for Prometheus, in its text format: requests by route and status, their time, and what the server holds."""

import threading
from collections import Counter
from collections.abc import Mapping

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds."""


class Metrics:
    """Counts what was asked and how long it took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._count: Counter[str] = Counter()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._count[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for bound in BUCKETS:
                if seconds <= bound:
                    self._buckets[route, bound] += 1

    def text(self, gauges: Mapping[str, Mapping[str, float]]) -> str:
        """All numbers; `gauges` by name, each with values by collection."""
        with self._lock:
            lines = ["# HELP germane_requests_total Requests answered.", "# TYPE germane_requests_total counter"]
            for (method, route, status), n in sorted(self._requests.items()):
                labels = f'method="{_label(method)}",route="{_label(route)}",status="{status}"'
                lines.append(f"germane_requests_total{{{labels}}} {n}")
            lines += ["# HELP germane_request_seconds Time to answer.", "# TYPE germane_request_seconds histogram"]
            for route, count in sorted(self._count.items()):
                label = f'route="{_label(route)}"'
                for bound in BUCKETS:
                    lines.append(
                        f'germane_request_seconds_bucket{{{label},le="{bound}"}} {self._buckets[route, bound]}'
                    )
                lines.append(f'germane_request_seconds_bucket{{{label},le="+Inf"}} {count}')
                lines.append(f"germane_request_seconds_sum{{{label}}} {self._seconds[route]:.6f}")
                lines.append(f"germane_request_seconds_count{{{label}}} {count}")
        for name, values in gauges.items():
            lines.append(f"# TYPE {name} gauge")
            lines += [f'{name}{{collection="{_label(key)}"}} {value:g}' for key, value in values.items()]
        return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
