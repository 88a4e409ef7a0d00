import type { StatusResponse } from "@intermission/ad-core/player-api";
import { expect, test } from "vitest";
import type { PublisherStatus } from "../publisher-api.ts";
import type { KnownOfReward } from "./describe-reward.ts";
import { describeSteps } from "./describe-steps.ts";

const watchedAt = "2030-01-01T10:00:00Z";
const deliveredAt = "2030-01-01T10:00:01Z";
const recordedAt = "2030-01-01T10:00:02Z";

type Event = NonNullable<StatusResponse["event"]>;
const service = (delivery?: Event["delivery"]): StatusResponse => ({
  state: delivery ? "rewarded" : "watched",
  accepted_ms: 0,
  server_time: watchedAt,
  ...(delivery && {
    event: {
      event_id: "evt_1",
      occurred_at: watchedAt,
      delivery,
      ...(delivery === "delivered" && { delivered_at: deliveredAt }),
    },
  }),
});
const credited: PublisherStatus = { outcome: "credited", amount: 1, balance: 1, event: "rewarded", recordedAt };
const refused: PublisherStatus = { outcome: "refused", reason: "daily-cap", amount: 0, balance: 1, recordedAt };
const notYet: PublisherStatus = { outcome: "not-yet" };

const progressOf = (known: KnownOfReward, isOver = false) =>
  describeSteps(known, isOver).map(({ progress }) => progress);

test.each<[string, KnownOfReward, string[]]>([
  [
    "nothing is known",
    { service: undefined, publisher: undefined, hasPublisher: true },
    ["active", "waiting", "waiting"],
  ],
  [
    "the reward is not earned yet",
    { service: service(), publisher: notYet, hasPublisher: true },
    ["active", "waiting", "waiting"],
  ],
  [
    "an operator reviews the view",
    { service: { ...service(), review: "held" }, publisher: notYet, hasPublisher: true },
    ["active", "waiting", "waiting"],
  ],
  [
    "the webhook is on its way",
    { service: service("on-its-way"), publisher: notYet, hasPublisher: true },
    ["done", "active", "waiting"],
  ],
  [
    "the webhook is delayed",
    { service: service("delayed"), publisher: undefined, hasPublisher: true },
    ["done", "active", "waiting"],
  ],
  [
    "the webhook cannot be delivered",
    { service: service("failed"), publisher: notYet, hasPublisher: true },
    ["done", "failed", "waiting"],
  ],
  [
    "the bot has accepted the webhook",
    { service: service("delivered"), publisher: notYet, hasPublisher: true },
    ["done", "done", "active"],
  ],
  [
    "the reward is credited",
    { service: service("delivered"), publisher: credited, hasPublisher: true },
    ["done", "done", "done"],
  ],
  [
    "the publisher's ledger refuses the reward",
    { service: service("delivered"), publisher: refused, hasPublisher: true },
    ["done", "done", "failed"],
  ],
  [
    "there is no publisher's API",
    { service: service("delivered"), publisher: undefined, hasPublisher: false },
    ["done", "done"],
  ],
])("while %s", (_, known, steps) => {
  expect(progressOf(known)).toEqual(steps);
});

test("a credited reward counts as watched and sent, whatever the ad service reports", () => {
  expect(progressOf({ service: undefined, publisher: credited, hasPublisher: true })).toEqual(["done", "done", "done"]);
  expect(progressOf({ service: service("failed"), publisher: credited, hasPublisher: true })).toEqual([
    "done",
    "done",
    "done",
  ]);
});

test("the first step of a view that can no longer be completed has failed", () => {
  expect(progressOf({ service: service(), publisher: notYet, hasPublisher: true }, true)).toEqual([
    "failed",
    "waiting",
    "waiting",
  ]);
});

test("each step has the time of the party that completed it", () => {
  const steps = describeSteps({ service: service("delivered"), publisher: credited, hasPublisher: true }, false);
  expect(steps.map(({ at }) => at)).toEqual([watchedAt, deliveredAt, recordedAt]);
});
