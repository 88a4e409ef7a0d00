from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from intermission_ads import MemoryStore, SqliteStore


def sqlite_store(file="") -> SqliteStore:
    return SqliteStore(sqlite3.connect(file or ":memory:", check_same_thread=False))


def coins_store(file: Path | str = ":memory:", **options):
    """A store, its connection, and what pays one coin through it."""
    database = sqlite3.connect(file, check_same_thread=False)
    database.execute("create table if not exists coins (event_id text)").close()
    store = SqliteStore(database, **options)
    return store, database, lambda event_id: database.execute("insert into coins values (?)", (event_id,)).close()


def coins_of(database: sqlite3.Connection) -> list[str]:
    return sorted(event_id for (event_id,) in database.execute("select event_id from coins").fetchall())


stores = pytest.mark.parametrize("make", [MemoryStore, sqlite_store], ids=["memory", "SQLite"])


@stores
def test_copies_that_arrive_together_in_threads_are_handled_once(make):
    store, calls, together = make(), [], threading.Barrier(8)

    def deliver(_index):
        together.wait()
        store.once("evt_1", lambda: calls.append(1))
        assert calls == [1], "a copy was answered before the event was handled"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(deliver, range(8)))
    store.once("evt_2", lambda: calls.append(2))
    assert calls == [1, 2]


@stores
def test_an_async_handler_is_refused_where_nothing_awaits_it_and_its_event_is_handled_again(make):
    store, calls = make(), []

    async def pay():
        calls.append(1)

    for handler in (pay, lambda: pay()):
        with pytest.raises(TypeError, match=r"once\(\) needs a handler that is not async: await once_async"):
            store.once("evt_1", handler)
    assert calls == []
    store.once("evt_1", lambda: calls.append(2))
    assert calls == [2]


@stores
def test_a_handler_that_starts_a_task_is_refused_and_its_task_does_not_run(make):
    store, calls = make(), []

    async def pay():
        calls.append(1)

    async def main():
        for _copy in range(2):
            with pytest.raises(TypeError, match=r"await once_async"):
                store.once("evt_1", lambda: asyncio.create_task(pay()))
            await asyncio.sleep(0)

    asyncio.run(main())
    assert calls == []


@stores
def test_a_handler_that_is_not_async_runs_once_where_it_is_awaited(make):
    store, calls = make(), []

    async def main():
        for _copy in range(2):
            await store.once_async("evt_1", lambda: calls.append(1))

    asyncio.run(main())
    assert calls == [1]


class LazyQuery:
    """As queries of aiosqlite, Tortoise and other libraries are: nothing runs until something awaits them."""

    def __await__(self):
        raise AssertionError("it was awaited")
        yield


def test_commit_refuses_what_has_not_run_and_the_event_is_handled_again():
    store, database, pay = coins_store()
    with pytest.raises(TypeError, match=r"commit\(\) needs a function that is not async"):
        store.once("evt_1", lambda: store.commit("evt_1", LazyQuery))
    store.once("evt_1", lambda: store.commit("evt_1", lambda: pay("evt_1")))
    assert coins_of(database) == ["evt_1"]


@pytest.mark.parametrize("database", ["bot.sqlite", None, LazyQuery()])
def test_what_is_no_connection_of_sqlite3_is_named(database):
    with pytest.raises(TypeError) as raised:
        SqliteStore(database)
    kind = type(database).__name__
    assert str(raised.value) == f"SqliteStore needs a connection of the module sqlite3, sqlite3.connect(file), and got {kind}"


@stores
def test_copies_that_arrive_together_in_tasks_are_handled_once(make):
    async def main():
        store, calls = make(), []

        async def handle():
            await asyncio.sleep(0.01)
            calls.append(1)

        async def deliver():
            await store.once_async("evt_1", handle)
            assert calls == [1], "a copy was answered before the event was handled"

        await asyncio.gather(*(deliver() for _ in range(20)))

    asyncio.run(main())


@stores
def test_an_event_whose_handler_raised_is_handled_again(make):
    async def main():
        store, calls = make(), []

        async def handle():
            calls.append(1)
            if len(calls) == 1:
                raise ValueError("no database")

        with pytest.raises(ValueError):
            await store.once_async("evt_1", handle)
        await store.once_async("evt_1", handle)
        await store.once_async("evt_1", handle)
        assert len(calls) == 2

    asyncio.run(main())
    store, calls = make(), []
    with pytest.raises(ZeroDivisionError):
        store.once("evt_1", lambda: calls.append(1 / 0))
    store.once("evt_1", lambda: calls.append(1))
    assert calls == [1]


