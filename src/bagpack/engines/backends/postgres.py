"""PostgreSQL full-text search. `postgresql://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?table=NAME]`.

By default the table is `bagpack_sentences`, which `bagpack engine build` makes: a row per sentence, our tokens in a
`tsvector` with a GIN index. A table of the user's own is named by `table`, `column` (its text) and, optionally,
`id` (a column that names the document), `vector` (a `tsvector` column) and `config` (a text search configuration,
`simple` if none is named). Everything else in the query string goes to the driver (`sslmode=require`).
"""

from __future__ import annotations

import itertools
import json
import uuid
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bagpack.engines.backends.postgres_database import Database, identifier
from bagpack.engines.base import DIRECT, Address, EngineError, EngineKind, Sender, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

DEFAULT_TABLE = "bagpack_sentences"
FORMAT_VERSION = 1
MARK = "bagpack engine "  # opens the comment on a table of ours
MOST_POSITIONS = 16_383  # PostgreSQL's bound; later words of one sentence are not found
MAX_BYTES = 64 << 20  # of the texts of one answer


def quote_lexeme(token: str) -> str:
    """A token quoted for a tsquery or tsvector, whatever characters it has."""
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


class PostgresEngine:
    """A table to be searched."""

    name = "postgresql"

    def __init__(self, address: Address, timeout: float, sender: Sender = DIRECT) -> None:
        self._database = Database(address, timeout)
        self._options = options = address.options
        self.table = options.get("table", DEFAULT_TABLE)
        self.exact = False
        with sender.send(self._database.connect) as connection:
            facts = self._facts(connection)
            self.exact = facts is not None and "column" not in options
            self.identity = (
                f"postgresql:{facts['build']}" if self.exact and facts else f"postgresql:{address.shown}"
            )
            if not self.exact and "column" not in options:
                raise UsageError(
                    f"{address}: the table {self.table!r} was not made by bagpack engine build; name the column that "
                    f"holds its text (?table={self.table}&column=…)"
                )
            self._statement = self._select()
            if not self.exact:
                self._check_index(connection)

    def _facts(self, connection: Any) -> dict[str, Any] | None:
        """What the comment on a table of ours says; None for another table; an error if there is none."""
        psycopg = self._database.psycopg
        written = identifier(psycopg, self.table).as_string(None)
        try:
            row = connection.execute(
                "SELECT obj_description(%s::regclass, 'pg_class')", (written,)
            ).fetchone()
        except psycopg.Error as error:
            raise self._database.explained(error) from None
        if not (row[0] or "").startswith(MARK):
            return None
        facts: dict[str, Any] = json.loads(row[0].removeprefix(MARK))
        if facts["format_version"] != FORMAT_VERSION:
            raise EngineError(
                f"{self._database.address}: the table {self.table!r} has format version {facts['format_version']}, "
                f"this BagPack reads {FORMAT_VERSION}; build it again"
            )
        return facts

    def _check_index(self, connection: Any) -> None:
        """Warn where PostgreSQL would read a whole table for each query."""
        psycopg = self._database.psycopg
        try:
            with connection.transaction():
                connection.execute("SET LOCAL enable_seqscan = off")
                explain = psycopg.sql.SQL("EXPLAIN ") + self._statement
                rows = connection.execute(explain, ("'bagpack'", 1)).fetchall()
        except psycopg.Error as error:
            raise self._database.explained(error) from None
        if any("Seq Scan" in line for (line,) in rows):
            table = identifier(psycopg, self.table)
            create = psycopg.sql.SQL("CREATE INDEX ON {} USING gin ({})").format(table, self._vector())
            warnings.warn(
                f"{self._database.address}: no index serves these queries, so that each of them reads the whole "
                f"table; make one with: {create.as_string(connection)};",
                stacklevel=2,
            )

    def _vector(self) -> Any:
        """What is searched: a column, or an expression that an index can have."""
        sql, options = self._database.psycopg.sql, self._options
        if "vector" in options:
            return sql.Identifier(options["vector"])
        config = sql.Literal(options.get("config", "simple"))
        return sql.SQL("to_tsvector({}::regconfig, {})").format(config, sql.Identifier(options["column"]))

    def _select(self) -> Any:
        """The statement that a search runs, with the query and the limit to be filled in."""
        sql, options = self._database.psycopg.sql, self._options
        table = identifier(self._database.psycopg, self.table)
        if self.exact:
            # The numbers first: given ORDER BY … LIMIT, the planner may scan the table instead of the index.
            text = (
                "WITH hits AS MATERIALIZED (SELECT number FROM {table} WHERE words @@ %s::tsquery), "
                "first AS (SELECT number FROM hits ORDER BY number LIMIT %s) "
                "SELECT document, sentence, false FROM {table} JOIN first USING (number) ORDER BY number"
            )
            return sql.SQL(text).format(table=table)
        named = "id" in options
        # Texts of any length: the server sends no more than MAX_BYTES of them.
        text = (
            "WITH hits AS (SELECT {name}::text AS name, {column}::text AS body, "
            "row_number() OVER (ORDER BY {order}) AS number FROM {table} "
            "WHERE {vector} @@ to_tsquery({config}::regconfig, %s) ORDER BY {order} LIMIT %s), "
            "sized AS (SELECT *, sum(octet_length(body)) OVER (ORDER BY number) AS size FROM hits) "
            "SELECT name, CASE WHEN size <= {most} THEN body END, size > {most} FROM sized ORDER BY number"
        )
        return sql.SQL(text).format(
            name=sql.Identifier(options["id"]) if named else sql.SQL("ctid"),
            column=sql.Identifier(options["column"]),
            most=sql.Literal(MAX_BYTES),
            table=table,
            vector=self._vector(),
            config=sql.Literal(options.get("config", "simple")),
            order=sql.SQL("{}, ctid").format(sql.Identifier(options["id"])) if named else sql.SQL("ctid"),
        )

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """The first rows: by number in a table of ours, by id in the user's."""
        return sender.send(lambda: self._search(query, limit))

    def _search(self, query: Query, limit: int) -> list[Snippet]:
        with self._database.connection() as connection:
            rows = connection.execute(self._statement, (tsquery(query), limit)).fetchall()
        if rows and rows[-1][2]:
            raise EngineError(
                f"{self._database.address} has more than {MAX_BYTES >> 20} MiB of text in its answer; lower --limit, "
                f"or search a column with shorter texts"
            )
        return [Snippet(name or "", text) for name, text, _ in rows if text]

    def close(self) -> None:
        """Close the connections."""
        self._database.close()


