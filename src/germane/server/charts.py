"""Charts as SVG, made here: attributes and classes alone, since the page allows no inline style."""

from collections.abc import Sequence
from html import escape
from statistics import NormalDist

from markupsafe import Markup

from germane.wording import counted


def _svg(width: int, height: int, label: str, body: str, kind: str) -> Markup:
    return Markup(
        f'<svg class="chart {kind}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">{body}</svg>'
    )


def bar(share: float, *, against: bool = False, width: int = 96, height: int = 6) -> Markup:
    """A horizontal bar; `share` from 0 to 1. What it says stands beside it as text."""
    length = max(1.0, min(max(share, 0.0), 1.0) * width)
    kind = "against" if against else "for"
    return Markup(
        f'<svg class="bar" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f'<rect class="track" width="{width}" height="{height}" rx="3"/>'
        f'<rect class="{kind}" width="{length:.1f}" height="{height}" rx="3"/></svg>'
    )


def histogram(values: Sequence[tuple[str, int, str, bool]], width: int = 200, height: int = 56) -> Markup:
    """Columns that are links: label, count, address, chosen."""
    most = max((count for _, count, _, _ in values), default=1) or 1
    step = width / max(len(values), 1)
    parts = []
    for place, (label, count, address, chosen) in enumerate(values):
        tall = max(2.0, (height - 4) * count / most) if count else 0.0
        kind = "column chosen" if chosen else "column"
        parts.append(
            f'<a href="{escape(address)}"><title>{escape(label)}: {count:,}</title>'
            f'<rect class="hit" x="{place * step:.1f}" width="{step:.1f}" height="{height}"/>'
            f'<rect class="{kind}" x="{place * step + 1:.1f}" y="{height - tall:.1f}" width="{step - 2:.1f}" '
            f'height="{tall:.1f}" rx="1.5"/></a>'
        )
    return Markup(
        f'<svg class="chart histogram" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"{''.join(parts)}</svg>"
    )


def sparkline(counts: Sequence[int], width: int = 120, height: int = 28) -> Markup:
    """A small line of counts."""
    if not counts:
        return Markup("")
    most = max(counts) or 1
    step = width / max(len(counts) - 1, 1)
    points = " ".join(f"{i * step:.1f},{height - 3 - (height - 6) * n / most:.1f}" for i, n in enumerate(counts))
    last = points.rpartition(" ")[2].split(",")
    body = f'<polyline class="line" points="{points}" fill="none"/>'
    body += f'<circle class="last" cx="{min(float(last[0]), width - 3):.1f}" cy="{last[1]}" r="2.5"/>'
    told = f"{counted(sum(counts), 'hit')} over {counted(len(counts), 'day')}"
    return _svg(width, height, told, body, "sparkline")


def timeline(days: Sequence[tuple[str, int]], width: int = 640, height: int = 120) -> Markup:
    """Hits by day, as columns, with the first and the last day named."""
    if not days:
        return Markup("")
    most = max(n for _, n in days) or 1
    step = min(28.0, (width - 20) / len(days))
    base = height - 18
    parts = [f'<line class="axis" x1="0" y1="{base}" x2="{width}" y2="{base}"/>']
    for i, (day, n) in enumerate(days):
        tall = (base - 8) * n / most
        parts.append(
            f'<rect class="column" x="{i * step + 1:.1f}" y="{base - tall:.1f}" width="{max(step - 2, 1):.1f}" '
            f'height="{tall:.1f}" rx="1.5"><title>{escape(day)}: {n:,}</title></rect>'
        )
    parts.append(f'<text class="label" x="0" y="{height - 4}">{escape(days[0][0])}</text>')
    if len(days) > 1:
        at = min(len(days) * step, width - 70)
        parts.append(f'<text class="label" x="{max(at - 70, 90):.0f}" y="{height - 4}">{escape(days[-1][0])}</text>')
    told = f"{counted(sum(n for _, n in days), 'hit')} on {counted(len(days), 'day')}"
    return _svg(width, height, told, "".join(parts), "timeline")


def ring(share: float, label: str, size: int = 96) -> Markup:
    """A ring that closes as work is done."""
    radius = size / 2 - 7
    around = 6.283185 * radius
    middle = size / 2
    body = f'<circle class="track" cx="{middle}" cy="{middle}" r="{radius}" fill="none" stroke-width="8"/>'
    if share > 0:
        body += (
            f'<circle class="done" cx="{middle}" cy="{middle}" r="{radius}" fill="none" stroke-width="8" '
            f'stroke-linecap="round" stroke-dasharray="{around * min(share, 1.0):.1f} {around:.1f}" '
            f'transform="rotate(-90 {middle} {middle})"/>'
        )
    body += f'<text class="middle" x="{middle}" y="{middle + 5}" text-anchor="middle">{share:.0%}</text>'
    return _svg(size, size, label, body, "ring")


