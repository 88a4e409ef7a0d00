"""Why a webhook is refused, in the words that the receivers of every language use, and the log lines about it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Union

Fault = Literal["missing-signature", "malformed-signature", "wrong-signature", "wrong-webhook-signature", "stale", "future"]
WrongSignatureCause = Literal[
    "unknown",
    "changed-body",
    "empty-body",
    "no-token",
    "another-token",
    "another-bot",
    "unlisted-bot",
    "padded-token",
]
WrongHeadersCause = Literal["no-headers", "missing-header", "malformed-header", "milliseconds", "mismatch"]
Cause = Union[WrongSignatureCause, WrongHeadersCause]
StandardHeader = Literal["webhook-id", "webhook-timestamp", "webhook-signature"]
standard_headers: tuple[StandardHeader, ...] = ("webhook-id", "webhook-timestamp", "webhook-signature")


@dataclass(frozen=True)
class WebhookRefusal:
    """What a receiver can say. All that a MAC proves is said only after it matched."""

    fault: Fault
    cause: Cause | None = None
    header: StandardHeader | None = None
    seconds: int | None = None
    """`stale`: how long ago it was sent, by this machine's clock; `future`: how far ahead."""

    def details(self) -> dict[str, Any]:
        """As in the answer to the ad service, whose operator reads it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        if self.fault == "stale":
            return (
                f"the signature is genuine, but the webhook was sent {self.seconds} s ago by the clock of this machine: "
                "check that clock (NTP). If it is right, this is a repeat of an old webhook"
            )
        if self.fault == "future":
            return (
                f"the signature is genuine, but the webhook was sent {self.seconds} s in the future by the clock of this "
                "machine: check that clock (NTP)"
            )
        text = _sentences[(self.fault, self.cause)].replace("{header}", str(self.header))
        is_time = self.cause == "malformed-header" and self.header == "webhook-timestamp"
        return text + (": it is Unix time in whole seconds" if is_time else "")


_sentences: Mapping[tuple[Fault, Cause | None], str] = {
    ("missing-signature", None): (
        "X-Signature is missing: the request is not a webhook, a proxy removed the header, or the receiver does not read the "
        "request's headers"
    ),
    ("malformed-signature", None): "X-Signature is malformed: it is sent once, as sha256= and 64 lower-case hex digits",
    ("wrong-signature", "unknown"): (
        "X-Signature does not match the body: the receiver has another token, or something changed the body before it was "
        "verified"
    ),
    ("wrong-signature", "changed-body"): (
        "X-Signature matches the body as it was sent, not the bytes that were verified: a parser or a proxy wrote the body "
        "anew. Verify the raw bytes, before any parser"
    ),
    ("wrong-signature", "empty-body"): (
        "there are no bytes to verify: something read the body before, or a parsed object or a promise was passed instead of "
        "it. Verify the raw bytes, before any parser"
    ),
    ("wrong-signature", "no-token"): (
        "the receiver has no API token to verify with: its setting, usually the variable AD_API_TOKEN, is not set where it "
        "runs"
    ),
    ("wrong-signature", "another-token"): (
        "X-Signature is made with a token that the receiver does not have, and webhook-signature with one that it has: the "
        "tokens rotate. Add the bot's newest token to the receiver's list"
    ),
    ("wrong-signature", "another-bot"): (
        "X-Signature is made with a token that the receiver has for another bot than the event's bot_id: pass each bot's "
        "tokens under its own id, and test the webhook of each bot"
    ),
    ("wrong-signature", "unlisted-bot"): (
        "the receiver has tokens by bot, and none for the event's bot_id: add this bot's id and its API token"
    ),
    ("wrong-signature", "padded-token"): (
        "X-Signature matches the receiver's token without the blanks, line breaks or quotes around it: remove them from the "
        "setting"
    ),
    ("wrong-webhook-signature", "no-headers"): (
        "webhook-id, webhook-timestamp and webhook-signature are missing, and the receiver needs a signed time, which "
        "X-Timestamp is not: a proxy removed them, or the ad service sends X-Signature alone, which the receiver can allow"
    ),
    ("wrong-webhook-signature", "missing-header"): (
        "{header} is missing, though other webhook-* headers came: a proxy removed it"
    ),
    ("wrong-webhook-signature", "malformed-header"): "{header} is malformed",
    ("wrong-webhook-signature", "milliseconds"): (
        "webhook-timestamp is in milliseconds: it is Unix time in whole seconds"
    ),
    ("wrong-webhook-signature", "mismatch"): (
        "X-Signature matches the body, and webhook-signature does not match id, time and body: something changed a "
        "webhook-* header"
    ),
}

_patterns: Mapping[StandardHeader, str] = {
    # No full stop in the id: it separates id, time and body in the signed text.
    "webhook-id": r"[\x21-\x2d\x2f-\x7e]{1,256}",
    "webhook-timestamp": "0|[1-9][0-9]{0,11}",
    "webhook-signature": "(?s:.{1,4096})",
}


def judge_standard_headers(headers: Mapping[str, str]) -> WebhookRefusal | None:
    """What is wrong with the form of the headers; None where they can be verified."""
    missing = [name for name in standard_headers if name not in headers]
    if len(missing) == len(standard_headers):
        return WebhookRefusal("wrong-webhook-signature", "no-headers")
    if missing:
        return WebhookRefusal("wrong-webhook-signature", "missing-header", missing[0])
    if re.fullmatch("[1-9][0-9]{12}", headers["webhook-timestamp"]):
        return WebhookRefusal("wrong-webhook-signature", "milliseconds")
    for name in standard_headers:
        if not re.fullmatch(_patterns[name], headers[name]):
            return WebhookRefusal("wrong-webhook-signature", "malformed-header", name)
    return None


# Those of ECMAScript, so that the receivers of both languages say the same.
_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def unpadded_tokens(tokens: Iterable[str]) -> list[str]:
    """The tokens without what a settings file or a shell may have put around them, where that changes them."""
    bare = [(token, token.strip(_BLANKS + "\"'\u200b")) for token in tokens]
    return [one for token, one in bare if one not in ("", token)]


_MAX_SEARCHED_BYTES = 20_000


def possible_originals(body: bytes, field_order: Iterable[str]) -> list[bytes]:
    """What the ad service may have sent, if this is its body after a parser, a proxy or a gateway wrote it anew.

    As compact JSON, in the `field_order` in which it writes them, encoded in base64, with its UTF-8 read as Latin-1, or with a byte order mark
    or a line break around it. At most five bodies, none of which is this one.
    """
    if not 0 < len(body) <= _MAX_SEARCHED_BYTES:
        return []
    text = body.decode("utf-8", "replace").strip(_BLANKS)
    found = [text.encode()]
    if re.search("[\u0080-\u00ff]", text) and not re.search("[^\0-\u00ff]", text):
        found.append(text.encode("latin-1"))
    if re.fullmatch("[A-Za-z0-9+/]{20,}={0,2}", text) and len(text) % 4 == 0:
        found.append(base64.b64decode(text))
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, dict):
        ordered = {name: fields[name] for name in field_order if name in fields}
        found += [_compact(fields), _compact({**ordered, **fields})]
    return [one for one in dict.fromkeys(found) if one != body]


def _compact(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


class RefusalLog:
    """At most one line a minute for each kind of refusal, so that nobody can fill the log."""

    def __init__(self) -> None:
        self._logged: dict[str, tuple[float, int]] = {}

    def line(self, kind: str, message: str, now: float) -> str | None:
        """The line to log, with the number of those that were left out; None where it is left out."""
        at, since = self._logged.get(kind, (float("-inf"), 0))
        # A clock that was set back starts anew.
        if 0 <= now - at < 60:
            self._logged[kind] = (at, since + 1)
            return None
        self._logged[kind] = (now, 0)
        others = f" (and {since} more like it since the last line)" if since else ""
        return f"a webhook was refused: {message}{others}"
