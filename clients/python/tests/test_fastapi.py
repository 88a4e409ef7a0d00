import asyncio
import base64
import hashlib
import hmac
import json
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

from intermission_ads import AdEvent, MemoryStore, SqliteStore
from intermission_ads.fastapi import ad_event, webhook

token = "ad_test"


def signed(key: str = token, sent_ago: int = 0, **fields) -> dict:
    body = json.dumps({"event": "rewarded", "event_id": "evt_1", "user_tg_id": "42", **fields}).encode()
    timestamp = str(int(time.time()) - sent_ago)

    def mac(data: bytes) -> bytes:
        return hmac.new(key.encode(), data, hashlib.sha256).digest()

    standard = base64.b64encode(mac(f"evt_1.{timestamp}.".encode() + body)).decode()
    headers = {
        **{"content-type": "application/json", "x-signature": "sha256=" + mac(body).hex()},
        **{"webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": f"v1,{standard}"},
    }
    return {"content": body, "headers": headers}


def serve(handle, **options) -> TestClient:
    app = FastAPI()
    app.post("/webhooks/ads")(webhook(handle, tokens=token, **options))
    return TestClient(app)


def test_an_event_is_handled_once_and_each_copy_is_answered_200():
    handled: list[AdEvent] = []
    client = serve(handled.append)
    answers = [client.post("/webhooks/ads", **signed(reference="order 7")) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert [(event.user_id, event.reference) for event in handled] == [("42", "order 7")]


def test_tokens_belong_to_bots():
    handled: list[AdEvent] = []
    tokens = {"7000000001": "ad_a", "7000000002": ["ad_next_b", "ad_b"]}
    app = FastAPI()
    app.post("/webhooks/ads")(webhook(handled.append, tokens=tokens))
    client, sent = TestClient(app), iter(range(100))

    def send(key: str, **fields):
        return client.post("/webhooks/ads", **signed(key, event_id=f"evt_{next(sent)}", **fields))

    def cause(answer) -> tuple[int, str]:
        return answer.status_code, answer.json()["error"]["details"]["cause"]

    assert send("ad_a", bot_id="7000000001").status_code == 200
    assert send("ad_b", bot_id="7000000002").status_code == 200
    assert send("ad_next_b").status_code == 200
    assert [event.bot_id for event in handled] == ["7000000001", "7000000002", "7000000002"]
    assert cause(send("ad_a", bot_id="7000000002")) == (401, "another-bot")
    assert cause(send("ad_other", bot_id="7000000003")) == (401, "unlisted-bot")
    # The ids are no tokens.
    assert cause(send("7000000001", bot_id="7000000001")) == (401, "unknown")
    assert len(handled) == 3
    with pytest.raises(ValueError, match=r"tokens of bot 7000000002 \(AD_API_TOKEN\) is missing"):
        webhook(handled.append, tokens={"7000000001": "ad_a", "7000000002": [""]})


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (None, "is missing: set it to the bot's API token"),
        ({}, "is missing: set it to the bot's API token"),
        (["", ""], "is missing: set it to the bot's API token"),
        ("7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "is a token of @BotFather"),
        ("ad_…", "is the placeholder of an example"),
        ("Bearer ad_a", 'begins with "Bearer"'),
    ],
)
def test_a_token_that_cannot_be_one_is_named_where_the_endpoint_is_made(tokens, message):
    with pytest.raises(ValueError, match=r"^tokens \(AD_API_TOKEN\) " + re.escape(message)) as raised:
        webhook(print, tokens=tokens)
    assert "AAHdq" not in str(raised.value)


def test_tests_of_listed_testers_are_paid_once_where_the_receiver_pays_testers():
    paid: list[AdEvent] = []
    tests: list[AdEvent] = []
    client = serve(paid.append, on_test=tests.append, pays_testers=True)
    for sent in (
        signed(event_id="evt_1", test=True, code="ABCD"),
        signed(event_id="evt_1", test=True, code="ABCD"),
        signed(event_id="evt_2", test=True, user_tg_id="0"),
        signed(event_id="evt_3"),
    ):
        assert client.post("/webhooks/ads", **sent).status_code == 200
    assert [(event.event_id, event.is_test) for event in paid] == [("evt_1", True), ("evt_3", False)]
    assert [event.event_id for event in tests] == ["evt_2"]


def test_an_event_without_ids_is_known_by_its_code():
    handled: list[AdEvent] = []
    client = serve(handled.append)
    for _ in range(2):
        client.post("/webhooks/ads", **signed(event_id="", code="ABCD"))
    assert len(handled) == 1


