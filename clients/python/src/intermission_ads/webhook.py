"""Verification of webhooks: the raw bytes against the bot's API tokens, before anything parses them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, Union

from .refusal import (
    WebhookRefusal,
    judge_standard_headers,
    possible_originals,
    standard_headers,
    unpadded_tokens,
)

EventType = Literal["rewarded", "direct_link"]
AnyEventType = Literal["rewarded", "direct_link", "interstitial", "task", "task_reversed"]
HeaderSource = Union[Mapping[str, str], Iterable[tuple[str, str]], Iterable[tuple[bytes, bytes]]]
Tokens = Union[str, Iterable[str], Mapping[Any, Union[str, Iterable[str], None]], None]
"""One bot's API tokens; for several bots, those of each by its id, a number or its digits. None, as for an unset variable, is no token."""


@dataclass(frozen=True)
class AdEvent:
    """What a user earned."""

    event: AnyEventType
    """`rewarded`: the ad was watched to its end and closed. `direct_link`: the direct link was followed. Only for bots that ask
    for tasks: `task`, the user joined a channel; `task_reversed`, the user left it too early, and what `task` paid is to be
    taken back. Only for bots that ask for interstitials: `interstitial`, one was charged; pay nothing for it."""
    user_id: str
    """The user's Telegram id; `"0"` for a test event that names no tester."""
    event_id: str | None
    """The same on every attempt and every replay. None where the service sends no ids."""
    bot_id: str | None
    code: str | None
    reference: str | None
    """The reference that the code was created with."""
    start_param: str | None
    """The `startapp` value of the link that opened the mini-app, unless it is a code. Whoever made the link chose it, and
    that may be the user: do not let it decide what you pay."""
    occurred_at: str | None
    """RFC 3339: when it was earned."""
    revenue_micros: int | None
    """What it is worth to the bot, in millionths of `currency`: its share of what the advertiser was charged, 0 where nothing
    was. None unless the bot's setting includes it (`pnpm ads bots update <bot-id> --include-revenue yes`)."""
    currency: str | None
    """ISO 4217."""
    is_test: bool
    """A test of the webhook: pay nothing for it."""
    # Fields that came after the first release have a default and no position, so that a publisher's own events stay valid.
    client_note: str | None = field(default=None, kw_only=True)
    """What your own mini-app passed to `show({ note })`. Unsigned: do not let it decide what you pay. None unless the bot's
    setting includes it (`pnpm ads bots update <bot-id> --sends-client-notes yes`)."""

    @property
    def key(self) -> str | None:
        """What an `EventStore` knows it by: its id, or its code and kind, which a code earns once, or None without both."""
        return self.event_id or (f"{self.code}:{self.event}" if self.code else None)


# The order in which the ad service writes the fields.
field_order = (
    "event",
    "event_id",
    "bot_id",
    "user_tg_id",
    "code",
    "reference",
    "start_param",
    "client_note",
    "occurred_at",
    "revenue_micros",
    "currency",
    "test",
)


class WebhookRefused(Exception):
    """The request is no webhook of the contract. Answer `status` and do nothing."""

    status: int
    code: str


