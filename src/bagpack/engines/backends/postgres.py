"""PostgreSQL full-text search. `postgresql://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?table=NAME]`.

By default the table is `bagpack_sentences`, which `bagpack engine build` makes: a row per sentence, our tokens in a
`tsvector` with a GIN index. A table of the user's own is named by `table`, `column` (its text) and, as it pleases,
`id` (a column that names the document), `vector` (a `tsvector` column) and `config` (a text search configuration,
`simple` if none is named). Everything else in the query string goes to the driver (`sslmode=require`).
"""

from __future__ import annotations

import itertools
import json
import threading
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlunsplit

from bagpack.engines.base import Address, BusyError, EngineError, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import UsageError, missing_extra

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

DEFAULT_TABLE = "bagpack_sentences"
OUR_OPTIONS = ("table", "column", "id", "vector", "config")
FORMAT_VERSION = 1
MARK = "bagpack engine "  # opens the comment on a table of ours
MOST_POSITIONS = 16_383  # PostgreSQL's bound; later words of one sentence are not found


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise missing_extra("psycopg", "postgresql", "a postgresql: engine") from None
    return psycopg


def quote_lexeme(token: str) -> str:
    """A token as it stands in a tsquery or tsvector: text, whatever it holds."""
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def tsquery(query: Query) -> str:
    """The query in PostgreSQL's language: `(lion|lions) <5> (cat|cats)`.

    Forms of several words are written out as flat chains, since the distance to a nested phrase counts from its
    last word on one side and to its first on the other.
    """

    def chain(form: Form) -> str:
        return " <-> ".join(quote_lexeme(index_word(token)) for token in form)

    if query.kind == "word":
        return " | ".join(chain(form) for form in query.forms1)
    distance = f" <{query.gap + 1}> "
    if all(len(form) == 1 for form in (*query.forms1, *query.forms2)):
        return distance.join(f"({' | '.join(map(chain, forms))})" for forms in (query.forms1, query.forms2))
    return " | ".join(
        f"({chain(first)}{distance}{chain(second)})"
        for first, second in itertools.product(query.forms1, query.forms2)
    )


def tsvector(words: list[str]) -> str:
    """Tokens and their positions, as text that PostgreSQL casts."""
    places: dict[str, list[str]] = {}
    for position, word in enumerate(words[:MOST_POSITIONS], 1):
        places.setdefault(word, []).append(str(position))
    return " ".join(f"{quote_lexeme(word)}:{','.join(at)}" for word, at in places.items())


