import { expect, test } from "vitest";
import { readTimeline } from "./read-timeline.ts";
import { ViewRecords } from "./view-records.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second, 500)).toISOString();
const kindsOf = (views: ViewRecords) => views.latest("42")?.steps.map(({ kind }) => kind);

test("a tap belongs to the view of its code, also after other codes", () => {
  const views = new ViewRecords();
  views.codeCreated("42", "first", { at: at(1), ms: 5 });
  views.codeCreated("42", "second", { at: at(2), ms: 5 });
  views.tapped("42", "first", at(3));
  views.add("42", { kind: "first-frame", at: at(4) });
  expect(views.latest("42")?.code).toBe("first");
  expect(kindsOf(views)).toEqual(["code", "tap", "first-frame"]);
  expect(views.latest("43")).toBeUndefined();
});

test("a launch without a code takes the session's; another ad in the same window is another view", () => {
  const views = new ViewRecords();
  const session = { kind: "session", at: at(2), ms: 1, outcome: "session", durationMs: 1, resumeAtMs: 0 } as const;
  views.tapped("42", undefined, at(1));
  views.add("42", session, "first");
  expect(views.latest("42")).toMatchObject({ code: "first", steps: [{ kind: "tap" }, { kind: "session" }] });
  views.add("42", session, "second");
  expect(views.latest("42")).toMatchObject({ code: "second", steps: [{ kind: "session" }] });
});

test("a view keeps its beginning and its latest reports, and each list is bounded", () => {
  const views = new ViewRecords();
  views.tapped("42", "code", at(0));
  const report = {
    kind: "report",
    ms: 1,
    isStart: false,
    close: null,
    ranges: [],
    acceptedMs: 0,
    state: null,
  } as const;
  for (let second = 0; second < 1000; second++)
    views.add("42", { ...report, at: at(0), refused: [String(second)], tooEarlyMs: null, error: null });
  const steps = views.latest("42")?.steps ?? [];
  expect(steps).toHaveLength(200);
  expect(steps[0]).toMatchObject({ kind: "tap" });
  expect(steps.at(-1)).toMatchObject({ refused: ["999"] });
  for (let user = 1; user <= 2100; user++) views.tapped(String(user), "code", at(0));
  expect(views.latest("1")).toBeUndefined();
  expect(views.latest("2100")).toBeDefined();
});

test.each([
  ["in the order of time", 4],
  ["causes first, if the ad service's clock is ahead", 8],
])(
  "the timeline joins what the demo saw with what the ad service sent and the ledger paid, %s",
  async (_order, sentAt) => {
    const views = new ViewRecords();
    views.tapped("42", "code", at(2));
    const attempt = {
      url: "http://127.0.0.1/",
      errorClass: null,
      totalMs: 9,
      responseText: "",
      nextAt: null,
      isReplay: false,
    };
    const { code, steps } = await readTimeline(
      {
        views,
        receiver: {
          received: [
            {
              eventId: "evt_1",
              attempt: 1,
              at: at(5),
              headers: {},
              body: "{}",
              isVerified: true,
              answer: undefined,
            },
          ],
        },
        ads: {
          attempts: () => Promise.reject(new Error("an event that was delivered at once needs no advice")),
          code: async () => ({
            code: "code",
            bot_id: "7",
            user_tg_id: "42",
            issued_at: at(1),
            expires_at: at(9),
            is_expired: false,
            earned: [{ event: "rewarded", event_id: "evt_1", occurred_at: at(3) }],
            sessions: [],
            clicks: {},
          }),
        },
        operator: {
          delivery: async (eventId) => ({
            eventId,
            createdAt: at(3),
            state: "delivered",
            body: "{}",
            log: [{ attempt: 1, startedAt: at(sentAt), status: 200, ...attempt }],
          }),
        },
        receipts: async () => [
          {
            eventId: "evt_1",
            event: "rewarded",
            outcome: "credited",
            reason: null,
            receivedAt: at(6),
            amount: 10,
            rawBody: "{}",
            signatureHeader: "",
          },
        ],
      },
      "42",
    );
    expect(code).toBe("code");
    expect(steps.map(({ kind }) => kind)).toEqual(["code", "tap", "event", "attempt", "verified", "ledger"]);
  },
);
