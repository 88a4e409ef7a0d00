"""Webhooks in FastAPI: an endpoint that runs a handler once for each event, and a dependency that verifies a request."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse

from .stores import EventStore, MemoryStore
from .webhook import AdEvent, WebhookRefused, verify_webhook

Handler = Callable[[AdEvent], "Awaitable[None] | None"]

MOST_BYTES = 64 * 1024
"""Larger than any webhook of the contract."""

_log = logging.getLogger("intermission_ads")


def webhook(
    handle: Handler,
    *,
    tokens: str | Iterable[str],
    store: EventStore | None = None,
    on_test: Handler | None = None,
    tolerance_seconds: float = 300,
    is_timestamp_optional: bool = False,
) -> Callable[[Request], Awaitable[JSONResponse]]:
    """An endpoint for `app.post(path)(webhook(handle, tokens=…))`. `handle` runs once for each event, or again where it raised.

    Answers 200 when the event is handled, was handled before or is a test; 401 without a valid signature; 400 and 413 for
    what is no webhook; 500 when `handle` raised. `store`: a `MemoryStore` by default, which forgets at a restart; use one
    that lasts where a reward must not be paid twice. `on_test` is called for test events instead of `handle`.
    """
    verified = ad_event(tokens, tolerance_seconds=tolerance_seconds, is_timestamp_optional=is_timestamp_optional)
    events = MemoryStore() if store is None else store

    async def receive(request: Request) -> JSONResponse:
        try:
            event = await verified(request)
        except HTTPException as refusal:
            return JSONResponse({"error": refusal.detail}, refusal.status_code)

        async def run(handler: Handler = handle) -> None:
            result = handler(event)
            if inspect.isawaitable(result):
                await result

        try:
            if event.is_test:
                if on_test is not None:
                    await run(on_test)
            elif event.key is None:
                await run()
            else:
                await events.once_async(event.key, run)
        except Exception:
            _log.exception("the handler of %s %s failed", event.event, event.key)
            error = {"code": "NOT_HANDLED", "message": "not handled; send it again"}
            return JSONResponse({"error": error}, 500)
        return JSONResponse({"status": "ok"})

    return receive


def ad_event(
    tokens: str | Iterable[str], *, tolerance_seconds: float = 300, is_timestamp_optional: bool = False
) -> Callable[[Request], Awaitable[AdEvent]]:
    """A dependency, `Depends(ad_event(tokens))`: the verified event of a request, or an answer of 400, 401 or 413.

    It does not tell whether the event was handled before: use `webhook`, or a store.
    """
    keys = [token for token in ([tokens] if isinstance(tokens, str) else tokens) if token != ""]
    if not keys:
        raise ValueError("a webhook needs the bot's API token")

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
            raise HTTPException(refused.status, {"code": refused.code, "message": str(refused)}) from refused

    return verified


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, {"code": "TOO_LARGE", "message": f"a webhook has at most {MOST_BYTES} bytes"})
    return bytes(body)
