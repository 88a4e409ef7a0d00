from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import httpx
import pytest

from intermission_ads import AdsError, AsyncAds
from intermission_ads.bonus import BonusReply, BonusTexts, ad_button, bonus_reply
from intermission_ads.sender import sender_of

created = {
    **{"code": "ABCD", "expires_in": 60, "expires_at": "2026-01-02T03:04:05Z"},
    **{"direct_link": "https://ads.example/ABCD", "miniapp_url": "https://ads.example/app/7?code=ABCD"},
}


def with_service(work, *, availability={"available": True}, code=created, status=200):
    def answer(request: httpx.Request) -> httpx.Response:
        is_code = request.url.path.endswith("/codes")
        return httpx.Response(status, json=code if is_code else availability)

    async def main():
        async with AsyncAds("https://ads.example", "ad_1", 7, transport=httpx.MockTransport(answer)) as ads:
            return await work(ads)

    return asyncio.run(main())


def test_a_private_chat_gets_the_mini_app_and_another_one_the_link():
    private = with_service(lambda ads: bonus_reply(ads, 42, is_private=True))
    assert (private.text, private.button.text) == (BonusTexts().offer, "🎁 Watch and earn")
    assert (private.button.url, private.button.is_web_app) == (created["miniapp_url"], True)
    group = with_service(lambda ads: bonus_reply(ads, 42, is_private=False))
    assert (group.button.url, group.button.is_web_app) == (created["direct_link"], False)


def test_a_user_who_cannot_earn_now_learns_when():
    later = {"available": False, "reason": "cooldown", "available_at": "2026-01-02T03:04:05Z"}
    reply = with_service(lambda ads: bonus_reply(ads, 42, is_private=True), availability=later)
    assert reply == BonusReply("The next ad is available at 03:04 UTC.", None)
    never = with_service(lambda ads: bonus_reply(ads, 42, is_private=True), availability={"available": False})
    assert never.text == "There is no ad for you now."


many_people = ["1087968824", 136817688, 777000]


@pytest.mark.parametrize("user_id", many_people)
def test_an_account_that_is_many_people_gets_no_code_and_learns_what_to_do(user_id):
    reply = with_service(lambda ads: bonus_reply(ads, user_id, is_private=False), status=500)
    assert reply == BonusReply(BonusTexts().anonymous, None)
    assert "Send me the command in private" in reply.text


def test_a_message_in_the_name_of_a_chat_gets_no_code_and_the_text_can_be_replaced():
    texts = BonusTexts(anonymous="Напишите мне в личку.")

    async def work(ads):
        return await bonus_reply(ads, 42, is_private=False, is_in_name_of_chat=True, texts=texts)

    assert with_service(work, status=500) == BonusReply("Напишите мне в личку.", None)


@pytest.mark.parametrize("user_id", [*many_people, "-1001234567890", -7])
def test_the_client_requests_no_code_for_many_people_and_says_whose_id_that_is(user_id):
    for work in (lambda ads: ads.create_code(user_id), lambda ads: ads.availability(user_id)):
        with pytest.raises(AdsError, match=f"user {user_id} is ") as refused:
            with_service(work, status=500)
        assert (refused.value.code, refused.value.status) == ("NOT_A_PERSON", None)


_file = os.environ.get("RECEIVER_CASES")


@pytest.mark.skipif(not _file, reason="RECEIVER_CASES is not set: run `npm test -- python`")
def test_the_same_ids_get_a_code_as_in_every_client():
    ids = json.loads(Path(_file).read_text())["userIds"]

    def code_of(user_id: str) -> str | None:
        try:
            with_service(lambda ads: ads.create_code(user_id))
        except AdsError as error:
            return error.code
        return None

    expected = {None: ids["people"], "NOT_A_PERSON": ids["many_people"] + ids["chats"], "BAD_REQUEST": ids["no_ids"]}
    assert {code: [one for one in group if code_of(one) != code] for code, group in expected.items()} == {
        code: [] for code in expected
    }


@pytest.mark.parametrize(
    ("sender", "user_id", "facts"),
    [
        ("person", 42, {}),
        ("chat", 42, {"is_in_name_of_chat": True}),
        ("chat", 1087968824, {"is_bot": True, "is_in_name_of_chat": True}),
        ("chat", "136817688", {"is_bot": True}),
        ("chat", 777000, {}),
        ("bot", 43, {"is_bot": True}),
        ("nobody", None, {"is_in_name_of_chat": True}),
    ],
)
def test_senders_are_distinguished(sender, user_id, facts):
    assert sender_of(user_id, **facts) == sender


def test_a_refusal_is_shown_to_the_user_and_logged(caplog):
    texts = BonusTexts(failed="Later, please.")
    reply = with_service(lambda ads: bonus_reply(ads, 42, is_private=True, texts=texts), status=403)
    assert reply == BonusReply("Later, please.", None)
    assert "UNEXPECTED_ANSWER" in caplog.text


def test_a_service_without_addresses_is_an_error():
    bare = {name: created[name] for name in ("code", "expires_in", "expires_at")}
    with pytest.raises(AdsError):
        with_service(lambda ads: ad_button(ads, 42, is_private=True), code=bare)


def answers_of_the_aiogram_router(**message):
    """What a bot with the router sends after this message."""
    pytest.importorskip("aiogram", reason="aiogram is not installed: pip install 'aiogram>=3,<4'")
    from aiogram import Bot, Dispatcher
    from aiogram.client.session.base import BaseSession
    from aiogram.types import Update

    from intermission_ads.aiogram import bonus_router

    sent = []

    class FakeSession(BaseSession):
        async def make_request(self, bot, method, timeout=None):
            sent.append(method)

        async def close(self):
            pass

        async def stream_content(self, *words, **named):
            yield b""

    async def work(ads):
        dispatcher = Dispatcher()
        dispatcher.include_router(bonus_router(ads))
        update = Update.model_validate({"update_id": 1, "message": {"message_id": 1, "date": 0, **message}})
        await dispatcher.feed_update(Bot("7:token", session=FakeSession()), update)

    with_service(work)
    return sent


ada = {"id": 42, "is_bot": False, "first_name": "Ada"}
group = {"id": -1001, "type": "supergroup", "title": "Group"}


def test_the_aiogram_router_answers_the_command():
    chat = {"id": 42, "type": "private", "first_name": "Ada"}
    (message,) = answers_of_the_aiogram_router(**{"chat": chat, "from": ada, "text": "/bonus"})
    assert message.reply_markup.inline_keyboard[0][0].web_app.url == created["miniapp_url"]


def test_the_aiogram_router_makes_no_code_in_the_name_of_a_chat_and_says_what_to_do():
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    for user in (anonymous, ada):
        facts = {"chat": group, "sender_chat": group, "from": user, "text": "/bonus"}
        (message,) = answers_of_the_aiogram_router(**facts)
        assert (message.text, message.reply_markup) == (BonusTexts().anonymous, None)


def test_the_aiogram_router_does_not_answer_another_bot():
    assert answers_of_the_aiogram_router(**{"chat": group, "from": {**ada, "is_bot": True}, "text": "/bonus"}) == []
