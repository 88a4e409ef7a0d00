"""aiogram 3: a router that answers `/bonus` with an ad, and the keyboard of an ad for handlers of your own."""

from __future__ import annotations

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, Message, User, WebAppInfo

from .bonus import AdButton, BonusTexts, ad_button, bonus_reply
from .client import AsyncAds
from .errors import AdsError
from .sender import Sender, sender_of


def bonus_router(ads: AsyncAds, *, command: str = "bonus", texts: BonusTexts = BonusTexts()) -> Router:
    """Answers a command with an ad, or with when the next one is available: `dispatcher.include_router(bonus_router(ads))`."""
    router = Router(name="intermission_ads")

    @router.message(Command(command))
    async def bonus(message: Message) -> None:
        sender, user = _sender_of(message), message.from_user
        if user is None or sender in ("bot", "nobody"):
            return
        reply = await bonus_reply(
            ads, user.id, is_private=_is_private(message), is_in_name_of_chat=sender == "chat", texts=texts
        )
        await message.answer(reply.text, reply_markup=None if reply.button is None else _markup(reply.button))

    return router


async def ad_keyboard(
    ads: AsyncAds,
    message: Message,
    *,
    user: User | None = None,
    text: str = BonusTexts.button,
    reference: str | None = None,
) -> InlineKeyboardMarkup:
    """An inline keyboard with one button for the user who sent this message. `reference` comes back in the webhook.

    `user`: for whom it is, if not the sender: `ad_keyboard(ads, query.message, user=query.from_user)` in a handler of callback
    queries, whose message is the bot's. Raises `AdsError` with the code `NOT_A_PERSON` for a bot, and for a message in the name
    of a group or channel, whose sender Telegram does not name.
    """
    sender = _sender_of(message) if user is None else sender_of(user.id, is_bot=user.is_bot)
    if sender == "chat":
        raise AdsError(
            "the message was sent in the name of a group or channel: ask for the command in private", code="NOT_A_PERSON"
        )
    if sender == "bot":
        raise AdsError(
            "the sender is a bot, which cannot watch an ad; in a handler of callback queries pass user=query.from_user",
            code="NOT_A_PERSON",
        )
    user = user or message.from_user
    if user is None:
        raise ValueError("this message has no user, for whom an ad could be")
    is_private = _is_private(message)
    return _markup(await ad_button(ads, user.id, is_private=is_private, text=text, reference=reference))


def _sender_of(message: Message) -> Sender:
    user = message.from_user
    is_for_business = getattr(message, "sender_business_bot", None) is not None
    return sender_of(
        None if user is None else user.id,
        is_bot=is_for_business or (user is not None and user.is_bot),
        is_in_name_of_chat=message.sender_chat is not None,
    )


def _is_private(message: Message) -> bool:
    """Telegram shows no mini-app's buttons under messages of a business account."""
    return message.chat.type == "private" and getattr(message, "business_connection_id", None) is None


def _markup(button: AdButton) -> InlineKeyboardMarkup:
    if button.is_web_app:
        key = InlineKeyboardButton(text=button.text, web_app=WebAppInfo(url=button.url))
    else:
        key = InlineKeyboardButton(text=button.text, url=button.url)
    return InlineKeyboardMarkup(inline_keyboard=[[key]])