class _Database:
    """Connections (one per thread) and sentences about what went wrong with them."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.psycopg = _driver()
        self.address = address
        self.timeout = timeout
        self._local = threading.local()
        self._open: list[Any] = []
        self._lock = threading.Lock()

    def connection(self) -> Any:
        """The connection of this thread, made anew if it broke."""
        held = getattr(self._local, "connection", None)
        if held is not None and not held.closed:
            return held
        parts = self.address.parts
        kept = {name: value for name, value in self.address.options.items() if name not in OUR_OPTIONS}
        kept.setdefault("connect_timeout", str(max(2, round(self.timeout))))
        kept.setdefault("application_name", "bagpack")
        conninfo = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(kept), ""))
        try:
            made = self.psycopg.connect(conninfo, autocommit=True)
            made.execute(f"SET statement_timeout = {round(self.timeout * 1000)}")
        except self.psycopg.Error as error:
            raise self.sentence(error) from None
        except UnicodeError:
            raise UsageError(
                f"{self.address} is not a URL that PostgreSQL's driver can read; check it"
            ) from None
        self._local.connection = made
        with self._lock:
            self._open.append(made)
        return made

    def sentence(self, error: Exception) -> EngineError:
        """What went wrong, where, and the cure."""
        kinds, told, where = self.psycopg.errors, self.address.scrub(error), self.address
        cause = str(error).lower()
        if isinstance(error, kinds.QueryCanceled):
            return BusyError(f"{where} took longer than {self.timeout:g} s over a query; raise --timeout")
        if isinstance(error, kinds.UndefinedTable | kinds.UndefinedColumn | kinds.InvalidSchemaName):
            return EngineError(
                f"{where}: {told}; name the table and its columns in the URL (?table=…&column=…), or fill one with "
                f"bagpack engine build"
            )
        if isinstance(error, kinds.UndefinedObject):
            return EngineError(f"{where}: {told}; correct config= in the URL")
        if isinstance(error, kinds.DiskFull):
            return EngineError(
                f"the disk of {where} is full; free some space there and run the command again"
            )
        if isinstance(error, kinds.InsufficientPrivilege) or any(
            phrase in cause for phrase in ("authentication failed", "no password supplied", "pg_hba", "role ")
        ):
            return EngineError(
                f"{where} refused the credentials; set PGUSER and PGPASSWORD, or put user and password into the URL"
            )
        if "does not exist" in cause and "database" in cause:
            return EngineError(f"{where}: {told}; correct the database's name in the URL")
        if isinstance(error, kinds.TooManyConnections | kinds.AdminShutdown | kinds.CannotConnectNow):
            return BusyError(f"{where} is not taking queries at the moment ({told}); try again later")
        if isinstance(error, self.psycopg.OperationalError):
            return BusyError(
                f"{where} does not answer ({told}); check that the server runs, and its host and port"
            )
        return EngineError(f"{where} could not answer: {told}")

    def close(self) -> None:
        for connection in self._open:
            connection.close()
        self._open.clear()


def _identifier(psycopg: Any, name: str) -> Any:
    return psycopg.sql.Identifier(*name.split("."))


class PostgresEngine:
    """A table to be searched."""

    name = "postgresql"

    def __init__(self, address: Address, timeout: float) -> None:
        self._database = _Database(address, timeout)
        options = address.options
        self.table = options.get("table", DEFAULT_TABLE)
        facts = self._facts()
        self.exact = facts is not None and "column" not in options
        self.identity = (
            f"postgresql:{facts['build']}" if self.exact and facts else f"postgresql:{address.shown}"
        )
        if not self.exact and "column" not in options:
            self._database.close()
            raise UsageError(
                f"{address}: the table {self.table!r} was not made by bagpack engine build; name the column that "
                f"holds its text (?table={self.table}&column=…)"
            )
        self._statement = self._select(options)

    def _facts(self) -> dict[str, Any] | None:
        """What the comment on a table of ours says; None for another table; an error if there is none."""
        psycopg = self._database.psycopg
        written = _identifier(psycopg, self.table).as_string(None)
        row = self._run("SELECT obj_description(%s::regclass, 'pg_class')", (written,))[0]
        if not (row[0] or "").startswith(MARK):
            return None
        facts: dict[str, Any] = json.loads(row[0].removeprefix(MARK))
        if facts["format_version"] != FORMAT_VERSION:
            raise EngineError(
                f"{self._database.address}: the table {self.table!r} has format version {facts['format_version']}, "
                f"this BagPack reads {FORMAT_VERSION}; build it again"
            )
        return facts

    def _select(self, options: dict[str, str]) -> Any:
        """The statement that a search runs, with the query and the limit to be filled in."""
        sql = self._database.psycopg.sql
        table = _identifier(self._database.psycopg, self.table)
        if self.exact:
            # The numbers first: with ORDER BY … LIMIT in sight the planner may walk the table instead of the index.
            text = (
                "WITH hits AS MATERIALIZED (SELECT number FROM {table} WHERE words @@ %s::tsquery), "
                "first AS (SELECT number FROM hits ORDER BY number LIMIT %s) "
                "SELECT document, sentence FROM {table} JOIN first USING (number) ORDER BY number"
            )
            return sql.SQL(text).format(table=table)
        config = sql.Literal(options.get("config", "simple"))
        column = sql.Identifier(options["column"])
        vector = (
            sql.Identifier(options["vector"])
            if "vector" in options
            else sql.SQL("to_tsvector({}::regconfig, {})").format(config, column)
        )
        name = (
            sql.SQL("{}::text").format(sql.Identifier(options["id"]))
            if "id" in options
            else sql.SQL("ctid::text")
        )
        order = sql.Identifier(options["id"]) if "id" in options else sql.SQL("ctid")
        text = (
            "SELECT {name}, {column} FROM {table} WHERE {vector} @@ to_tsquery({config}::regconfig, %s) "
            "ORDER BY {order} LIMIT %s"
        )
        return sql.SQL(text).format(
            name=name, column=column, table=table, vector=vector, config=config, order=order
        )

    def _run(self, statement: Any, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            found: list[tuple[Any, ...]] = self._database.connection().execute(statement, values).fetchall()
        except self._database.psycopg.Error as error:
            raise self._database.sentence(error) from None
        return found

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first rows: by number in a table of ours, by id in the user's."""
        rows = self._run(self._statement, (tsquery(query), limit))
        return [Snippet(name or "", text) for name, text in rows if text]

    def native(self, query: Query) -> str:
        """As `ENGINE.native`."""
        return tsquery(query)

    def close(self) -> None:
        """Close the connections of all threads."""
        self._database.close()


