"""Webhooks in FastAPI: an endpoint that runs a handler once for each event, and a dependency that verifies a request."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from .refusal import RefusalLog
from .settings import api_tokens, require_seconds
from .stores import EventStore, MemoryStore, call_async, warn_of_memory
from .webhook import AdEvent, NotSigned, Tokens, WebhookRefused, tokens_by_bot, verify_webhook

Handler = Callable[[AdEvent], "Awaitable[None] | None"]

MAX_BYTES = 64 * 1024
"""Larger than any webhook of the contract."""

_log = logging.getLogger("intermission_ads")

def webhook(
    handle: Handler,
    *,
    tokens: Tokens,
    store: EventStore | None = None,
    on_test: Handler | None = None,
    pays_testers: bool = False,
    tolerance_seconds: float = 300,
    is_timestamp_optional: bool = False,
    handler_timeout_seconds: float = 14,
) -> Callable[[Request], Awaitable[JSONResponse]]:
    """An endpoint for `app.post(path)(webhook(handle, tokens=…))`. `handle` runs once for each event, or again where it raised.

    Answers 200 when the event is handled, was handled before or is a test; 401 without a valid signature; 400 and 413 for
    what is no webhook; 500 when `handle` raised. `store`: a `MemoryStore` by default, with a warning: it is of one process, and
    forgets at a restart; use one that lasts where a reward must not be paid twice. `on_test` is called for test events instead of `handle`.
    `pays_testers`: `handle` also runs, once, for test events of the bot's listed testers, so that the whole path can be tried
    with real accounts. A test event without a tester, whose user is `"0"`, pays nobody either way.
    `tokens`: as those of `verify_webhook`; a mapping by bot id for several bots.

    An awaited handler that is not done after `handler_timeout_seconds` is cancelled and answered 500; the ad service waits for
    15 s and sends the event again. What it wrote through a `SqliteStore` without `commit` is rolled back. A handler that blocks the event loop
    cannot be cancelled.
    """
    verified = ad_event(tokens, tolerance_seconds=tolerance_seconds, is_timestamp_optional=is_timestamp_optional)
    require_seconds(handler_timeout_seconds=handler_timeout_seconds)
    if store is None:
        warn_of_memory(is_used=False)
    events = MemoryStore() if store is None else store

    async def receive(request: Request) -> JSONResponse:
        try:
            event = await verified(request)
        except HTTPException as refusal:
            return JSONResponse({"error": refusal.detail}, refusal.status_code)

        async def run(handler: Handler = handle) -> None:
            await call_async(lambda: handler(event))

        async def handle_event() -> None:
            if event.is_test and not (pays_testers and event.user_id != "0"):
                if on_test is not None:
                    await run(on_test)
            elif event.key is None:
                await run()
            else:
                await events.once_async(event.key, run)

        try:
            await asyncio.wait_for(handle_event(), handler_timeout_seconds)
        except Exception:
            _log.exception("the handler of %s %s failed", event.event, event.event_id or "without an id")
            error = {"code": "NOT_HANDLED", "message": "not handled; send it again"}
            return JSONResponse({"error": error}, 500)
        return JSONResponse({"status": "ok"})

    return receive


def ad_event(
    tokens: Tokens, *, tolerance_seconds: float = 300, is_timestamp_optional: bool = False
) -> Callable[[Request], Awaitable[AdEvent]]:
    """A dependency, `Depends(ad_event(tokens))`: the verified event of a request, or an answer of 400, 401 or 413.

    Raises `ValueError` at once where a token is missing or cannot be one, as that of @BotFather.
    Refusals are logged as warnings of the logger `intermission_ads`, at most once a minute for each kind. It does not tell
    whether the event was handled before: use `webhook`, or a store.
    """
    by_bot = tokens_by_bot(tokens)
    for bot_id, own in (by_bot or {"": []}).items():
        # The tokens stay as they are: a blank behind one has its own explanation, when a signature does not match.
        api_tokens(own, f"tokens of bot {bot_id}" if bot_id else "tokens")
    keys = by_bot if isinstance(tokens, Mapping) else by_bot[""]
    refusals = RefusalLog()

    async def verified(request: Request) -> AdEvent:
        body = await _read_body(request)
        try:
            return verify_webhook(
                body,
                request.headers.items(),
                keys,
                tolerance_seconds=tolerance_seconds,
                is_timestamp_optional=is_timestamp_optional,
            )
        except WebhookRefused as refused:
            line = refusals.line(_kind_of(refused), str(refused), time.time())
            if line is not None:
                _log.warning(line)
            raise HTTPException(refused.status, _detail_of(refused)) from refused

    return verified


def _kind_of(refused: WebhookRefused) -> str:
    if isinstance(refused, NotSigned):
        return f"{refused.refusal.fault} {refused.refusal.cause}"
    return refused.code


def _detail_of(refused: WebhookRefused) -> dict[str, Any]:
    """The facts are in the answer, so that the ad service's operator sees what is wrong here."""
    details = {"details": refused.refusal.details()} if isinstance(refused, NotSigned) else {}
    return {"code": refused.code, "message": str(refused), **details}


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise HTTPException(413, {"code": "TOO_LARGE", "message": f"a webhook has at most {MAX_BYTES} bytes"})
    except ClientDisconnect:
        # Nobody waits for this answer. As an error of the server, anyone could fill its log with it.
        raise HTTPException(400, {"code": "BAD_REQUEST", "message": "the request broke off"}) from None
    return bytes(body)
