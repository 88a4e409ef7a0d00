"""Stores of handled events, so that a handler runs once for each event however often its webhook arrives."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from datetime import datetime, timezone
from typing import Protocol


class EventStore(Protocol):
    """Remembers which events were handled. Use one of the two methods for all events of a store."""

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        """Calls `handle` unless the event was handled before, and remembers it when `handle` returns.

        Copies that arrive while it runs wait for it. An event whose `handle` raised counts as not handled.
        """

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        """The same for a handler that is awaited."""


class MemoryStore:
    """Keeps the last `most` event ids in this process: for tests, and where a second payment after a restart does no harm."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._handled: dict[str, Future[None]] = {}

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        handling, is_first = self._enter(event_id)
        if not is_first:
            return handling.result()
        try:
            handle()
        except BaseException as error:
            self._fail(event_id, handling, error)
            raise
        handling.set_result(None)

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        handling, is_first = self._enter(event_id)
        if not is_first:
            return await asyncio.wrap_future(handling)
        try:
            await handle()
        except BaseException as error:
            self._fail(event_id, handling, error)
            raise
        handling.set_result(None)

    def _enter(self, event_id: str) -> tuple[Future[None], bool]:
        with self._lock:
            known = self._handled.get(event_id)
            if known is not None:
                return known, False
            handling: Future[None] = Future()
            # A running future cannot be cancelled by a copy that stops waiting for it.
            handling.set_running_or_notify_cancel()
            self._handled[event_id] = handling
            while len(self._handled) > self._most:
                del self._handled[next(iter(self._handled))]
            return handling, True

    def _fail(self, event_id: str, handling: Future[None], error: BaseException) -> None:
        with self._lock:
            if self._handled.get(event_id) is handling:
                del self._handled[event_id]
        # The copies that wait were not cancelled themselves.
        handling.set_exception(error if isinstance(error, Exception) else RuntimeError("the handler was interrupted"))


class SqliteStore:
    """Handled events in a SQLite table, in one transaction with what the handler writes through the same connection.

    After a crash at any point the event and its effect are both there, or neither. Handlers run one after the other. The
    handler must not commit or roll back, and while an awaited one runs, nothing else may write through this connection.
    For threads other than the one that connects, connect with `check_same_thread=False`.
    """

    def __init__(self, database: sqlite3.Connection, table: str = "handled_ad_events") -> None:
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", table):
            raise ValueError(f'"{table}" is not a table name')
        self._database = database
        self._table = table
        self._lock = threading.Lock()
        self._async_lock = asyncio.Lock()
        database.execute(
            f"create table if not exists {table} (event_id text primary key, handled_at text not null)"
        ).close()

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        with self._lock:
            is_new = self._begin(event_id)
            try:
                if is_new:
                    handle()
                    self._insert(event_id)
                self._database.execute("commit")
            except BaseException:
                self._roll_back()
                raise

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        async with self._async_lock:
            is_new = self._begin(event_id)
            try:
                if is_new:
                    await handle()
                    self._insert(event_id)
                self._database.execute("commit")
            except BaseException:
                self._roll_back()
                raise

    def _begin(self, event_id: str) -> bool:
        # Immediate: another process that handles the same event waits here, and then finds it.
        self._database.execute("begin immediate")
        try:
            found = self._database.execute(f"select 1 from {self._table} where event_id = ?", (event_id,)).fetchone()
        except BaseException:
            self._roll_back()
            raise
        return found is None

    def _insert(self, event_id: str) -> None:
        if not self._database.in_transaction:
            raise RuntimeError("the handler ended the transaction that makes it run once: remove its commit or rollback")
        now = datetime.now(timezone.utc).isoformat()
        self._database.execute(f"insert into {self._table} values (?, ?)", (event_id, now))

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("rollback")
