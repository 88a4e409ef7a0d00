import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from intermission_ads import MemoryStore, SqliteStore


def sqlite_store(file="") -> SqliteStore:
    return SqliteStore(sqlite3.connect(file or ":memory:", check_same_thread=False))


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


def test_the_memory_store_forgets_the_oldest_events():
    store, calls = MemoryStore(most=2), []
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


def test_a_handler_that_commits_is_told_so():
    database = sqlite3.connect(":memory:")
    with pytest.raises(RuntimeError, match="remove its commit"):
        SqliteStore(database).once("evt_1", database.commit)


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

SqliteStore(database).once("evt_1", pay)
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
