import asyncio
import json

import httpx
import pytest

from intermission_ads import Ads, AdsError, AsyncAds, Card

sent = {
    **{"card_id": "5f1d", "label": "Ad", "title": "Summer sale", "text": "Half price.", "button": "Look"},
    **{"image_url": "https://cdn.example/sale.jpeg", "url": "https://ads.example/card/5f1d", "advertiser": "Shop"},
    **{"expires_at": "2026-01-02T03:04:05Z", "new_field": 1},
}


def transport_of(requests: list, *, card=sent, counted=True) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        requests.append((request.url.path, json.loads(request.content or b"null")))
        is_shown = request.url.path.endswith("/shown")
        return httpx.Response(200, json={"card_id": "5f1d", "counted": counted} if is_shown else {"card": card})

    return httpx.MockTransport(answer)


def test_a_card_is_requested_with_language_and_consent_and_reported_by_its_id():
    requests: list = []
    with Ads("https://ads.example", "ad_1", 7, transport=transport_of(requests)) as ads:
        card = ads.card(42, language="de", consent={"gdpr": False})
        assert isinstance(card, Card)
        assert card.message == "Ad · Shop\nSummer sale\nHalf price."
        assert ads.card_shown(card.card_id) is True
        with pytest.raises(AdsError, match="card_id is missing"):
            ads.card_shown("")
    body = {"bot_id": "7", "user_tg_id": "42", "language": "de", "consent": {"gdpr": False}}
    assert requests == [("/client/v1/cards", body), ("/client/v1/cards/5f1d/shown", None)]


def test_without_a_card_there_is_none_and_a_late_report_is_not_counted():
    with Ads("https://ads.example", "ad_1", 7, transport=transport_of([], card=None, counted=False)) as ads:
        assert ads.card(42) is None
        assert ads.card_shown("5f1d") is False


@pytest.mark.parametrize(
    ("is_picture_read", "methods"),
    [(True, ["sendPhoto"]), (False, ["sendPhoto", "sendMessage"])],
)
def test_aiogram_sends_a_card_and_reports_it(is_picture_read, methods):
    pytest.importorskip("aiogram", reason="aiogram is not installed: pip install 'aiogram>=3,<4'")
    from aiogram import Bot
    from aiogram.client.session.base import BaseSession
    from aiogram.exceptions import TelegramBadRequest
    from aiogram.types import Message

    from intermission_ads.aiogram import send_card

    calls: list = []

    class Telegram(BaseSession):
        async def make_request(self, bot, method, timeout=None):
            calls.append(method)
            if method.__api_method__ == "sendPhoto" and not is_picture_read:
                raise TelegramBadRequest(method=method, message="failed to get HTTP URL content")
            return None

        async def stream_content(self, *_arguments, **_named):
            yield b""

        async def close(self):
            pass

    async def main():
        requests: list = []
        async with AsyncAds("https://ads.example", "ad_1", 7, transport=transport_of(requests)) as ads:
            ada = {"id": 42, "is_bot": False, "first_name": "Ada", "language_code": "de"}
            chat = {"id": 42, "type": "private", "first_name": "Ada"}
            facts = {"message_id": 1, "date": 0, "chat": chat, "from": ada, "text": "hello"}
            message = Message.model_validate(facts).as_(Bot("1:telegram", session=Telegram()))
            card = await send_card(ads, message)
        return card, requests

    card, requests = asyncio.run(main())
    assert [method.__api_method__ for method in calls] == methods
    last = calls[-1]
    assert (last.caption if methods[-1] == "sendPhoto" else last.text) == "Ad · Shop\nSummer sale\nHalf price."
    ((key,),) = last.reply_markup.inline_keyboard
    assert (key.text, key.url) == ("Look", "https://ads.example/card/5f1d")
    assert card is not None
    assert [path for path, _ in requests] == ["/client/v1/cards", "/client/v1/cards/5f1d/shown"]
    assert requests[0][1]["language"] == "de"
