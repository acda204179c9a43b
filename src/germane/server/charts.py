"""Charts as SVG, made here: attributes and classes alone, since the page allows no inline style."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup


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
    days = "1 day" if len(counts) == 1 else f"{len(counts)} days"
    return _svg(width, height, f"{sum(counts):,} hits over {days}", body, "sparkline")


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
    return _svg(width, height, f"{sum(n for _, n in days):,} hits on {len(days)} days", "".join(parts), "timeline")


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


def found_curve(
    found: Sequence[int], total: int, expected: float | None, high: int, width: int = 260, height: int = 150
) -> Markup:
    """Relevant records found over records read, and the band of how many there may be: from what is found to `high`."""
    read = len(found)
    top = max(float((found[-1] if found else 0) + high), (found[-1] if found else 0) + (expected or 0.0), 4.0)
    left, base, right = 26.0, height - 18.0, width - 4.0

    def x(n: float) -> float:
        return left + (right - left) * n / max(total, 1)

    def y(n: float) -> float:
        return base - (base - 8) * n / top

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