@stores
def test_a_cancelled_handler_has_not_handled_and_a_cancelled_copy_cancels_nobody(make):
    async def main():
        store, calls, started = make(), [], asyncio.Event()

        async def handle():
            started.set()
            await asyncio.sleep(0.02)
            calls.append(1)

        first = asyncio.create_task(store.once_async("evt_1", handle))
        await started.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        second = asyncio.create_task(store.once_async("evt_1", handle))
        copy = asyncio.create_task(store.once_async("evt_1", handle))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        copy.cancel()
        await second
        assert calls == [1]

    asyncio.run(main())


once_in_a_process = """
import logging
from intermission_ads import MemoryStore

logging.basicConfig()
for _store in range(2):
    MemoryStore().once("evt_1", lambda: None)
"""


def test_the_memory_store_says_once_that_it_forgets_in_development_too():
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    used = subprocess.run([sys.executable, "-c", once_in_a_process], env=env, check=True, timeout=60, capture_output=True, text=True)
    assert used.stderr.count("MemoryStore is of one process and forgets its events when that ends") == 1


def test_the_memory_store_forgets_the_oldest_events():
    store, calls = MemoryStore(max_events=2), []
    for event_id in ("a", "b", "c", "a"):
        store.once(event_id, lambda event_id=event_id: calls.append(event_id))
    assert calls == ["a", "b", "c", "a"]


def test_the_effect_of_a_handler_that_raises_is_rolled_back_with_its_event(tmp_path: Path):
    database = sqlite3.connect(tmp_path / "bot.sqlite")
    database.execute("create table coins (user_id text)")
    store = SqliteStore(database)

    def pay(fails: bool):
        database.execute("insert into coins values ('42')")
        if fails:
            raise ValueError("a crash")

    with pytest.raises(ValueError):
        store.once("evt_1", lambda: pay(True))
    # Another process, after the crash.
    again = sqlite3.connect(tmp_path / "bot.sqlite")
    assert again.execute("select count(*) from coins").fetchone() == (0,)
    store.once("evt_1", lambda: pay(False))
    SqliteStore(again).once("evt_1", lambda: again.execute("insert into coins values ('42')").close())
    assert again.execute("select count(*) from coins").fetchone() == (1,)


def test_commit_names_its_mistakes():
    database = sqlite3.connect(":memory:")
    store = SqliteStore(database)
    with pytest.raises(RuntimeError, match="remove the commit or rollback in it"):
        store.once("evt_1", lambda: store.commit("evt_1", database.commit))
    with pytest.raises(RuntimeError, match="inside the handler"):
        store.commit("evt_2", lambda: None)

    async def write() -> None:
        pass

    with pytest.raises(TypeError, match="not async"):
        store.once("evt_2", lambda: store.commit("evt_2", write))


def test_two_processes_with_one_file_handle_an_event_once(tmp_path: Path):
    stores_of_processes = [sqlite_store(str(tmp_path / "bot.sqlite")) for _ in range(2)]
    calls, together = [], threading.Barrier(2)

    def deliver(store):
        together.wait()
        store.once("evt_1", lambda: calls.append(1))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(deliver, stores_of_processes))
    assert calls == [1]


def test_the_table_is_named_by_a_name():
    with pytest.raises(ValueError, match="not a table name"):
        SqliteStore(sqlite3.connect(":memory:"), table="x; drop table coins")


crash = """
import os, sqlite3, sys
from intermission_ads import SqliteStore

database = sqlite3.connect(sys.argv[1])
database.execute("create table if not exists coins (user_id text)")

def pay():
    if sys.argv[2] == "before the effect":
        os._exit(9)
    database.execute("insert into coins values ('42')")
    if sys.argv[2] == "after the effect":
        os._exit(9)

SqliteStore(database, lease_seconds=0.2).once("evt_1", pay)
os._exit(9)
"""


@pytest.mark.parametrize("moment", ["before the effect", "after the effect", "after the commit"])
def test_an_event_whose_process_crashed_is_paid_once_when_it_is_sent_again(tmp_path: Path, moment):
    file = tmp_path / "bot.sqlite"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    crashed = subprocess.run([sys.executable, "-c", crash, str(file), moment], env=env, check=False, timeout=60)
    assert crashed.returncode == 9
    database = sqlite3.connect(file)
    SqliteStore(database).once("evt_1", lambda: database.execute("insert into coins values ('42')").close())
    assert database.execute("select count(*) from coins").fetchone() == (1,)
    database.close()


@stores
def test_a_handler_that_hangs_delays_no_other_event_in_tasks_and_threads(make):
    store, hung = make(), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(store.once, "evt_slow", lambda: hung.wait(20))
        try:
            for event_id in range(20):
                pool.submit(store.once, f"evt_{event_id}", lambda: None).result(timeout=10)
        finally:
            hung.set()
        slow.result(timeout=10)

    async def main():
        store, gate, calls = make(), asyncio.Event(), []
        slow = asyncio.create_task(store.once_async("evt_slow", gate.wait))
        await asyncio.sleep(0)

        async def handle():
            calls.append(1)

        await asyncio.wait_for(asyncio.gather(*(store.once_async(f"evt_{i}", handle) for i in range(20))), 10)
        assert len(calls) == 20
        gate.set()
        await slow

    asyncio.run(main())


