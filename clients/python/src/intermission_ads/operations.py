"""Requests of `/client/v1` and the rules of retrying them, without I/O: `Ads` and `AsyncAds` send them."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, Literal, TypedDict, TypeVar, Union
from urllib.parse import quote

import httpx

from .errors import AdsError
from .results import (
    Availability,
    Card,
    Code,
    CodeDetails,
    EventAttempts,
    EventsPage,
    ReferenceStats,
    Stats,
    Task,
    WebhookTest,
    read_attempts,
    read_availability,
    read_card,
    read_card_shown,
    read_code,
    read_code_details,
    read_events_page,
    read_reference_stats,
    read_stats,
    read_task,
    read_tasks,
    read_webhook_test,
)
from .sender import not_a_person, not_a_user_id
from .webhook import EventType

T = TypeVar("T")

MAX_PAUSE_SECONDS = 5
"""A longer wait is the caller's to decide."""

MAX_WAIT_SECONDS = 24 * 3600.0

UNEXPECTED_ANSWER = "UNEXPECTED_ANSWER"

TEST_TIMEOUT_SECONDS = 25
"""The service waits 15 s for the webhook's answer, and may have to connect first."""

_MAX_CAUSES = 8
_MAX_REFERENCE_LENGTH = 128


@dataclass(frozen=True)
class Operation(Generic[T]):
    method: Literal["GET", "POST"]
    path: str
    read: Callable[[Mapping[str, Any]], T]
    query: Mapping[str, str | int | None] | None = None
    body: Mapping[str, Any] | None = None
    is_repeatable: bool = True
    """May be sent again when the connection was lost, since a second one changes nothing."""
    timeout: float = 10
    """Seconds, without a limit by the caller."""


def _require_person(user_id: str | int) -> str:
    """The id as text."""
    text = "" if user_id is None else str(user_id)
    fault = not_a_person(text)
    if fault is not None:
        raise AdsError(fault, code="NOT_A_PERSON")
    fault = not_a_user_id(text)
    if fault is not None:
        raise AdsError(fault, code="BAD_REQUEST")
    return text


def _require_text(value: object, name: str, expected: str) -> None:
    if isinstance(value, str) and value.strip() != "":
        return
    fault = "is missing" if value is None or isinstance(value, str) else f"is {type(value).__name__}, not text"
    raise AdsError(f"{name} {fault}: pass {expected}", code="BAD_REQUEST")


def _require_event_id(value: object) -> None:
    _require_text(value, "event_id", "the event_id of an event, such as that of a webhook or of events()")


def _require_reference(value: object) -> None:
    if value is None or (isinstance(value, str) and 0 < len(value) <= _MAX_REFERENCE_LENGTH):
        return
    if isinstance(value, str):
        fault = "is empty: pass text, or leave it out"
        if value != "":
            fault = f"has {len(value)} characters: the contract allows 128; pass a key of your own that is shorter"
    else:
        text = f"str({value})" if isinstance(value, int) else "text"
        fault = f"is {type(value).__name__}, not text: pass {text}, or leave it out"
    raise AdsError(f"reference {fault}", code="BAD_REQUEST")


class Consent(TypedDict, total=False):
    """What a user has consented to, with the strings as your consent platform writes them."""

    #: Whether the law of the European Union applies to the user.
    gdpr: bool
    #: Of IAB's Transparency and Consent Framework 2.
    tcf: str
    #: Of IAB's Global Privacy Platform, and its sections that apply.
    gpp: str
    gpp_sid: Sequence[int]


def create_code(
    bot_id: str, user_id: str | int, reference: str | None, join_title: str | None, consent: Consent | None = None
) -> Operation[Code]:
    user_id = _require_person(user_id)
    _require_reference(reference)
    body: dict[str, Any] = {"bot_id": bot_id, "user_tg_id": user_id}
    if reference is not None:
        body["reference"] = reference
    if join_title is not None:
        body["join"] = {"title": join_title}
    if consent is not None:
        body["consent"] = dict(consent)
    return Operation("POST", "/codes", read_code, body=body)


def tasks(
    bot_id: str, user_id: str | int, reference: str | None, language: str | None
) -> Operation[tuple[Task, ...]]:
    _require_reference(reference)
    optional = {"reference": reference, "language": language}
    body = {"bot_id": bot_id, "user_tg_id": _require_person(user_id)}
    body.update({name: value for name, value in optional.items() if value is not None})
    return Operation("POST", "/tasks", read_tasks, body=body)


def check_task(value: str) -> Operation[Task]:
    _require_text(value, "code", "the code of a task, or that of its event")
    return Operation("POST", f"/tasks/{quote(value, safe='')}/check", read_task)


