"""Requests to join a private channel or group, approved for one ad: for any bot framework."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from .client import AsyncAds
from .errors import AdsError
from .join_languages import JoinTexts, join_texts
from .joins import JoinStore, PendingJoin
from .settings import require_seconds
from .webhook import AdEvent

JoinDecision = Literal["approve", "queue", "decline"]
"""What happens to a request to join. `queue`: the other administrators decide."""

TelegramCall = Callable[[str, Mapping[str, Any]], Awaitable[object]]
"""Calls a method of the Bot API. Raises `TelegramRefused` if Telegram refuses, and anything else if it was not reached or is busy."""

_log = logging.getLogger("intermission_ads")

_AD_WITHIN_SECONDS = 6
"""Telegram waits 10 s for the answer to a query."""
_CODE_GRACE_SECONDS = 11 * 60
"""A view that began before its code expired may end 10 minutes later."""
_REFERENCE = "join:"


class TelegramRefused(Exception):
    """Telegram's refusal of a call; its text is Telegram's description."""


class JoinsOfStore(Protocol):
    """The store of the webhook: `SqliteStore`, `MemoryStore`, or one of your own that remembers requests, too."""

    @property
    def joins(self) -> JoinStore: ...


@dataclass(frozen=True)
class JoinRules:
    """How a request is decided that no ad decides."""

    without_ad: JoinDecision = "queue"
    """There is no ad for this user now, or the ad service does not answer."""
    unopened: JoinDecision = "queue"
    """Telegram did not open the mini-app, or did not deliver the button."""
    unwatched: JoinDecision = "queue"
    """The ad was not watched in time, or its view was refused."""
    wait_seconds: float = 15 * 60
    """The time for the ad. With `unwatched="decline"` it does not end before that of the code."""

    def __post_init__(self) -> None:
        require_seconds(wait_seconds=self.wait_seconds)


@dataclass(frozen=True)
class JoinRequest:
    """What Telegram's `chat_join_request` says."""

    chat_id: str
    title: str
    user_id: str
    user_chat_id: int
    query_id: str | None
    language_code: str | None = None


class JoinDecider:
    """Remembers a request before its ad is offered and until it is decided.

    Whenever the process dies, a reward is approved once: Telegram refuses a second approval, which then counts as done.
    """

    def __init__(
        self, ads: AsyncAds, telegram: TelegramCall, store: JoinsOfStore, rules: JoinRules, texts: JoinTexts | None
    ) -> None:
        self._ads = ads
        self._telegram = telegram
        self._joins = store.joins
        self._rules = rules
        self._texts = texts

    async def answer(self, request: JoinRequest) -> None:
        """Offers an ad to the user of a request."""
        join = PendingJoin(request.chat_id, request.user_id, request.query_id, time.time() + self._rules.wait_seconds)
        ad = await self._find_ad(request)
        if ad is None:
            return await self._decide(join, self._rules.without_ad)
        url, expires_at = ad
        if self._rules.unwatched == "decline":
            join = replace(join, decide_at=max(join.decide_at, expires_at + _CODE_GRACE_SECONDS))
        earlier = await self._joins.get(join.chat_id, join.user_id)
        # Before the ad is offered: whatever happens next, the request is decided.
        await self._joins.put(join)
        try:
            await self._offer(request, url)
        except TelegramRefused as refused:
            _log.error("a request to join was not offered an ad: %s", refused)
            # An update that arrives again, after a restart of the bot: the mini-app is open.
            if join.query_id is not None and earlier is not None and earlier.query_id == join.query_id:
                return
            await self._decide(join, self._rules.unopened)
            await self._joins.remove(join)

    async def approve(self, event: AdEvent) -> bool:
        """Lets the user of an event into the channel. False, and nothing happens, if the event earned something else."""
        found = re.fullmatch(_REFERENCE + r"(-[1-9]\d{0,18})", event.reference or "")
        if found is None:
            return False
        join = await self._joins.get(found[1], event.user_id)
        await self._decide(join or PendingJoin(found[1], event.user_id, None, 0), "approve")
        if join is not None:
            await self._joins.remove(join)
        return True

    async def decide_late(self) -> None:
        """Decides the requests whose time is over."""
        for join in await self._joins.late(time.time()):
            try:
                await self._decide(join, self._rules.unwatched)
            except TelegramRefused as refused:
                _log.error("a late request to join was not decided: %s", refused)
            await self._joins.remove(join)

    async def _find_ad(self, request: JoinRequest) -> tuple[str, float] | None:
        async def find() -> tuple[str, float] | None:
            if not (await self._ads.availability(request.user_id)).is_available:
                return None
            reference = _REFERENCE + request.chat_id
            code = await self._ads.create_code(request.user_id, reference=reference, join_title=request.title)
            if code.miniapp_url is None:
                raise AdsError("the ad service returned no miniapp_url with the code", code="UNEXPECTED_ANSWER")
            return code.miniapp_url, datetime.fromisoformat(code.expires_at.replace("Z", "+00:00")).timestamp()

        try:
            return await asyncio.wait_for(find(), _AD_WITHIN_SECONDS)
        except (AdsError, asyncio.TimeoutError) as error:
            _log.error("no ad for a request to join: %s", error or "the ad service did not answer in time")
            return None

    async def _offer(self, request: JoinRequest, url: str) -> None:
        if request.query_id is not None:
            query = {"chat_join_request_query_id": request.query_id, "web_app_url": url}
            await self._telegram("sendChatJoinRequestWebApp", query)
            return
        texts = self._texts or join_texts(request.language_code)
        button = {"text": texts.button, "web_app": {"url": url}}
        text = texts.offer.replace("{title}", request.title)
        message = {"chat_id": request.user_chat_id, "text": text, "reply_markup": {"inline_keyboard": [[button]]}}
        await self._telegram("sendMessage", message)

    async def _decide(self, join: PendingJoin, decision: JoinDecision) -> None:
        """Once: a request that is over counts as decided. Raises if Telegram refuses for another reason."""
        if join.query_id is not None:
            try:
                answer = {"chat_join_request_query_id": join.query_id, "result": decision}
                await self._telegram("answerChatJoinRequestQuery", answer)
                return
            except TelegramRefused:
                pass  # Of a query that is too old, or was queued, the request itself may still wait.
        if decision == "queue":
            return  # Without a query, the administrators see the request from the beginning.
        try:
            method = "approveChatJoinRequest" if decision == "approve" else "declineChatJoinRequest"
            await self._telegram(method, {"chat_id": int(join.chat_id), "user_id": int(join.user_id)})
        except TelegramRefused as refused:
            # Decided before, by an administrator or by a call whose answer was lost, or withdrawn.
            if not re.search("USER_ALREADY_PARTICIPANT|HIDE_REQUESTER_MISSING", str(refused)):
                raise
