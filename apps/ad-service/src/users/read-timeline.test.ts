import { detailText, timelineInEnglish } from "@intermission/operator-api/timeline-in-english";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { timelineOfCodes } from "./read-timeline.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9, minute));
const [view, click] = ["4Yabcdefghijkmnpqr", "4Yabcdefghijkmnpqs"];
const botId = "910";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const run = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
  await run(`insert into codes values ('910', $1, '501', 'order-7', $2, $3)`, view, at(0), at(59));
  await run(
    `insert into ad_requests (bot_id, user_id, code, outcome, reason, occurred_at) values
      ('910', '501', $1, 'no-ad', 'none-fits', $2), ('910', '501', $1, 'limited', 'daily-cap', $3),
      ('910', '501', $1, 'refused', 'code-used', $4), ('910', '501', $1, 'filled', '', $5)`,
    view,
    ...[1, 2, 3, 4].map(at),
  );
  await run(
    `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, is_test, duration_ms, opened_at, deadline,
      token_hash, state, accepted_ms, started_at, watched_at, closed_at, close_reason, suspicions, refusals, decided_at) values
      ('910', '910-4Yview', $1, '501', 'cmp_1', 'cre_1', true, 10000, $2, now(), '\\x00', 'refused', 9800, $3, $4, $5,
        'heartbeat-lost', '{too-even,no-frames}', '{"hidden": 2}', $6)`,
    view,
    ...[5, 6, 7, 8, 9].map(at),
  );
  await run(
    `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
      token_hash, state, accepted_ms, fault, fault_at, close_reason) values
      ('910', '910-4Yopen', $1, '501', 'cmp_1', 'cre_1', 10000, $2, now(), '\\x00', 'opened', 0, 'timeout', $3, 'page-hidden')`,
    click,
    at(20),
    at(21),
  );
  await run(
    `insert into withheld_clicks (click_id, bot_id, code, user_id, outcome, suspicions, occurred_at, decided_at) values
      ('clk_1', '910', $1, '501', 'machine-crawler', '{}', $2, null),
      ('clk_2', '910', $1, '501', 'released', '{mostly-taps}', $3, $4)`,
    click,
    ...[22, 23, 24].map(at),
  );
  await run(
    `insert into events (event_id, bot_id, event, user_id, code, price_micros, revenue_micros, occurred_at) values
      ('evt_2', '910', 'direct_link', '501', $1, 5000, 4000, $2)`,
    click,
    at(25),
  );
  await run(
    `insert into deliveries (event_id, bot_id, state, end_reason) values
      ('evt_2', '910', 'failed', 'attempts-used-up')`,
  );
  await run(
    `insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, status, error_class, total_ms, is_replay) values
      ('910', 'evt_2', 1, $1, '', null, 'tls', 12, false), ('910', 'evt_2', 2, $2, '', 503, null, null, true)`,
    at(26),
    at(27),
  );
  await run(
    `insert into refunds (event_id, bot_id, event, campaign_id, price_micros, revenue_micros, occurred_at, charged_at) values
      ('evt_2', '910', 'direct_link', 'cmp_1', 5000, 4000, $1, $2)`,
    at(28),
    at(25),
  );
});
afterAll(() => store.dispose());

const formats = {
  dateTime: (moment: Date) => moment.toISOString().slice(11, 16),
  number: String,
  seconds: (value: number) => `${value} s`,
  milliseconds: (value: number) => `${value} ms`,
};

test("each step of a timeline says in words what is stored beside it", async () => {
  const entries = await timelineOfCodes(store.database, { botId, codes: [view, click] });
  const shown = entries.map(({ at, step, details }) => [
    at.toISOString().slice(11, 16),
    step,
    details.map((detail) => detailText(timelineInEnglish, detail, formats)).join(" · "),
  ]);
  expect(shown).toEqual([
    ["09:00", "code-issued", "valid until 09:59 · reference order-7"],
    ["09:01", "ad-requested", "no ad: no campaign fits the bot or the user"],
    ["09:02", "ad-requested", "the user's rewards of the day are used up"],
    ["09:03", "ad-requested", "refused: the code has earned its reward already"],
    ["09:04", "ad-requested", "an ad was found"],
    ["09:05", "view-opened", "test: free of charge"],
    ["09:06", "view-started", ""],
    ["09:07", "view-watched", "9.8 s of 10 s"],
    [
      "09:08",
      "view-closed",
      "the player fell silent · state: refused · suspicious: reports as even as a machine's, no frame was drawn · refused reports: 2 (the ad was hidden)",
    ],
    ["09:09", "reviewed", "the operator refused it"],
    ["09:20", "view-opened", ""],
    ["09:21", "view-closed", "not closed so far · 0 s of 10 s · state: opened · the video stalled for too long"],
    ["09:22", "click-not-counted", "a program: a crawler, or another known one"],
    ["09:23", "click-held", "suspicious: hardly anything but taps"],
    ["09:24", "reviewed", "the operator released it"],
    ["09:25", "earned", "direct link · webhook: failed (no attempt was answered 2xx)"],
    ["09:26", "webhook-failed", "attempt 1 · no trusted TLS · 12 ms"],
    ["09:27", "webhook-failed", "attempt 2 (sent again) · answer 503"],
    ["09:28", "refunded", ""],
  ]);
  expect(entries.filter(({ amountMicros }) => amountMicros !== null).map(({ step }) => step)).toEqual([
    "earned",
    "refunded",
  ]);
});