class PostgresBuilder:
    """Fills a table inside one transaction: it is there when it is whole."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        if foreign := {"column", "id", "vector", "config"} & address.options.keys():
            raise UsageError(
                f"bagpack engine build names its own columns; leave {min(foreign)}= out of the URL"
            )
        self._database = _Database(address, timeout=30.0)
        self.table = address.options.get("table", DEFAULT_TABLE)
        self.number = 0
        psycopg = self._database.psycopg
        self._sql = psycopg.sql
        self._connection = self._database.connection()
        written = _identifier(psycopg, self.table).as_string(None)
        try:
            self._connection.autocommit = False
            self._connection.execute("SET LOCAL statement_timeout = 0")
            held = self._connection.execute(
                "SELECT to_regclass(%s) IS NOT NULL, obj_description(to_regclass(%s), 'pg_class')",
                (written, written),
            ).fetchone()
            if held[0]:
                self._make_way(held[1] or "", overwrite)
            self._execute(
                "CREATE TABLE {} (number bigint PRIMARY KEY, document text, sentence text, words tsvector)"
            )
            self._copy = self._connection.cursor().copy(
                self._sql.SQL("COPY {} (number, document, sentence, words) FROM STDIN").format(
                    _identifier(psycopg, self.table)
                )
            )
            self._rows = self._copy.__enter__()
        except psycopg.Error as error:
            sentence = self._database.sentence(error)
            self._database.close()
            raise sentence from None
        except EngineError:
            self._database.close()
            raise

    def _make_way(self, comment: str, overwrite: bool) -> None:
        where = self._database.address
        if not comment.startswith(MARK):
            raise EngineError(
                f"{where}: the table {self.table!r} is not BagPack's, so it is left alone; name another in the URL "
                f"(?table=…)"
            )
        if not overwrite:
            raise EngineError(
                f"{where}: the table {self.table!r} exists already; --overwrite it, or name another"
            )
        self._execute("DROP TABLE {}")

    def _execute(self, statement: str) -> None:
        table = _identifier(self._database.psycopg, self.table)
        self._connection.execute(self._sql.SQL(statement).format(table))

    def add(self, document: str, marked: str) -> None:
        """One sentence."""
        row = (self.number, document.replace("\0", ""), marked, tsvector(index_words(marked)))
        try:
            self._rows.write_row(row)
        except self._database.psycopg.Error as error:
            raise self._database.sentence(error) from None
        self.number += 1

    def finish(self) -> None:
        """Index, sign and commit."""
        facts = {"format_version": FORMAT_VERSION, "build": uuid.uuid4().hex, "sentences": self.number}
        comment = self._sql.Literal(MARK + json.dumps(facts))
        try:
            self._copy.__exit__(None, None, None)
            self._execute("CREATE INDEX ON {} USING gin (words)")
            table = _identifier(self._database.psycopg, self.table)
            self._connection.execute(self._sql.SQL("COMMENT ON TABLE {} IS {}").format(table, comment))
            self._execute("ANALYZE {}")
            self._connection.commit()
        except self._database.psycopg.Error as error:
            raise self._database.sentence(error) from None
        self._database.close()

    def abandon(self) -> None:
        """End the copying with an error, so that PostgreSQL rolls back, and close the connection."""
        broken = EngineError("the build was given up")
        with suppress(EngineError, self._database.psycopg.Error):
            self._copy.__exit__(EngineError, broken, None)
        self._database.close()


class PostgresKind:
    """`postgresql://…`."""

    def connect(self, address: Address, timeout: float) -> PostgresEngine:
        """Open a table."""
        return PostgresEngine(address, timeout)

    def build(self, address: Address, overwrite: bool) -> PostgresBuilder:
        """Begin a table."""
        return PostgresBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """The tsquery."""
        return tsquery(query)


ENGINE = PostgresKind()