def test_a_handler_that_never_ends_is_called_again_when_its_time_is_over():
    async def main():
        for store in (MemoryStore(max_handler_seconds=0.05), coins_store(lease_seconds=0.05)[0]):
            calls, gate = [], asyncio.Event()

            async def handle():
                calls.append(1)
                if len(calls) == 1:
                    await gate.wait()

            hung = asyncio.create_task(store.once_async("evt_1", handle))
            await asyncio.sleep(0)
            await asyncio.wait_for(store.once_async("evt_1", handle), 5)
            assert len(calls) == 2
            gate.set()
            if isinstance(store, MemoryStore):
                await hung
            else:
                with pytest.raises(RuntimeError, match="is handled by another call"):
                    await hung

    asyncio.run(main())


def test_the_memory_store_never_drops_an_event_that_is_being_handled():
    async def main():
        store, calls, gate = MemoryStore(max_events=1), [], asyncio.Event()

        async def handle():
            calls.append(1)
            await gate.wait()

        async def nothing():
            pass

        both = [asyncio.create_task(store.once_async("evt_slow", handle))]
        await asyncio.sleep(0)
        for other in range(5):
            await store.once_async(f"evt_{other}", nothing)
        both.append(asyncio.create_task(store.once_async("evt_slow", handle)))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*both)
        assert len(calls) == 1

    asyncio.run(main())


def test_what_is_committed_with_an_event_is_there_once_whatever_the_handler_does_then():
    store, database, pay = coins_store()

    def pay_and_fail(fault: str) -> None:
        def write():
            pay("evt_1")
            if fault == "inside":
                raise ValueError(fault)

        store.commit("evt_1", write)
        pay("a part of what failed")
        raise ValueError(fault)

    for fault, coins in (("inside", []), ("after", ["evt_1"])):
        with pytest.raises(ValueError, match=fault):
            store.once("evt_1", lambda fault=fault: pay_and_fail(fault))
        assert coins_of(database) == coins
    store.once("evt_1", lambda: store.commit("evt_1", lambda: pay("evt_1")))
    assert coins_of(database) == ["evt_1"]
    # What is written after commit() is committed with the end of the handler.
    store.once("evt_2", lambda: (store.commit("evt_2", lambda: None), pay("afterwards")) and None)
    assert not database.in_transaction
    assert coins_of(database) == ["afterwards", "evt_1"]


def test_a_handler_whose_lease_another_process_took_over_stores_and_commits_nothing(tmp_path: Path):
    async def main():
        late, _, pay_late = coins_store(tmp_path / "bot.sqlite", lease_seconds=0.05)
        other, database, pay = coins_store(tmp_path / "bot.sqlite", lease_seconds=60)
        gate = asyncio.Event()

        async def commit_late():
            await gate.wait()
            await late.commit_async("evt_1", lambda: pay_late("late"))

        async def write_late():
            await gate.wait()
            pay_late("late")

        async def pay_in_time(event_id: str):
            await other.commit_async(event_id, lambda: pay(event_id))

        runs = [
            asyncio.create_task(late.once_async(event_id, handle))
            for event_id, handle in (("evt_1", commit_late), ("evt_2", write_late))
        ]
        await asyncio.sleep(0.06)
        for event_id in ("evt_1", "evt_2"):
            await other.once_async(event_id, lambda event_id=event_id: pay_in_time(event_id))
        gate.set()
        outcomes = await asyncio.gather(*runs, return_exceptions=True)
        assert [isinstance(outcome, RuntimeError) for outcome in outcomes] == [True, True]
        assert "is handled by another call" in str(outcomes[0])
        assert coins_of(database) == ["evt_1", "evt_2"]

    asyncio.run(main())


def test_handlers_that_write_at_the_same_time_without_commit_lose_no_reward():
    """They raise, and their events are handled again."""

    async def main():
        store, database, pay = coins_store(busy_seconds=0.5)

        def handle_of(event_id: str):
            async def handle():
                await asyncio.sleep(0)
                pay(event_id)
                await asyncio.sleep(0.01)

            return handle

        refused = 0
        for _ in range(10):
            runs = (store.once_async(event_id, handle_of(event_id)) for event_id in ("evt_1", "evt_2"))
            outcomes = await asyncio.gather(*runs, return_exceptions=True)
            refused += sum("store.commit(event, write)" in str(outcome) for outcome in outcomes)
            if outcomes == [None, None]:
                break
            await store.once_async("evt_1", handle_of("evt_1"))
            await store.once_async("evt_2", handle_of("evt_2"))
        assert refused > 0
        assert coins_of(database) == ["evt_1", "evt_2"]

    asyncio.run(main())


