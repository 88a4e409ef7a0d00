"""Every method of the client against a running ad service; examples/examples.test.ts starts one and runs this file.

The bot has no backend that listens. `EARNED_CODE` is one whose direct link was followed.
"""

import asyncio
import os

import pytest

from intermission_ads import Ads, AdsError, AsyncAds, Availability

service = (os.environ["AD_SERVICE_URL"], ["no-token", os.environ["AD_API_TOKEN"]], os.environ["BOT_ID"])
earned_code = os.environ["EARNED_CODE"]


@pytest.fixture
def ads():
    with Ads(*service) as client:
        yield client


def test_a_code_comes_with_its_addresses_and_is_the_same_for_the_same_reference(ads):
    code = ads.create_code(44, reference="Bestellung №7")
    assert code.miniapp_url is not None and code.miniapp_url.endswith(f"/app/{service[2]}?code={code.code}")
    assert code.direct_link is not None and code.direct_link.endswith(f"/{code.code}")
    assert ads.create_code("44", reference="Bestellung №7").code == code.code
    details = ads.code(code.code)
    assert (details.user_id, details.reference, details.is_expired) == ("44", "Bestellung №7", False)
    assert (details.earned, details.sessions) == ((), ())


def test_an_earned_code_is_found_with_its_event(ads):
    (earned,) = ads.code(earned_code).earned
    (event,) = [one for one in ads.events(limit=1000).events if one.event_id == earned.event_id]
    assert (event.event, event.code, event.is_test) == ("direct_link", earned_code, False)
    page = ads.events(limit=1)
    assert ads.events(after=page.next).events == ads.events(limit=1000).events[1:]


def test_availability_and_the_statistics_can_be_read(ads):
    assert ads.availability(45) == Availability(True, None, None)
    # This user followed the link just now.
    limited = ads.availability(44)
    assert (limited.is_available, limited.reason) == (False, "cooldown")
    assert limited.available_at is not None and limited.available_at.endswith("Z")
    stats = ads.stats(by="hour")
    assert (stats.by, stats.total.requests >= 0, len(stats.currency)) == ("hour", True, 3)
    of_week = ads.stats(begins_at="7d")
    assert of_week.begins_at < of_week.ends_at
    earned = ads.reference_stats("", by="reference")
    assert (earned.by, earned.reference_prefix, earned.rows_left_out) == ("reference", "", 0)
    assert earned.total.rewards + earned.total.clicks == sum(row.rewards + row.clicks for row in earned.rows)
    with pytest.raises(AdsError, match='"soon"'):
        ads.stats(begins_at="soon")


def test_a_test_of_a_webhook_that_nobody_receives_says_why(ads):
    tested = ads.test_webhook(event="direct_link")
    assert (tested.is_delivered, tested.status, tested.error_class) == (False, None, "refused")


def test_refusals_are_errors_with_their_codes(ads):
    with pytest.raises(AdsError) as unknown:
        ads.redeliver("evt_unknown")
    assert unknown.value.status == 404
    with pytest.raises(AdsError) as bad_input:
        ads.create_code("not a number")
    assert bad_input.value.code == "BAD_REQUEST"
    with Ads(service[0], "no-token", service[2]) as stranger, pytest.raises(AdsError) as bad_token:
        stranger.availability(44)
    assert bad_token.value.status == 401


def test_the_client_for_asyncio_reads_the_same():
    async def main():
        async with AsyncAds(*service) as ads:
            code, details, stats = await asyncio.gather(ads.create_code(45), ads.code(earned_code), ads.stats())
            assert (len(code.code), len(details.earned), stats.by) == (18, 1, "day")

    asyncio.run(main())
