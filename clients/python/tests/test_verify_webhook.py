"""The same webhooks as for every receiver of this repository; `npm test -- python` writes them and names the file."""

import base64
import hashlib
import hmac
import json
import os
from pathlib import Path

import pytest

from intermission_ads import AdEvent, Malformed, NotSigned, verify_webhook

_file = os.environ.get("RECEIVER_CASES")
_given = json.loads(Path(_file).read_text()) if _file else {"cases": [], "vectors": {"x_signature": []}}
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
    assert len(_given["cases"]) > 800
    verdicts = [f"{case['name']}: {verdict_of(case)}" for case in _given["cases"]]
    assert verdicts == [f"{case['name']}: {case['expected']}" for case in _given["cases"]]


@needs_cases
def test_x_signatures_of_the_vectors_are_accepted_for_their_bytes_alone():
    assert len(_given["vectors"]["x_signature"]) > 3
    for vector in _given["vectors"]["x_signature"]:
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
        is_test=False,
    )


@pytest.mark.parametrize("value", ["", "a b", "x" * 513, "ref\n", 7, None, {}])
def test_a_startapp_value_that_telegram_does_not_allow_loses_no_event(value):
    body = json.dumps({"event": "rewarded", "user_tg_id": "7", "start_param": value}).encode()
    event = verify_webhook(body, signed(body), token, is_timestamp_optional=True)
    assert (event.user_id, event.start_param) == ("7", None)


@pytest.mark.parametrize("fields", [{"user_tg_id": "0"}, {"user_tg_id": "7", "test": True}])
def test_test_events_are_marked(fields):
    body = json.dumps({"event": "direct_link", **fields}).encode()
    assert verify_webhook(body, signed(body), token, is_timestamp_optional=True).is_test


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "[]", "[" * 100_000, '{"event":"other","user_tg_id":"7"}', '{"user_tg_id":"7"}'),
        *('{"event":"rewarded","user_tg_id":7}', '{"event":"rewarded","user_tg_id":"007"}'),
        *('{"event":"rewarded","user_tg_id":"7","code":1}', '{"event":"rewarded","user_tg_id":"7","code":null}'),
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


def test_a_header_that_arrives_twice_is_no_signature():
    body = b'{"event":"rewarded","user_tg_id":"7"}'
    once = list(signed(body).items())
    assert verify_webhook(body, once, token, is_timestamp_optional=True)
    with pytest.raises(NotSigned):
        verify_webhook(body, once * 2, token, is_timestamp_optional=True)


def test_no_tokens_and_a_clock_that_is_not_a_number_accept_nothing():
    body = b'{"event":"rewarded","user_tg_id":"7"}'
    for tokens in ("", [], [""]):
        with pytest.raises(NotSigned):
            verify_webhook(body, signed(body, ""), tokens, is_timestamp_optional=True)
    standard = {"webhook-id": "e", "webhook-timestamp": "5"}
    mac = base64.b64encode(hmac.new(token.encode(), b"e.5." + body, hashlib.sha256).digest()).decode()
    headers = {**signed(body), **standard, "webhook-signature": f"v1,{mac}"}
    assert verify_webhook(body, headers, token, now=5).user_id == "7"
    with pytest.raises(NotSigned):
        verify_webhook(body, headers, token, now=float("nan"))