def test_a_store_opens_and_pays_beside_a_process_that_holds_the_file_and_does_not_stop_the_loop(tmp_path: Path):
    async def main():
        holder = sqlite3.connect(tmp_path / "bot.sqlite", isolation_level=None)
        holder.execute("create table coins (event_id text)")
        holder.execute("begin exclusive")
        database = sqlite3.connect(tmp_path / "bot.sqlite")
        store = SqliteStore(database)

        async def pay():
            await store.commit_async("evt_1", lambda: database.execute("insert into coins values ('evt_1')").close())

        paying = asyncio.create_task(store.once_async("evt_1", pay))
        started = time.monotonic()
        await asyncio.sleep(0.05)
        assert time.monotonic() - started < 2
        assert not paying.done()
        holder.execute("commit")
        await paying
        assert coins_of(holder) == ["evt_1"]
        holder.execute("begin exclusive")
        with pytest.raises(RuntimeError, match="locked"):
            await SqliteStore(database, busy_seconds=0.05).once_async("evt_2", pay)
        assert database.execute("pragma busy_timeout").fetchone() == (5000,)

    asyncio.run(main())


def test_an_event_of_a_process_that_crashed_waits_for_its_lease_and_a_clock_days_fast_withholds_none(tmp_path: Path):
    store, database, pay = coins_store(tmp_path / "bot.sqlite", busy_seconds=0)
    until = {"evt_1": "2999-01-01T00:00:00.000Z"}
    soon = datetime.now(timezone.utc) + timedelta(seconds=30)
    until["evt_2"] = soon.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for event_id, ends_at in until.items():
        database.execute("insert into handled_ad_events_claims values (?, 'a crashed one', ?)", (event_id, ends_at))
    database.commit()
    store.once("evt_1", lambda: store.commit("evt_1", lambda: pay("evt_1")))
    with pytest.raises(RuntimeError, match="is handled again when its lease of 60 s is over"):
        store.once("evt_2", lambda: pay("evt_2"))
    assert coins_of(database) == ["evt_1"]


def dictionaries(cursor, row):
    return {column[0]: value for column, value in zip(cursor.description, row)}


@pytest.mark.parametrize("row_factory", [dictionaries, sqlite3.Row, lambda _cursor, row: row[0]])
def test_a_connection_may_have_rows_of_its_own_and_keeps_its_wait_for_other_processes(row_factory):
    database = sqlite3.connect(":memory:", timeout=7)
    database.row_factory = row_factory
    store, calls = SqliteStore(database), []
    for _copy in range(2):
        store.once("evt_1", lambda: calls.append(1))
    database.row_factory = None
    assert database.execute("pragma busy_timeout").fetchone() == (7000,)
    assert calls == [1]


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_an_event_whose_handler_does_not_await_its_commit_is_handled_again():
    store, database, pay = coins_store()

    def forgets():
        store.commit_async("evt_1", lambda: pay("evt_1"))

    async def forgets_too():
        forgets()

    async def starts_a_task():
        asyncio.create_task(store.commit_async("evt_1", lambda: pay("evt_1"))).add_done_callback(lambda task: task.exception())

    async def awaits():
        await store.commit_async("evt_1", lambda: pay("evt_1"))

    async def main():
        for handler in (forgets_too, forgets, starts_a_task):
            with pytest.raises(RuntimeError, match=r"commit_async\(\) of evt_1 was not awaited: await store"):
                await store.once_async("evt_1", handler)
            await asyncio.sleep(0)
        assert coins_of(database) == []
        await store.once_async("evt_1", awaits)

    with pytest.raises(RuntimeError, match="was not awaited"):
        store.once("evt_1", forgets)
    asyncio.run(main())
    assert coins_of(database) == ["evt_1"]


@pytest.mark.parametrize("length", [float("nan"), float("inf"), "60", 0, -1, None, True])
def test_a_length_of_time_that_is_none_is_refused_by_name_when_a_store_is_made(length):
    database = sqlite3.connect(":memory:")
    for name, make in {
        "lease_seconds": lambda: SqliteStore(database, lease_seconds=length),
        "max_handler_seconds": lambda: MemoryStore(max_handler_seconds=length),
    }.items():
        with pytest.raises(ValueError, match=f"{name} must be a number of seconds above 0; it is"):
            make()
    SqliteStore(database, busy_seconds=0)
    with pytest.raises(ValueError, match="busy_seconds must be"):
        SqliteStore(database, busy_seconds=float("nan"))
    with pytest.raises(ValueError, match="max_events must be a whole number from 1 on; it is 0"):
        MemoryStore(0)
