"""From history to what was observed: searches, the results they showed at which positions, and the clicks on them.

The work goes day by day, in a database on disk, so that memory does not grow with the history. What follows of it is
small: for every query, object and position how often it was shown and clicked, and who typed which query.

**Sessions.** The rows of one device and session id, in the order of time, are one session until none comes for
`session_gap` minutes; a day looks so far into its neighbours, so that midnight ends none. The **dwell** of a click is
the time to the next row of its session; of the last click it is not known.

**A search** is a query row, or the rows of one query id that bring a query of their own. Its results are those of its
impression events, with the clicked ones; where it has none, those of its list of hits. An event belongs to the search
of its query id. It is counted on the day of its search, or on its own where that is too far away.

Every search and event that is left out is counted, under the first reason that holds (`SEARCH_REASONS`,
`EVENT_REASONS`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.arrays import Floats, Integers
from germane.clicks.database import working_database
from germane.clicks.rules import MEMORY, SearchRules
from germane.clicks.store import ClickStore, literal, path_list, person_code
from germane.errors import StorageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Texts are long and come again and again: queries, objects and users are codes of 64 bits, and the tables `queries` and
# `objects` tell their texts. A day's searches are numbered, and events are tied to them once. Two texts of one code are
# unlikely beyond worry (one log in a million, of ten million queries), yet looked for.
# Lists of hits come again too: each is looked through once, `lists` keeps the codes of its results, and searches are
# counted by query and list until all days are done.
_TABLES = """
CREATE TEMP TABLE lists (list UBIGINT, codes UBIGINT[]);
CREATE TEMP TABLE lists_with_twins (list UBIGINT);
CREATE TEMP TABLE daily_shown (query UBIGINT, list UBIGINT, shown BIGINT);
CREATE TEMP TABLE daily_cells (query UBIGINT, object UBIGINT, position INTEGER, shown INTEGER, clicked INTEGER);
CREATE TEMP TABLE daily_users (query UBIGINT, who UBIGINT);
CREATE TEMP TABLE daily_queries (code UBIGINT, text VARCHAR);
CREATE TEMP TABLE daily_objects (code UBIGINT, text VARCHAR);
CREATE TEMP TABLE daily_titles (object VARCHAR, title VARCHAR, time TIMESTAMP);
CREATE TEMP TABLE daily_dwell (seconds INTEGER, clicks BIGINT);
"""

_ROWS = """
CREATE OR REPLACE TEMP TABLE q AS
    WITH near AS NOT MATERIALIZED (
        SELECT * FROM {queries} WHERE time >= {lo} - {margin} AND time < {hi} + {margin}),
    several AS MATERIALIZED (SELECT hash(query_id) AS code FROM near GROUP BY code HAVING count(*) > 1)
    SELECT query_id, time, query, hits, hash(hits) AS list, user_id, client_id, session, 1 AS n
    FROM near ANTI JOIN several ON hash(near.query_id) = several.code
    UNION ALL
    SELECT query_id, time, first.query, first.hits, hash(first.hits), user_id, client_id, session, n FROM (
        SELECT query_id, min(time) AS time, arg_min({{'query': query, 'hits': hits}}, time) AS first,
               min(user_id) AS user_id, min(client_id) AS client_id, min(session) AS session, count(*) AS n
        FROM near SEMI JOIN several ON hash(near.query_id) = several.code GROUP BY query_id);
CREATE OR REPLACE TEMP TABLE e AS
    SELECT *, action IN ({clicks}) AS is_click, action IN ({impressions}) AS is_impression
    FROM {events} WHERE time >= {lo} - {margin} AND time < {hi} + {margin};
"""

_BROUGHT = """
INSERT INTO q
    SELECT query_id, min(time), arg_min(query, time), NULL, NULL, min(user_id), min(client_id), min(session), 1
    FROM e ANTI JOIN q USING (query_id) WHERE query IS NOT NULL AND query_id IS NOT NULL GROUP BY query_id
"""

_SEARCHES = """
CREATE OR REPLACE TEMP TABLE x AS
    SELECT e.time, e.query_id, e.user_id, e.client_id, e.session, e.object, hash(e.object) AS code, e.position,
           e.is_click, e.is_impression, q.rowid AS search
    FROM e LEFT JOIN q USING (query_id);
