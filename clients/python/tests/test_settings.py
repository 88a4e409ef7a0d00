from datetime import date, datetime, timedelta, timezone

import httpx
import pytest

from intermission_ads import Ads, AdsError, AsyncAds, Code, read_secret

TELEGRAM_TOKEN = "7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
OPERATOR = "the operator creates one: pnpm ads tokens create --bot-id <digits>"
API_TOKEN = f"the bot's API token of the ad service, which begins with ad_ there; {OPERATOR}"
EXAMPLE = "the ad service's address, such as https://rewards.example.com"
DIGITS = "the digits before the colon of TELEGRAM_BOT_TOKEN"
URL, TOKEN, BOT = "url (AD_SERVICE_URL)", "token (AD_API_TOKEN)", "bot_id (BOT_ID)"

# The messages are those of the package for TypeScript.
mistakes = [
    ({"url": None}, f"{URL} is missing: set it to {EXAMPLE}"),
    ({"url": " "}, f"{URL} is missing: set it to {EXAMPLE}"),
    ({"url": '"https://rewards.example.com"'}, f"{URL} is in quotes: remove the quotes"),
    ({"url": "rewards.example.com"}, f"{URL} has no scheme: write https://rewards.example.com instead of rewards.example.com"),
    ({"url": "localhost:8701"}, f"{URL} has no scheme: write http://localhost:8701 instead of localhost:8701"),
    ({"url": "https:rewards.example.com"}, f"{URL} is not an address: write {EXAMPLE}"),
    (
        {"url": "postgres://rewards.example.com"},
        f"{URL} must begin with https:// or http://, and begins with postgres: write {EXAMPLE}",
    ),
    ({"url": "https://"}, f"{URL} is not an address: write {EXAMPLE}"),
    ({"url": "https://rewards.example.com:port"}, f"{URL} is not an address: write {EXAMPLE}"),
    ({"url": "https://ads example"}, f"{URL} is not an address: write {EXAMPLE}"),
    (
        {"url": "https://ann:secret@rewards.example.com"},
        f"{URL} contains a user name or a password, which fetch refuses: remove everything before the @",
    ),
    ({"url": "https://rewards.example.com/?a=1"}, f"{URL} contains ? or #: write only {EXAMPLE}"),
    ({"token": None}, f"{TOKEN} is missing: set it to the bot's API token; {OPERATOR}"),
    ({"token": ["", " "]}, f"{TOKEN} is missing: set it to the bot's API token; {OPERATOR}"),
    ({"token": "'ad_one'"}, f"{TOKEN} is in quotes: remove the quotes"),
    ({"token": ["ad_one", '"ad_two"']}, f"{TOKEN} is in quotes: remove the quotes"),
    ({"token": "Bearer ad_one"}, f'{TOKEN} begins with "Bearer": remove the word, the client adds it'),
    ({"token": TELEGRAM_TOKEN}, f"{TOKEN} is a token of @BotFather: it needs {API_TOKEN}"),
    ({"token": "ad_…"}, f"{TOKEN} is the placeholder of an example: replace it with {API_TOKEN}"),
    (
        {"token": "ad_one\nad_two"},
        f"{TOKEN} contains a space, a line break or a character outside ASCII: copy it anew",
    ),
    ({"bot_id": None}, f"{BOT} is missing: set it to the bot's Telegram id, {DIGITS}"),
    ({"bot_id": TELEGRAM_TOKEN}, f"{BOT} contains a whole token of @BotFather: pass only {DIGITS}"),
    ({"bot_id": "@coins_bot"}, f"{BOT} is a username: pass the bot's Telegram id, {DIGITS}"),
    ({"token": b"ad_one"}, f"{TOKEN} is not text but bytes: decode it"),
    ({"token": [b"ad_one"]}, f"{TOKEN} is not text but bytes: decode it"),
    ({"token": 7}, f"{TOKEN} is not text but int: pass it as it was created"),
    ({"bot_id": True}, f'{BOT} must be the bot\'s Telegram id, {DIGITS}; it is "True"'),
    ({"retries": None}, "retries must be a whole number from 0 on; it is None"),
    ({"retries": "2"}, "retries must be a whole number from 0 on; it is '2'"),
    ({"retries": True}, "retries must be a whole number from 0 on; it is True"),
    ({"retries": -1}, "retries must be a whole number from 0 on; it is -1"),
    ({"timeout": "10"}, "timeout must be a number of seconds above 0; it is '10'"),
    ({"timeout": 0}, "timeout must be a number of seconds above 0; it is 0"),
    ({"timeout": -1.5}, "timeout must be a number of seconds above 0; it is -1.5"),
    ({"timeout": float("nan")}, "timeout must be a number of seconds above 0; it is nan"),
    ({"bot_id": -7}, f'{BOT} must be the bot\'s Telegram id, {DIGITS}; it is "-7"'),
]


