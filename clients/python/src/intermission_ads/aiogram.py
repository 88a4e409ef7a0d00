"""aiogram 3: a router that answers `/bonus` with an ad, and the keyboard of an ad for handlers of your own."""

from __future__ import annotations

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, Message, WebAppInfo

from .bonus import AdButton, BonusTexts, ad_button, bonus_reply
from .client import AsyncAds


def bonus_router(ads: AsyncAds, *, command: str = "bonus", texts: BonusTexts = BonusTexts()) -> Router:
    """Answers a command with an ad, or with when the next one is available: `dispatcher.include_router(bonus_router(ads))`."""
    router = Router(name="intermission_ads")

    @router.message(Command(command))
    async def bonus(message: Message) -> None:
        if message.from_user is None:
            return
        is_private = message.chat.type == "private"
        reply = await bonus_reply(ads, message.from_user.id, is_private=is_private, texts=texts)
        await message.answer(reply.text, reply_markup=None if reply.button is None else _markup(reply.button))

    return router


async def ad_keyboard(
    ads: AsyncAds, message: Message, *, text: str = BonusTexts.button, reference: str | None = None
) -> InlineKeyboardMarkup:
    """An inline keyboard with one button for the user who sent this message. `reference` comes back in the webhook."""
    if message.from_user is None:
        raise ValueError("this message has no user, for whom an ad could be")
    is_private = message.chat.type == "private"
    return _markup(await ad_button(ads, message.from_user.id, is_private=is_private, text=text, reference=reference))


def _markup(button: AdButton) -> InlineKeyboardMarkup:
    if button.is_web_app:
        key = InlineKeyboardButton(text=button.text, web_app=WebAppInfo(url=button.url))
    else:
        key = InlineKeyboardButton(text=button.text, url=button.url)
    return InlineKeyboardMarkup(inline_keyboard=[[key]])