@pytest.mark.parametrize("kind", ["memory", "SQLite"])
def test_a_handler_that_never_ends_is_cancelled_with_its_effect_and_other_users_are_paid(kind):
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table coins (user_id text)")
    store = SqliteStore(database) if kind == "SQLite" else MemoryStore()
    cancelled: list[str] = []

    async def pay(event: AdEvent) -> None:
        database.execute("insert into coins values (?)", (event.user_id,))
        if event.user_id == "1":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(event.user_id)
                raise

    app = FastAPI()
    app.post("/webhooks/ads")(webhook(pay, tokens=token, store=store, handler_timeout_seconds=0.2))
    with TestClient(app) as client:
        sent = [("1", "evt_slow"), ("2", "evt_2"), ("1", "evt_slow"), ("3", "evt_3")]
        with ThreadPoolExecutor(len(sent)) as pool:
            answers = list(
                pool.map(
                    lambda one: client.post("/webhooks/ads", **signed(user_tg_id=one[0], event_id=one[1])).status_code, sent
                )
            )
        assert [answers[0], answers[2]] == [500, 500]
        again = [client.post("/webhooks/ads", **signed(user_tg_id=user, event_id=f"evt_{user}")) for user in "23"]
    assert [answer.status_code for answer in again] == [200, 200]
    assert "1" in cancelled
    if kind == "SQLite":
        assert sorted(database.execute("select user_id from coins").fetchall()) == [("2",), ("3",)]


def test_a_handler_that_raises_is_answered_500_and_called_again():
    handled: list[AdEvent] = []

    async def handle(event: AdEvent) -> None:
        handled.append(event)
        if len(handled) == 1:
            raise ValueError("no database")

    client = serve(handle)
    assert [client.post("/webhooks/ads", **signed()).status_code for _ in range(3)] == [500, 200, 200]
    assert len(handled) == 2


def test_forged_and_oversized_webhooks_and_test_events_reach_no_handler():
    handled: list[AdEvent] = []
    tests: list[AdEvent] = []
    client = serve(handled.append, on_test=tests.append)
    refused = client.post("/webhooks/ads", **signed(key="forged"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "BAD_SIGNATURE")
    assert client.post("/webhooks/ads", **signed(event="other")).status_code == 400
    assert client.post("/webhooks/ads", **signed(reference="x" * 70_000)).status_code == 413
    assert client.post("/webhooks/ads", **signed(test=True, user_tg_id="0")).status_code == 200
    assert (len(handled), len(tests)) == (0, 1)


def test_refusals_are_answered_with_their_reason_and_logged_once_a_minute_for_each_kind(caplog):
    client = serve(print, store=MemoryStore())
    for _ in range(20):
        refused = client.post("/webhooks/ads", **signed(reference="SECRET", sent_ago=600))
    assert refused.status_code == 401
    error = refused.json()["error"]
    assert error["code"] == "BAD_SIGNATURE"
    assert error["details"]["fault"] == "stale"
    assert 600 <= error["details"]["seconds"] <= 605
    assert "by the clock of this machine: check that clock (NTP)" in error["message"]
    client.post("/webhooks/ads", **signed(key="forged"))
    client.post("/webhooks/ads", **signed(event="other"))
    lines = [record.getMessage() for record in caplog.records if record.name == "intermission_ads"]
    assert [line.startswith("a webhook was refused: ") for line in lines] == [True, True, True]
    assert "NTP" in lines[0]
    assert not any(secret in line for line in lines for secret in ("SECRET", token, "evt_1"))


def test_the_dependency_hands_over_the_verified_event():
    app = FastAPI()

    @app.post("/webhooks/ads")
    async def receive(event: AdEvent = Depends(ad_event([token]))) -> dict:
        return {"user": event.user_id}

    client = TestClient(app)
    assert client.post("/webhooks/ads", **signed()).json() == {"user": "42"}
    assert client.post("/webhooks/ads", **signed(key="forged")).status_code == 401


def test_a_receiver_without_a_store_warns_that_each_worker_and_each_restart_pays_again(caplog):
    webhook(print, tokens=token, store=MemoryStore())
    assert caplog.records == []
    webhook(print, tokens=token)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "to another worker, is paid again. Pass store=SqliteStore(connection)" in record.getMessage()


@pytest.mark.parametrize("limit", ["14", 0, float("nan")])
def test_a_limit_of_handlers_that_is_no_length_of_time_is_named_where_the_endpoint_is_made(limit):
    with pytest.raises(ValueError, match="handler_timeout_seconds must be a number of seconds above 0; it is"):
        webhook(print, tokens=token, store=MemoryStore(), handler_timeout_seconds=limit)


def test_a_request_that_breaks_off_in_its_body_is_no_error_of_the_server():
    app = FastAPI()
    app.post("/webhooks/ads")(webhook(print, tokens=token, store=MemoryStore()))
    arriving = iter([{"type": "http.request", "body": b"begin", "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(arriving)

    async def send(_message):
        pass

    scope = {"type": "http", "method": "POST", "path": "/webhooks/ads", "query_string": b"", "headers": []}
    asyncio.run(app(scope, receive, send))