CREATE OR REPLACE TEMP TABLE s AS
    WITH of_objects AS (
        SELECT search, code, any_value(object) IS NOT NULL AS named, min(user_id) AS user_id,
               min(client_id) AS client_id, min(session) AS session, count(*) FILTER (is_click) AS clicks,
               bool_or(is_impression) AS shown
        FROM x WHERE search IS NOT NULL GROUP BY search, code),
    of_events AS (
        SELECT search, min(user_id) AS user_id, min(client_id) AS client_id, min(session) AS session,
               sum(clicks) AS clicks, count(*) FILTER (clicks > 0 AND named) AS clicked,
               count(*) FILTER (shown AND named) AS impressions
        FROM of_objects GROUP BY search),
    told AS (SELECT rowid AS search, *, lower(nfc_normalize(query)) AS folded FROM q)
    SELECT q.search, q.time, q.folded AS query, hash(q.folded) AS code, q.n,
           coalesce(q.user_id, x.user_id, q.client_id, x.client_id, q.session, x.session) AS who,
           coalesce(q.client_id, x.client_id, q.user_id, x.user_id, '') AS device,
           coalesce(q.session, x.session, '') AS session,
           q.time >= {lo} AND q.time < {hi} AS own,
           coalesce(x.clicks, 0) AS clicks, coalesce(x.clicked, 0) AS clicked,
           coalesce(x.impressions, 0) AS impressions, coalesce(len(q.hits), 0) AS listed, q.list
    FROM told q LEFT JOIN of_events x USING (search);
CREATE OR REPLACE TEMP TABLE fresh AS
    WITH wanted AS (
        SELECT DISTINCT list FROM s ANTI JOIN lists USING (list) WHERE own AND impressions = 0 AND listed > 0)
    SELECT list, first(hits) AS hits FROM q SEMI JOIN wanted USING (list) GROUP BY list;
INSERT INTO lists
    SELECT list, [CASE WHEN hit IS NOT NULL THEN hash(hit) END FOR hit IN hits[:{max_position}]] FROM fresh;
INSERT INTO lists_with_twins SELECT list FROM fresh WHERE list_unique(hits) < len(hits);
INSERT INTO daily_objects
    SELECT DISTINCT hash(object), object FROM (SELECT unnest(hits[:{max_position}]) AS object FROM fresh)
    WHERE object IS NOT NULL;
CREATE OR REPLACE TEMP TABLE robots AS
    SELECT who FROM s WHERE own AND who IS NOT NULL GROUP BY who
    HAVING count(*) > {robot_searches} OR sum(clicks) > {robot_clicks}
        OR (sum(greatest(impressions, listed)) >= {robot_results}
            AND sum(clicked) >= {robot_share} * sum(greatest(impressions, listed)));
CREATE OR REPLACE TEMP TABLE judged AS
    SELECT s.*, CASE
        WHEN who IS NULL THEN '{no_user}'
        WHEN r.robot THEN '{robot}'
        WHEN query IS NULL OR query = '' THEN '{empty_query}'
        WHEN len(string_split(query, ' ')) > {max_query_words} THEN '{long_query}'
        WHEN impressions = 0 AND listed = 0 THEN '{no_results}'
        WHEN impressions = 0 AND list IN (FROM lists_with_twins) THEN '{twice}' END AS reason
    FROM s LEFT JOIN (SELECT who, true AS robot FROM robots) r USING (who);
"""

_SESSIONS = """
CREATE OR REPLACE TEMP TABLE moves AS
    SELECT time, search, code, is_click, lead(time) OVER w AS next, lag(time) OVER w AS previous
    FROM (SELECT time, search, NULL AS code, false AS is_click, hash(device, session) AS visit FROM s
          UNION ALL
          SELECT x.time, x.search, x.code, x.is_click,
                 hash(coalesce(s.device, x.client_id, x.user_id, ''), coalesce(x.session, s.session, ''))
          FROM x LEFT JOIN s USING (search))
    WINDOW w AS (PARTITION BY visit ORDER BY time);
