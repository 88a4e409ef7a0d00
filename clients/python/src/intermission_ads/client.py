from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeVar

import httpx

from . import operations
from .environment import connect, proxy_of
from .errors import AdsError
from .operations import Consent, Moment, Operation
from .results import Availability, Card, Code, CodeDetails, EventAttempts, EventsPage, ReferenceStats, Stats, Task, WebhookTest
from .settings import api_tokens, bot_id_of, retries_of, seconds_of, server_address
from .webhook import EventType

T = TypeVar("T")
Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)
Transport = TypeVar("Transport", httpx.BaseTransport, httpx.AsyncBaseTransport)
By = Literal["hour", "day", "campaign", "creative"]
ReferenceBy = Literal["hour", "day", "reference"]


class _Settings:
    def __init__(
        self,
        url: str,
        token: str | Iterable[str],
        bot_id: str | int,
        *,
        timeout: float | None,
        retries: int,
    ) -> None:
        self.base = f"{server_address(url)}/client/v1"
        self.tokens = api_tokens(token)
        self.bot_id = bot_id_of(bot_id)
        self.timeout = seconds_of(timeout)
        self.retries = retries_of(retries)
        self.proxy: str | None = None
        self._token_index = 0

    @property
    def token(self) -> str:
        return self.tokens[self._token_index]

    def request_of(self, operation: Operation[Any], token: str) -> dict[str, Any]:
        timeout = operation.timeout if self.timeout is None else self.timeout
        return {**operations.request_of(operation, self.base, token), "timeout": timeout}

    def has_another_token(self, error: AdsError, used: str) -> bool:
        """After a 401 of the service, the next of two tokens that rotate is used from now on. Another request may have moved on before."""
        if error.status != 401 or error.code == operations.UNEXPECTED_ANSWER:
            return False
        if self.token == used and self._token_index + 1 < len(self.tokens):
            self._token_index += 1
        return self.token != used


class _Attempts(Generic[T]):
    """The attempts of one operation: what to send, and after a failure how long to wait."""

    def __init__(self, settings: _Settings, operation: Operation[T]) -> None:
        self._settings = settings
        self._operation = operation
        self._token = settings.token
        self._made = 0

    def request(self) -> dict[str, Any]:
        self._token = self._settings.token
        return self._settings.request_of(self._operation, self._token)

    def result_of(self, response: httpx.Response) -> T:
        return operations.read_answer(self._operation, response, self._settings.proxy)

    def pause_after(self, failure: httpx.HTTPError | AdsError) -> float:
        """Seconds until the next attempt. Raises the error if there is none."""
        settings = self._settings
        error = failure if isinstance(failure, AdsError) else operations.unreachable(failure, settings.base, settings.proxy)
        if self._settings.has_another_token(error, self._token):
            return 0
        self._made += 1
        pause = operations.pause_before_retry(
            error,
            attempts=self._made,
            retries=self._settings.retries,
            is_repeatable=self._operation.is_repeatable,
            random=random.random(),
        )
        if pause is None:
            raise error
        return pause


class _Client(Generic[Http, Transport]):
    def __init__(
        self,
        url: str,
        token: str | Iterable[str],
        bot_id: str | int,
        *,
        timeout: float | None = None,
        retries: int = 2,
        transport: Transport | None = None,
    ) -> None:
        self._settings = _Settings(url, token, bot_id, timeout=timeout, retries=retries)
        self._transport = transport
        self._http = connect(self._connect)
        if transport is None:
            # Read once, as httpx does.
            self._settings.proxy = proxy_of(self._settings.base)

    def _connect(self) -> Http:
        raise NotImplementedError


