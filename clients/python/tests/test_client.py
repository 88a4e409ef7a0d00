import asyncio
import inspect
import json
from collections.abc import Callable
from datetime import datetime, timezone

import httpx
import pytest

from intermission_ads import Ads, AdsError, AsyncAds, Availability, Code

Answer = Callable[[httpx.Request], httpx.Response]
created = {
    **{"code": "ABCD", "expires_in": 60, "expires_at": "2026-01-02T03:04:05Z", "new_field": 1},
    **{"direct_link": "https://ads.example/ABCD", "miniapp_url": "https://ads.example/app/7?code=ABCD"},
}


def refusal(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"error": {"code": code, "message": f"{code} was meant"}}
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


@pytest.fixture(params=["sync", "async"])
def call(request):
    """Calls a method of a client against an answering function; the same for both clients."""

    def run(answer: Answer, method: str, *words, token="ad_1", **named):
        transport = httpx.MockTransport(answer)
        if request.param == "sync":
            with Ads("https://ads.example/", token, 7, transport=transport) as ads:
                return getattr(ads, method)(*words, **named)

        async def main():
            async with AsyncAds("https://ads.example", token, "7", transport=transport) as ads:
                return await getattr(ads, method)(*words, **named)

        return asyncio.run(main())

    return run


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The pauses between attempts, in seconds, which take no time here."""
    slept: list[float] = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr("intermission_ads.client.time.sleep", slept.append)
    monkeypatch.setattr("intermission_ads.client.asyncio.sleep", sleep)
    return slept


def test_a_code_is_requested_with_digits_as_text_and_comes_with_its_addresses(call):
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=created)

    code = call(answer, "create_code", 42, reference="order 7")
    assert code == Code(
        code="ABCD",
        expires_at="2026-01-02T03:04:05Z",
        expires_in_seconds=60,
        miniapp_url="https://ads.example/app/7?code=ABCD",
        direct_link="https://ads.example/ABCD",
    )
    (request,) = requests
    assert (request.method, str(request.url)) == ("POST", "https://ads.example/client/v1/codes")
    assert request.headers["authorization"] == "Bearer ad_1"
    assert json.loads(request.content) == {"bot_id": "7", "user_tg_id": "42", "reference": "order 7"}


def test_busy_answers_are_tried_again_after_the_time_that_the_service_names(call, pauses):
    answers = iter([refusal(429, "RATE_LIMITED", retry_after="2"), refusal(503, "BUSY"), httpx.Response(200, json=created)])
    assert call(lambda _request: next(answers), "create_code", "42").code == "ABCD"
    first, second = pauses
    assert 2 <= first <= 2.4
    assert 0.8 <= second <= 0.96


def test_the_number_of_attempts_is_bounded_and_the_last_error_is_raised(call, pauses):
    with pytest.raises(AdsError) as raised:
        call(lambda _request: refusal(503, "BUSY", retry_after="1"), "availability", "42")
    assert (raised.value.status, raised.value.code, raised.value.retry_after_seconds) == (503, "BUSY", 1)
    assert str(raised.value) == "BUSY: BUSY was meant"
    assert len(pauses) == 2
    assert all(1 <= pause <= 1.2 for pause in pauses)


def test_a_long_pause_is_left_to_the_caller(call, pauses):
    with pytest.raises(AdsError) as raised:
        call(lambda _request: refusal(429, "RATE_LIMITED", retry_after="60"), "create_code", "42")
    assert raised.value.retry_after_seconds == 60
    assert pauses == []


def test_a_refusal_is_not_tried_again(call, pauses):
    with pytest.raises(AdsError) as raised:
        call(lambda _request: refusal(400, "BAD_REQUEST"), "create_code", "7")
    assert (raised.value.status, raised.value.retry_after_seconds, pauses) == (400, None, [])


def test_only_repeatable_requests_are_sent_again_after_a_lost_connection(call, pauses):
    sent: list[str] = []

    def lose(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        raise httpx.ReadError("lost", request=request)

    for method, attempts in (("create_code", 3), ("redeliver", 1), ("events", 3), ("test_webhook", 1)):
        sent.clear()
        with pytest.raises(AdsError) as raised:
            call(lose, method, *(["7"] if method in ("create_code", "redeliver") else []))
        assert (raised.value.code, raised.value.status, len(sent)) == ("UNREACHABLE", None, attempts), method


page = "<!DOCTYPE html><html><title>Bad gateway</title><h1>nginx</h1></html>"


@pytest.mark.parametrize("status", [429, 502, 503, 504, 520, 522, 524, 527, 530])
def test_a_repeatable_request_is_sent_again_after_an_answer_of_a_proxy(call, status):
    answers = iter([httpx.Response(status, html=page), httpx.Response(200, json=created)])
    assert call(lambda _request: next(answers), "create_code", "42").code == "ABCD"


@pytest.mark.parametrize("status", [400, 403, 404, 500, 501, 505, 519, 528, 531])
def test_no_request_is_sent_again_after_other_answers(call, pauses, status):
    with pytest.raises(AdsError):
        call(lambda _request: httpx.Response(status, html=page), "create_code", "42")
    assert pauses == []


@pytest.mark.parametrize("status", [502, 503, 504, 522])
def test_a_redelivery_is_not_sent_twice_after_an_answer_of_a_proxy(call, pauses, status):
    with pytest.raises(AdsError):
        call(lambda _request: httpx.Response(status, html=page), "redeliver", "evt_1")
    assert pauses == []


def test_a_redelivery_is_sent_again_where_the_service_itself_was_busy(call, pauses):
    answers = iter([refusal(503, "UNAVAILABLE"), httpx.Response(202, json={})])
    call(lambda _request: next(answers), "redeliver", "evt_1")
    assert len(pauses) == 1


@pytest.mark.parametrize("status", [200, 403, 502])
def test_the_error_of_a_page_names_its_host_and_never_the_page(call, status):
    with pytest.raises(AdsError) as raised:
        call(lambda _request: httpx.Response(status, html=page), "availability", "42")
    assert (raised.value.status, raised.value.code) == (status, "UNEXPECTED_ANSWER")
    assert f"{status} from a proxy or another server at ads.example" in str(raised.value)
    assert "<" not in str(raised.value)


def test_a_proxys_json_is_not_taken_for_an_error_of_the_service(call):
    for body in ({"message": "Service Unavailable"}, {"error": {"message": "<html>"}}, {"error": "bad gateway"}):
        with pytest.raises(AdsError) as raised:
            call(lambda _request, body=body: httpx.Response(503, json=body), "availability", "42")
        assert raised.value.code == "UNEXPECTED_ANSWER"
        assert "<" not in str(raised.value)


def test_a_wait_until_a_date_is_read(call):
    for header, expected in (
        ("Fri, 31 Dec 2199 23:59:59 GMT", 24 * 3600),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("99999999", 24 * 3600),
        ("soon", None),
        ("-1", None),
    ):
        answer = refusal(400, "BAD_REQUEST", retry_after=header)
        with pytest.raises(AdsError) as raised:
            call(lambda _request, answer=answer: answer, "availability", "42")
        assert raised.value.retry_after_seconds == expected, header


def test_the_next_token_is_used_where_one_is_refused(call):
    used: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        used.append(request.headers["authorization"])
        return refusal(401, "BAD_TOKEN") if used[-1] == "Bearer old" else httpx.Response(200, json={"available": True})

    assert call(answer, "availability", "42", token=["", "old", "new"]) == Availability(True, None, None)
    assert used == ["Bearer old", "Bearer new"]


def test_a_proxys_401_says_nothing_about_the_token(call):
    used: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        used.append(request.headers["authorization"])
        return httpx.Response(401, html=page)

    with pytest.raises(AdsError):
        call(answer, "availability", "42", token=["old", "new"])
    assert used == ["Bearer old"]


def test_requests_that_are_refused_together_all_use_the_next_token():
    async def answer(request: httpx.Request) -> httpx.Response:
        is_old = request.headers["authorization"] == "Bearer old"
        return refusal(401, "BAD_TOKEN") if is_old else httpx.Response(200, json={"available": True})

    async def main():
        transport = httpx.MockTransport(answer)
        async with AsyncAds("https://ads.example", ["old", "new"], 7, transport=transport) as ads:
            assert len(await asyncio.gather(*(ads.availability(user) for user in range(1, 9)))) == 8
        async with AsyncAds("https://ads.example", "old", 7, transport=transport) as ads:
            with pytest.raises(AdsError):
                await ads.availability(1)

    asyncio.run(main())


@pytest.mark.parametrize("answer", ["<html>", "null", "[]", "{}", '{"code":1,"expires_in":"soon","expires_at":""}'])
def test_an_answer_of_another_shape_is_an_error_of_its_own(call, answer):
    with pytest.raises(AdsError) as raised:
        call(lambda _request: httpx.Response(200, text=answer), "create_code", "42")
    assert raised.value.code == "UNEXPECTED_ANSWER"


def test_words_of_callers_stay_in_their_part_of_the_address(call):
    paths: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return refusal(404, "NOT_FOUND")

    for method in ("code", "redeliver"):
        with pytest.raises(AdsError):
            call(answer, method, "../a?b#c")
    assert paths == [b"/client/v1/codes/..%2Fa%3Fb%23c", b"/client/v1/events/..%2Fa%3Fb%23c/redeliver"]



def test_the_attempts_of_an_event_are_read(call):
    made = {"attempt": 1, "started_at": "2026-03-01T12:00:00Z", "url": "https://bot.example/", "status": 404, "advice": "a route"}
    answer = {"event_id": "evt_1", "event": "rewarded", "delivery": "waiting", "explanation": "due", "attempts": [made]}
    shown = call(lambda _request: httpx.Response(200, json=answer), "attempts", "evt_1")
    assert (shown.delivery, shown.is_test, shown.next_attempt_at) == ("waiting", False, None)
    (attempt,) = shown.attempts
    assert (attempt.status, attempt.advice, attempt.error_class, attempt.is_redelivery) == (404, "a route", None, False)


def test_both_clients_have_the_same_methods():
    def methods_of(kind) -> dict[str, list[str]]:
        public = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(one).parameters) for name, one in public if not name.startswith("_")}

    assert methods_of(Ads) == methods_of(AsyncAds)


empty_stats = {
    **{"currency": "USD", "from": "2026-01-01T00:00:00.000Z", "to": "2026-01-02T00:00:00.000Z", "by": "day"},
    **{"reference_prefix": "shop-", "rows": [], "total": dict.fromkeys(("rewards", "clicks", "users", "refunds", "revenue_micros"), 0)},
}


@pytest.mark.parametrize(
    "text,hours", [("24h", 24), ("7d", 7 * 24), ("2w", 14 * 24), ("soon", None), ("0d", None), ("7 d", None), ("2026-01-02", None)]
)
def test_a_moment_may_be_how_long_ago_it_was_and_everything_else_is_left_to_the_service(call, text, hours):
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.params["from"])
        return httpx.Response(200, json=empty_stats)

    stats = call(answer, "reference_stats", "shop-", begins_at=text)
    assert (stats.reference_prefix, stats.total.rewards) == ("shop-", 0)
    if hours is None:
        assert sent == [text]
    else:
        age = datetime.now(timezone.utc) - datetime.fromisoformat(sent[0].replace("Z", "+00:00"))
        assert abs(age.total_seconds() - hours * 3600) < 60


def test_a_test_of_the_webhook_carries_the_testers_code_and_says_what_to_check(call):
    bodies: list[dict] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"event_id": "evt_1", "delivered": False, "status": 404, "advice": "check the path"})

    tested = call(answer, "test_webhook", event="rewarded", user_id=42, code="ABCD")
    assert bodies == [{"event": "rewarded", "user_tg_id": "42", "code": "ABCD"}]
    assert (tested.status, tested.advice) == (404, "check the path")


@pytest.mark.parametrize(
    "location,said",
    [
        ("https://ads.example/client/v1/codes", "to https://ads.example, which is not followed: set url to https://ads.example"),
        ("https://www.example/ads/client/v1/codes?key=secret", "to https://www.example/ads, which is not followed: set url"),
        ("/login?next=/client", "to https://ads.example/login, which is not followed: check the address"),
    ],
)
def test_an_address_that_redirects_is_reported_with_the_right_one(call, location, said):
    with pytest.raises(AdsError) as refused:
        call(lambda request: httpx.Response(301, headers={"location": location}), "create_code", 42)
    assert refused.value.code == "UNEXPECTED_ANSWER"
    assert f": the ad service at https://ads.example redirects {said}" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_latest_events_are_requested_without_a_cursor(call):
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.query.decode())
        return httpx.Response(200, json={"events": [], "next": "cur_9", "has_more": False})

    assert call(answer, "events", latest=5).next == "cur_9"
    assert sent == ["latest=5"]