"""

_EVENTS = """
CREATE OR REPLACE TEMP TABLE v AS
    WITH joined AS (
        SELECT x.time, x.search, x.object, x.code, x.position, x.is_click, x.is_impression, j.code AS query,
               j.time AS searched, j.search IS NOT NULL AS found, j.own, j.reason AS search_reason,
               j.impressions = 0 AS by_list,
               CASE WHEN j.impressions = 0 THEN list_position(q.hits, x.object) END AS place
        FROM x LEFT JOIN judged j USING (search) LEFT JOIN q ON q.rowid = x.search
        WHERE j.own OR (x.time >= {lo} AND x.time < {hi}
            AND CASE WHEN j.search IS NULL THEN NOT (x.time < {lo} + {margin} AND x.query_id IN (FROM before))
                     WHEN j.time < {lo} THEN x.time >= {lo} + {margin}
                     ELSE x.time < {hi} - {margin} END)),
    judged_events AS (
        SELECT *, coalesce(place, CASE WHEN position >= 1 THEN position END) AS rank, CASE
            WHEN NOT (is_click OR is_impression) THEN '{other_action}'
            WHEN NOT found THEN '{no_search}'
            WHEN search_reason IS NOT NULL THEN search_reason
            WHEN time < searched - INTERVAL ({skew}) MICROSECONDS THEN '{early}'
            WHEN time > searched + INTERVAL ({window}) MICROSECONDS THEN '{late}'
            WHEN object IS NULL THEN '{no_object}'
            WHEN by_list AND place IS NULL THEN '{not_shown}'
            WHEN position IS NULL AND place IS NULL THEN '{no_position}'
            WHEN position < 1 AND place IS NULL THEN '{zero}'
            WHEN position >= 1 AND position <> place THEN '{contradicted}'
            WHEN coalesce(place, position) > {max_position} THEN '{beyond}' END AS reason
        FROM joined),
    held AS (
        SELECT y.*, m.dwell FROM judged_events y LEFT JOIN (
            SELECT search, code, time, min(next - time) AS dwell FROM moves
            WHERE is_click AND next - time <= INTERVAL ({gap}) MICROSECONDS GROUP BY ALL) m
        ON y.is_click AND y.search = m.search AND y.code = m.code AND y.time = m.time),
    dwelt AS (
        SELECT * REPLACE (CASE WHEN reason IS NULL AND is_click AND dwell < INTERVAL ({dwell}) MICROSECONDS
                               THEN '{short}' ELSE reason END AS reason) FROM held)
    SELECT * REPLACE (CASE
            WHEN reason IS NULL AND row_number() OVER
                (PARTITION BY search, code, is_click, reason IS NULL ORDER BY time, rank) > 1
            THEN CASE WHEN is_click THEN '{again}' ELSE '{shown_again}' END ELSE reason END AS reason)
    FROM dwelt;
"""

_KEEP = """
INSERT INTO daily_shown
    SELECT code, list, count(*) FROM judged WHERE own AND reason IS NULL AND impressions = 0 GROUP BY ALL;
INSERT INTO daily_cells
    SELECT query, code, place, 0, count(*) FROM v WHERE reason IS NULL AND by_list GROUP BY ALL;
INSERT INTO daily_cells
    SELECT query, code, position, count(*), sum(clicked) FROM (
        SELECT query, code, arg_min(rank, time) AS position, max(CAST(is_click AS INTEGER)) AS clicked
        FROM v WHERE reason IS NULL AND NOT by_list GROUP BY search, query, code)
    GROUP BY ALL;
INSERT INTO daily_objects SELECT DISTINCT code, object FROM v WHERE reason IS NULL AND NOT by_list;
INSERT INTO daily_queries SELECT DISTINCT code, query FROM judged WHERE own AND reason IS NULL;
INSERT INTO daily_users SELECT DISTINCT code, {who_code} FROM judged WHERE own AND reason IS NULL;
INSERT INTO daily_titles
    SELECT object, arg_max(trim(title), time), max(time) FROM e
    WHERE time >= {lo} AND time < {hi} AND object IS NOT NULL AND trim(title) <> '' GROUP BY object;
INSERT INTO daily_dwell
    SELECT CAST(floor(epoch(dwell)) AS INTEGER), count(*) FROM v
    WHERE reason IS NULL AND is_click AND dwell IS NOT NULL GROUP BY ALL;
