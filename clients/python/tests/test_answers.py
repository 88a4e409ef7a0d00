"""Each field that an answer of the service may have is read; `npm test -- python` writes the schemas and names the file."""

import json
import os
from pathlib import Path

import pytest

from intermission_ads import results

_file = os.environ.get("RECEIVER_CASES")
_answers = json.loads(Path(_file).read_text())["answers"] if _file else {}

readers = {
    "createCodeResponse": results.read_code,
    "availabilityResponse": results.read_availability,
    "describeCodeResponse": results.read_code_details,
    "listEventsResponse": results.read_events_page,
    "statsResponse": results.read_stats,
    "referenceStatsResponse": results.read_reference_stats,
    "listAttemptsResponse": results.read_attempts,
    "testWebhookResponse": results.read_webhook_test,
}

not_offered = {"testWebhookResponse": {"total_ms", "endpoint"}}


class Recording(dict):
    """A mapping that remembers what was requested for."""

    def __init__(self, answer):
        super().__init__(answer)
        self.requested = set()

    def __getitem__(self, key):
        self.requested.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.requested.add(key)
        return super().get(key, default)


@pytest.mark.skipif(not _file, reason="RECEIVER_CASES is not set: run `npm test -- python`")
@pytest.mark.parametrize("name", readers)
def test_every_field_of_the_schema_is_read(name):
    answer = Recording(_answers[name]["example"])
    readers[name](answer)
    assert set(_answers[name]["fields"]) - answer.requested == not_offered.get(name, set())


@pytest.mark.skipif(not _file, reason="RECEIVER_CASES is not set: run `npm test -- python`")
def test_every_answer_has_a_reader():
    assert set(_answers) - {"redeliverEventResponse"} == set(readers)


def test_named_rewards_and_warnings_are_read_and_may_be_missing():
    answer = {"code": "c", "expires_at": "2026-03-01T13:00:00Z", "expires_in": 60}
    unit = {"en": {"one": "coin", "other": "coins"}}
    named = results.read_code({**answer, "rewards": {"rewarded": {"amount": 10, "unit": unit, "new": 1}}})
    assert named.rewards == {"rewarded": results.NamedReward(10, unit)}
    assert results.read_code(answer).rewards == {}
    assert results.read_availability({"available": True}).rewards == {}
    tested = {"event_id": "evt_1", "delivered": True, "warnings": ["says-failed"]}
    assert results.read_webhook_test(tested).warnings == ("says-failed",)