def card(
    bot_id: str, user_id: str | int, language: str | None, consent: Consent | None
) -> Operation[Card | None]:
    body: dict[str, Any] = {"bot_id": bot_id, "user_tg_id": _require_person(user_id)}
    if language is not None:
        body["language"] = language
    if consent is not None:
        body["consent"] = dict(consent)
    return Operation("POST", "/cards", read_card, body=body)


def card_shown(card_id: str) -> Operation[bool]:
    _require_text(card_id, "card_id", "the card_id of a card")
    return Operation("POST", f"/cards/{quote(card_id, safe='')}/shown", read_card_shown)


def availability(user_id: str | int) -> Operation[Availability]:
    return Operation("GET", "/availability", read_availability, query={"user_tg_id": _require_person(user_id)})


def code(value: str) -> Operation[CodeDetails]:
    _require_text(value, "code", "the code that create_code returned, or that of an event")
    return Operation("GET", f"/codes/{quote(value, safe='')}", read_code_details)


def events(after: str | None, limit: int | None, latest: int | None) -> Operation[EventsPage]:
    query = {"after": after, "limit": limit, "latest": latest}
    return Operation("GET", "/events", read_events_page, query=query)


Moment = Union[str, date, None]
"""A datetime, which has a time zone, a date, or text: RFC 3339, a day, or how long ago (`7d`)."""


def stats(
    begins_at: Moment,
    ends_at: Moment,
    by: Literal["hour", "day", "campaign", "creative"] | None,
    time_zone: str | None,
) -> Operation[Stats]:
    return Operation("GET", "/stats", read_stats, query=_period(begins_at, ends_at, by, time_zone))


def reference_stats(
    prefix: str,
    begins_at: Moment,
    ends_at: Moment,
    by: Literal["hour", "day", "reference"] | None,
    time_zone: str | None,
) -> Operation[ReferenceStats]:
    query = {"reference_prefix": prefix, **_period(begins_at, ends_at, by, time_zone)}
    return Operation("GET", "/stats", read_reference_stats, query=query)


def _period(begins_at: Moment, ends_at: Moment, by: str | None, time_zone: str | None) -> dict[str, str | None]:
    moments = {"from": _moment_of(begins_at, "begins_at"), "to": _moment_of(ends_at, "ends_at")}
    return {**moments, "by": by, "time_zone": time_zone}


_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def _moment_of(moment: Moment, name: str) -> str | None:
    """Text that is not how long ago it was is left to the service, which says what it takes."""
    advice = "pass a datetime with a time zone, such as datetime.now(timezone.utc)"
    if isinstance(moment, datetime):
        if moment.utcoffset() is None:
            raise AdsError(f"{name} is a datetime without a time zone: {advice}", code="BAD_REQUEST")
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(moment, date):
        return moment.isoformat()
    if not isinstance(moment, (str, type(None))):
        kind = type(moment).__name__
        raise AdsError(f"{name} is {kind}, not a moment: {advice}, or text of RFC 3339", code="BAD_REQUEST")
    found = re.fullmatch("([1-9][0-9]{0,3})([hdw])", moment or "")
    if found is None:
        return moment
    ago = datetime.now(timezone.utc) - timedelta(hours=int(found[1]) * _HOURS[found[2]])
    return ago.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_webhook(event: EventType | None, user_id: str | int | None, code: str | None) -> Operation[WebhookTest]:
    body = {
        **({} if event is None else {"event": event}),
        **({} if user_id is None else {"user_tg_id": str(user_id)}),
        **({} if code is None else {"code": code}),
    }
    return Operation("POST", "/webhook/test", read_webhook_test, body=body, is_repeatable=False, timeout=TEST_TIMEOUT_SECONDS)


def attempts(event_id: str) -> Operation[EventAttempts]:
    _require_event_id(event_id)
    return Operation("GET", f"/events/{quote(event_id, safe='')}/attempts", read_attempts)


def redeliver(event_id: str) -> Operation[None]:
    _require_event_id(event_id)
    path = f"/events/{quote(event_id, safe='')}/redeliver"
    return Operation("POST", path, lambda answer: None, is_repeatable=False)


def request_of(operation: Operation[Any], base: str, token: str) -> dict[str, Any]:
    """The arguments of `httpx.Client.request`."""
    query = {name: value for name, value in (operation.query or {}).items() if value is not None}
    return {
        "method": operation.method,
        "url": f"{base}{operation.path}",
        "headers": {"authorization": f"Bearer {token}".encode()},
        **({"params": query} if query else {}),
        **({} if operation.body is None else {"json": operation.body}),
    }


def read_answer(operation: Operation[T], response: httpx.Response, proxy: str | None) -> T:
    """The result; raises `AdsError` for every other answer. `proxy`: through which it came."""
    answer: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        answer = response.json()
    if not response.is_success:
        raise _error_of(response, answer, proxy)
    if not isinstance(answer, dict):
        raise AdsError(_foreign_answer(response, proxy), status=response.status_code, code=UNEXPECTED_ANSWER)
    try:
        return operation.read(answer)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AdsError(
            f"the answer of {operation.path} cannot be read: {error!r}",
            status=response.status_code,
            code=UNEXPECTED_ANSWER,
        ) from error


