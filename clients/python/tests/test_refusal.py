from intermission_ads.refusal import RefusalLog, possible_originals
from intermission_ads.webhook import field_order


def test_of_each_kind_of_refusal_one_line_a_minute_is_logged_and_the_next_one_counts_those_between():
    log = RefusalLog()
    assert log.line("stale None", "stale", 0) == "a webhook was refused: stale"
    assert [log.line("stale None", "stale", now) for now in (1, 30, 59.9)] == [None, None, None]
    assert log.line("missing-signature None", "missing", 30) == "a webhook was refused: missing"
    assert log.line("stale None", "stale", 60) == "a webhook was refused: stale (and 3 more like it since the last line)"
    assert log.line("stale None", "stale", 120) == "a webhook was refused: stale"
    # The clock was set back by an hour.
    assert log.line("stale None", "stale", -3600) == "a webhook was refused: stale"


def test_at_most_five_bodies_are_tried_and_none_of_them_is_the_body_itself():
    for body in (b"", b"x", b"\xff\xfe\x00", b"[" * 10_000, b" " * 30_000, b'{"b": 1, "event": "x"}', b'{"x":"\\ud800"}'):
        originals = possible_originals(body, field_order)
        assert len(originals) <= 5
        assert body not in originals