@pytest.mark.parametrize("client", [Ads, AsyncAds])
@pytest.mark.parametrize(("change", "message"), mistakes, ids=lambda value: repr(value)[:50])
def test_a_client_made_with_a_mistake_says_what_is_wrong_where_and_the_next_step(client, change, message):
    with pytest.raises(ValueError) as raised:
        client(**{"url": "https://rewards.example.com", "token": "ad_one", "bot_id": 7000000001, **change})
    assert str(raised.value) == message
    assert "AAHdq" not in message and "secret" not in message


@pytest.mark.parametrize(
    ("url", "called"),
    [
        ("https://rewards.example.com", "https://rewards.example.com/client/v1/events"),
        (" https://rewards.example.com/\r\n", "https://rewards.example.com/client/v1/events"),
        ("\ufeffhttps://rewards.example.com\r\n", "https://rewards.example.com/client/v1/events"),
        ("https://rewards.example.com/client/v1/codes", "https://rewards.example.com/client/v1/events"),
        ("http://[::1]:8701/ads/client/v1/", "http://[::1]:8701/ads/client/v1/events"),
    ],
)
def test_client_v1_at_the_end_of_the_address_is_left_out(url, called):
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"events": [], "next": "", "has_more": False})

    with Ads(url, " ad_one\n", 7, transport=httpx.MockTransport(answer)) as ads:
        ads.events()
    assert [str(request.url) for request in requests] == [called]
    assert requests[0].headers["authorization"] == "Bearer ad_one"


@pytest.mark.parametrize(
    ("user_id", "message"),
    [
        (None, "user_id is missing: pass the user's Telegram id, such as message.from_user.id"),
        ("@ann", 'user_id "@ann" is a username: pass the user\'s Telegram id, such as message.from_user.id'),
        (0, 'user_id "0" is not a Telegram id, which is digits: pass it, such as message.from_user.id'),
        ("ann", 'user_id "ann" is not a Telegram id, which is digits: pass it, such as message.from_user.id'),
        (7.5, 'user_id "7.5" is not a Telegram id, which is digits: pass it, such as message.from_user.id'),
    ],
)
def test_a_call_for_a_value_that_is_no_user_id_says_so_and_is_not_sent(user_id, message):
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError("a request was sent")

    with Ads("https://rewards.example.com", "ad_one", 7, transport=httpx.MockTransport(answer)) as ads:
        for call in (ads.create_code, ads.availability):
            with pytest.raises(AdsError) as raised:
                call(user_id)
            assert (raised.value.code, raised.value.message) == ("BAD_REQUEST", message)


MOMENT = "pass a datetime with a time zone, such as datetime.now(timezone.utc)"
NAIVE = datetime(2026, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ads: ads.code(None), "code is missing: pass the code that create_code returned, or that of an event"),
        (lambda ads: ads.code(" "), "code is missing: pass the code that create_code returned, or that of an event"),
        (lambda ads: ads.code(7), "code is int, not text: pass the code that create_code returned, or that of an event"),
        (
            lambda ads: ads.code(Code("ABCD", "", 60, None, None)),
            "code is Code, not text: pass the code that create_code returned, or that of an event",
        ),
        *(
            (
                lambda ads, method=method: getattr(ads, method)(None),
                "event_id is missing: pass the event_id of an event, such as that of a webhook or of events()",
            )
            for method in ("attempts", "redeliver")
        ),
        (lambda ads: ads.create_code(42, reference=7), "reference is int, not text: pass str(7), or leave it out"),
        (lambda ads: ads.create_code(42, reference=""), "reference is empty: pass text, or leave it out"),
        (lambda ads: ads.create_code(42, reference=b"a"), "reference is bytes, not text: pass text, or leave it out"),
        (
            lambda ads: ads.create_code(42, reference="x" * 129),
            "reference has 129 characters: the contract allows 128; pass a key of your own that is shorter",
        ),
        (lambda ads: ads.stats(begins_at=NAIVE), f"begins_at is a datetime without a time zone: {MOMENT}"),
        (lambda ads: ads.reference_stats("a", ends_at=NAIVE), f"ends_at is a datetime without a time zone: {MOMENT}"),
        (lambda ads: ads.stats(ends_at=1767322800), f"ends_at is int, not a moment: {MOMENT}, or text of RFC 3339"),
    ],
)
def test_a_call_with_an_argument_that_cannot_be_right_says_so_and_is_not_sent(call, message):
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError("a request was sent")

    with Ads("https://rewards.example.com", "ad_one", 7, transport=httpx.MockTransport(answer)) as ads:
        with pytest.raises(AdsError) as raised:
            call(ads)
    assert (raised.value.code, raised.value.message) == ("BAD_REQUEST", message)


