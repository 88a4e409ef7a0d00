from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import replace

import httpx
import pytest

from intermission_ads import AdEvent, AsyncAds, JoinRules, MemoryStore, PendingJoin, SqliteStore
from intermission_ads.join_languages import JoinTexts, join_texts
from intermission_ads.join_requests import JoinDecider, JoinRequest, TelegramRefused

garden = "-1001234567890"
request = JoinRequest(garden, "Secret Garden", "501", 501, "q1")
event = AdEvent(
    **{"event": "rewarded", "user_id": "501", "event_id": "evt_1", "bot_id": "7", "code": "ABCD"},
    **{"reference": f"join:{garden}", "start_param": None, "occurred_at": None, "revenue_micros": None},
    **{"currency": None, "is_test": False},
)
created = {
    **{"code": "ABCD", "expires_in": 3600, "expires_at": "2126-01-02T03:04:05Z"},
    **{"direct_link": "https://ads.example/ABCD", "miniapp_url": "https://ads.example/app/7?code=ABCD"},
}


def new_sqlite(tmp_path):
    return SqliteStore(sqlite3.connect(tmp_path / "bot.sqlite", check_same_thread=False))


@pytest.fixture(params=["memory", "SQLite"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else new_sqlite(tmp_path)


class Telegram:
    """Refuses the calls in `refused`, by method."""

    def __init__(self, **refused):
        self.calls = []
        self.refused = refused

    async def __call__(self, method, fields):
        self.calls.append((method, fields.get("result")))
        self.fields = fields
        if method in self.refused:
            raise self.refused[method]


def run(work, *, telegram, store, rules=JoinRules(), availability={"available": True}, status=200, bodies=None, texts=None):
    def answer(sent: httpx.Request) -> httpx.Response:
        is_code = sent.url.path.endswith("/codes")
        if is_code and bodies is not None:
            bodies.append(sent.content.decode())
        return httpx.Response(status, json=created if is_code else availability)

    async def main():
        async with AsyncAds("https://ads.example", "ad_1", 7, retries=0, transport=httpx.MockTransport(answer)) as ads:
            return await work(JoinDecider(ads, telegram, store, rules, texts))

    return asyncio.run(main())


def test_a_request_opens_the_mini_app_and_the_reward_approves_it_once(store):
    telegram, bodies = Telegram(), []

    async def work(joins):
        await joins.answer(request)
        return [await joins.approve(event), await joins.approve(replace(event, reference="order 7"))]

    assert run(work, telegram=telegram, store=store, bodies=bodies) == [True, False]
    assert telegram.calls == [("sendChatJoinRequestWebApp", None), ("answerChatJoinRequestQuery", "approve")]
    assert '"join":{"title":"Secret Garden"}' in bodies[0].replace('": ', '":')


@pytest.mark.parametrize("decision", ["approve", "queue", "decline"])
def test_without_an_ad_a_request_is_decided_as_the_bot_says(store, decision):
    telegram = Telegram()
    rules = JoinRules(without_ad=decision)
    run(lambda joins: joins.answer(request), telegram=telegram, store=store, rules=rules, availability={"available": False})
    assert telegram.calls == [("answerChatJoinRequestQuery", decision)]


def test_while_the_ad_service_is_away_the_administrators_decide(store, caplog):
    telegram = Telegram()
    with caplog.at_level(logging.ERROR):
        run(lambda joins: joins.answer(request), telegram=telegram, store=store, status=503)
    assert telegram.calls == [("answerChatJoinRequestQuery", "queue")]
    assert "no ad for a request to join" in caplog.text


def test_a_late_request_goes_to_the_administrators_and_a_later_reward_still_approves_it(store):
    telegram = Telegram()

    async def work(joins):
        await joins.answer(request)
        await asyncio.sleep(0.01)
        await joins.decide_late()
        await joins.approve(event)

    run(work, telegram=telegram, store=store, rules=JoinRules(wait_seconds=0.001))
    assert telegram.calls[1:] == [("answerChatJoinRequestQuery", "queue"), ("approveChatJoinRequest", None)]


def test_a_request_is_not_declined_as_long_as_its_code_can_earn(store):
    telegram = Telegram()

    async def work(joins):
        await joins.answer(request)
        await asyncio.sleep(0.01)
        await joins.decide_late()

    run(work, telegram=telegram, store=store, rules=JoinRules(wait_seconds=0.001, unwatched="decline"))
    assert telegram.calls == [("sendChatJoinRequestWebApp", None)]


@pytest.mark.parametrize("description", ["Bad Request: USER_ALREADY_PARTICIPANT", "Bad Request: HIDE_REQUESTER_MISSING"])
def test_a_request_that_is_over_counts_as_decided(store, description):
    over = TelegramRefused(description)
    telegram = Telegram(answerChatJoinRequestQuery=TelegramRefused("too old"), approveChatJoinRequest=over)

    async def work(joins):
        await joins.answer(request)
        return await joins.approve(event)

    assert run(work, telegram=telegram, store=store) is True


@pytest.mark.parametrize("error", [TelegramRefused("Bad Request: not enough rights"), ConnectionError("gone")])
def test_a_reward_that_cannot_be_approved_now_is_kept_for_its_repeat(store, error):
    telegram = Telegram(answerChatJoinRequestQuery=error, approveChatJoinRequest=error)

    async def work(joins):
        await joins.answer(request)
        with pytest.raises(type(error)):
            await joins.approve(event)
        telegram.refused.clear()
        await joins.approve(event)

    run(work, telegram=telegram, store=store)
    assert telegram.calls[-1] == ("answerChatJoinRequestQuery", "approve")


def test_without_a_query_the_user_gets_a_button(store):
    telegram = Telegram()

    async def work(joins):
        await joins.answer(replace(request, query_id=None))
        await joins.approve(event)

    run(work, telegram=telegram, store=store)
    assert [method for method, _ in telegram.calls] == ["sendMessage", "approveChatJoinRequest"]


def test_an_update_that_arrives_again_leaves_the_mini_app_open(store, caplog):
    telegram = Telegram()

    async def work(joins):
        await joins.answer(request)
        telegram.refused["sendChatJoinRequestWebApp"] = TelegramRefused("too old")
        with caplog.at_level(logging.ERROR):
            await joins.answer(request)
        await joins.approve(event)

    run(work, telegram=telegram, store=store)
    assert telegram.calls[-1] == ("answerChatJoinRequestQuery", "approve")
    assert ("answerChatJoinRequestQuery", "queue") not in telegram.calls


def test_a_process_that_starts_later_knows_the_requests(tmp_path):
    join = PendingJoin(garden, "501", "q1", 1_800_000_000.123)

    async def work():
        await new_sqlite(tmp_path).joins.put(join)
        joins = new_sqlite(tmp_path).joins
        assert await joins.get(garden, "501") == join
        assert await joins.late(1_800_000_000) == []
        assert await joins.late(1_800_000_001) == [join]
        await joins.remove(replace(join, query_id="q2"))
        assert await joins.get(garden, "501") == join
        await joins.remove(join)
        assert await joins.get(garden, "501") is None

    asyncio.run(work())


@pytest.mark.parametrize(
    "language_code, texts, button",
    [
        ("ru", None, "▶️ Смотреть и вступить"),
        ("pt-BR", None, "▶️ Assistir e entrar"),
        ("in", None, "▶️ Tonton dan bergabung"),
        ("xx", None, "▶️ Watch and join"),
        (None, None, "▶️ Watch and join"),
        ("ru", JoinTexts(button="Go"), "Go"),
    ],
)
def test_the_button_is_in_the_users_language(store, language_code, texts, button):
    telegram = Telegram()
    late = replace(request, query_id=None, language_code=language_code)
    run(lambda joins: joins.answer(late), telegram=telegram, store=store, texts=texts)
    sent = telegram.fields
    assert sent["reply_markup"]["inline_keyboard"][0][0]["text"] == button
    assert "Secret Garden" in sent["text"] and "{title}" not in sent["text"]


def test_every_language_names_the_channel():
    for language in ["ru", "uk", "es", "pt", "ar", "fa", "hi", "id", "tr", "uz", "de", "fr", "vi", "it"]:
        texts = join_texts(language)
        assert "{title}" in texts.offer and texts != JoinTexts()
