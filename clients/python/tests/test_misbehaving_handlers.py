"""The handlers that every client of this repository is tested with; `npm test -- python` passes their table."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from test_fastapi import signed, token

from intermission_ads import SqliteStore
from intermission_ads.fastapi import webhook

_file = os.environ.get("MISBEHAVING_HANDLERS")
names = [one["name"] for one in json.loads(Path(_file).read_text())["handlers"]] if _file else []
pytestmark = pytest.mark.skipif(not _file, reason="MISBEHAVING_HANDLERS is not set: run `npm test -- python`")


class LazyQuery:
    def __init__(self, run):
        self.run = run

    def __await__(self):
        self.run()
        yield


class Bot:
    def __init__(self, folder: Path) -> None:
        self.database, self.other = (sqlite3.connect(folder / "bot.db", check_same_thread=False) for _ in range(2))
        self.other.execute("pragma busy_timeout = 0").close()
        self.database.execute("create table coins (event_id text)").close()
        self.store = SqliteStore(self.database, busy_seconds=0.05)
        self.threads = ThreadPoolExecutor(1)
        self.tasks: list[asyncio.Task] = []

    def pay(self, event, database: sqlite3.Connection | None = None) -> None:
        (database or self.database).execute("insert into coins values (?)", (event.event_id,)).close()

    def coins(self) -> int:
        with self.threads:
            pass
        self.threads = ThreadPoolExecutor(1)
        (count,) = self.database.execute("select count(*) from coins").fetchone()
        return count

    async def commit(self, event, *then) -> None:
        def write():
            self.pay(event)
            for one in then:
                one()

        await self.store.commit_async(event, write)

    async def right(self, event) -> None:
        await self.commit(event)

    def later(self, coroutine) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(coroutine))


def fail() -> None:
    raise ValueError("a fault of the handler")


def handlers_of(bot: Bot) -> dict[str, object]:
    """What misbehaves, and what the log says about it; None where the effect is there although."""

    async def fails(_event):
        fail()

    async def crashes(_event):
        raise asyncio.CancelledError

    async def is_generator(event):
        yield bot.right(event)

    async def comes_later(event):
        async def late():
            await asyncio.sleep(0)
            await bot.right(event)

        bot.later(late())

    async def is_async(event):
        async def write():
            bot.pay(event)

        await bot.store.commit_async(event, write)

    async def returns_a_task(event):
        async def pay():
            bot.pay(event)

        await bot.store.commit_async(event, lambda: asyncio.get_running_loop().create_task(pay()))

    async def yields(event):
        def write():
            yield bot.pay(event)

        await bot.store.commit_async(event, write)

    async def hides(event):
        def hide():
            with pytest.raises(sqlite3.OperationalError):
                bot.database.execute("insert into no_table values (1)")

        await bot.commit(event, hide)

    async def twice(event):
        await bot.right(event)
        await bot.right(event)

    async def at_once(event):
        await asyncio.gather(bot.right(event), bot.right(event))

    async def begins_again(event):
        await bot.commit(event, bot.database.commit, lambda: bot.database.execute("begin").close())

    ended = "the transaction of commit() was ended"
    needed = "commit() needs a function that is not async"
    called_twice = "commit() was called twice"
    return {
        "fails": (fails, "a fault of the handler"),
        "crashes": (crashes, None),
        "is a generator": (is_generator, "the handler returned a generator, which nothing runs"),
        "returns a function": (lambda event: lambda: bot.right(event), "the handler returned a function"),
        "is not awaited": (lambda event: bot.threads.submit(bot.store.commit, event, lambda: bot.pay(event)), None),
        "comes later": (comes_later, None),
        "fails afterwards": (lambda event: bot.commit(event, fail), "a fault of the handler"),
        "is async": (is_async, needed),
        "returns a promise": (returns_a_task, needed),
        "leaves a promise": "a function that left a task and one that is done look the same",
        "returns a query": (lambda event: bot.store.commit_async(event, lambda: LazyQuery(lambda: bot.pay(event))), needed),
        "is a generator function": (yields, needed),
        "commits": (lambda event: bot.commit(event, bot.database.commit), ended),
        "rolls back": (lambda event: bot.commit(event, bot.database.rollback), ended),
        "commits and begins": (begins_again, None),
        "uses another connection": (
            lambda event: bot.store.commit_async(event, lambda: bot.pay(event, bot.other)),
            "database is locked",
        ),
        "hides an error": (hides, None),
        "commits twice": (twice, called_twice),
        "commits twice at once": (at_once, called_twice),
    }


def serve(bot: Bot, handle) -> TestClient:
    app = FastAPI()
    receive = webhook(handle, tokens=token, store=bot.store)

    async def receive_and_wait(request: Request):
        answer = await receive(request)
        await asyncio.gather(*bot.tasks, return_exceptions=True)
        bot.tasks.clear()
        return answer

    app.post("/webhooks/ads")(receive_and_wait)
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("name", names)
def test_a_webhook_is_answered_200_when_its_effect_is_there_once(name: str, tmp_path: Path, caplog):
    bot = Bot(tmp_path)
    misbehaviour = handlers_of(bot)[name]
    if isinstance(misbehaviour, str):
        return
    handle, says = misbehaviour
    client = serve(bot, handle)
    for delivery in range(3):
        status = client.post("/webhooks/ads", **signed()).status_code
        assert bot.coins() <= 1
        if status == 200:
            assert bot.coins() == 1
        if delivery == 0 and says is not None:
            assert status == 500
            assert says in caplog.text
    assert serve(bot, bot.right).post("/webhooks/ads", **signed()).status_code == 200
    assert bot.coins() == 1
