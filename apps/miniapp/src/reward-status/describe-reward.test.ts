import type { StatusResponse } from "@intermission/ad-core/player-api";
import { describe, expect, test } from "vitest";
import type { PublisherStatus } from "../publisher-api.ts";
import { answersSince, describeReward, isFinal } from "./describe-reward.ts";
import { pollAfterMs } from "./use-reward-status.ts";

type Delivery = NonNullable<StatusResponse["event"]>["delivery"];

const service = (state: StatusResponse["state"], delivery?: Delivery): StatusResponse => ({
  state,
  accepted_ms: 0,
  server_time: "",
  ...(delivery && { event: { event_id: "evt_1", occurred_at: "", delivery } }),
});
const credited: PublisherStatus = { outcome: "credited", amount: 10, balance: 52, event: "rewarded", recordedAt: "" };
const refused: PublisherStatus = { outcome: "refused", reason: "daily-cap", amount: 0, balance: 52, recordedAt: "" };
const notYet: PublisherStatus = { outcome: "not-yet" };

const soon = { publisher: undefined, hasPublisher: true, waitedMs: 1000 };

describe("with a publisher's API", () => {
  test("the publisher's ledger takes precedence over the ad service", () => {
    for (const known of [
      undefined,
      service("watched"),
      service("rewarded", "delayed"),
      service("rewarded", "failed"),
    ]) {
      expect(describeReward({ ...soon, service: known, publisher: credited })).toEqual({
        kind: "credited",
        amount: 10,
        balance: 52,
      });
    }
    expect(describeReward({ ...soon, service: service("rewarded", "delivered"), publisher: refused })).toEqual({
      kind: "refused",
      reason: "daily-cap",
    });
  });

  test("an earned reward is on its way until the publisher has recorded it", () => {
    expect(describeReward({ ...soon, service: service("rewarded", "on-its-way") }).kind).toBe("on-its-way");
    expect(describeReward({ ...soon, service: service("rewarded", "delivered"), publisher: notYet }).kind).toBe(
      "on-its-way",
    );
  });

  test("an earned reward is delayed if recording takes long", () => {
    const late = { ...soon, publisher: notYet, waitedMs: 21_000 };
    expect(describeReward({ ...late, service: service("rewarded", "delivered") })).toEqual({
      kind: "delayed",
    });
  });
});

describe("with the ad service alone", () => {
  const alone = { ...soon, hasPublisher: false };

  test.each([
    { delivery: "on-its-way", kind: "on-its-way" },
    { delivery: "delivered", kind: "delivered" },
    { delivery: "delayed", kind: "delayed" },
    { delivery: "failed", kind: "undelivered" },
  ] as const)("$delivery is shown as $kind", ({ delivery, kind }) => {
    expect(describeReward({ ...alone, service: service("rewarded", delivery) }).kind).toBe(kind);
  });
});

describe("before anything was earned", () => {
  test("the state is checking, even while neither party answers", () => {
    expect(describeReward({ ...soon, service: undefined }).kind).toBe("checking");
    expect(describeReward({ ...soon, service: undefined, waitedMs: 60_000 }).kind).toBe("checking");
    expect(describeReward({ ...soon, service: service("playing") }).kind).toBe("checking");
  });

  test("a closed view whose reports never completed it is not counted", () => {
    expect(describeReward({ ...soon, service: service("playing"), waitedMs: 31_000 }).kind).toBe("not-counted");
  });
});

test("a view held for the operator's review is shown as held, a refused view as refused", () => {
  const looked = (review: "held" | "refused") =>
    describeReward({ ...soon, service: { ...service("watched"), review }, publisher: notYet, waitedMs: 60_000 });
  expect(looked("held").kind).toBe("held");
  expect(looked("refused").kind).toBe("view-refused");
  expect([looked("held"), looked("refused")].map(isFinal)).toEqual([false, true]);
});

test("polling starts 150, 300 and 600 ms after the close, then once a second, and slows down", () => {
  expect([0, 150, 170, 300, 599].map(pollAfterMs)).toEqual([150, 150, 130, 300, 50]);
  expect([600, 9999, 10_000, 59_999, 60_000, 3_600_000].map(pollAfterMs)).toEqual([
    1000, 1000, 3000, 3000, 15_000, 15_000,
  ]);
});

test("a view is not given up while the reports that complete it wait for the service to answer again", () => {
  /** The kind at `nowMs`, after answers and outages at these times, of a view that the service knows as playing. */
  const kindAt = (nowMs: number, polls: readonly [atMs: number, hasAnswered: boolean][]) => {
    let sinceMs: number | undefined;
    for (const [atMs, hasAnswered] of polls) sinceMs = answersSince(sinceMs, atMs, hasAnswered);
    return describeReward({ ...soon, service: service("playing"), waitedMs: nowMs - (sinceMs ?? nowMs) }).kind;
  };
  const outage: [number, boolean][] = [
    [500, true],
    [1500, false],
    [40_000, false],
  ];
  expect(kindAt(41_000, outage)).toBe("checking");
  expect(kindAt(45_000, [...outage, [42_000, true]]), "answers again").toBe("checking");
  expect(kindAt(75_000, [...outage, [42_000, true]]), "for long").toBe("not-counted");
  expect(
    kindAt(90_000, [
      [500, true],
      [40_000, true],
      [60_000, false],
    ]),
    "decided before",
  ).toBe("not-counted");
});