def axis_top(found: int, total: int) -> float:
    """Where the axis of found records ends. It follows what was found, which only grows, and not the estimate, which
    changes at every step: so it stays where it is until the curve has reached half of it, and then doubles.

    >>> [axis_top(n, 1_000) for n in (0, 5, 6, 10, 11)], axis_top(6, 15)
    ([10.0, 10.0, 20.0, 20.0, 40.0], 15.0)
    """
    top = 10.0
    while top < 2 * found:
        top *= 2
    return min(top, float(max(total, 4)))


def found_curve(
    found: Sequence[int], total: int, expected: float | None, high: int, width: int = 260, height: int = 150
) -> Markup:
    """Relevant records found over records read, and the band of how many there may be: from what is found to `high`,
    cut where the axis ends."""
    read = len(found)
    top = axis_top(found[-1] if found else 0, total)
    left, base, right = 26.0, height - 18.0, width - 4.0

    def x(n: float) -> float:
        return left + (right - left) * n / max(total, 1)

    def y(n: float) -> float:
        return base - (base - 8) * min(n / top, 1.0)

    parts = []
    so_far = found[-1] if found else 0
    if read:
        parts.append(
            f'<rect class="band" x="{x(read):.1f}" y="{y(so_far + high):.1f}" width="{right - x(read):.1f}" '
            f'height="{y(so_far) - y(so_far + high):.1f}"/>'
        )
        if expected is not None:
            at = y(so_far + expected)
            parts.append(f'<line class="expected" x1="{x(read):.1f}" y1="{at:.1f}" x2="{right:.1f}" y2="{at:.1f}"/>')
        every = max(1, read // 200)
        line = [(0, 0), *((i + 1, n) for i, n in enumerate(found) if i % every == 0 or i == read - 1)]
        points = " ".join(f"{x(i):.1f},{y(n):.1f}" for i, n in line)
        parts.append(f'<polyline class="line" points="{points}" fill="none"/>')
    parts.append(f'<line class="axis" x1="{left}" y1="{base}" x2="{right}" y2="{base}"/>')
    parts.append(f'<text class="label" x="0" y="{y(top) + 8:.0f}">{top:.0f}</text>')
    parts.append(f'<text class="label" x="{left:.0f}" y="{height - 4}">0 read</text>')
    parts.append(f'<text class="label" x="{right:.0f}" y="{height - 4}" text-anchor="end">{total:,}</text>')
    told = f"{so_far:,} relevant found in {read:,} read; at most {high:,} more among the rest"
    return _svg(width, height, told, "".join(parts), "curve")


Ticks = Sequence[tuple[float, str]]
"""Where an axis is named, and how."""
LEFT, BOTTOM, TOP, RIGHT = 44, 40, 12, 14
"""The margins of a plot."""


class Axes:
    """A frame with two axes, both from 0 to 1 within it."""

    def __init__(self, width: int, height: int, x: tuple[str, Ticks], y: tuple[str, Ticks]) -> None:
        self.width, self.height = width, height
        base, end = height - BOTTOM, width - RIGHT
        parts = [f'<text class="label" x="{LEFT}" y="{TOP - 2}">{escape(y[0])}</text>'] if y[0] else []
        for at, label in y[1]:
            up = self.y(at)
            parts.append(f'<line class="axis" x1="{LEFT}" y1="{up:.1f}" x2="{end}" y2="{up:.1f}"/>')
            parts.append(
                f'<text class="label" x="{LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{escape(label)}</text>'
            )
        for at, label in x[1]:
            parts.append(
                f'<text class="label" x="{self.x(at):.1f}" y="{base + 16}" text-anchor="middle">{escape(label)}</text>'
            )
        parts.append(f'<text class="label" x="{end}" y="{height - 6}" text-anchor="end">{escape(x[0])}</text>')
        self.parts = parts

    def x(self, share: float) -> float:
        return LEFT + (self.width - LEFT - RIGHT) * min(max(share, 0.0), 1.0)

    def y(self, share: float) -> float:
        return self.height - BOTTOM - (self.height - BOTTOM - TOP - 4) * min(max(share, 0.0), 1.0)

    def line(self, points: Sequence[tuple[float, float]], kind: str, dots: bool = False) -> None:
        drawn = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        self.parts.append(f'<polyline class="{kind}" points="{drawn}" fill="none"/>')
        if dots:
            self.parts += [
                f'<circle class="{kind} dot" cx="{self.x(a):.1f}" cy="{self.y(b):.1f}" r="2.5"/>' for a, b in points
            ]

    def drawn(self, label: str, kind: str) -> Markup:
        return _svg(self.width, self.height, label, "".join(self.parts), f"plot {kind}")


QUARTERS: Ticks = tuple((each / 4, f"{each / 4:g}") for each in range(5))


def precision_recall(curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], width: int = 460) -> Markup:
    """Interpolated precision over recall, a line for each run; the second is dashed."""
    axes = Axes(width, 280, ("recall", QUARTERS), ("precision", QUARTERS))
    told = []
    for place, (name, points) in enumerate(curves):
        axes.line(points, "line second" if place else "line", dots=True)
        told.append(f"{name}: " + ", ".join(f"{precision:.2f} at {recall:g}" for recall, precision in points[::5]))
    return axes.drawn("Precision over recall. " + "; ".join(told), "curves")