class NotSigned(WebhookRefused):
    """Not signed with one of the tokens, or sent too long ago. Its text says what is wrong and what to do."""

    status = 401
    code = "BAD_SIGNATURE"

    def __init__(self, refusal: WebhookRefusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Malformed(WebhookRefused):
    """Signed, but no event of the contract."""

    status = 400
    code = "BAD_REQUEST"


def verify_webhook(
    raw_body: bytes | str,
    headers: HeaderSource,
    tokens: Tokens,
    *,
    tolerance_seconds: float = 300,
    is_timestamp_optional: bool = False,
    now: float | None = None,
) -> AdEvent:
    """Verifies a webhook and reads its event. Raises `NotSigned` or `Malformed`, and nothing else for what was sent.

    `raw_body`: the bytes that arrived, before anything parsed them. `tokens`: the bot's API tokens, both of them while they
    rotate; empty ones are ignored, so that an unset variable lets nobody in. For several bots, a mapping by bot id: an event
    is verified only with the tokens of the bot that it names, and one that names none is of the bot whose token signed it.
    In a list, each token signs for every bot. Header names may be in any letter case. A body or headers of another kind, such
    as a parsed body, are refused, with what to pass.

    Checks `X-Signature` and, where they are sent, the three headers of Standard Webhooks 1.0. `is_timestamp_optional` is for
    an ad service that sends `X-Signature` alone: a captured webhook could then be sent again at any time. `now`: unix time.
    """
    raw_body = _bytes_of(raw_body)
    by_bot = tokens_by_bot(tokens)
    named = _named_bot(raw_body) if isinstance(tokens, Mapping) else None
    known = [token for bot_id, own in by_bot.items() if named in (None, bot_id) for token in own]
    others = [token for own in by_bot.values() for token in own if token not in known]
    keys = [token.encode() for token in known]
    signature_headers = _signature_headers(headers)
    if not _has_x_signature(keys, signature_headers.get("x-signature", ""), raw_body):
        raise NotSigned(_explain_x_signature(known, others, signature_headers, raw_body))
    if any(name in signature_headers for name in standard_headers) or not is_timestamp_optional:
        malformed = judge_standard_headers(signature_headers)
        if malformed is not None:
            raise NotSigned(malformed)
        if not _has_standard_signature(keys, signature_headers, raw_body):
            raise NotSigned(WebhookRefusal("wrong-webhook-signature", "mismatch"))
        age = (time.time() if now is None else now) - int(signature_headers["webhook-timestamp"])
        # Compared this way round, a clock that is not a number is refused.
        if not abs(age) <= tolerance_seconds:
            raise NotSigned(_judge_age(age))
    event = _read_event(raw_body)
    if event.bot_id or not isinstance(tokens, Mapping):
        return event
    signers = [
        bot_id
        for bot_id, own in by_bot.items()
        if _has_x_signature([token.encode() for token in own], signature_headers.get("x-signature", ""), raw_body)
    ]
    return replace(event, bot_id=signers[0])


def tokens_by_bot(tokens: Tokens) -> dict[str, list[str]]:
    """The tokens that are not empty, by bot id; under "" those that were passed without one."""
    by_bot = tokens if isinstance(tokens, Mapping) else {"": tokens}
    return {
        str(bot_id): [
            token.decode(errors="replace") if isinstance(token, bytes) else token
            for token in ([own] if isinstance(own, (str, bytes)) else own or ())
            if token
        ]
        for bot_id, own in by_bot.items()
    }


def _bytes_of(raw_body: object) -> bytes:
    """Empty for what holds no bytes, such as a parsed body, or a coroutine that nothing awaited."""
    if isinstance(raw_body, str):
        return raw_body.encode("utf-8", "surrogatepass")
    return bytes(raw_body) if isinstance(raw_body, (bytes, bytearray, memoryview)) else b""


def _named_bot(body: bytes) -> str | None:
    """The bot that an event names, whoever signed it."""
    try:
        return _read_event(body).bot_id or None
    except Malformed:
        return None


_names = ("x-signature", *standard_headers)


def _signature_headers(headers: HeaderSource) -> dict[str, str]:
    """A header that arrives more than once is no signature, so it is read as empty.

    The pairs of ASGI and of aiohttp's `raw_headers` are bytes. A value may be a list of
    one text. What is not headers counts as no headers.
    """
    found: dict[str, str] = {}
    # Not only of a mapping: Python's own server has messages with this method.
    pairs: Any = headers.items() if hasattr(headers, "items") else headers
    for pair in pairs if isinstance(pairs, Iterable) and not isinstance(pairs, (str, bytes)) else ():
        name, value = pair if isinstance(pair, (tuple, list)) and len(pair) == 2 else (None, None)
        values = value if isinstance(value, (tuple, list)) else [value]
        lower = _text_of(name).lower()
        if lower in _names and value is not None:
            found[lower] = "" if lower in found or len(values) != 1 else _text_of(values[0])
    return found


def _text_of(part: object) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else str(part)


def _mac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def _has_x_signature(keys: list[bytes], header: str, body: bytes) -> bool:
    if not re.fullmatch("sha256=[0-9a-f]{64}", header):
        return False
    # A list, so that every key is tried: the time must not show which key matches.
    return any([hmac.compare_digest("sha256=" + _mac(key, body).hex(), header) for key in keys])


def _has_standard_signature(keys: list[bytes], signature_headers: Mapping[str, str], body: bytes) -> bool:
    """Whether webhook-signature verifies, at whatever time it was made."""
    if judge_standard_headers(signature_headers) is not None:
        return False
    signed = f"{signature_headers['webhook-id']}.{signature_headers['webhook-timestamp']}.".encode() + body
    expected = [b"v1," + base64.b64encode(_mac(key, signed)) for key in keys]
    entries = [entry.encode("utf-8", "surrogatepass") for entry in signature_headers["webhook-signature"].split(" ")]
    return any([hmac.compare_digest(one, entry) for one in expected for entry in entries])


def _explain_x_signature(
    tokens: list[str], others: list[str], signature_headers: Mapping[str, str], body: bytes
) -> WebhookRefusal:
    """A MAC proves each cause but the last four, so a sender that cannot sign learns none of them."""
    keys = [token.encode() for token in tokens]
    header = signature_headers.get("x-signature")
    if header is None:
        return WebhookRefusal("missing-signature")
    if not re.fullmatch("sha256=[0-9a-f]{64}", header):
        return WebhookRefusal("malformed-signature")
    if _has_x_signature([token.encode() for token in unpadded_tokens(tokens)], header, body):
        return WebhookRefusal("wrong-signature", "padded-token")
    if any(_has_x_signature(keys, header, original) for original in possible_originals(body, field_order)):
        return WebhookRefusal("wrong-signature", "changed-body")
    if _has_x_signature([token.encode() for token in others], header, body):
        return WebhookRefusal("wrong-signature", "another-bot")
    if _has_standard_signature(keys, signature_headers, body):
        return WebhookRefusal("wrong-signature", "another-token")
    if not tokens and not others:
        return WebhookRefusal("wrong-signature", "no-token")
    if not tokens:
        return WebhookRefusal("wrong-signature", "unlisted-bot")
    return WebhookRefusal("wrong-signature", "unknown" if body else "empty-body")


def _judge_age(age: float) -> WebhookRefusal:
    seconds = round(abs(age)) if math.isfinite(age) else None
    return WebhookRefusal("future" if age < 0 else "stale", seconds=seconds)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _read_event(body: bytes) -> AdEvent:
    try:
        fields: Any = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed("the body is not JSON in UTF-8") from error
    if not isinstance(fields, dict):
        raise Malformed("the body is not a JSON object")
    event, user_id = fields.get("event"), fields.get("user_tg_id")
    if event not in ("rewarded", "direct_link", "interstitial", "task", "task_reversed"):
        raise Malformed("event is not one of the contract")
    if not isinstance(user_id, str) or not re.fullmatch("0|[1-9][0-9]{0,19}", user_id):
        raise Malformed("user_tg_id is not a string of digits")
    texts: dict[str, str | None] = {}
    for name in ("event_id", "bot_id", "code", "reference", "occurred_at"):
        # null and "" are how some services leave a field out; as an id they would make different events the same one.
        text = fields.get(name) or None
        if text is not None and not isinstance(text, str):
            raise Malformed(f"{name} is not a string")
        texts[name] = text
    return AdEvent(**event_arguments({**fields, **texts}))


def event_arguments(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `AdEvent`, of a webhook or of an event in a list."""
    revenue_micros, currency = read_revenue(fields)
    return {
        "event": fields["event"],
        "user_id": fields["user_tg_id"],
        "event_id": fields.get("event_id"),
        "bot_id": fields.get("bot_id"),
        "code": fields.get("code"),
        "reference": fields.get("reference"),
        "start_param": read_start_param(fields.get("start_param")),
        "client_note": read_client_note(fields.get("client_note")),
        "occurred_at": fields.get("occurred_at"),
        "revenue_micros": revenue_micros,
        "currency": currency,
        "is_test": fields.get("test") is True or fields["user_tg_id"] == "0",
    }


def read_start_param(value: Any) -> str | None:
    """None unless it is a value that Telegram allows: an event must not be lost because of it."""
    return value if isinstance(value, str) and re.fullmatch("[A-Za-z0-9_-]{1,512}", value) else None


def read_client_note(value: Any) -> str | None:
    """None unless it is a text: an event must not be lost because of it."""
    return value if isinstance(value, str) and value else None


def read_revenue(fields: Mapping[str, Any]) -> tuple[int, str] | tuple[None, None]:
    """What an event is worth, and the currency; None unless both are valid, since an event must not be lost because of it."""
    micros, currency = fields.get("revenue_micros"), fields.get("currency")
    if type(micros) is not int or micros < 0 or not isinstance(currency, str) or not re.fullmatch("[A-Z]{3}", currency):
        return None, None
    return micros, currency
