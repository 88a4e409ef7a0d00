"""aiogram 3: a router that answers `/bonus` with an ad, one that lets users into a channel for an ad, and the keyboard of an ad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiogram import Bot, Router
from aiogram.exceptions import TelegramBadRequest, TelegramForbiddenError
from aiogram.filters import Command
from aiogram.methods import ApproveChatJoinRequest, DeclineChatJoinRequest, SendMessage, TelegramMethod
from aiogram.types import (
    ChatJoinRequest,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    User,
    WebAppInfo,
)

from .bonus import AdButton, BonusTexts, ad_button, bonus_reply
from .client import AsyncAds
from .errors import AdsError
from .join_languages import JoinTexts
from .join_requests import JoinDecider, JoinRequest, JoinRules, JoinsOfStore, TelegramRefused
from .results import Card
from .sender import Sender, sender_of
from .webhook import AdEvent


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


class _AnswerQuery(TelegramMethod[bool]):
    """Versions of aiogram before Bot API 10.1 have no such method."""

    __returning__ = bool
    __api_method__ = "answerChatJoinRequestQuery"
    chat_join_request_query_id: str
    result: str


class _SendWebApp(TelegramMethod[bool]):
    __returning__ = bool
    __api_method__ = "sendChatJoinRequestWebApp"
    chat_join_request_query_id: str
    web_app_url: str


_join_methods: Mapping[str, type[TelegramMethod[Any]]] = {
    "answerChatJoinRequestQuery": _AnswerQuery,
    "sendChatJoinRequestWebApp": _SendWebApp,
    "approveChatJoinRequest": ApproveChatJoinRequest,
    "declineChatJoinRequest": DeclineChatJoinRequest,
    "sendMessage": SendMessage,
}


class JoinRequests:
    """Lets users into a private channel or group for one ad: a request to join opens the mini-app, and the reward approves it.

    The bot is an administrator who may invite. Assigned to process join requests, it gets queries (Bot API 10.1), which
    Telegram answers with the mini-app at once; where it gets none, it sends the user a button, in the user's language unless
    `texts` says otherwise. `store`: that of the webhook.
    """

    def __init__(
        self,
        ads: AsyncAds,
        bot: Bot,
        store: JoinsOfStore,
        *,
        rules: JoinRules = JoinRules(),
        texts: JoinTexts | None = None,
    ) -> None:
        async def call(method: str, fields: Mapping[str, Any]) -> object:
            try:
                return await bot(_join_methods[method](**fields))
            except (TelegramBadRequest, TelegramForbiddenError) as error:
                raise TelegramRefused(error.message) from error

        self._decider = JoinDecider(ads, call, store, rules, texts)
        self.router = Router(name="intermission_ads_joins")
        """`dispatcher.include_router(joins.router)`."""
        self.router.chat_join_request.register(self._answer)

    async def approve(self, event: AdEvent) -> bool:
        """Lets the user of an event into the channel. False, and nothing happens, if the event earned something else.

        Call it in the webhook's handler, which is repeated if it raises: Telegram was not reached, or the bot has lost the
        right to invite.
        """
        return await self._decider.approve(event)

    async def decide_late(self) -> None:
        """Decides the requests whose time is over. Call it at start and once a minute."""
        await self._decider.decide_late()

    async def _answer(self, request: ChatJoinRequest) -> None:
        await self._decider.answer(
            JoinRequest(
                chat_id=str(request.chat.id),
                title=request.chat.title or "",
                user_id=str(request.from_user.id),
                user_chat_id=request.user_chat_id,
                # A field of Bot API 10.1, which older versions of aiogram keep all the same.
                query_id=getattr(request, "query_id", None),
                language_code=request.from_user.language_code,
            )
        )


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
    user = _person_of(message, user)
    is_private = _is_private(message)
    return _markup(await ad_button(ads, user.id, is_private=is_private, text=text, reference=reference))


def _person_of(message: Message, user: User | None) -> User:
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
    return user


async def send_card(ads: AsyncAds, message: Message, *, user: User | None = None) -> Card | None:
    """Answers a message with an ad of a network, marked as an ad, and reports it. `None`: there is none now.

    `user` and errors as of `ad_keyboard`; and where Telegram refuses the message, which is then not paid.
    """
    user = _person_of(message, user)
    card = await ads.card(user.id, language=user.language_code)
    if card is None:
        return None
    keys = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text=card.button, url=card.url)]])
    try:
        if card.image_url is not None:
            await message.answer_photo(card.image_url, caption=card.message, reply_markup=keys, parse_mode=None)
    except TelegramBadRequest:
        # Telegram reads the picture itself; where it cannot, the card has text alone.
        card = replace(card, image_url=None)
    if card.image_url is None:
        options = LinkPreviewOptions(is_disabled=True)
        await message.answer(card.message, reply_markup=keys, parse_mode=None, link_preview_options=options)
    await ads.card_shown(card.card_id)
    return card


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
