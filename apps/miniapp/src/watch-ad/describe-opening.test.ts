import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { expect, test } from "vitest";
import { describeOpening } from "./describe-opening.ts";

const bot = { bot_id: "7", name: "Bot" };
const answered = (body: OpenSessionResponse) => describeOpening({ outcome: "answered", body }, 1_000_000);

test("a limit is counted by the service's clock, whatever this device's clock shows", () => {
  const limit = { outcome: "limit-reached", bot, reason: "cooldown", server_time: "2030-01-01T00:00:00Z" } as const;
  expect(answered({ ...limit, available_at: "2030-01-01T00:01:15Z" })).toEqual({
    phase: "wait",
    reason: "cooldown",
    untilMs: 1_075_000,
  });
});

test("a limit that has just ended is retried after a second, not in a tight loop", () => {
  const limit = { outcome: "limit-reached", bot, reason: "daily-cap", server_time: "2030-01-01T00:00:01Z" } as const;
  expect(answered({ ...limit, available_at: "2030-01-01T00:00:00Z" })).toMatchObject({ untilMs: 1_001_000 });
});

test("without an ad the service's retry time is used", () => {
  const noAd = { outcome: "no-ad", bot, retry_after_seconds: 90, server_time: "2030-01-01T00:00:00Z" } as const;
  expect(answered(noAd)).toEqual({ phase: "wait", reason: "no-ad", untilMs: 1_090_000 });
});

test("an ad that was already watched leads to its reward, any other ad to the offer", () => {
  const session = {
    outcome: "session",
    bot,
    session_id: "s",
    token: "t",
    code: "c",
    ad: { advertiser: "A", media_url: "/m", media_type: "video/mp4", duration_ms: 1000, width: 1, height: 1 },
    accepted_ms: 0,
    resume_at_ms: 0,
    first_sequence: 0,
    server_time: "2030-01-01T00:00:00Z",
    deadline: "2030-01-01T01:00:00Z",
  } as const;
  expect(answered({ ...session, state: "rewarded" })).toMatchObject({ phase: "closed" });
  expect(answered({ ...session, state: "watched", review: "held" })).toMatchObject({ phase: "closed" });
  expect(answered({ ...session, state: "opened" })).toMatchObject({ phase: "watch" });
  expect(answered({ ...session, state: "playing" })).toMatchObject({ phase: "watch" });
});

test("a refusal keeps the service's code and request id", () => {
  const refused = { code: "CODE_USED", requestId: "3f2a91c0-0000-4000-8000-000000000000" };
  expect(describeOpening({ outcome: "refused", ...refused }, 0)).toEqual({ phase: "refused", ...refused });
});
