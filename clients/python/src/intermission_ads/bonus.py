"""What a bot answers to `/bonus`, for any bot framework."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from .client import AsyncAds
from .errors import AdsError
from .sender import sender_of

_log = logging.getLogger("intermission_ads")


def _later(available_at: str | None) -> str:
    if available_at is None:
        return "There is no ad for you now."
    return f"The next ad is available at {available_at[11:16]} UTC."


@dataclass(frozen=True)
class BonusTexts:
    offer: str = "Watch a short ad to its end, and close it, to get your bonus."
    button: str = "🎁 Watch and earn"
    later: Callable[[str | None], str] = _later
    """Takes the RFC 3339 moment of the next ad, in UTC; None where it is unknown."""
    failed: str = "Something went wrong on our side. Please try again in a minute."
    anonymous: str = (
        "You write in the name of a group or channel, so I cannot tell who gets the bonus. "
        "Send me the command in private, or turn off “Remain anonymous” and write as yourself."
    )
    """For messages in the name of a group or channel: Telegram does not say who sent them."""


@dataclass(frozen=True)
class AdButton:
    text: str
    url: str
    is_web_app: bool
    """True: the address of a `web_app` button of an inline keyboard. False: of an ordinary one."""


@dataclass(frozen=True)
class BonusReply:
    text: str
    button: AdButton | None


async def ad_button(
    ads: AsyncAds, user_id: str | int, *, is_private: bool, text: str = BonusTexts.button, reference: str | None = None
) -> AdButton:
    """A button for this user: the mini-app in private chats, elsewhere, where Telegram allows none, the direct link."""
    code = await ads.create_code(user_id, reference=reference)
    if is_private and code.miniapp_url is not None:
        return AdButton(text, code.miniapp_url, is_web_app=True)
    if code.direct_link is None:
        raise AdsError("the ad service sends no addresses with its codes", code="UNEXPECTED_ANSWER")
    return AdButton(text, code.direct_link, is_web_app=False)


async def bonus_reply(
    ads: AsyncAds,
    user_id: str | int,
    *,
    is_private: bool,
    is_in_name_of_chat: bool = False,
    texts: BonusTexts = BonusTexts(),
) -> BonusReply:
    """An ad for this user, or when the next one is available. Logs what the ad service refused, and says that it failed.

    `is_in_name_of_chat`: the message has a `sender_chat`. Behind it, and behind the accounts of Telegram's own that stand for
    many people, nobody can be rewarded; the answer says what to do.
    """
    if sender_of(user_id, is_in_name_of_chat=is_in_name_of_chat) == "chat":
        return BonusReply(texts.anonymous, None)
    try:
        available = await ads.availability(user_id)
        if not available.is_available:
            return BonusReply(texts.later(available.available_at), None)
        button = await ad_button(ads, user_id, is_private=is_private, text=texts.button)
        return BonusReply(texts.offer, button)
    except AdsError as error:
        _log.error("no ad for a user: %s", error)
        return BonusReply(texts.failed, None)
