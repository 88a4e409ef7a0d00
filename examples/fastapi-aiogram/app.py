"""A backend with FastAPI that pays for watched ads: `uvicorn app:app --port 3000`. `bot.py` adds a Telegram bot."""

import os
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from fastapi import FastAPI
from intermission_ads import AdEvent, AsyncAds, SqliteStore
from intermission_ads.fastapi import webhook

token = os.environ["AD_API_TOKEN"]
ads = AsyncAds(os.environ["AD_SERVICE_URL"], token, os.environ["BOT_ID"])
database = sqlite3.connect(os.environ.get("DATABASE", "coins.sqlite"), check_same_thread=False)
database.execute("create table if not exists coins (user_id text not null, amount integer not null)")
store = SqliteStore(database)


def coins_of(user_id: str) -> int:
    return database.execute("select coalesce(sum(amount), 0) from coins where user_id = ?", (user_id,)).fetchone()[0]


def create_app(notify: Callable[[str, str], Awaitable[None]] | None = None) -> FastAPI:
    """`notify` sends a text to a user."""

    async def pay(event: AdEvent) -> None:
        """Runs once for each event: the coins are committed together with the event's id."""
        insert = "insert into coins values (?, 10)"
        await store.commit_async(event, lambda: database.execute(insert, (event.user_id,)))
        if notify is not None:
            await notify(event.user_id, "🎉 10 coins for you. /coins")

    app = FastAPI()
    app.post("/webhooks/ads")(webhook(pay, tokens=token, store=store))

    # Your bot would call these two; here anybody on this machine may.
    @app.get("/ads/{user_id}")
    async def new_ad(user_id: str) -> dict:
        return asdict(await ads.create_code(user_id))

    @app.get("/coins/{user_id}")
    async def coins(user_id: str) -> dict:
        return {"coins": coins_of(user_id)}

    return app


app = create_app()