class PostgresBuilder:
    """Fills a table of another name inside one transaction; only its end replaces the old table.

    Until then readers see the old one and are not locked out; a build that is killed leaves nothing.
    """

    def __init__(self, address: Address, overwrite: bool) -> None:
        if foreign := {"column", "id", "vector", "config"} & address.options.keys():
            raise UsageError(
                f"bagpack engine build names its own columns; remove {min(foreign)}= from the URL"
            )
        self._database = Database(address, timeout=30.0)
        self.table = address.options.get("table", DEFAULT_TABLE)
        self.number = 0
        self._overwrite = overwrite
        psycopg = self._database.psycopg
        self._sql = psycopg.sql
        schema, _, name = self.table.rpartition(".")
        fresh = f"{name[:40]}_{uuid.uuid4().hex[:12]}"
        self._fresh = f"{schema}.{fresh}" if schema else fresh
        self._connection = self._database.connect()
        try:
            self._connection.autocommit = False
            self._connection.execute("SET LOCAL statement_timeout = 0")
            self._exists()  # a refusal should come at once
            self._execute(
                "CREATE TABLE {} (number bigint PRIMARY KEY, document text, sentence text, words tsvector)"
            )
            self._copy = self._connection.cursor().copy(
                self._sql.SQL("COPY {} (number, document, sentence, words) FROM STDIN").format(
                    identifier(psycopg, self._fresh)
                )
            )
            self._rows = self._copy.__enter__()
        except psycopg.Error as error:
            explained = self._database.explained(error)
            self._connection.close()
            raise explained from None
        except EngineError:
            self._connection.close()
            raise

    def _exists(self) -> bool:
        """Whether there is a table of that name; an error if it may not be replaced."""
        written = identifier(self._database.psycopg, self.table).as_string(None)
        held = self._connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL, obj_description(to_regclass(%s), 'pg_class')",
            (written, written),
        ).fetchone()
        where = self._database.address
        if held[0] and not (held[1] or "").startswith(MARK):
            raise EngineError(
                f"{where}: the table {self.table!r} was not made by BagPack, so it is not replaced; name another in "
                f"the URL (?table=…)"
            )
        if held[0] and not self._overwrite:
            raise EngineError(
                f"{where}: the table {self.table!r} exists already; --overwrite it, or name another"
            )
        return bool(held[0])

    def _execute(self, statement: str, table: str | None = None) -> None:
        name = identifier(self._database.psycopg, table or self._fresh)
        self._connection.execute(self._sql.SQL(statement).format(name))

    def add(self, document: str, marked: str) -> None:
        """One sentence."""
        row = (self.number, document.replace("\0", ""), marked, tsvector(index_words(marked)))
        try:
            self._rows.write_row(row)
        except self._database.psycopg.Error as error:
            raise self._database.explained(error) from None
        self.number += 1

    def finish(self) -> None:
        """Index, sign, replace the old table and commit."""
        facts = {"format_version": FORMAT_VERSION, "build": uuid.uuid4().hex, "sentences": self.number}
        comment = self._sql.Literal(MARK + json.dumps(facts))
        try:
            self._copy.__exit__(None, None, None)
            self._execute("CREATE INDEX ON {} USING gin (words)")
            fresh = identifier(self._database.psycopg, self._fresh)
            self._connection.execute(self._sql.SQL("COMMENT ON TABLE {} IS {}").format(fresh, comment))
            self._execute("ANALYZE {}")
            if self._exists():
                self._execute("DROP TABLE {}", self.table)
            name = self._sql.Identifier(self.table.rpartition(".")[2])
            self._connection.execute(self._sql.SQL("ALTER TABLE {} RENAME TO {}").format(fresh, name))
            self._connection.commit()
        except self._database.psycopg.Error as error:
            raise self._database.explained(error) from None
        self._connection.close()

    def abandon(self) -> None:
        """End the copying with an error, so that PostgreSQL rolls back, and close the connection."""
        broken = EngineError("the build was aborted")
        with suppress(EngineError, self._database.psycopg.Error):
            self._copy.__exit__(EngineError, broken, None)
        self._connection.close()


class PostgresKind(EngineKind):
    """`postgresql://…`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> PostgresEngine:
        """Open a table."""
        return PostgresEngine(address, timeout, sender)

    def build(self, address: Address, overwrite: bool) -> PostgresBuilder:
        """Begin a table."""
        return PostgresBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """The tsquery."""
        return tsquery(query)


ENGINE = PostgresKind()
