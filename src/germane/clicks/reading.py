"""Rows of a log, whatever its form, in one table `rows`: what each says in our words, or why it cannot be used.

A log is JSON Lines, CSV, TSV or Parquet. Its columns are those of OpenSearch's User Behavior Insights (UBI 1.3) unless
a mapping names others; a dotted name is a path into an object. A row that holds an action or an object is an event, one
that holds a query alone is a query. An event may also bring its own query, as in a flat log: without a query id, the
events of one user, session, query and day are one search. A row with an object and no action is a click.

Nothing here raises for a bad row: it is counted with its reason, and the next is read. A file that cannot be read to
its end keeps the rows that were read, and says so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from germane.clicks.database import first_line
from germane.clicks.rules import ImportRules
from germane.data.compression import compression_of, open_binary
from germane.data.lines import read_lines
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    import duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PATHS: Mapping[str, tuple[str, ...]] = {
    "time": ("timestamp", "time"),
    "query_id": ("query_id",),
    "user": ("user_id", "user"),
    "client": ("client_id", "client"),
    "session": ("session_id", "session"),
    "query": ("user_query",),
    "hits": ("query_response_hit_ids", "hits"),
    "action": ("action_name", "action"),
    "object": ("event_attributes.object.object_id", "object_id", "object"),
    "position": ("event_attributes.position.ordinal", "position"),
    "title": ("event_attributes.object.name", "title"),
    "clicked": ("clicked",),
}
"""Paths of each of our columns, UBI's name first. UBI calls the engine's own request `query`, so that this
name is taken for a column of people's words only where there is no `user_query`, and never in JSON Lines."""

FORMATS = ("jsonl", "csv", "tsv", "parquet")
_ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
BLOCK_BYTES = 8 << 20
LONGEST_LINE = 1 << 20
"""Bytes of a line of JSON Lines beyond which it is no row of a log."""

_NOTHING = "CAST(NULL AS VARCHAR)"
_SPACES = r"^ |  | $|[\p{Cc}\p{Zl}\p{Zp}\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]"
"""Characters that become a single space between words: of Unicode's spaces (Zs) all but the plain one, too."""

NOT_UTF8 = "not UTF-8"
NOT_JSON = "not a JSON object, or half of one"
TOO_LONG = f"a line of more than {LONGEST_LINE:,} bytes"
MALFORMED = "not as many columns as the header, or not UTF-8"
NO_TIME = "no time that can be read"
OTHER_TYPE = "an object or a list where a text is needed"

ROWS = """
CREATE TEMP TABLE rows (
    kind VARCHAR, reason VARCHAR, day DATE, time TIMESTAMP, query_id VARCHAR, user_id VARCHAR, client_id VARCHAR,
    session VARCHAR, query VARCHAR, hits VARCHAR[], action VARCHAR, object VARCHAR, position INTEGER, title VARCHAR
)
"""

_INSERT = """
INSERT INTO rows
WITH read AS (SELECT query IS NOT NULL AS has_query, * REPLACE (
        nullif(query_id, '') AS query_id, nullif(user_id, '') AS user_id, nullif(client_id, '') AS client_id,
        nullif(session, '') AS session, nullif(action, '') AS action, nullif(object, '') AS object,
        nullif(clicked, '') AS clicked, redacted(query) AS query) FROM ({raw})),
told AS (SELECT *,
        CASE WHEN action IS NOT NULL OR clicked IS NOT NULL OR object IS NOT NULL THEN 'event'
             WHEN has_query OR hits IS NOT NULL THEN 'query' END AS kind,
        CASE WHEN isfinite(time) AND year(time) BETWEEN 1990 AND 2100 THEN CAST(time AS DATE) END AS day
    FROM read)
SELECT kind,
    CASE WHEN wrong IS NOT NULL THEN wrong
         WHEN kind IS NULL THEN 'neither a query nor an event'
         WHEN time IS NULL THEN '{NO_TIME}'
         WHEN day IS NULL THEN 'a time before 1990 or after 2100'
         WHEN query_id IS NULL AND kind = 'query' THEN 'a query without an id'
         WHEN query_id IS NULL AND query IS NULL THEN 'an event of no query' END AS reason,
    day, time,
    CASE WHEN query_id IS NOT NULL OR query IS NULL THEN query_id
         ELSE md5(concat_ws(chr(31), coalesce(user_id, ''), coalesce(client_id, ''), coalesce(session, ''), query,
                            CAST(day AS VARCHAR))) END AS query_id,
    user_id, client_id, session, query, hits,
    CASE WHEN kind = 'query' THEN NULL
         WHEN clicked IS NOT NULL THEN
            CASE WHEN lower(clicked) IN ('1', 'true', 'yes', 't', '1.0') THEN 'click' ELSE 'impression' END
         ELSE coalesce(action, 'click') END AS action,
    object, position + {shift} AS position, title
FROM told
"""