"""

_ALL = """
CREATE TEMP TABLE coded_cells AS
    SELECT query, object, position, CAST(sum(shown) AS BIGINT) AS shown, CAST(sum(clicked) AS BIGINT) AS clicked
    FROM (FROM daily_cells
          UNION ALL
          SELECT query, unnest(codes), unnest(range(1, len(codes) + 1)), shown, 0
          FROM (SELECT query, list, sum(shown) AS shown FROM daily_shown GROUP BY ALL) JOIN lists USING (list))
    WHERE object IS NOT NULL GROUP BY ALL;
DROP TABLE daily_cells;
DROP TABLE daily_shown;
DROP TABLE lists;
CREATE TEMP TABLE coded_users AS
    SELECT query, count(*) AS users FROM (SELECT DISTINCT query, who FROM daily_users) GROUP BY query;
CREATE TEMP TABLE queries AS SELECT DISTINCT code, text FROM daily_queries;
CREATE TEMP TABLE objects AS SELECT DISTINCT code, text FROM daily_objects;
DROP TABLE daily_queries;
DROP TABLE daily_objects;
CREATE TEMP TABLE titles AS SELECT object, arg_max(title, time) AS title FROM daily_titles GROUP BY object;
DROP TABLE daily_titles;
CREATE TEMP VIEW cells AS
    SELECT q.text AS query, o.text AS object, position, shown, clicked
    FROM coded_cells c JOIN queries q ON c.query = q.code JOIN objects o ON c.object = o.code;
