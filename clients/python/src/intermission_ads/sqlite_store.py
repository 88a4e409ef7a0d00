"""Handled events in SQLite: claimed with a lease, so that no transaction is open while a handler runs."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import sqlite3
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeVar

from .joins import PendingJoin, moment_text
from .settings import require_seconds
from .stores import Run, Runs, call, call_async, discard
from .webhook import AdEvent

T = TypeVar("T")

_POLL_SECONDS = 0.02
_MAX_ENDED = 1000
_log = logging.getLogger("intermission_ads")
_MAX_CLOCK_STEP_SECONDS = 60

_advice = "write in store.commit(event, write), or through a connection of the handler's own"


class _Busy(Exception):
    """Something else uses the file or the connection."""


@dataclass(eq=False)
class _Claim:
    """A run whose event is leased to it. `owner` fences it: another run that takes the lease over writes its own."""

    event_id: str
    owner: str
    ends_at: float
    """By `time.monotonic()`: the end of its lease."""
    is_committed: bool = False
    is_rolled_back: bool = False
    unawaited_commits: int = 0
    """Of `commit_async`: they have done nothing."""

    def require_awaited(self) -> None:
        if self.unawaited_commits > 0:
            raise RuntimeError(f"commit_async() of {self.event_id} was not awaited: await store.commit_async(event, write)")


class SqliteStore:
    """Handled events in a SQLite table, for several processes with one file and the same `lease_seconds`.

    A handler runs under a lease, 60 s by default, and outside of any transaction, so that a slow one delays no other event.
    What it does is done at least once: it runs again, after the lease, if the process dies before the event is stored as
    handled, or if it takes longer than that; a late handler then stores nothing. What it writes in `commit` is there exactly
    once. So is what it writes through the connection without `commit`, as long as no other handler does so at the same time:
    if one does, both are rolled back and raise. Handlers in several threads need `commit`.

    While another process uses the file, or handles the same event, an event waits for `busy_seconds`, 5 by default; then it
    raises. For threads other than the one that connects, connect with `check_same_thread=False`.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        table: str = "handled_ad_events",
        *,
        lease_seconds: float = 60,
        busy_seconds: float = 5,
    ) -> None:
        if not isinstance(database, sqlite3.Connection):
            expected = "a connection of the module sqlite3, sqlite3.connect(file)"
            raise TypeError(f"SqliteStore needs {expected}, and got {type(database).__name__}")
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", table):
            raise ValueError(f'"{table}" is not a table name')
        if getattr(database, "autocommit", None) is False:
            raise ValueError("SqliteStore needs a connection without autocommit=False, in which a transaction is always open")
        self._database = database
        self._table = table
        self._claims_table = f"{table}_claims"
        require_seconds(lease_seconds=lease_seconds)
        if busy_seconds != 0:
            require_seconds(busy_seconds=busy_seconds)
        self._lease_seconds = lease_seconds
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        self._runs = Runs(lease_seconds)
        self._claims: dict[str, _Claim] = {}
        self._ended: dict[str, bool] = {}
        self._is_set_up = False
        self.joins = _SqliteJoins(self, f"{table}_joins")
        """The requests to join a channel that wait for their ad, for `JoinRequests`."""
        try:
            self._transact(lambda: None)
        except _Busy:
            pass  # It is set up with the first event.

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        def run(_run: Run) -> None:
            claim = self._wait(lambda: self._claim(event_id))
            if claim is None:
                return
            try:
                call(handle)
                claim.require_awaited()
                self._wait(lambda: self._finish(claim))
            finally:
                self._leave(claim)

        self._runs.once(event_id, run)

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        async def run(_run: Run) -> None:
            claim = await self._wait_async(lambda: self._claim(event_id))
            if claim is None:
                return
            try:
                await call_async(handle)
                claim.require_awaited()
                await self._wait_async(lambda: self._finish(claim))
            finally:
                self._leave(claim)

        await self._runs.once_async(event_id, run)

    def commit(self, event: AdEvent | str, write: Callable[[], object]) -> None:
        """Stores in one transaction what `write` writes through the store's connection and that the event is handled.

        The effect is there exactly once, whatever crashes when. Call it once, inside the event's handler; what the handler
        does afterwards is not repeated. Raises, and stores nothing, if the event's lease was taken over meanwhile. `event`:
        what the handler got, or the event's key. `write` must not commit, and may run again if another process holds the
        file.
        """
        self._wait(self._committing(event, write))

    def commit_async(self, event: AdEvent | str, write: Callable[[], object]) -> Coroutine[Any, Any, None]:
        """The same for an awaited handler: it waits for another process without stopping the event loop.

        An event whose handler does not await it counts as not handled.
        """
        key = event if isinstance(event, str) else event.key
        claim = None if key is None else self._claims.get(key)
        if claim is not None:
            claim.unawaited_commits += 1

        async def commit() -> None:
            if claim is not None:
                claim.unawaited_commits -= 1
            await self._wait_async(self._committing(event, write))

        return commit()

    def _committing(self, event: AdEvent | str, write: Callable[[], object]) -> Callable[[], None]:
        key = event if isinstance(event, str) else event.key
        if key is None:  # Nothing recognizes a repeat, and no store was asked.
            return lambda: self._transact(lambda: _synchronous(write))
        claim = self._claims.get(key)
        if claim is not None:
            return lambda: self._commit(claim, lambda: _synchronous(write))
        with self._lock:
            if not self._ended.pop(key, False):
                raise RuntimeError(f"{key} is not being handled: call commit() inside the handler of its event")
        # Refused, the effect of an event that is stored as handled would be lost.
        _log.warning(
            "commit() of %s came after its handler had ended, and a crash between the two loses the effect: await every task in"
            " the handler",
            key,
        )
        return lambda: self._transact(lambda: _synchronous(write))

    def _claim(self, event_id: str) -> _Claim | None:
        """None if the event was handled before."""
        claim = _Claim(event_id, str(uuid.uuid4()), time.monotonic() + self._lease_seconds)

        def work() -> Literal["handled", "leased", "claimed"]:
            now = datetime.now(timezone.utc)
            if self._found(f"select 1 from {self._table} where event_id = ?", event_id):
                return "handled"
            # A lease that ends later was made by a clock that was wrong, and would withhold the event until its date.
            latest = now + timedelta(seconds=self._lease_seconds + _MAX_CLOCK_STEP_SECONDS)
            leased = f"select 1 from {self._claims_table} where event_id = ? and leased_until > ? and leased_until <= ?"
            if self._found(leased, event_id, _text_of(now), _text_of(latest)):
                return "leased"
            until = now + timedelta(seconds=self._lease_seconds)
            self._execute(
                f"insert or replace into {self._claims_table} values (?, ?, ?)", event_id, claim.owner, _text_of(until)
            )
            return "claimed"

        with self._lock:
            state = self._transact(work)
            if state == "leased":
                reason = "is being handled by another process, or by one that crashed"
                raise _Busy(f"{event_id} {reason}: it is handled again when its lease of {self._lease_seconds} s is over")
            if state == "handled":
                return None
            self._claims[event_id] = claim
            return claim

    def _finish(self, claim: _Claim) -> None:
        """What the handler wrote through the connection after commit() is committed by itself, if it was alone."""
        with self._lock:
            if not claim.is_committed:
                self._commit(claim, lambda: None)
                # Something that the handler did not wait for may still commit.
                self._ended[claim.event_id] = True
                while len(self._ended) > _MAX_ENDED:
                    del self._ended[next(iter(self._ended))]
            elif self._database.in_transaction and self._is_alone(claim):
                self._transact(lambda: None, is_joined=True)

    def _is_alone(self, claim: _Claim) -> bool:
        return all(other is claim for other in self._claims.values())

    def _commit(self, claim: _Claim, write: Callable[[], None]) -> None:
        def work() -> None:
            owned = f"select 1 from {self._claims_table} where event_id = ? and owner = ?"
            if not self._found(owned, claim.event_id, claim.owner):
                advice = "make the handler faster, or lease_seconds longer"
                raise RuntimeError(
                    f"{claim.event_id} is handled by another call, since its lease of {self._lease_seconds} s is over: {advice}"
                )
            # Before `write`, so that a commit in it stores the event together with the effect.
            self._execute(f"insert into {self._table} values (?, ?)", claim.event_id, _text_of(datetime.now(timezone.utc)))
            self._execute(f"delete from {self._claims_table} where event_id = ? and owner = ?", claim.event_id, claim.owner)
            write()
            if not self._database.in_transaction:
                raise RuntimeError("the transaction of commit() was ended: remove the commit or rollback in it")

        with self._lock:
            if claim.is_committed:
                advice = "write everything in one commit(), which stores the event as handled"
                raise RuntimeError(f"commit() was called twice in the handler of {claim.event_id}: {advice}")
            if claim.is_rolled_back:
                raise RuntimeError(f"what the handler of {claim.event_id} wrote was rolled back with another one: {_advice}")
            # The handler wrote without commit(). What it wrote and the event are committed together, if it was alone.
            is_joined = self._database.in_transaction
            if is_joined and not self._is_alone(claim):
                self._roll_back(but=claim)
                raise RuntimeError(f"several handlers wrote through one connection at the same time: {_advice}")
            self._transact(work, is_joined=is_joined)
            claim.is_committed = True

    def _leave(self, claim: _Claim) -> None:
        with self._lock:
            if self._claims.get(claim.event_id) is claim:
                del self._claims[claim.event_id]
            if self._database.in_transaction and (not claim.is_committed or self._is_alone(claim)):
                self._roll_back(but=claim)
            if claim.is_committed:
                return
            release = f"delete from {self._claims_table} where event_id = ? and owner = ?"
            try:
                self._transact(lambda: self._execute(release, claim.event_id, claim.owner))
            except (_Busy, sqlite3.Error):
                pass  # The lease ends by itself.

    def _roll_back(self, but: _Claim | None) -> None:
        """What other handlers wrote without commit() is lost, too: their events must be handled again."""
        self._database.execute("rollback")
        for other in self._claims.values():
            other.is_rolled_back = other is not but

    def _transact(self, work: Callable[[], T], *, is_joined: bool = False) -> T:
        """Ends before any other handler goes on, so that nothing else becomes part of the transaction."""
        with self._lock:
            if self._database.in_transaction and not is_joined:
                if any(claim.ends_at < time.monotonic() for claim in self._claims.values()):
                    self._roll_back(but=None)
                else:
                    raise _Busy(f"a transaction is open in the store's connection: {_advice}")
            # SQLite's own wait would stop the event loop for as long.
            (busy_timeout,) = self._query("pragma busy_timeout").fetchone()
            self._execute("pragma busy_timeout = 0")
            undo = None
            try:
                # Immediate: two processes that claim the same event do so one after the other.
                self._execute("savepoint handled_event" if is_joined else "begin immediate")
                undo = "rollback to handled_event" if is_joined else "rollback"
                self._set_up()
                result = work()
                self._execute("commit")
                self._is_set_up = True
                return result
            except BaseException as error:
                if undo is not None and self._database.in_transaction:
                    self._execute(undo)
                raise _Busy(str(error)) if _is_locked(error) else error
            finally:
                self._execute(f"pragma busy_timeout = {busy_timeout}")

    def _set_up(self) -> None:
        if self._is_set_up:
            return
        handled = "(event_id text primary key, handled_at text not null)"
        claims = "(event_id text primary key, owner text not null, leased_until text not null)"
        self._execute(f"create table if not exists {self._table} {handled}")
        self._execute(f"create table if not exists {self._claims_table} {claims}")

    def _query(self, sql: str, *values: str) -> sqlite3.Cursor:
        """Its rows are tuples, whatever `row_factory` the connection has."""
        return sqlite3.Cursor(self._database).execute(sql, values)

    def _execute(self, sql: str, *values: str) -> None:
        self._query(sql, *values).close()

    def _found(self, sql: str, *values: str) -> bool:
        return self._query(sql, *values).fetchone() is not None

    def _wait(self, work: Callable[[], T]) -> T:
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                return work()
            except _Busy as busy:
                _raise_after(until, busy)
            time.sleep(_POLL_SECONDS)

    async def _wait_async(self, work: Callable[[], T]) -> T:
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                return work()
            except _Busy as busy:
                _raise_after(until, busy)
            await asyncio.sleep(_POLL_SECONDS)