@dataclass(slots=True)
class ReadReport:
    """Unused parts of the files: rows by reason, and files or their ends that cannot be read."""

    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)


def format_of(path: Path) -> str:
    """The format that a file's name tells, without the ending of a compression."""
    for ending in reversed(path.suffixes[-2:]):
        if ending.lower() in _ENDINGS:
            return _ENDINGS[ending.lower()]
    raise InputError(f"its name does not tell its format: one of {', '.join(FORMATS)}", source=str(path))


def paths_with(mapping: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Return the paths of our columns, those of the mapping (ours to theirs) first."""
    unknown = [name for name in mapping or () if name not in PATHS]
    if unknown:
        raise ParameterError(f"no column of ours is called '{unknown[0]}'; there are: {', '.join(PATHS)}")
    return {**PATHS, **{ours: (theirs,) for ours, theirs in (mapping or {}).items()}}


class LogReader:
    """Reads files into the table `rows` of a working database."""

    def __init__(
        self,
        connection: "DuckDBPyConnection",
        work: Path,
        *,
        rules: ImportRules,
        mapping: Mapping[str, str] | None = None,
        format: str | None = None,
        encoding: str = "utf-8",
    ) -> None:
        if format is not None and format not in FORMATS:
            raise ParameterError(f"no format of logs is called '{format}'; there are: {', '.join(FORMATS)}")
        self._connection = connection
        self._work = work
        self._paths = paths_with(mapping)
        self._mapped = frozenset(mapping or ())
        self._format = format
        self._encoding = encoding
        self._shift = 1 - rules.first_position
        self.report = ReadReport()
        connection.execute(ROWS)
        connection.execute(f"CREATE MACRO redacted(q) AS {_redaction(rules)}")

    def read(self, path: Path) -> None:
        """Add a file's rows. What is wrong with them, or with the file, is in `report`."""
        before = self._count()
        bad = sum(self.report.dropped.values())
        try:
            format = self._format or format_of(path)
            if format == "jsonl":
                self._read_jsonl(path)
            elif format == "parquet":
                self._read_parquet(path)
            else:
                self._read_delimited(path, "," if format == "csv" else "\t")
        except InputError as error:
            self.report.unreadable.append(str(error))
        except (duckdb.OutOfMemoryException, duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException):
            raise  # no fault of the file
        except duckdb.Error as error:
            if "write" in str(error).lower():  # the disk of the working database, not the file
                raise
            self.report.unreadable.append(f"{path}: {first_line(error)}")
        self.report.rows += self._count() - before + sum(self.report.dropped.values()) - bad

    def finish(self) -> ReadReport:
        """Take the rows that cannot be used out of the table, counted by reason."""
        found = self._connection.execute("SELECT reason, count(*) FROM rows WHERE reason IS NOT NULL GROUP BY reason")
        self.report.dropped.update(dict(found.fetchall()))
        self._connection.execute("DELETE FROM rows WHERE reason IS NOT NULL")
        return self.report

    def _count(self) -> int:
        (found,) = self._connection.execute("SELECT count(*) FROM rows").fetchall()[0]
        return int(found)

    def _insert(self, raw: str, parameters: Sequence[object] = ()) -> None:
        self._connection.execute(_INSERT.format(raw=raw, shift=self._shift, NO_TIME=NO_TIME), list(parameters))

    # -- JSON Lines ----------------------------------------------------------------------------------------------------

    def _read_jsonl(self, path: Path) -> None:
        raw = self._jsonl_select()
        for block in self._blocks(path):
            self._insert(raw, [block])

    def _blocks(self, path: Path) -> Iterator[str]:
        """Lines by some megabytes, those left out that are no text or too long."""
        lines: list[bytes] = []
        size = 0
        failure: InputError | None = None
        try:
            for _, line in read_lines(path, self._encoding):
                if len(line) > LONGEST_LINE:
                    self.report.dropped[TOO_LONG] += 1
                    continue
                lines.append(line)
                size += len(line)
                if size >= BLOCK_BYTES:
                    yield self._decoded(lines)
                    lines, size = [], 0
        except InputError as error:
            failure = error
        if lines:
            yield self._decoded(lines)
        if failure is not None:
            raise failure

    def _decoded(self, lines: Sequence[bytes]) -> str:
        try:
            return b"".join(lines).decode()
        except UnicodeDecodeError:
            texts = []
            for line in lines:
                try:
                    texts.append(line.decode())
                except UnicodeDecodeError:
                    self.report.dropped[NOT_UTF8] += 1
            return "".join(texts)

    def _jsonl_select(self) -> str:
        """Raw rows from a block of lines, each parsed once; what is not JSON has NULL everywhere.

        `_source` is what the dump of an index puts around a row.
        """
        paths = [path for name in PATHS for path in self._paths[name]]
        listed = ", ".join(_json_path(path) for path in paths)

        def first(name: str) -> str:
            found = [f"f[{paths.index(path) + 1}]" for path in self._paths[name]]
            return found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"

        texts = [
            paths.index(path) + 1 for name in ("query_id", "query", "object", "action") for path in self._paths[name]
        ]
        nested = " OR ".join(f"types[{place}] IN ('OBJECT', 'ARRAY')" for place in texts)
        hits = first("hits")
        return f"""
            SELECT {_time(first("time"))} AS time, {first("query_id")} AS query_id, {first("user")} AS user_id,
                {first("client")} AS client_id, {first("session")} AS session, {first("query")} AS query,
                CASE WHEN json_valid({hits}) THEN try_cast(CAST({hits} AS JSON) AS VARCHAR[]) END AS hits,
                {first("action")} AS action, {first("object")} AS object,
                {_whole(first("position"))} AS position, {first("title")} AS title, {first("clicked")} AS clicked,
                CASE WHEN f IS NULL THEN '{NOT_JSON}' WHEN {nested} THEN '{OTHER_TYPE}' END AS wrong
            FROM (SELECT json_extract_string(j, [{listed}]) AS f, json_type(j, [{listed}]) AS types
                  FROM (SELECT CASE WHEN NOT json_valid(line) OR ltrim(line, E' \\r\\t') NOT LIKE '{{%' THEN NULL
                                    WHEN contains(line, '"_source"') AND json_type(line, '$._source') = 'OBJECT'
                                    THEN CAST(json_extract(line, '$._source') AS VARCHAR) ELSE line END AS j
                        FROM (SELECT unnest(string_split(?, chr(10))) AS line) WHERE trim(line, E' \\r\\t') <> ''))
        """

    # -- columns -------------------------------------------------------------------------------------------------------

    def _read_parquet(self, path: Path) -> None:
        self._insert(self._columns_select(path, "read_parquet(?)", [str(path)]), [str(path)])

    def _read_delimited(self, path: Path, delimiter: str) -> None:
        plain = self._plain(path)
        scan = (
            f"read_csv(?, all_varchar = true, header = true, delim = '{delimiter}', quote = '\"', escape = '\"', "
            "ignore_errors = true, store_rejects = true, rejects_limit = 0, "
            f"max_line_size = {LONGEST_LINE}, buffer_size = {32 * LONGEST_LINE})"
        )
        try:
            raw = self._columns_select(path, scan, [str(plain)])
            self._forget_rejects()
            self._insert(raw, [str(plain)])
            rejected = "SELECT count(*) FROM (SELECT DISTINCT file_id, line FROM reject_errors)"
            (bad,) = self._connection.execute(rejected).fetchall()[0]
            if bad:
                self.report.dropped[MALFORMED] += bad
        finally:
            self._forget_rejects()
            if plain != path:
                plain.unlink(missing_ok=True)

    def _forget_rejects(self) -> None:
        for table in ("reject_errors", "reject_scans"):
            self._connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _plain(self, path: Path) -> Path:
        """The file, or a copy that is neither compressed nor in another encoding."""
        try:
            with open(path, "rb") as file:
                packed = compression_of(file.read(16))
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", source=str(path)) from None
        if packed is None and self._encoding.lower().replace("_", "-") in ("utf-8", "utf8", "ascii"):
            return path
        copy = self._work / "plain"
        with open_binary(path, self._encoding) as stream, open(copy, "wb") as file:
            try:
                while piece := stream.read(1 << 20):
                    file.write(piece)
            except InputError as error:
                self.report.unreadable.append(str(error))
        return copy

    def _columns_select(self, path: Path, scan: str, parameters: Sequence[object]) -> str:
        """Raw rows of a table, whose columns may be flat, structures, or texts that hold JSON."""
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {scan}", list(parameters)).fetchall()
        types: dict[str, str] = {name: kind for name, kind, *_ in described}

        def found(name: str) -> tuple[str, str]:
            paths = self._paths[name]
            if name == "query" and name not in self._mapped and "user_query" not in types:
                paths = (*paths, "query")
            for candidate in paths:
                expression = self._column(types, candidate, scan, parameters)
                if expression is not None:
                    return expression
            if name in self._mapped:
                raise InputError(f"there is no column '{paths[0]}'; found: {', '.join(types)}", source=str(path))
            return _NOTHING, "VARCHAR"

        def text(name: str) -> str:
            expression, kind = found(name)
            if _is_nested(kind):
                raise InputError(f"{kind} where a text is needed", source=str(path), field=self._paths[name][0])
            return expression if kind == "VARCHAR" else f"CAST({expression} AS VARCHAR)"

        if all(found(name)[0] == _NOTHING for name in ("query", "object", "action", "hits")):
            names = ", ".join(types)
            raise InputError(f"neither queries nor events: name their columns in a mapping; found: {names}",
                             source=str(path))  # fmt: skip
        time, time_kind = found("time")
        if time == _NOTHING:
            looked_for, names = " or ".join(f"'{each}'" for each in self._paths["time"]), ", ".join(types)
            raise InputError(
                f"there is no column {looked_for}: name that of the times in a mapping (--map time=COLUMN); found: "
                f"{names}",
                source=str(path),
            )
        position, position_kind = found("position")
        hits, hits_kind = found("hits")
        return f"""
            SELECT {f"CAST({time} AS TIMESTAMP)" if time_kind.startswith("TIMESTAMP") else _time(text("time"))} AS time,
                {text("query_id")} AS query_id, {text("user")} AS user_id, {text("client")} AS client_id,
                {text("session")} AS session, {text("query")} AS query,
                {f"CAST({hits} AS VARCHAR[])" if hits_kind.endswith("[]") else _list(text("hits"))} AS hits,
                {text("action")} AS action, {text("object")} AS object,
                {position if position_kind == "INTEGER" else _whole(text("position"))} AS position,
                {text("title")} AS title, {text("clicked")} AS clicked, CAST(NULL AS VARCHAR) AS wrong
            FROM {scan}
        """

    def _column(
        self, types: Mapping[str, str], path: str, scan: str, parameters: Sequence[object]
    ) -> tuple[str, str] | None:
        """The expression of a path and its type: a column of that very name, a member of a structure or a JSON text."""
        if path in types:
            return _quoted(path), types[path]
        head, _, rest = path.partition(".")
        if not rest or head not in types:
            return None
        if types[head] in ("VARCHAR", "JSON"):
            valid = f"CASE WHEN json_valid({_quoted(head)}) THEN {_quoted(head)} END"
            return f"json_extract_string({valid}, {_json_path(rest)})", "VARCHAR"
        member = ".".join(_quoted(name) for name in path.split("."))
        try:
            described = self._connection.execute(f"DESCRIBE SELECT {member} AS m FROM {scan}", list(parameters))
        except duckdb.BinderException:
            return None  # no such member
        return f"({member})", described.fetchall()[0][1]


def _is_nested(kind: str) -> bool:
    return kind.startswith(("STRUCT", "MAP")) or kind.endswith("]")


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _text(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _json_path(path: str) -> str:
    """A dotted path as DuckDB writes it; names are quoted, so that any sign but a dot may be in them."""
    names = ("".join(("\\" if sign in '"\\' else "") + sign for sign in name) for name in path.split("."))
    return _text("$" + "".join(f'."{name}"' for name in names))


def _time(text: str) -> str:
    """A time in UTC: ISO 8601, without an offset taken for UTC, or seconds, milliseconds or microseconds since 1970."""
    number = f"try_cast({text} AS DOUBLE)"
    scale = f"CASE WHEN abs({number}) < 1e11 THEN 1e6 WHEN abs({number}) < 1e14 THEN 1e3 ELSE 1 END"
    since = f"CASE WHEN abs({number}) < 1e17 THEN make_timestamp(CAST({number} * {scale} AS BIGINT)) END"
    return f"coalesce(CAST(try_cast({text} AS TIMESTAMPTZ) AS TIMESTAMP), {since})"


def _whole(text: str) -> str:
    """A whole number, or NULL."""
    number = f"try_cast({text} AS DOUBLE)"
    return f"CASE WHEN {number} = floor({number}) THEN try_cast({number} AS INTEGER) END"


def _list(text: str) -> str:
    """A list from a text: JSON, or ids with spaces, commas or bars between them."""
    return (
        f"CASE WHEN json_valid({text}) AND {text} LIKE '[%' THEN try_cast(CAST({text} AS JSON) AS VARCHAR[]) "
        f"ELSE regexp_split_to_array(nullif(trim({text}, E' ,|\\t'), ''), '[\\s,|]+') END"
    )


def _redaction(rules: ImportRules) -> str:
    """The query without what may name a person, and with single spaces; NULL where nothing is left.

    To replace takes ten times as long as to see that there is nothing to replace, as in most queries.
    """
    text, suspicious = "q", [_SPACES]
    if rules.redact_addresses:
        text = f"regexp_replace({text}, '[^\\s@<>\"]+@[^\\s@<>\"]+', ' ', 'g')"
        suspicious.append("@")
    if rules.redact_digits:
        more = f"(?:[\\s().,/+-]*\\p{{Nd}}){{{rules.redact_digits - 1},}}" if rules.redact_digits > 1 else "+"
        text = f"regexp_replace({text}, '\\p{{Nd}}{more}', ' ', 'g')"
        suspicious.append(f"\\p{{Nd}}{more}")
    cleaned = f"nullif(trim(regexp_replace({text}, '[\\s\\p{{Z}}\\p{{Cc}}]+', ' ', 'g')), '')"
    return f"CASE WHEN regexp_matches(q, '{'|'.join(suspicious)}') THEN {cleaned} ELSE nullif(q, '') END"