def test_moments_may_be_datetimes_and_dates_and_days_those_of_a_zone(call_stats):
    india = timezone(timedelta(hours=5, minutes=30))
    begins_at = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=india)
    assert call_stats(begins_at=begins_at, ends_at=date(2026, 1, 3), time_zone="Asia/Kolkata") == {
        "from": "2026-01-02T03:04:05.678+05:30",
        "to": "2026-01-03",
        "time_zone": "Asia/Kolkata",
    }


@pytest.fixture(params=["stats", "reference_stats"])
def call_stats(request):
    """Returns the query that a method sends."""
    words = ["shop-"] if request.param == "reference_stats" else []

    def call(**named) -> dict[str, str]:
        sent: list[httpx.Request] = []

        def answer(of: httpx.Request) -> httpx.Response:
            sent.append(of)
            return httpx.Response(404, json={"error": {"code": "NOT_FOUND", "message": "seen"}})

        with Ads("https://rewards.example.com", "ad_one", 7, transport=httpx.MockTransport(answer)) as ads:
            with pytest.raises(AdsError):
                getattr(ads, request.param)(*words, **named)
        return {name: value for name, value in sent[0].url.params.items() if name != "reference_prefix"}

    return call


def test_a_server_that_does_not_run_is_named_with_its_address_and_the_innermost_cause():
    with Ads("http://127.0.0.1:9", "ad_one", 7, retries=0) as ads, pytest.raises(AdsError) as raised:
        ads.events()
    assert raised.value.code == "UNREACHABLE"
    message = raised.value.message
    assert message.startswith("the ad service at http://127.0.0.1:9 did not answer: ")
    assert "refused" in message and message.endswith("; check the address and whether it runs there")


def test_a_test_of_the_webhook_waits_longer_than_the_service_unless_the_caller_sets_a_limit():
    def limits(**named) -> list[float]:
        seen: list[float] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request.extensions["timeout"]["read"])
            return httpx.Response(200, json={"event_id": "evt_1", "delivered": True, "events": [], "next": "", "has_more": False})

        with Ads("https://rewards.example.com", "ad_one", 7, transport=httpx.MockTransport(answer), **named) as ads:
            ads.test_webhook()
            ads.events()
        return seen

    assert limits() == [25, 10]
    assert limits(timeout=3) == [3, 3]


def test_a_secret_may_be_in_a_file_and_one_that_cannot_be_read_is_named(tmp_path):
    files = {"good": "ad_secret\r\n", "empty": "\n", "large": "x" * 70_000}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def read(file=None, **environ):
        return read_secret("KEY", {**environ, **({} if file is None else {"KEY_FILE": str(tmp_path / file)})})

    assert read() == ""
    assert read(KEY="in the variable") == "in the variable"
    assert read("good") == read("good", KEY="") == "ad_secret"
    (tmp_path / "marked").write_bytes("\ufeff ad_secret \r\n".encode())
    assert read("marked") == "ad_secret"
    for encoding in ("utf-16-le", "utf-16-be"):
        (tmp_path / encoding).write_bytes("\ufeffad_secret".encode(encoding))
        with pytest.raises(ValueError, match="which is in UTF-16: save it as UTF-8"):
            read(encoding)
    for file, words in (
        ("missing", r"KEY_FILE names .*missing, which cannot be read \(ENOENT\): mount the secret"),
        (".", "KEY_FILE must name a file, and .* is none"),
        ("empty", "KEY_FILE names .*empty, which is empty"),
        ("large", "KEY_FILE names .*large, which has more than 64 kB"),
    ):
        with pytest.raises(ValueError, match=words):
            read(file)
    with pytest.raises(ValueError, match="KEY_FILE and KEY are both set") as refused:
        read("good", KEY="ad_hush")
    assert "hush" not in str(refused.value)
