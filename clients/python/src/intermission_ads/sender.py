"""Who sent a message, as far as Telegram says: only a person can earn."""

from __future__ import annotations

import re
from typing import Literal

_SHARED_ACCOUNTS = {
    "1087968824": "GroupAnonymousBot, which stands for every anonymous administrator of a group",
    "136817688": "Channel Bot, which stands for everybody who writes as a channel",
    "777000": "Telegram's own account, which stands for the posts of channels",
}
"""Accounts of Telegram's own that it names as the sender of what many people write."""

Sender = Literal["person", "chat", "bot", "nobody"]
"""Behind a `chat` are many people, and Telegram does not say which of them wrote."""


def sender_of(user_id: str | int | None, *, is_bot: bool = False, is_in_name_of_chat: bool = False) -> Sender:
    """`is_in_name_of_chat`: the message has a `sender_chat`."""
    if user_id is None:
        return "nobody"
    if is_in_name_of_chat or str(user_id) in _SHARED_ACCOUNTS:
        return "chat"
    return "bot" if is_bot else "person"


def not_a_person(user_id: str | int) -> str | None:
    """Why this id is not that of one person, such as the id of a group; None if it may be a person's.

    The ad service accepts every id of the contract's form.
    """
    text = str(user_id)
    account = "the id of a group or channel" if re.fullmatch("-[0-9]+", text) else _SHARED_ACCOUNTS.get(text)
    if account is None:
        return None
    return f"user {text} is {account}: create the code for the person, for example after a command in the private chat"


def not_a_user_id(text: str) -> str | None:
    """Why this text cannot be a Telegram user id; None if it can."""
    example = "such as message.from_user.id"
    if text in ("", "None"):
        return f"user_id is missing: pass the user's Telegram id, {example}"
    if text.startswith("@"):
        return f'user_id "{text}" is a username: pass the user\'s Telegram id, {example}'
    if not re.fullmatch("[1-9][0-9]{0,19}", text):
        return f'user_id "{text}" is not a Telegram id, which is digits: pass it, {example}'
    return None