class Ads(_Client[httpx.Client, httpx.BaseTransport]):
    """A client of `/client/v1` for one bot. Every method raises `AdsError`.

    `url`: of the ad service, `https://rewards.example`. `token`: the bot's API token; while tokens rotate a list, of which the
    next is tried where one is refused. `timeout`: seconds for each attempt, 10 by default, and 25 for `test_webhook`, in which
    the service waits 15 for the webhook. Arguments that cannot be right raise `ValueError`. `retries`: further attempts where the service is busy
    and, where a second request changes nothing, after lost connections and answers of proxies: 502, 503, 504, Cloudflare's
    52x and 530. Close it, or use it in a `with` statement.
    """

    def _connect(self) -> httpx.Client:
        return httpx.Client(transport=self._transport)

    def create_code(
        self,
        user_id: str | int,
        *,
        reference: str | None = None,
        join_title: str | None = None,
        consent: Consent | None = None,
    ) -> Code:
        """Asked again for the same user and reference, it returns the same code while that is fresh and earned nothing.

        `join_title`: a view lets the user into the channel or group of this title, which the mini-app names in place of the
        bot's reward. Give each channel a reference of its own.

        `consent`: what the user has consented to, for buyers of ads; without it, neither address nor id goes to them.
        """
        return self._send(operations.create_code(self._settings.bot_id, user_id, reference, join_title, consent))

    def tasks(
        self, user_id: str | int, *, reference: str | None = None, language: str | None = None
    ) -> tuple[Task, ...]:
        """Up to five channels for the user to join: those that are open, and new ones.

        Empty unless the bot's setting `hasTasks` is on. `language`: the user's `language_code`.
        """
        return self._send(operations.tasks(self._settings.bot_id, user_id, reference, language))

    def check_task(self, code: str) -> Task:
        """Where a task stands. The service asks Telegram about the user, in case the join was not reported."""
        return self._send(operations.check_task(code))

    def card(
        self, user_id: str | int, *, language: str | None = None, consent: Consent | None = None
    ) -> Card | None:
        """An ad of a network for the bot to send as a message, and then to report with `card_shown`; `None`: there is none now.

        Networks are asked each time. `language`: the user's `language_code`; `consent` as with `create_code`.
        """
        return self._send(operations.card(self._settings.bot_id, user_id, language, consent))

    def card_shown(self, card_id: str) -> bool:
        """Reports that a card was sent: it is paid once. `False`: it was reported too late, or is a tester's."""
        return self._send(operations.card_shown(card_id))

    def availability(self, user_id: str | int) -> Availability:
        """Whether the user could earn now."""
        return self._send(operations.availability(user_id))

    def code(self, code: str) -> CodeDetails:
        """What a code earned, and why it did not."""
        return self._send(operations.code(code))

    def events(
        self, *, after: str | None = None, limit: int | None = None, latest: int | None = None
    ) -> EventsPage:
        """Events in the order of their commits, from the first, after a cursor, or the `latest`; following `next` misses none."""
        return self._send(operations.events(after, limit, latest))

    def stats(
        self,
        *,
        begins_at: Moment = None,
        ends_at: Moment = None,
        by: By | None = None,
        time_zone: str | None = None,
    ) -> Stats:
        """The bot's numbers: by default of the last seven days, by day. Takes datetimes with a time zone, dates, RFC 3339, and
        how long ago: `24h`, `7d`, `2w`. Days and hours are those of `time_zone`, such as `Asia/Kolkata`; of UTC by default."""
        return self._send(operations.stats(begins_at, ends_at, by, time_zone))

    def reference_stats(
        self,
        prefix: str,
        *,
        begins_at: Moment = None,
        ends_at: Moment = None,
        by: ReferenceBy | None = None,
        time_zone: str | None = None,
    ) -> ReferenceStats:
        """What codes whose reference begins with `prefix` earned: of one placement, or of one size of a reward. The service
        reads at most 100 000 events for an answer, and else asks for a shorter period or a longer prefix."""
        return self._send(operations.reference_stats(prefix, begins_at, ends_at, by, time_zone))

    def test_webhook(
        self, *, event: EventType | None = None, user_id: str | int | None = None, code: str | None = None
    ) -> WebhookTest:
        """Sends a test event to the bot's webhook now. `user_id`: a listed tester of the bot. `code`: a code of this tester,
        which the event then carries; it earns nothing by it."""
        return self._send(operations.test_webhook(event, user_id, code))

    def attempts(self, event_id: str) -> EventAttempts:
        """The attempts to send an event, with the answers to them and what to check."""
        return self._send(operations.attempts(event_id))

    def redeliver(self, event_id: str) -> None:
        """Sends an event once more."""
        self._send(operations.redeliver(event_id))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Ads:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _send(self, operation: Operation[T]) -> T:
        attempts = _Attempts(self._settings, operation)
        while True:
            try:
                return attempts.result_of(self._http.request(**attempts.request()))
            except (httpx.HTTPError, AdsError) as failure:
                time.sleep(attempts.pause_after(failure))


