"""A backend with Flask that pays for watched ads: `flask run --port 3000`, which listens on 127.0.0.1."""

import os
import sqlite3
from dataclasses import asdict

from flask import Flask, request
from intermission_ads import Ads, WebhookRefused, verify_webhook

token = os.environ["AD_API_TOKEN"]
ads = Ads(os.environ["AD_SERVICE_URL"], token, os.environ["BOT_ID"])
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 65536  # Larger than any webhook.


def connect() -> sqlite3.Connection:
    """Of this request alone: Flask answers requests in several threads."""
    database = sqlite3.connect(os.environ.get("DATABASE", "coins.sqlite"), isolation_level=None)
    # The unique key: a webhook that is delivered twice pays once.
    database.execute(
        "create table if not exists payments"
        " (event_id text primary key, user_id text not null, coins integer not null)"
    )
    return database


@app.post("/webhooks/ads")
def webhook():
    try:
        # The signature covers the bytes as they arrived, so nothing may parse them before.
        event = verify_webhook(request.get_data(), request.headers.items(), token)
    except WebhookRefused as refused:
        return {"error": {"code": refused.code, "message": str(refused)}}, refused.status
    if not event.is_test:
        # Stored before the answer: everything but a 2xx makes the ad service send the event again.
        sql = "insert into payments values (?, ?, 10) on conflict (event_id) do nothing"
        connect().execute(sql, (event.event_id, event.user_id))
    return {"status": "ok"}


# Your bot would call these two; here anybody on this machine may.
@app.get("/ads/<user_id>")
def new_ad(user_id: str):
    return asdict(ads.create_code(user_id))


@app.get("/coins/<user_id>")
def coins(user_id: str):
    sql = "select coalesce(sum(coins), 0) from payments where user_id = ?"
    return {"coins": connect().execute(sql, (user_id,)).fetchone()[0]}
