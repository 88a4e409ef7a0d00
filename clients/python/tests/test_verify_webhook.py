"""The same webhooks as for every receiver of this repository; `npm test -- python` writes them and names the file."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
from http.client import HTTPMessage
from pathlib import Path

import pytest

from intermission_ads import AdEvent, Malformed, NotSigned, WebhookRefusal, verify_webhook

_file = os.environ.get("RECEIVER_CASES")
_reference = json.loads(Path(_file).read_text()) if _file else {"cases": [], "vectors": {"x_signature": []}}
needs_cases = pytest.mark.skipif(not _file, reason="RECEIVER_CASES is not set: run `npm test -- python`")
token = "ad_test"


def signed(body: bytes, key: str = token) -> dict[str, str]:
    return {"X-Signature": "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest()}


def verdict_of(case: dict) -> str:
    body = base64.b64decode(case["body"])
    try:
        verify_webhook(body, case["headers"], case["tokens"], now=case["now"])
    except NotSigned:
        return "refused"
    except Malformed:
        pass
    return "genuine"


@needs_cases
def test_each_genuine_webhook_is_accepted_and_each_other_one_is_refused():
    assert len(_reference["cases"]) > 800
    verdicts = [f"{case['name']}: {verdict_of(case)}" for case in _reference["cases"]]
    assert verdicts == [f"{case['name']}: {case['expected']}" for case in _reference["cases"]]


@needs_cases
def test_each_refused_webhook_is_explained_as_by_the_package_for_typescript():
    def message_of(case: dict) -> str | None:
        try:
            verify_webhook(base64.b64decode(case["body"]), case["headers"], case["tokens"], now=case["now"])
        except NotSigned as refused:
            return str(refused)
        except Malformed:
            pass
        return None

    explained = {case["message"] for case in _reference["cases"]}
    assert len(explained) > 8
    for case in _reference["cases"]:
        assert message_of(case) == case["message"], case["name"]


@needs_cases
def test_x_signatures_of_the_vectors_are_accepted_for_their_bytes_alone():
    assert len(_reference["vectors"]["x_signature"]) > 3
    for vector in _reference["vectors"]["x_signature"]:
        body = bytes.fromhex(vector["body_hex"])
        headers = {"X-Signature": vector["header"]}
        with pytest.raises(NotSigned):
            verify_webhook(body + b" ", headers, vector["token"], is_timestamp_optional=True)
        try:
            verify_webhook(body, headers, vector["token"], is_timestamp_optional=True)
        except Malformed:
            pass


def test_the_event_has_all_that_the_service_sends():
    body = json.dumps(
        {
            **{"event": "rewarded", "event_id": "evt_1", "bot_id": "7", "user_tg_id": "42", "code": "ABCD"},
            **{"start_param": "ref_7", "reference": "№7 🎁", "occurred_at": "2026-01-02T03:04:05.678Z", "new_field": {}},
            **{"client_note": "level 7 · 🎁", "revenue_micros": 1750, "currency": "EUR"},
        }
    ).encode()
    assert verify_webhook(body, signed(body), ["", token], is_timestamp_optional=True) == AdEvent(
        event="rewarded",
        user_id="42",
        event_id="evt_1",
        bot_id="7",
        code="ABCD",
        reference="№7 🎁",
        start_param="ref_7",
        occurred_at="2026-01-02T03:04:05.678Z",
        revenue_micros=1750,
        currency="EUR",
        is_test=False,
        client_note="level 7 · 🎁",
    )


def test_an_event_that_was_built_before_notes_existed_still_is_one():
    positional = AdEvent("rewarded", "42", "evt_1", "7", "ABCD", "order 7", "ref_7", "2026-01-02T03:04:05Z", 1750, "EUR", True)
    assert (positional.occurred_at, positional.currency, positional.is_test) == ("2026-01-02T03:04:05Z", "EUR", True)
    assert positional.client_note is None


@pytest.mark.parametrize("value", ["", 7, None, {}])
def test_a_note_that_is_no_text_loses_no_event(value):
    body = json.dumps({"event": "rewarded", "user_tg_id": "7", "client_note": value}).encode()
    event = verify_webhook(body, signed(body), token, is_timestamp_optional=True)
    assert (event.user_id, event.client_note) == ("7", None)


@pytest.mark.parametrize("value", ["", "a b", "x" * 513, "ref\n", 7, None, {}])
def test_a_startapp_value_that_telegram_does_not_allow_loses_no_event(value):
    body = json.dumps({"event": "rewarded", "user_tg_id": "7", "start_param": value}).encode()
    event = verify_webhook(body, signed(body), token, is_timestamp_optional=True)
    assert (event.user_id, event.start_param) == ("7", None)


@pytest.mark.parametrize("micros,currency", [(-1, "EUR"), (1.5, "EUR"), (True, "EUR"), ("5", "EUR"), (5, "euro"), (5, None)])
def test_a_worth_that_is_none_loses_no_event(micros, currency):
    fields = {"event": "rewarded", "user_tg_id": "7", "revenue_micros": micros, "currency": currency}
    body = json.dumps(fields).encode()
    event = verify_webhook(body, signed(body), token, is_timestamp_optional=True)
    assert (event.user_id, event.revenue_micros, event.currency) == ("7", None, None)


@pytest.mark.parametrize("fields", [{"user_tg_id": "0"}, {"user_tg_id": "7", "test": True}])
def test_test_events_are_marked(fields):
    body = json.dumps({"event": "direct_link", **fields}).encode()
    assert verify_webhook(body, signed(body), token, is_timestamp_optional=True).is_test


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "[]", "[" * 100_000, '{"event":"other","user_tg_id":"7"}', '{"user_tg_id":"7"}'),
        *('{"event":"rewarded","user_tg_id":7}', '{"event":"rewarded","user_tg_id":"007"}'),
        *('{"event":"rewarded","user_tg_id":"7","code":1}', '{"event":"rewarded","user_tg_id":"7","code":["a"]}'),
        *('{"event":"rewarded","user_tg_id":"7","x":NaN}', '\ufeff{"event":"rewarded","user_tg_id":"7"}'),
    ],
)
def test_a_signed_body_that_is_no_event_is_malformed(text):
    body = text.encode()
    with pytest.raises(Malformed):
        verify_webhook(body, signed(body), token, is_timestamp_optional=True)
    utf16 = text.encode("utf-16-le") + b"\xff"
    with pytest.raises(Malformed):
        verify_webhook(utf16, signed(utf16), token, is_timestamp_optional=True)


def test_a_webhook_without_a_timestamp_is_refused_unless_the_receiver_allows_it():
    body = b'{"event":"rewarded","user_tg_id":"7"}'
    with pytest.raises(NotSigned):
        verify_webhook(body, signed(body), token)
    assert verify_webhook(body, signed(body), token, is_timestamp_optional=True).user_id == "7"
    with pytest.raises(NotSigned):
        stale = {**signed(body), "webhook-id": "evt_1", "webhook-timestamp": "5", "webhook-signature": "v1,"}
        verify_webhook(body, stale, token, is_timestamp_optional=True)


sent_at = 1_767_323_381
sent_body = '{"event":"rewarded","event_id":"evt_1","user_tg_id":"7","reference":"№7 café"}'.encode()


def sent(body: bytes = sent_body, *keys: str) -> dict[str, str]:
    """As the ad service sends it: X-Signature by the first token, webhook-signature by each."""
    tokens = keys or (token,)
    signed_text = f"evt_1.{sent_at}.".encode() + body
    macs = [base64.b64encode(hmac.new(key.encode(), signed_text, hashlib.sha256).digest()).decode() for key in tokens]
    standard = {"webhook-id": "evt_1", "webhook-timestamp": str(sent_at)}
    return {**signed(body, tokens[0]), **standard, "webhook-signature": " ".join(f"v1,{mac}" for mac in macs)}


def refusal_of(body: bytes = sent_body, headers=None, tokens=token, now: float = sent_at) -> WebhookRefusal:
    with pytest.raises(NotSigned) as raised:
        verify_webhook(body, sent() if headers is None else headers, tokens, now=now)
    assert str(raised.value) == str(raised.value.refusal)
    return raised.value.refusal


def wrong(cause: str) -> WebhookRefusal:
    return WebhookRefusal("wrong-signature", cause)


def test_the_seconds_by_which_a_clock_is_off_are_reported_for_genuine_webhooks_alone():
    stale, future = refusal_of(now=sent_at + 601), refusal_of(now=sent_at - 3600)
    assert (stale, future) == (WebhookRefusal("stale", seconds=601), WebhookRefusal("future", seconds=3600))
    assert "601 s ago by the clock of this machine: check that clock (NTP)" in str(stale)
    assert "3600 s in the future by the clock of this machine" in str(future)
    assert refusal_of(b"{}", now=sent_at + 601) == wrong("unknown")
    forged = {**sent(), "webhook-id": "evt_2"}
    assert refusal_of(headers=forged, now=sent_at + 601) == WebhookRefusal("wrong-webhook-signature", "mismatch")


@pytest.mark.parametrize(
    "changed",
    [
        json.dumps(json.loads(sent_body)).encode(),
        json.dumps(json.loads(sent_body), sort_keys=True, indent=1).encode(),
        b"\xef\xbb\xbf" + sent_body,
        sent_body + b"\r\n",
        base64.b64encode(sent_body),
        sent_body.decode("latin-1").encode(),
    ],
)
def test_a_body_that_something_wrote_anew_is_distinguished_from_a_forged_one(changed):
    assert refusal_of(changed) == wrong("changed-body")
    assert refusal_of(changed, headers=sent(changed, "forged")) == wrong("unknown")


def test_a_token_with_a_line_break_and_tokens_that_rotate_are_distinguished_from_a_wrong_one():
    for padding in ("\n", "\r\n", " ", '"'):
        assert refusal_of(tokens=token + padding) == wrong("padded-token")
        assert refusal_of(tokens=padding + "other" + padding) == wrong("unknown")
    assert refusal_of(headers=sent(sent_body, "ad_newest", token)) == wrong("another-token")
    assert refusal_of(headers=sent(sent_body, "ad_newest")) == wrong("unknown")
    assert refusal_of(b"") == wrong("empty-body")


@pytest.mark.parametrize(
    ("change", "cause", "header"),
    [
        ({"webhook-id": None}, "missing-header", "webhook-id"),
        ({"webhook-signature": ""}, "malformed-header", "webhook-signature"),
        ({"webhook-timestamp": f"{sent_at}000"}, "milliseconds", None),
        ({"webhook-timestamp": "2026-01-02T03:09:41Z"}, "malformed-header", "webhook-timestamp"),
        (dict.fromkeys(("webhook-id", "webhook-timestamp", "webhook-signature")), "no-headers", None),
    ],
)
def test_what_is_wrong_with_the_headers_is_named(change, cause, header):
    headers = {name: value for name, value in {**sent(), **change}.items() if value is not None}
    assert refusal_of(headers=headers) == WebhookRefusal("wrong-webhook-signature", cause, header)


@pytest.mark.parametrize("raw_body", [None, {"event": "rewarded"}, 7, asyncio.Queue().get])
def test_a_body_of_another_kind_is_refused_with_what_to_pass(raw_body):
    refusal = refusal_of(raw_body)
    assert refusal == wrong("empty-body")
    assert "Verify the raw bytes" in str(refusal)


def test_bytes_of_all_kinds_and_the_header_pairs_of_asgi_are_read():
    pairs = [(name.lower().encode(), value.encode()) for name, value in sent().items()]
    for raw_body in (sent_body, bytearray(sent_body), memoryview(sent_body), sent_body.decode()):
        assert verify_webhook(raw_body, pairs, token, now=sent_at).event == "rewarded"


def test_a_field_that_is_left_out_as_null_or_empty_is_none():
    body = b'{"event":"rewarded","user_tg_id":"7","event_id":null,"bot_id":"","code":"ABCD","reference":null}'
    for tokens in (token, {"7000000001": token}):
        event = verify_webhook(body, signed(body), tokens, is_timestamp_optional=True)
        assert (event.event_id, event.reference, event.key) == (None, None, "ABCD:rewarded")
    assert event.bot_id == "7000000001"


def test_a_missing_and_a_malformed_x_signature_are_named():
    headers = {name: value for name, value in sent().items() if name != "X-Signature"}
    assert refusal_of(headers=headers) == WebhookRefusal("missing-signature")
    assert refusal_of(headers={**headers, "X-Signature": "sha256=AB"}) == WebhookRefusal("malformed-signature")


def test_a_header_that_arrives_twice_is_no_signature():
    body = b'{"event":"rewarded","user_tg_id":"7"}'
    once = list(signed(body).items())
    assert verify_webhook(body, once, token, is_timestamp_optional=True)
    with pytest.raises(NotSigned):
        verify_webhook(body, once * 2, token, is_timestamp_optional=True)


def test_no_tokens_and_a_clock_that_is_not_a_number_accept_nothing():
    body = b'{"event":"rewarded","user_tg_id":"7"}'
    for tokens in (None, "", [], [""], {}, {"7000000001": None}):
        with pytest.raises(NotSigned, match="AD_API_TOKEN") as raised:
            verify_webhook(body, signed(body, ""), tokens, is_timestamp_optional=True)
        assert raised.value.refusal == wrong("no-token")
    standard = {"webhook-id": "e", "webhook-timestamp": "5"}
    mac = base64.b64encode(hmac.new(token.encode(), b"e.5." + body, hashlib.sha256).digest()).decode()
    headers = {**signed(body), **standard, "webhook-signature": f"v1,{mac}"}
    assert verify_webhook(body, headers, token, now=5).user_id == "7"
    with pytest.raises(NotSigned):
        verify_webhook(body, headers, token, now=float("nan"))


def fully_signed(body: bytes, key: str = token) -> dict[str, str]:
    mac = hmac.new(key.encode(), b"evt_1.1700000000." + body, hashlib.sha256).digest()
    standard = {"webhook-id": "evt_1", "webhook-timestamp": "1700000000"}
    return {**signed(body, key), **standard, "webhook-signature": "v1," + base64.b64encode(mac).decode()}


OF_BOT = b'{"event":"rewarded","user_tg_id":"42","event_id":"evt_1","bot_id":"7000000001"}'


@pytest.mark.parametrize(
    "tokens",
    [{7000000001: token}, {"7000000001": token, 7000000002: "ad_other"}, {7000000001: [None, token.encode()]}, token.encode()],
)
def test_bot_ids_may_be_numbers_as_telegram_sends_them_and_tokens_bytes(tokens):
    assert verify_webhook(OF_BOT, fully_signed(OF_BOT), tokens, now=1700000000).bot_id == "7000000001"


@pytest.mark.parametrize(
    "headers",
    [None, "x-signature", 7, ["x-signature", "a"], [("x-signature", "a", "b")], [None], {"x-signature": None}, {None: "a"}],
)
def test_headers_of_another_kind_are_refused_as_missing(headers):
    with pytest.raises(NotSigned) as raised:
        verify_webhook(OF_BOT, headers, token, now=1700000000)
    assert raised.value.refusal.fault == "missing-signature"


def test_the_headers_of_pythons_own_server_are_read_and_one_that_came_twice_is_refused():
    headers = HTTPMessage()
    for name, value in fully_signed(OF_BOT).items():
        headers[name] = value
    assert verify_webhook(OF_BOT, headers, token, now=1700000000).event_id == "evt_1"
    headers["X-Signature"] = "sha256=" + "0" * 64
    with pytest.raises(NotSigned):
        verify_webhook(OF_BOT, headers, token, now=1700000000)


def test_headers_with_lists_of_values_count_where_each_has_one():
    lists = {name: [value] for name, value in fully_signed(OF_BOT).items()}
    assert verify_webhook(OF_BOT, lists, token, now=1700000000).event_id == "evt_1"
    for name in lists:
        with pytest.raises(NotSigned):
            verify_webhook(OF_BOT, {**lists, name: lists[name] * 2}, token, now=1700000000)