class AsyncAds(_Client[httpx.AsyncClient, httpx.AsyncBaseTransport]):
    """`Ads` for asyncio: the same arguments, methods and errors. Close it, or use it in an `async with` statement.

    It works in several event loops, one after the other or in threads of their own; a `transport` of the caller's own belongs
    to one loop. `close` ends its use in the running one.
    """

    def _connect(self) -> httpx.AsyncClient:
        client = self._another()
        self._lock = threading.Lock()
        self._unused = [client]
        self._by_loop: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        return client

    def _another(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self._transport)

    def _client(self) -> httpx.AsyncClient:
        """That of the running loop: a connection belongs to the loop that opened it, and each `asyncio.run` has another."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._by_loop.get(loop)
            if client is None:
                for ended in [one for one in self._by_loop if one.is_closed()]:
                    del self._by_loop[ended]
                client = self._unused.pop() if self._unused else connect(self._another)
                self._by_loop[loop] = client
            return client

    async def create_code(
        self,
        user_id: str | int,
        *,
        reference: str | None = None,
        join_title: str | None = None,
        consent: Consent | None = None,
    ) -> Code:
        """Asked again for the same user and reference, it returns the same code while that is fresh and earned nothing.

        `join_title`: a view lets the user into the channel or group of this title, which the mini-app names in place of the
        bot's reward. Give each channel a reference of its own.

        `consent`: what the user has consented to, for buyers of ads; without it, neither address nor id goes to them.
        """
        return await self._send(operations.create_code(self._settings.bot_id, user_id, reference, join_title, consent))

    async def tasks(
        self, user_id: str | int, *, reference: str | None = None, language: str | None = None
    ) -> tuple[Task, ...]:
        """Up to five channels for the user to join: those that are open, and new ones.

        Empty unless the bot's setting `hasTasks` is on. `language`: the user's `language_code`.
        """
        return await self._send(operations.tasks(self._settings.bot_id, user_id, reference, language))

    async def check_task(self, code: str) -> Task:
        """Where a task stands. The service asks Telegram about the user, in case the join was not reported."""
        return await self._send(operations.check_task(code))

    async def card(
        self, user_id: str | int, *, language: str | None = None, consent: Consent | None = None
    ) -> Card | None:
        """An ad of a network for the bot to send as a message, and then to report with `card_shown`; `None`: there is none now.

        Networks are asked each time. `language`: the user's `language_code`; `consent` as with `create_code`.
        """
        return await self._send(operations.card(self._settings.bot_id, user_id, language, consent))

    async def card_shown(self, card_id: str) -> bool:
        """Reports that a card was sent: it is paid once. `False`: it was reported too late, or is a tester's."""
        return await self._send(operations.card_shown(card_id))

    async def availability(self, user_id: str | int) -> Availability:
        """Whether the user could earn now."""
        return await self._send(operations.availability(user_id))

    async def code(self, code: str) -> CodeDetails:
        """What a code earned, and why it did not."""
        return await self._send(operations.code(code))

    async def events(
        self, *, after: str | None = None, limit: int | None = None, latest: int | None = None
    ) -> EventsPage:
        """Events in the order of their commits, from the first, after a cursor, or the `latest`; following `next` misses none."""
        return await self._send(operations.events(after, limit, latest))

    async def stats(
        self,
        *,
        begins_at: Moment = None,
        ends_at: Moment = None,
        by: By | None = None,
        time_zone: str | None = None,
    ) -> Stats:
        """The bot's numbers: by default of the last seven days, by day. Takes datetimes with a time zone, dates, RFC 3339, and
        how long ago: `24h`, `7d`, `2w`. Days and hours are those of `time_zone`, such as `Asia/Kolkata`; of UTC by default."""
        return await self._send(operations.stats(begins_at, ends_at, by, time_zone))

    async def reference_stats(
        self,
        prefix: str,
        *,
        begins_at: Moment = None,
        ends_at: Moment = None,
        by: ReferenceBy | None = None,
        time_zone: str | None = None,
    ) -> ReferenceStats:
        """What codes whose reference begins with `prefix` earned: of one placement, or of one size of a reward. The service
        reads at most 100 000 events for an answer, and else asks for a shorter period or a longer prefix."""
        return await self._send(operations.reference_stats(prefix, begins_at, ends_at, by, time_zone))

    async def test_webhook(
        self, *, event: EventType | None = None, user_id: str | int | None = None, code: str | None = None
    ) -> WebhookTest:
        """Sends a test event to the bot's webhook now. `user_id`: a listed tester of the bot. `code`: a code of this tester,
        which the event then carries; it earns nothing by it."""
        return await self._send(operations.test_webhook(event, user_id, code))

    async def attempts(self, event_id: str) -> EventAttempts:
        """The attempts to send an event, with the answers to them and what to check."""
        return await self._send(operations.attempts(event_id))

    async def redeliver(self, event_id: str) -> None:
        """Sends an event once more."""
        await self._send(operations.redeliver(event_id))

    async def close(self) -> None:
        await self._client().aclose()

    async def __aenter__(self) -> AsyncAds:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _send(self, operation: Operation[T]) -> T:
        attempts = _Attempts(self._settings, operation)
        while True:
            try:
                return attempts.result_of(await self._client().request(**attempts.request()))
            except (httpx.HTTPError, AdsError) as failure:
                await asyncio.sleep(attempts.pause_after(failure))
