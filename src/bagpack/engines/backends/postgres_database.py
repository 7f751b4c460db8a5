"""Connections to PostgreSQL: a pool, a bound on every query's time, and error messages."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode, urlunsplit

from bagpack.engines.backends.deadline import deadline
from bagpack.engines.base import Address, BusyError, EngineError
from bagpack.errors import UsageError, import_extra

OUR_OPTIONS = ("table", "column", "id", "vector", "config")
MAX_CONNECTIONS = 64
GRACE = 0.5  # seconds after which a server that did not cancel a query itself is disconnected


def _driver() -> tuple[Any, Any]:
    psycopg, psycopg_pool = (
        import_extra(name, "psycopg[binary,pool]", "postgresql", "a postgresql: engine")
        for name in ("psycopg", "psycopg_pool")
    )
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # its errors are raised here
    return psycopg, psycopg_pool


def identifier(psycopg: Any, name: str) -> Any:
    """A table's name, with or without its schema."""
    return psycopg.sql.Identifier(*name.split("."))


class Database:
    """A pool of connections, and the errors of its driver as messages for users."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.psycopg, pools = _driver()
        self.address = address
        self.timeout = timeout
        parts = address.parts
        kept = {name: value for name, value in address.options.items() if name not in OUR_OPTIONS}
        kept.setdefault("connect_timeout", str(max(2, math.ceil(timeout))))
        # Data that a vanished server never acknowledges; what a frozen one does not answer is bounded by `deadline`.
        kept.setdefault("tcp_user_timeout", str(self._milliseconds))
        kept.setdefault("application_name", "bagpack")
        self._conninfo = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(kept), ""))
        self._pool = pools.ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            configure=self._configure,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            timeout=max(2.0, timeout),
            open=False,
        )

    @property
    def _milliseconds(self) -> int:
        """The timeout; 0 would mean no limit."""
        return max(1, math.ceil(self.timeout * 1000))

    def _configure(self, connection: Any) -> None:
        connection.execute(f"SET statement_timeout = {self._milliseconds}")

    def connect(self) -> Any:
        """A connection outside the pool: its errors say what is wrong with the URL, the pool's do not."""
        try:
            made = self.psycopg.connect(self._conninfo, autocommit=True)
            self._configure(made)
        except self.psycopg.Error as error:
            raise self.explained(error) from None
        except UnicodeError:
            raise UsageError(
                f"{self.address} is not a URL that PostgreSQL's driver can read; check it"
            ) from None
        return made

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection of the pool, shut down when the timeout is over, whatever the server does."""
        self._pool.open()
        expired = False
        try:
            with self._pool.connection() as held, deadline(held.fileno(), self.timeout + GRACE) as limit:
                try:
                    yield held
                finally:
                    expired = limit.expired
        except self.psycopg.Error as error:
            if expired:
                raise BusyError(
                    f"{self.address} did not answer within {self.timeout:g} s; check the server, or raise --timeout"
                ) from None
            raise self.explained(error) from None

    def explained(self, error: Exception) -> EngineError:
        """The error for users: what is wrong, where, and how to fix it."""
        kinds, where = self.psycopg.errors, self.address
        diagnosis = getattr(error, "diag", None)
        detail = where.scrub((diagnosis and diagnosis.message_primary) or error)
        cause = str(error).lower()
        if isinstance(error, kinds.QueryCanceled):
            return EngineError(f"{where} needed more than {self.timeout:g} s for a query; raise --timeout")
        if isinstance(error, kinds.UndefinedTable | kinds.UndefinedColumn | kinds.InvalidSchemaName):
            return EngineError(
                f"{where}: {detail}; name the table and its columns in the URL (?table=…&column=…), or fill one with "
                f"bagpack engine build"
            )
        if isinstance(error, kinds.UndefinedObject):
            return EngineError(f"{where}: {detail}; correct config= in the URL")
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
            return EngineError(f"{where}: {detail}; correct the database's name in the URL")
        if isinstance(error, kinds.TooManyConnections | kinds.AdminShutdown | kinds.CannotConnectNow):
            return BusyError(f"{where} is not taking queries at the moment ({detail}); try again later")
        if isinstance(error, self.psycopg.OperationalError):
            return BusyError(
                f"{where} does not answer ({detail}); check that the server runs, and its host and port"
            )
        return EngineError(f"{where} could not answer: {detail}")

    def close(self) -> None:
        """Close the pool's connections."""
        self._pool.close(timeout=1.0)
