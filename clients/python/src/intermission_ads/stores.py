"""Stores of handled events, so that a handler runs once for each event however often its webhook arrives."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Protocol

from .joins import MemoryJoins
from .settings import require_seconds


class EventStore(Protocol):
    """Remembers which events were handled. Use one of the two methods for all events of a store."""

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        """Calls `handle` unless the event was handled before, and remembers it when `handle` returns.

        Copies that arrive while it runs wait for it, or raise. An event whose `handle` raised counts as not handled.
        """

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        """The same for a handler that is awaited."""


def _running_future() -> Future[None]:
    """A running future cannot be cancelled by a copy that stops waiting for it."""
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()
    return future


def call(handle: Callable[[], object]) -> None:
    """Raises for a handler that is async: its event would count as handled before it ran."""
    result = handle()
    if inspect.isawaitable(result):
        discard(result)
        raise TypeError("once() needs a handler that is not async: await once_async(event_id, handle)")
    require_ran(result.result() if isinstance(result, Future) else result)


def require_ran(result: object) -> None:
    """Raises for what a handler returned whose call ran nothing: its event would count as handled."""
    is_function = inspect.isroutine(result) and not isinstance(result, type)
    if not (is_function or inspect.isgenerator(result) or inspect.isasyncgen(result)):
        return
    kind = "function" if is_function else "generator"
    advice = "remove the yield in it, and call or await in it what it returns"
    raise TypeError(f"the handler returned a {kind}, which nothing runs: {advice}")


async def call_async(handle: Callable[[], object]) -> None:
    """Also accepts a handler that is not async: raising after it ran would run it again for each copy."""
    result = handle()
    if isinstance(result, Future):
        result = asyncio.wrap_future(result)
    require_ran(await result if inspect.isawaitable(result) else result)


def discard(awaitable: object) -> None:
    """Prevents the effect of an awaitable that is refused: a task would run by itself. Of a coroutine that is never awaited,
    Python warns unless it is closed."""
    if asyncio.iscoroutine(awaitable):
        awaitable.close()
    elif isinstance(awaitable, (asyncio.Future, Future)):
        awaitable.cancel()


@dataclass(eq=False)
class Run:
    """One call of an event's handler, in this process."""

    event_id: str
    ends_at: float
    """By `time.monotonic()`: when copies stop waiting for it, and one of them calls the handler again."""
    done: Future[None] = field(default_factory=_running_future)


class Runs:
    """The handlers that run in this process. Copies of an event wait for its run."""

    def __init__(self, max_handler_seconds: float) -> None:
        self._max_handler_seconds = max_handler_seconds
        self._lock = threading.Lock()
        self._by_event: dict[str, Run] = {}

    def once(self, event_id: str, handle: Callable[[Run], None]) -> None:
        while True:
            run, is_first = self._enter(event_id)
            if is_first:
                break
            try:
                return run.done.result(max(0, run.ends_at - time.monotonic()))
            except FutureTimeout:
                if run.done.done():
                    raise
        try:
            handle(run)
        except BaseException as error:
            self._leave(run, error)
            raise
        self._leave(run)

    async def once_async(self, event_id: str, handle: Callable[[Run], Awaitable[None]]) -> None:
        while True:
            run, is_first = self._enter(event_id)
            if is_first:
                break
            copy = asyncio.wrap_future(run.done)
            await asyncio.wait([copy], timeout=max(0, run.ends_at - time.monotonic()))
            if copy.done():
                return copy.result()
            copy.cancel()
        try:
            await handle(run)
        except BaseException as error:
            self._leave(run, error)
            raise
        self._leave(run)

    def _enter(self, event_id: str) -> tuple[Run, bool]:
        now = time.monotonic()
        with self._lock:
            known = self._by_event.get(event_id)
            if known is not None and now < known.ends_at:
                return known, False
            for oldest in list(self._by_event.values()):
                if now < oldest.ends_at:
                    break
                del self._by_event[oldest.event_id]
            run = Run(event_id, now + self._max_handler_seconds)
            self._by_event[event_id] = run
            return run, True

    def _leave(self, run: Run, error: BaseException | None = None) -> None:
        with self._lock:
            if self._by_event.get(run.event_id) is run:
                del self._by_event[run.event_id]
        if error is None:
            run.done.set_result(None)
        else:
            # The copies that wait were not cancelled themselves.
            run.done.set_exception(error if isinstance(error, Exception) else RuntimeError("the handler was interrupted"))


_log = logging.getLogger("intermission_ads")
_has_warned = False


def warn_of_memory(*, is_used: bool = True) -> None:
    """Of its use once in a process, wherever it runs: what is used in development is deployed."""
    global _has_warned  # noqa: PLW0603
    if not (is_used and _has_warned):
        _has_warned = True
        _log.warning(
            "MemoryStore is of one process and forgets its events when that ends: an event that is sent again after a restart,"
            " or to another worker, is paid again. Pass store=SqliteStore(connection), which keeps them"
        )


class MemoryStore:
    """Keeps the last `max_events` event ids in this process: for tests, and where a second payment after a restart does no harm.

    Its first use in a process logs that as a warning of the logger `intermission_ads`.
    Events that are being handled do not count towards `max_events`. A handler that does not end within `max_handler_seconds`, ten
    minutes by default, is called again for the next copy.
    """

    def __init__(self, max_events: int = 100_000, *, max_handler_seconds: float = 600) -> None:
        require_seconds(max_handler_seconds=max_handler_seconds)
        if type(max_events) is not int or max_events < 1:
            raise ValueError(f"max_events must be a whole number from 1 on; it is {max_events!r}")
        self._max_events = max_events
        self._lock = threading.Lock()
        self._handled: dict[str, None] = {}
        self._runs = Runs(max_handler_seconds)
        self.joins = MemoryJoins()

    def once(self, event_id: str, handle: Callable[[], None]) -> None:
        warn_of_memory()

        def run(_run: Run) -> None:
            if not self._is_handled(event_id):
                call(handle)
                self._remember(event_id)

        self._runs.once(event_id, run)

    async def once_async(self, event_id: str, handle: Callable[[], Awaitable[None]]) -> None:
        warn_of_memory()

        async def run(_run: Run) -> None:
            if not self._is_handled(event_id):
                await call_async(handle)
                self._remember(event_id)

        await self._runs.once_async(event_id, run)

    def _is_handled(self, event_id: str) -> bool:
        with self._lock:
            return event_id in self._handled

    def _remember(self, event_id: str) -> None:
        with self._lock:
            self._handled[event_id] = None
            while len(self._handled) > self._max_events:
                del self._handled[next(iter(self._handled))]