CREATE TEMP VIEW query_users AS SELECT q.text AS query, users FROM coded_users u JOIN queries q ON u.query = q.code;
"""

NO_USER = "no user"
ROBOT = "a robot"
OTHER_ACTION = "another action"
SEARCH_REASONS = {
    "no_user": NO_USER,
    "robot": ROBOT,
    "empty_query": "an empty query",
    "long_query": "too many words",
    "no_results": "nothing says what was shown",
    "twice": "a list that names a result twice",
}
EVENT_REASONS = {
    "other_action": OTHER_ACTION,
    "no_search": "no search that it belongs to",
    "early": "before its search",
    "late": "long after its search",
    "no_object": "no object",
    "not_shown": "not among the results",
    "no_position": "no position",
    "zero": "position zero or below",
    "contradicted": "a position that the list of results contradicts",
    "beyond": "below the last position counted",
    "short": "left at once",
    "again": "clicked again",
    "shown_again": "shown again",
}
REPEATED_ID = "a query id that was there before"


@dataclass(slots=True)
class Counts:
    """What there was, and what was left out by reason."""

    searches: int = 0
    kept_searches: int = 0
    searches_with_clicks: int = 0
    sessions: int = 0
    users: int = 0
    robots: int = 0
    clicks: int = 0
    kept_clicks: int = 0
    dropped_searches: Counter[str] = field(default_factory=Counter)
    dropped_clicks: Counter[str] = field(default_factory=Counter)
    dropped_impressions: Counter[str] = field(default_factory=Counter)
    dropped_events: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Cells:
    """Query-object pairs by position: how often `pair[i]` was shown at `position[i]` (from 1), and clicked there."""

    pair: Integers
    position: Integers
    shown: Floats
    clicked: Floats


class Observations:
    """What was observed, while its database is open.

    Views `cells` (query, object, position, shown, clicked) and `query_users` (query, users), the table `titles`
    (object, title); with codes for texts, `coded_cells` and `coded_users`, whose texts `queries` and `objects` tell.
    """

    def __init__(
        self, connection: "DuckDBPyConnection", rules: SearchRules, counts: Counts, days: Sequence[str]
    ) -> None:
        self.connection = connection
        self.rules = rules
        self.counts = counts
        self.days = tuple(days)

    def one(self, statement: str) -> tuple[Any, ...]:
        """The only row of an answer."""
        found: tuple[Any, ...] = self.connection.execute(statement).fetchall()[0]
        return found

    def cells(self, *, least: int = 20, most: int = 1_000_000) -> Cells:
        """Pairs that were shown at several positions, `least` times at least, and clicked; at most about `most` cells.

        The attraction of each pair is a parameter, and one that was seen a few times is fitted to chance, which
        flattens the curve: that is why pairs shown rarely are left out.
        """
        arrays = self.connection.execute(
            f"""
            WITH chosen AS (
                SELECT query, object, row_number() OVER (ORDER BY n DESC, query, object) - 1 AS pair,
                       sum(k) OVER (ORDER BY n DESC, query, object ROWS UNBOUNDED PRECEDING) AS so_far
                FROM (SELECT query, object, sum(shown) AS n, count(*) AS k FROM coded_cells
                      GROUP BY ALL HAVING count(*) > 1 AND sum(clicked) > 0 AND sum(shown) >= {int(least)}))
            SELECT CAST(pair AS BIGINT) AS pair, CAST(position AS BIGINT) AS position,
                   CAST(shown AS DOUBLE) AS shown, CAST(clicked AS DOUBLE) AS clicked
            FROM coded_cells JOIN chosen USING (query, object) WHERE so_far <= {int(most)} ORDER BY pair, position
            """
        ).fetchnumpy()
        return Cells(*(np.ascontiguousarray(arrays[name]) for name in ("pair", "position", "shown", "clicked")))

    def searches_by_query(self) -> dict[str, int]:
        """How often each query was searched for, counted by what stood first."""
        found = self.connection.execute(
            "SELECT query, CAST(sum(shown) AS BIGINT) FROM cells WHERE position = 1 GROUP BY query ORDER BY query"
        ).fetchall()
        return dict(found)

    def users_by_query(self) -> dict[str, int]:
        """How many people typed each query; of those that differ in white space alone, the fewest."""
        found = self.connection.execute(
            "SELECT regexp_replace(query, '\\s+', ' ', 'g'), CAST(min(users) AS BIGINT) FROM query_users GROUP BY 1"
        ).fetchall()
        return dict(found)

    def raw_curve(self) -> tuple[Floats, Floats]:
        """Impressions and clicks by position."""
        found = self.connection.execute(
            "SELECT position, CAST(sum(shown) AS DOUBLE), CAST(sum(clicked) AS DOUBLE) FROM coded_cells GROUP BY ALL"
        ).fetchall()
        shown = np.zeros(self.rules.max_position)
        clicked = np.zeros(self.rules.max_position)
        for position, n, c in found:
            shown[position - 1], clicked[position - 1] = n, c
        return shown, clicked

    def median_dwell(self) -> float | None:
        """The median dwell of clicks in whole seconds, of those where it is known."""
        found = self.connection.execute(
            "SELECT seconds, sum(clicks) FROM daily_dwell GROUP BY seconds ORDER BY seconds"
        ).fetchall()
        half = sum(n for _, n in found) / 2
        for seconds, n in found:
            half -= n
            if half <= 0:
                return float(seconds)
        return None


@contextmanager
def observe(
    store: ClickStore,
    rules: SearchRules | None = None,
    *,
    memory_mb: int = MEMORY,
    threads: int | None = None,
    work: str | Path | None = None,
    on_progress: Callable[[str], None] | None = None,
    days: Sequence[str] | None = None,
) -> Iterator[Observations]:
    """Go through the history by these rules, or through some of its days. `work` is a folder for what does not fit into
    memory (else TMPDIR)."""
    rules = rules or SearchRules()
    place = Path(work) if work is not None else Path(gettempdir())
    with working_database(place, memory_mb=memory_mb, threads=threads) as connection:
        connection.execute(_TABLES)
        counts = Counts()
        chosen = [day for day in store.days if days is None or day in days]
        for day in chosen:
            _observe_day(connection, store, rules, date.fromisoformat(day), counts)
            if on_progress is not None:
                on_progress(day)
        connection.execute(_ALL)
        for table in ("queries", "objects"):
            (alike,) = connection.execute(f"SELECT count(*) - count(DISTINCT code) FROM {table}").fetchall()[0]
            if alike:
                raise StorageError(f"two of the {table} have one code; leave one day out of the history, and try again")
        (counts.users,) = connection.execute("SELECT count(*) FROM (SELECT DISTINCT who FROM daily_users)").fetchall()[
            0
        ]
        yield Observations(connection, rules, counts, chosen)


def _observe_day(
    connection: "DuckDBPyConnection", store: ClickStore, rules: SearchRules, day: date, counts: Counts
) -> None:
    values = _values(store, rules, day)
    connection.execute(_ROWS.format(**values))
    if connection.execute("SELECT 1 FROM e WHERE query IS NOT NULL LIMIT 1").fetchall():
        connection.execute(_BROUGHT)
    connection.execute(_SEARCHES.format(**values))
    connection.execute(_SESSIONS)
    yesterday = store.paths("queries", [(day - timedelta(days=1)).isoformat()])
    before = (
        f"SELECT query_id FROM read_parquet({path_list(yesterday)})"
        if yesterday
        else "SELECT '' AS query_id WHERE false"
    )
    early = f"SELECT query_id FROM e WHERE time < {values['lo']} + {values['margin']}"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE before AS SELECT DISTINCT query_id FROM ({before}) WHERE query_id IN ({early})"
    )
    connection.execute(_EVENTS.format(**values))
    connection.execute(_KEEP.format(**values))
    _count(connection, values, counts)


def _values(store: ClickStore, rules: SearchRules, day: date) -> dict[str, Any]:
    """What stands in the statements of a day. Texts that come from outside are quoted."""
    near = [(day + timedelta(days=shift)).isoformat() for shift in (-1, 0, 1)]

    def scan(table: str, empty: str) -> str:
        paths = store.paths(table, near)
        return f"read_parquet({path_list(paths)})" if paths else f"(SELECT {empty} WHERE false)"

    texts = ("query_id", "user_id", "client_id", "session", "query")
    columns = "CAST(NULL AS TIMESTAMP) AS time, " + ", ".join(f"CAST(NULL AS VARCHAR) AS {name}" for name in texts)
    more = "CAST(NULL AS VARCHAR) AS action, CAST(NULL AS VARCHAR) AS object, CAST(NULL AS INTEGER) AS position, " \
           "CAST(NULL AS VARCHAR) AS title"  # fmt: skip
    return {
        **SEARCH_REASONS,
        **EVENT_REASONS,
        "queries": scan("queries", f"{columns}, CAST(NULL AS VARCHAR[]) AS hits"),
        "events": scan("events", f"{columns}, {more}"),
        "who_code": person_code("who"),
        "lo": f"TIMESTAMP '{day}'",
        "hi": f"TIMESTAMP '{day + timedelta(days=1)}'",
        "margin": f"INTERVAL ({_micro(60 * max(rules.click_window, rules.session_gap))}) MICROSECONDS",
        "window": _micro(60 * rules.click_window),
        "gap": _micro(60 * rules.session_gap),
        "skew": _micro(rules.clock_skew),
        "dwell": _micro(rules.min_dwell),
        "clicks": ", ".join(map(literal, rules.click_actions)),
        "impressions": ", ".join(map(literal, rules.impression_actions)) or "''",
        "robot_clicks": int(rules.robot_clicks),
        "robot_searches": int(rules.robot_searches),
        "robot_results": int(rules.robot_results),
        "robot_share": float(rules.robot_share),
        "max_position": int(rules.max_position),
        "max_query_words": int(rules.max_query_words),
    }


def _micro(seconds: float) -> int:
    return round(1e6 * seconds)


def _count(connection: "DuckDBPyConnection", values: dict[str, Any], counts: Counts) -> None:
    """Add a day to the counts."""
    repeated = 0
    for reason, searches, again, clicked in connection.execute(
        "SELECT reason, count(*), sum(n - 1), count(*) FILTER (clicks > 0) FROM judged WHERE own GROUP BY reason"
    ).fetchall():
        counts.searches += searches
        repeated += int(again)
        if reason is None:
            counts.kept_searches += searches
            counts.searches_with_clicks += clicked
        else:
            counts.dropped_searches[reason] += searches
    if repeated:
        counts.dropped_searches[REPEATED_ID] += repeated
    for reason, is_click, is_impression, n in connection.execute(
        "SELECT reason, is_click, is_impression, count(*) FROM v GROUP BY ALL"
    ).fetchall():
        if is_click:
            counts.clicks += n
            counts.kept_clicks += n if reason is None else 0
        if reason is not None:
            kind = counts.dropped_clicks if is_click else counts.dropped_impressions
            (kind if is_click or is_impression else counts.dropped_events)[reason] += n
    sessions = (
        f"SELECT count(*) FROM moves WHERE time >= {values['lo']} AND time < {values['hi']} "
        f"AND (previous IS NULL OR time - previous > INTERVAL ({values['gap']}) MICROSECONDS)"
    )
    counts.sessions += connection.execute(sessions).fetchall()[0][0]
    counts.robots += connection.execute("SELECT count(*) FROM robots").fetchall()[0][0]
