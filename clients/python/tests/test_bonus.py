import asyncio

import httpx
import pytest

from intermission_ads import AdsError, AsyncAds
from intermission_ads.bonus import BonusReply, BonusTexts, ad_button, bonus_reply

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


def test_a_user_who_cannot_earn_now_is_told_when():
    later = {"available": False, "reason": "cooldown", "available_at": "2026-01-02T03:04:05Z"}
    reply = with_service(lambda ads: bonus_reply(ads, 42, is_private=True), availability=later)
    assert reply == BonusReply("The next ad is available at 03:04 UTC.", None)
    never = with_service(lambda ads: bonus_reply(ads, 42, is_private=True), availability={"available": False})
    assert never.text == "There is no ad for you now."


def test_a_refusal_is_told_to_the_user_and_logged(caplog):
    texts = BonusTexts(failed="Later, please.")
    reply = with_service(lambda ads: bonus_reply(ads, 42, is_private=True, texts=texts), status=403)
    assert reply == BonusReply("Later, please.", None)
    assert "UNEXPECTED_ANSWER" in caplog.text


def test_a_service_without_addresses_is_an_error():
    bare = {name: created[name] for name in ("code", "expires_in", "expires_at")}
    with pytest.raises(AdsError):
        with_service(lambda ads: ad_button(ads, 42, is_private=True), code=bare)


def test_the_aiogram_router_answers_the_command():
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
        chat = {"id": 42, "type": "private", "first_name": "Ada"}
        user = {"id": 42, "is_bot": False, "first_name": "Ada"}
        message = {"message_id": 1, "date": 0, "chat": chat, "from": user, "text": "/bonus"}
        update = Update.model_validate({"update_id": 1, "message": message})
        await dispatcher.feed_update(Bot("7:token", session=FakeSession()), update)

    with_service(work)
    (message,) = sent
    assert message.reply_markup.inline_keyboard[0][0].web_app.url == created["miniapp_url"]
