"""The rules of clicks/observations.py once more: plain Python over all rows at once, slow and obvious."""

import itertools
import unicodedata
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import Any, NamedTuple


class Seen(NamedTuple):
    cells: dict[tuple[str, str, int], tuple[int, int]]
    users: dict[str, set[str]]
    searches: Counter
    clicks: Counter
    sessions: int


def when(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["timestamp"].replace("Z", "+00:00")).replace(tzinfo=None)


def midnight(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def seen_in(rows: list[dict[str, Any]], rules: Any) -> Seen:
    margin = timedelta(minutes=max(rules.click_window, rules.session_gap))
    queries: dict[str, dict[str, Any]] = {}
    for row in sorted((row for row in rows if "user_query" in row or "query_response_hit_ids" in row), key=when):
        queries.setdefault(row["query_id"], row)
    events = [row for row in rows if "action_name" in row]
    of_search = defaultdict(list)
    for event in events:
        searched = queries.get(event["query_id"])
        if searched is not None:
            day = midnight(when(searched))
            if day - margin <= when(event) < day + timedelta(days=1) + margin:
                of_search[event["query_id"]].append(event)
    reasons, shown_of = {}, {}
    by_day: dict[tuple[str, datetime], list[str]] = defaultdict(list)
    for query_id, row in queries.items():
        by_day[row["client_id"], midnight(when(row))].append(query_id)
        impressions = {e["event_attributes"]["object"]["object_id"] for e in of_search[query_id]
                       if e["action_name"] == "impression" and "object" in e["event_attributes"]}  # fmt: skip
        shown_of[query_id] = impressions
    for (_, _), ids in by_day.items():
        clicks = [e for i in ids for e in of_search[i] if e["action_name"] == "click"]
        clicked = {(e["query_id"], e["event_attributes"]["object"]["object_id"]) for e in clicks
                   if "object" in e["event_attributes"]}  # fmt: skip
        shown = sum(max(len(shown_of[i]), len(queries[i].get("query_response_hit_ids", []))) for i in ids)
        many = len(ids) > rules.robot_searches or len(clicks) > rules.robot_clicks
        if many or (shown >= rules.robot_results and len(clicked) >= rules.robot_share * shown):
            reasons.update(dict.fromkeys(ids, "a robot"))
    for query_id, row in queries.items():
        words = (row.get("user_query") or "").split()
        hits = row.get("query_response_hit_ids", [])
        if query_id in reasons:
            continue
        if not words:
            reasons[query_id] = "an empty query"
        elif len(words) > rules.max_query_words:
            reasons[query_id] = "too many words"
        elif not hits and not shown_of[query_id]:
            reasons[query_id] = "nothing says what was shown"
        elif not shown_of[query_id] and len(set(hits)) < len(hits):
            reasons[query_id] = "a list that names a result twice"
    dwell = dwells(queries, events, rules)
    counts: Counter = Counter()
    kept: dict[tuple[str, str], tuple[int, bool]] = {}
    done = set()
    for event in sorted(events, key=when):
        kind = event["action_name"]
        reason, position = verdict(event, queries, of_search, reasons, shown_of, dwell, rules)
        found = event["event_attributes"].get("object", {}).get("object_id")
        if reason is None and (event["query_id"], found, kind) in done:
            reason = "clicked again" if kind == "click" else "shown again"
        if kind == "click":
            counts[reason] += 1
        if reason is None:
            done.add((event["query_id"], found, kind))
            first, clicked = kept.get((event["query_id"], found), (position, False))
            kept[event["query_id"], found] = (first, clicked or kind == "click")
    cells: dict[tuple[str, str, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    users = defaultdict(set)
    for query_id, row in queries.items():
        if query_id in reasons:
            continue
        words = unicodedata.normalize("NFC", " ".join(row["user_query"].split())).lower()
        users[words].add(row["client_id"])
        results = {found: place for (of, found), place in kept.items() if of == query_id}
        if not shown_of[query_id]:
            hits = row["query_response_hit_ids"][: rules.max_position]
            results = {hit: (k, results.get(hit, (0, False))[1]) for k, hit in enumerate(hits, start=1)}
        for found, (position, clicked) in results.items():
            n, c = cells[words, found, position]
            cells[words, found, position] = (n + 1, c + clicked)
    searches = Counter(reasons.get(query_id) for query_id in queries)
    return Seen(dict(cells), dict(users), searches, counts, sessions(queries, events, rules))


def verdict(event, queries, of_search, reasons, shown_of, dwell, rules):
    """Why an event does not count, or None and its position."""
    if event["action_name"] not in ("click", "impression"):
        return "another action", None
    searched = queries.get(event["query_id"])
    if searched is None:
        return "no search that it belongs to", None
    margin = timedelta(minutes=max(rules.click_window, rules.session_gap))
    today = midnight(when(event))
    near = today - margin <= when(searched) < today + timedelta(days=1) + margin
    if not any(event is other for other in of_search[event["query_id"]]) and not near:
        return "no search that it belongs to", None
    if reasons.get(event["query_id"]):
        return reasons[event["query_id"]], None
    if when(event) < when(searched) - timedelta(seconds=rules.clock_skew):
        return "before its search", None
    if when(event) > when(searched) + timedelta(minutes=rules.click_window):
        return "long after its search", None
    found = event["event_attributes"].get("object", {}).get("object_id")
    position = event["event_attributes"].get("position", {}).get("ordinal")
    hits = searched.get("query_response_hit_ids", [])
    by_list = not shown_of[event["query_id"]]
    place = hits.index(found) + 1 if by_list and found in hits else None
    if found is None:
        return "no object", None
    if by_list and place is None:
        return "not among the results", None
    if position is None and place is None:
        return "no position", None
    if position is not None and position < 1 and place is None:
        return "position zero or below", None
    if position is not None and position >= 1 and place is not None and position != place:
        return "a position that the list of results contradicts", None
    if (place or position) > rules.max_position:
        return "below the last position counted", None
    held = dwell.get(id(event))
    if event["action_name"] == "click" and held is not None and held < timedelta(seconds=rules.min_dwell):
        return "left at once", None
    return None, place or position


def moves(queries, events):
    """The rows of each device and session, in order."""
    own = defaultdict(list)
    for event in events:
        own[event["query_id"]].append(event.get("session_id") or "")
    rows = defaultdict(list)
    for query_id, row in queries.items():
        named = sorted(name for name in own[query_id] if name)
        rows[row["client_id"], named[0] if named else ""].append(row)
    for event in events:
        named = sorted(name for name in own[event["query_id"]] if name and event["query_id"] in queries)
        rows[event["client_id"], event.get("session_id") or (named[0] if named else "")].append(event)
    return [sorted(group, key=when) for group in rows.values()]


def dwells(queries, events, rules):
    found = {}
    for group in moves(queries, events):
        for row, following in itertools.pairwise(group):
            held = when(following) - when(row)
            if "action_name" in row and held <= timedelta(minutes=rules.session_gap):
                found[id(row)] = held
    return found


def sessions(queries, events, rules):
    gap = timedelta(minutes=rules.session_gap)
    return sum(
        1 + sum(when(after) - when(before) > gap for before, after in itertools.pairwise(group))
        for group in moves(queries, events)
    )
