"""Requests of `/client/v1` and the rules of retrying them, without I/O: `Ads` and `AsyncAds` send them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from .errors import AdsError
from .results import (
    Availability,
    Code,
    CodeDetails,
    EventsPage,
    Stats,
    WebhookTest,
    read_availability,
    read_code,
    read_code_details,
    read_events_page,
    read_stats,
    read_webhook_test,
)
from .sender import not_a_person
from .webhook import EventType

T = TypeVar("T")

LONGEST_PAUSE_SECONDS = 5
"""A longer wait is the caller's to decide."""


@dataclass(frozen=True)
class Operation(Generic[T]):
    method: Literal["GET", "POST"]
    path: str
    read: Callable[[Mapping[str, Any]], T]
    query: Mapping[str, str | int | None] | None = None
    body: Mapping[str, Any] | None = None
    is_repeatable: bool = True
    """May be sent again when the connection was lost, since a second one changes nothing."""


def _require_person(user_id: str | int) -> str:
    """The id as text."""
    fault = not_a_person(user_id)
    if fault is not None:
        raise AdsError(fault, code="NOT_A_PERSON")
    return str(user_id)


def create_code(bot_id: str, user_id: str | int, reference: str | None) -> Operation[Code]:
    user_id = _require_person(user_id)
    body = {"bot_id": bot_id, "user_tg_id": user_id, **({} if reference is None else {"reference": reference})}
    return Operation("POST", "/codes", read_code, body=body)


def availability(user_id: str | int) -> Operation[Availability]:
    return Operation("GET", "/availability", read_availability, query={"user_tg_id": _require_person(user_id)})


def code(value: str) -> Operation[CodeDetails]:
    return Operation("GET", f"/codes/{quote(value, safe='')}", read_code_details)


def events(after: str | None, limit: int | None) -> Operation[EventsPage]:
    return Operation("GET", "/events", read_events_page, query={"after": after, "limit": limit})


def stats(
    begins_at: str | None, ends_at: str | None, by: Literal["hour", "day", "campaign", "creative"] | None
) -> Operation[Stats]:
    return Operation("GET", "/stats", read_stats, query={"from": begins_at, "to": ends_at, "by": by})


def test_webhook(event: EventType | None, user_id: str | int | None) -> Operation[WebhookTest]:
    body = {
        **({} if event is None else {"event": event}),
        **({} if user_id is None else {"user_tg_id": str(user_id)}),
    }
    return Operation("POST", "/webhook/test", read_webhook_test, body=body, is_repeatable=False)


def redeliver(event_id: str) -> Operation[None]:
    path = f"/events/{quote(event_id, safe='')}/redeliver"
    return Operation("POST", path, lambda answer: None, is_repeatable=False)


def request_of(operation: Operation[Any], base: str, token: str) -> dict[str, Any]:
    """The arguments of `httpx.Client.request`."""
    given = {name: value for name, value in (operation.query or {}).items() if value is not None}
    return {
        "method": operation.method,
        "url": f"{base}{operation.path}",
        "headers": {"authorization": f"Bearer {token}".encode()},
        **({"params": given} if given else {}),
        **({} if operation.body is None else {"json": operation.body}),
    }


def read_answer(operation: Operation[T], response: httpx.Response) -> T:
    """The result; raises `AdsError` for every other answer."""
    answer: Any = None
    with contextlib.suppress(ValueError):
        answer = response.json()
    if not response.is_success:
        raise _error_of(response, answer)
    try:
        return operation.read(answer)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AdsError(
            f"the answer of {operation.path} cannot be read: {error!r}",
            status=response.status_code,
            code="UNEXPECTED_ANSWER",
        ) from error


def unreachable(error: httpx.HTTPError) -> AdsError:
    return AdsError(f"the ad service did not answer: {error!r}", code="UNREACHABLE")


def pause_before_retry(operation: Operation[Any], error: AdsError, attempts: int, retries: int) -> float | None:
    """Seconds to wait before the next attempt; None where there is none."""
    is_lost = error.code == "UNREACHABLE" and operation.is_repeatable
    if attempts > retries or not (error.status in (429, 503) or is_lost):
        return None
    pause = 0.2 * 2**attempts if error.retry_after_seconds is None else error.retry_after_seconds
    return pause if pause <= LONGEST_PAUSE_SECONDS else None


def _error_of(response: httpx.Response, answer: Any) -> AdsError:
    error = answer.get("error") if isinstance(answer, dict) else None
    told: Mapping[str, Any] = error if isinstance(error, dict) else {}
    seconds = response.headers.get("retry-after", "")
    return AdsError(
        str(told.get("message", f"the ad service answered {response.status_code}")),
        status=response.status_code,
        code=str(told.get("code", "UNEXPECTED_ANSWER")),
        # At most nine digits: a longer number is no time to wait.
        retry_after_seconds=float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 10 else None,
    )