def position_curve(points: Sequence[tuple[int, float, float]], width: int = 460) -> Markup:
    """Examination by position (θ) as a line, and the share of clicks among what was shown as a dashed one."""
    last = max((position for position, _, _ in points), default=1)

    def across(position: int) -> float:
        return (position - 1) / max(last - 1, 1)

    places = sorted({1, *(n for n in (5, 10, 15, 20) if n <= last), last})
    axes = Axes(width, 240, ("position", [(across(n), str(n)) for n in places]), ("", QUARTERS))
    rates = [(across(position), rate) for position, rate, _ in points if rate == rate]
    theta = [(across(position), value) for position, _, value in points if value == value]
    axes.line(rates, "line second", dots=True)
    axes.line(theta, "line", dots=True)
    told = f"Clicks by position: {len(points)} positions"
    return axes.drawn(told, "positions")


def differences(bars: Sequence[tuple[str, float, str, bool]], what: str, width: int = 640, height: int = 180) -> Markup:
    """A column for each query, up where its value is above 0: label, value, address, whether it is opened."""
    high, low = (
        max((value for _, value, _, _ in bars), default=0.0),
        min((value for _, value, _, _ in bars), default=0.0),
    )
    high, low = max(high, 0.0), min(low, 0.0)
    span = (high - low) or 1.0
    zero = 8 + (height - 16) * high / span
    step = min(24.0, (width - 44) / max(len(bars), 1))
    parts = [
        f'<text class="label" x="38" y="16" text-anchor="end">{high:.2f}</text>',
        f'<text class="label" x="38" y="{height - 6}" text-anchor="end">{low:.2f}</text>' if low else "",
    ]
    for place, (label, value, address, chosen) in enumerate(bars):
        tall = max(abs(value) / span * (height - 16), 1.0)
        kind = ("column up" if value >= 0 else "column down") + (" chosen" if chosen else "")
        x, hit = 44 + place * step, "hit chosen" if chosen else "hit"
        parts.append(
            f'<a href="{escape(address)}" aria-label="{escape(label)}, {value:+.3f}"><title>{escape(label)}: '
            f'{value:+.3f}</title><rect class="{hit}" x="{x:.1f}" y="0" width="{step:.1f}" height="{height}"/>'
            f'<rect class="{kind}" x="{x + min(1.0, step / 6):.1f}" y="{zero - tall if value >= 0 else zero:.1f}" '
            f'width="{max(step - min(2.0, step / 3), 0.6):.1f}" height="{tall:.1f}"/></a>'
        )
    parts.append(f'<line class="axis" x1="44" y1="{zero:.1f}" x2="{width}" y2="{zero:.1f}"/>')
    return Markup(
        f'<svg class="chart differences" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        f'aria-label="{escape(what)}">{"".join(parts)}</svg>'
    )


DET_TICKS = (0.01, 0.05, 0.2, 0.5, 0.8, 0.95)
_NORMAL = NormalDist()
_FAR = 2.6
"""Normal deviates that a DET plot reaches to, either way."""


def _deviate(p: float) -> float:
    """Where a probability lies on an axis of normal deviates, from 0 to 1."""
    return (min(max(_NORMAL.inv_cdf(min(max(p, 1e-6), 1 - 1e-6)), -_FAR), _FAR) + _FAR) / (2 * _FAR)


def detection(
    curve: Sequence[tuple[float, float]],
    point: tuple[float, float],
    best: tuple[float, float],
    told: str,
    width: int = 420,
) -> Markup:
    """Misses over false alarms on normal deviates (DET): the curve, where the threshold stands, where cost is least.

    `told` is what who does not see it is told.
    """
    ticks = [(_deviate(p), f"{p:.0%}") for p in DET_TICKS]
    axes = Axes(width, 320, ("false alarms", ticks), ("misses", ticks))
    axes.line([(_deviate(fa), _deviate(miss)) for miss, fa in curve], "line")
    (miss, fa), (least_miss, least_fa) = point, best
    x, y = axes.x(_deviate(fa)), axes.y(_deviate(miss))
    axes.parts.append(
        f'<circle class="least" cx="{axes.x(_deviate(least_fa)):.1f}" cy="{axes.y(_deviate(least_miss)):.1f}" r="6"/>'
        f'<line class="here" x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{axes.y(0):.1f}"/>'
        f'<line class="here" x1="{axes.x(0):.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'
        f'<circle class="last" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    )
    return axes.drawn(told, "det")