def unreachable(error: httpx.HTTPError, base: str, proxy: str | None) -> AdsError:
    """Names the address, the proxy on the way there, and the innermost cause: the outer errors only say that a connection failed."""
    server = f"the ad service at {base.removesuffix('/client/v1')}"
    check = _check(proxy) if proxy else "check whether it runs there"
    if isinstance(error, httpx.TimeoutException):
        return AdsError(f"{server} did not answer in time{_through(proxy)}: {check}", code="UNREACHABLE")
    cause: BaseException = error
    for _ in range(_MAX_CAUSES):
        # Not __context__: it leads to what the caller was handling.
        inner = cause.__cause__
        if inner is None:
            break
        cause = inner
    reason = str(cause).split("\n", 1)[0] or type(cause).__name__
    if not proxy:
        check = "check the address and whether it runs there"
    return AdsError(f"{server} did not answer{_through(proxy)}: {reason}; {check}", code="UNREACHABLE")


def _through(proxy: str | None) -> str:
    return "" if proxy is None else f" through the environment's proxy {proxy}"


def _check(proxy: str | None) -> str:
    return "check that proxy, or exclude the service with NO_PROXY" if proxy else ""


def pause_before_retry(
    error: AdsError, *, attempts: int, retries: int, is_repeatable: bool, random: float
) -> float | None:
    """Seconds until the next attempt; None where there is none. The same rule as that of the package for TypeScript.

    `Retry-After` is the least wait; without it, waits double, and each is up to a fifth longer: `random` is from 0 to 1. An
    operation that is not repeatable is sent again only where the service itself refused it as busy.
    """
    is_busy = error.status in (429, 503) and error.code != UNEXPECTED_ANSWER
    is_lost = error.code == "UNREACHABLE" or (error.status is not None and _is_temporary(error.status))
    if attempts > retries or not (is_busy or (is_repeatable and is_lost)):
        return None
    seconds = 0.2 * 2**attempts if error.retry_after_seconds is None else error.retry_after_seconds
    return seconds * (1 + random / 5) if seconds <= MAX_PAUSE_SECONDS else None


def _is_temporary(status: int) -> bool:
    """502 and 504 are answers of proxies, 520 to 527 and 530 those of Cloudflare. A repeat of a 500 meets the same fault."""
    return status in (429, 502, 503, 504, 530) or 520 <= status <= 527


def _error_of(response: httpx.Response, answer: Any, proxy: str | None) -> AdsError:
    error = answer.get("error") if isinstance(answer, dict) else None
    own: Mapping[str, Any] = error if isinstance(error, dict) else {}
    code, message = own.get("code"), own.get("message")
    is_own = isinstance(code, str) and isinstance(message, str)
    return AdsError(
        message if is_own else _foreign_answer(response, proxy),
        status=response.status_code,
        code=code if is_own else UNEXPECTED_ANSWER,
        retry_after_seconds=_wait_of(response.headers.get("retry-after", "").strip()),
    )


def _redirect_message(requested: httpx.URL, target: httpx.URL) -> str:
    """Without what follows the API's path, which the client adds, and without a query, which may hold a secret."""
    origin = f"{target.scheme}://{target.netloc.decode('ascii')}"
    base, found, _ = target.path.partition("/client/v1")
    where = f"the ad service at {requested.scheme}://{requested.netloc.decode('ascii')} redirects to {origin}{base}"
    if found:
        return f"{where}, which is not followed: set url to {origin}{base}"
    return f"{where}, which is not followed: check the address and what stands in front of it, such as a sign-in page"


def _foreign_answer(response: httpx.Response, proxy: str | None) -> str:
    """Names who answered. The body is left out: it is the page of a proxy, of a challenge or of a network's sign-in."""
    if response.next_request is not None:
        return _redirect_message(response.request.url, response.next_request.url)
    host = response.request.url.netloc.decode("ascii")
    return (
        f"{response.status_code} from a proxy or another server at {host}{_through(proxy)}, not from the ad service: "
        f"{_check(proxy) if proxy else 'check the address and what stands in front of it'}"
    )


def _wait_of(header: str) -> float | None:
    """`Retry-After` in seconds or as an HTTP date, at most a day."""
    # At most nine digits: a longer number is no time to wait.
    if header.isascii() and header.isdigit() and len(header) < 10:
        return min(float(header), MAX_WAIT_SECONDS)
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError, IndexError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=timezone.utc)
    seconds = (at - datetime.now(timezone.utc)).total_seconds()
    return min(max(float(math.ceil(seconds)), 0.0), MAX_WAIT_SECONDS)