class _SqliteJoins:
    """In a table beside the handled events: the same as the TypeScript package's."""

    def __init__(self, store: SqliteStore, table: str) -> None:
        self._store = store
        self._table = table

    async def put(self, join: PendingJoin) -> None:
        await self._run(f"insert or replace into {self._table} ({_ROW}) values (?, ?, ?, ?)", *_values(join))

    async def get(self, chat_id: str, user_id: str) -> PendingJoin | None:
        rows = await self._run(f"select {_ROW} from {self._table} where chat_id = ? and user_id = ?", chat_id, user_id)
        return _join_of(rows[0]) if rows else None

    async def late(self, now: float) -> list[PendingJoin]:
        late = f"select {_ROW} from {self._table} where decide_at <= ? order by decide_at limit 100"
        return [_join_of(row) for row in await self._run(late, moment_text(now))]

    async def remove(self, join: PendingJoin) -> None:
        """Does nothing if a later request has replaced this one."""
        where = "chat_id = ? and user_id = ? and query_id = ? and decide_at = ?"
        await self._run(f"delete from {self._table} where {where}", *_values(join))

    async def _run(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        create = (
            f"create table if not exists {self._table} (chat_id text not null, user_id text not null,"
            " query_id text not null, decide_at text not null, primary key (chat_id, user_id))"
        )

        def work() -> list[tuple[Any, ...]]:
            self._store._execute(create)
            return self._store._query(sql, *values).fetchall()

        return await self._store._wait_async(lambda: self._store._transact(work))


_ROW = "chat_id, user_id, query_id, decide_at"


def _values(join: PendingJoin) -> tuple[str, str, str, str]:
    return join.chat_id, join.user_id, join.query_id or "", moment_text(join.decide_at)


def _join_of(row: tuple[Any, ...]) -> PendingJoin:
    chat_id, user_id, query_id, decide_at = row
    return PendingJoin(chat_id, user_id, query_id or None, int(decide_at) / 1000)


def _raise_after(until: float, busy: _Busy) -> None:
    if time.monotonic() >= until:
        raise RuntimeError(str(busy)) from busy


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and re.search("locked|within a transaction", str(error)) is not None


def _synchronous(write: Callable[[], object]) -> None:
    """Raises for what would count as done before it has run."""
    written = write()
    is_later = inspect.isawaitable(written) or isinstance(written, Future)
    if is_later or inspect.isgenerator(written) or inspect.isasyncgen(written):
        discard(written)
        raise TypeError("commit() needs a function that is not async: await everything else before, outside of it")


def _text_of(moment: datetime) -> str:
    """Text whose order is that of time, as the store of the TypeScript package writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
