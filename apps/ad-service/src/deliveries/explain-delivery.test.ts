import { adviseOnAnswer } from "@intermission/ad-core/delivery-advice";
import type { ShownDelivery } from "@intermission/operator-api/deliveries";
import { expect, test } from "vitest";
import { explainDelivery, explainToPublisher } from "./explain-delivery.ts";

const noon = new Date("2026-03-01T12:00:00.000Z");
const delivery: ShownDelivery = {
  botId: "7000000001",
  eventId: "evt_1",
  event: "rewarded",
  userId: "1",
  isTest: false,
  state: "waiting",
  attempts: 1,
  dueAt: noon,
  createdAt: noon,
  finishedAt: null,
  endReason: null,
  resumeState: null,
  blockedReason: null,
  notBefore: null,
  body: "{}",
  log: [],
};

test.each<[Partial<ShownDelivery>, string]>([
  [{ state: "delivered" }, "answered 2xx"],
  [{ state: "sending" }, "under way"],
  [{}, "is scheduled"],
  [{ resumeState: "delivered" }, "it is a replay; if that fails, its state is delivered again"],
  [{ notBefore: new Date("2026-03-01T12:05:00.000Z") }, "in backoff until 2026-03-01T12:05:00.000Z"],
  // It is due only after the backoff, which delays nothing.
  [{ notBefore: new Date("2026-03-01T11:59:00.000Z") }, "is scheduled"],
  [{ blockedReason: "gone" }, "endpoints enable 7000000001"],
  [{ state: "held", blockedReason: "pending" }, "endpoints test 7000000001"],
  [{ state: "held", blockedReason: "no-endpoint" }, "--webhook-url"],
  [{ state: "held", blockedReason: "no-token" }, "tokens create --bot-id 7000000001"],
  [{ state: "held" }, "is sent shortly"],
  [{ state: "failed", endReason: "attempts-used-up" }, "deliveries replay evt_1"],
  [{ state: "failed", endReason: "held-too-long" }, "held for 30 days"],
  [{ state: "failed", endReason: "test", isTest: true }, "endpoints test 7000000001"],
  [{ state: "unknown", endReason: "at-most-once" }, "unknown whether it arrived"],
])("%j is explained, with the next step", (change, words) => {
  expect(explainDelivery({ ...delivery, ...change })).toContain(words);
});

test.each(["operator", "publisher"] as const)("every answer except 2xx has advice for the %s", (reader) => {
  const advise = (status: number | null, errorClass: string | null = null) =>
    adviseOnAnswer({ status, errorClass, text: null }, reader);
  for (let status = 300; status < 600; status++) expect(advise(status)).toBeTruthy();
  expect(advise(302, "redirect")).toMatch(/redirects are not followed|follow no redirect/);
  expect(advise(304, "redirect")).toMatch(/304.*2xx/);
  for (const status of [520, 521, 522, 523, 524, 525, 526, 530]) expect(advise(status)).toMatch(/^Cloudflare/);
  expect(advise(null)).toMatch(/the outcome is unknown/i);
  expect(advise(204)).toBeUndefined();
});

test.each(["operator", "publisher"] as const)(
  "for the %s, a port without TLS is not blamed on a certificate",
  (reader) => {
    const advise = (text: string) => adviseOnAnswer({ status: null, errorClass: "tls", text }, reader);
    expect(advise("wrong version number")).toMatch(/port does not use TLS/);
    expect(advise("certificate has expired")).toMatch(/certificate/);
    expect(advise("certificate has expired")).not.toMatch(/port/);
  },
);

test("a receiver's 401 that names its clock is not blamed on token and parser", () => {
  const adviseOn = (text: string) => adviseOnAnswer({ status: 401, errorClass: null, text }, "operator");
  const stale = JSON.stringify({
    error: { code: "BAD_SIGNATURE", message: "", details: { fault: "stale", seconds: 601 } },
  });
  expect(adviseOn(stale)).toMatch(/601 s ago by the clock of its machine: check that clock \(NTP\)/);
  expect(adviseOn(stale)).not.toMatch(/token|raw bytes/);
  expect(adviseOn("who are you?")).toMatch(/raw bytes.*token.*clock/);
});

test.each<[Partial<ShownDelivery>, RegExp]>([
  [{ state: "delivered" }, /answered 2xx/],
  [{}, /due at 2026-03-01T12:00:00\.000Z/],
  [{ notBefore: new Date("2026-03-01T12:05:00.000Z") }, /until 2026-03-01T12:05/],
  [{ state: "held", blockedReason: "pending" }, /POST \/client\/v1\/webhook\/test/],
  [{ state: "failed", endReason: "attempts-used-up" }, /POST \/client\/v1\/events\/evt_1\/redeliver/],
  [{ state: "failed", endReason: "test", isTest: true }, /sent once/],
  [{ state: "unknown", endReason: "at-most-once" }, /unknown whether it arrived/],
])("%j is explained to its publisher, without the operator's commands", (change, words) => {
  const explained = explainToPublisher({ ...delivery, ...change });
  expect(explained).toMatch(words);
  expect(explained).not.toMatch(/(deliveries|endpoints|bots) [a-z]+ /);
});
