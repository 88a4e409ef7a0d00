import type { EndpointState } from "@intermission/ad-core/client-words";
import type { BreakerState, DisabledReason } from "@intermission/operator-api/endpoints";
import { knownStatements } from "@intermission/postgres/open-database";
import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { healthColumnNames } from "./endpoint-facts.ts";
import {
  disableProgress,
  type EndpointAttempt,
  type EndpointHealth,
  type HealthChange,
  nextEndpointHealth,
} from "./endpoint-health.ts";
import "../bots/change-bot.ts";
import "./endpoints.ts";
import "./endpoint-tests.ts";
import "./webhook-delivery.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const now = Date.UTC(2026, 0, 10);

const healthy: EndpointHealth = {
  state: "active",
  stateSince: now - DAY,
  disabledReason: null,
  warnedPercent: 0,
  backoffUntil: Number.NEGATIVE_INFINITY,
  breaker: "closed",
  probeAt: Number.NEGATIVE_INFINITY,
  probeFailures: 0,
  probeSuccesses: 0,
  failuresInRow: 0,
  windowStartedAt: Number.NEGATIVE_INFINITY,
  windowAttempts: 0,
  windowFailures: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  failingSince: null,
  failuresSinceSuccess: 0,
  goneSince: null,
  goneEventId: null,
  isGoneForSeveral: false,
  lastStatus: null,
  lastErrorClass: null,
  lastAnswer: null,
  answerWarning: null,
  acceptsWrongSignature: false,
};

let lastEvent = 0;
function attempt(status: number | null, more: Partial<EndpointAttempt> = {}): EndpointAttempt {
  lastEvent += 1;
  const isSuccess = status === null ? null : status < 300;
  return {
    eventId: `evt_${lastEvent}`,
    isSuccess,
    status,
    errorClass: null,
    responseText: null,
    backoffSeconds: null,
    answerWarning: null,
    ...more,
  };
}
const attempts = (status: number | null, count: number) => Array.from({ length: count }, () => attempt(status));
const decide = (before: Partial<EndpointHealth>, made: EndpointAttempt[], at = now, jitter = 0) =>
  nextEndpointHealth({ ...healthy, ...before }, made, { now: at, jitter });

describe("the breaker", () => {
  const rows: [name: string, before: Partial<EndpointHealth>, made: EndpointAttempt[], BreakerState, HealthChange[]][] =
    [
      ["ten failures in a row open it", { failuresInRow: 9 }, attempts(500, 1), "open", [{ change: "failing" }]],
      ["nine do not", { failuresInRow: 8 }, attempts(500, 1), "closed", []],
      [
        "seven failures of ten in five minutes open it",
        { windowStartedAt: now - MINUTE, windowAttempts: 9, windowFailures: 6 },
        attempts(500, 1),
        "open",
        [{ change: "failing" }],
      ],
      [
        "failures of an older window do not count",
        { windowStartedAt: now - 6 * MINUTE, windowAttempts: 9, windowFailures: 9 },
        attempts(500, 1),
        "closed",
        [],
      ],
      [
        "a failed probe opens it again",
        { breaker: "half-open" },
        attempts(500, 1),
        "open",
        [{ change: "probe-failed" }],
      ],
      ["a failure that was in flight changes nothing", { breaker: "open" }, attempts(500, 1), "open", []],
      [
        "two successful probes do not close it",
        { breaker: "half-open", probeSuccesses: 1 },
        attempts(200, 1),
        "half-open",
        [],
      ],
      [
        "the third closes it",
        { breaker: "half-open", probeSuccesses: 2 },
        attempts(200, 1),
        "closed",
        [{ change: "recovered" }],
      ],
      [
        "a fault of this service shows nothing",
        { breaker: "half-open", failuresInRow: 9 },
        attempts(null, 5),
        "half-open",
        [],
      ],
    ];
  test.each(rows)("%s", (_, before, made, breaker, changes) => {
    const next = decide(before, made);
    expect(next.health.breaker).toBe(breaker);
    expect(next.changes).toEqual(changes);
  });

  test.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [3, 8],
    [4, 15],
    [5, 30],
    [6, 60],
    [7, 120],
    [8, 300],
    [9, 300],
    [400, 300],
  ])("after %i failed probes the next comes in %i s, and with jitter at most 20 %% later", (probeFailures, seconds) => {
    const delayOf = (jitter: number) =>
      decide({ breaker: "half-open", probeFailures }, attempts(500, 1), now, jitter).health.probeAt - now;
    expect(delayOf(0)).toBe(seconds * 1000);
    expect(delayOf(0.999)).toBeLessThan(seconds * 1200);
  });
});

describe("410", () => {
  const hourAgo = now - 60 * MINUTE;
  const rows: [name: string, before: Partial<EndpointHealth>, made: EndpointAttempt[], EndpointState][] = [
    [
      "disables after an hour for several events",
      { goneSince: hourAgo, isGoneForSeveral: true },
      attempts(410, 1),
      "disabled",
    ],
    ["does not disable before", { goneSince: hourAgo + 1, isGoneForSeveral: true }, attempts(410, 1), "active"],
    [
      "does not disable for one event",
      { goneSince: hourAgo, goneEventId: "evt_a" },
      [attempt(410, { eventId: "evt_a" })],
      "active",
    ],
    ["disables with the second event", { goneSince: hourAgo, goneEventId: "evt_a" }, attempts(410, 1), "disabled"],
    [
      "does not disable where another answer is between",
      { goneSince: hourAgo },
      [attempt(410), attempt(500)],
      "active",
    ],
    [
      "disables no pending endpoint",
      { state: "pending", goneSince: hourAgo, isGoneForSeveral: true },
      attempts(410, 1),
      "pending",
    ],
  ];
  test.each(rows)("%s", (_, before, made, state) => {
    const { health } = decide(before, made);
    expect(health.state).toBe(state);
    expect(health.disabledReason).toBe(state === "disabled" ? "gone" : null);
  });

  test("a streak begins again after another answer", () => {
    const { health } = decide({ goneSince: hourAgo, goneEventId: "evt_a", isGoneForSeveral: true }, attempts(500, 1));
    expect(health).toMatchObject({ goneSince: null, goneEventId: null, isGoneForSeveral: false });
  });
});

describe("an endpoint that accepts nothing", () => {
  const failing = { stateSince: now - 5 * DAY, failingSince: now - DAY / 2, failuresSinceSuccess: 19 };
  test.each([
    ["for five days, twenty failures, twelve hours is disabled", {}, "disabled"],
    ["for less than five days is not", { stateSince: now - 5 * DAY + 1 }, "active"],
    ["that accepted something within five days is not", { lastSuccessAt: now - 3 * DAY }, "active"],
    ["with nineteen failures is not", { failuresSinceSuccess: 18 }, "active"],
    ["with failures within twelve hours is not", { failingSince: now - DAY / 2 + 1 }, "active"],
  ] as const)("%s", (_, change, state) => {
    const { health, changes } = decide({ ...failing, ...change }, attempts(500, 1));
    expect(health.state).toBe(state);
    expect(changes.map(({ change: kind }) => kind)).toEqual([state === "disabled" ? "disabled" : "warned"]);
  });

  test("is warned of once at each mark, and again after a success", () => {
    const at = (days: number, before: EndpointHealth) =>
      nextEndpointHealth(before, attempts(500, 1), { now: now + days * DAY, jitter: 0 });
    const before = {
      ...healthy,
      stateSince: now,
      failingSince: now,
      failuresSinceSuccess: 40,
      breaker: "open" as const,
    };
    const half = at(2.5, before);
    expect(half.changes).toEqual([{ change: "warned", percent: 50 }]);
    expect(at(3.4, half.health).changes).toEqual([]);
    expect(at(3.5, half.health).changes).toEqual([{ change: "warned", percent: 70 }]);
    const accepted = nextEndpointHealth(half.health, attempts(200, 1), { now: now + 3 * DAY, jitter: 0 });
    expect(accepted.health).toMatchObject({ warnedPercent: 0, failuresSinceSuccess: 0, failingSince: null });
  });
});

test("a backoff never gets shorter, and the last failure is kept for lists", () => {
  const made = [attempt(503, { backoffSeconds: 60, responseText: "🎁".repeat(300) }), attempt(200)];
  const { health } = decide({ backoffUntil: now + 30_000 }, made);
  expect(health).toMatchObject({ backoffUntil: now + 60_000, lastStatus: 503, lastFailureAt: now, lastSuccessAt: now });
  expect(health.lastAnswer).toBe("🎁".repeat(200));
  expect(decide({ backoffUntil: now + 90_000 }, made).health.backoffUntil).toBe(now + 90_000);
});

test("an endpoint is doubtful from a success with a warning until one without it, whatever fails between", () => {
  const page = (more: Partial<EndpointAttempt> = {}) => attempt(200, { answerWarning: "html-answer", ...more });
  const doubtful: HealthChange = { change: "doubtful", warning: "html-answer" };
  const { health, changes } = decide({}, [page()]);
  expect([health.answerWarning, changes]).toEqual(["html-answer", [doubtful]]);
  expect(nextEndpointHealth(health, [page()], { now, jitter: 0 }).changes).toEqual([]);
  expect(nextEndpointHealth(health, [attempt(500), attempt(null)], { now, jitter: 0 }).changes).toEqual([]);
  expect(nextEndpointHealth(health, [attempt(204)], { now, jitter: 0 }).changes).toEqual([
    { change: "no-longer-doubtful" },
  ]);
  // One of several receivers behind one address is enough.
  expect(decide({}, [attempt(200), page(), attempt(200)]).changes).toEqual([doubtful]);
  expect(decide({ acceptsWrongSignature: true }, [attempt(200)]).changes).toEqual([]);
  expect(decide({ state: "disabled" }, [page()]).changes).toEqual([]);
});

test("any attempts keep the counters consistent, and reach every kind of change", () => {
  const statuses = fc.oneof(
    fc.array(fc.constantFrom(200, 500, 503, 410, null), { minLength: 1, maxLength: 6 }),
    fc.array(fc.constantFrom(200, 500), { minLength: 1, maxLength: 1 }),
  );
  const failures = fc.array(fc.constantFrom(500, 503), { minLength: 2, maxLength: 6 });
  const stepsOf = (made: fc.Arbitrary<(number | null)[]>) =>
    fc.array(fc.record({ made, minutes: fc.integer({ min: 0, max: 700 }) }), { minLength: 5, maxLength: 40 });
  const accepted = fc.array(fc.constant(200), { minLength: 1, maxLength: 1 });
  const outage = fc.tuple(stepsOf(failures), stepsOf(accepted)).map(([down, up]) => [...down, ...up]);
  const seen = new Set<HealthChange["change"]>();
  const [breakers, reasons] = [new Set<BreakerState>(), new Set<string>()];
  fc.assert(
    fc.property(fc.oneof(stepsOf(statuses), stepsOf(failures), outage), (steps) => {
      let health = healthy;
      let at = now;
      for (const { made, minutes } of steps) {
        at += minutes * MINUTE;
        // As a claim does.
        const isProbed = health.breaker === "open" && health.probeAt <= at;
        const before = isProbed ? { ...health, breaker: "half-open" as const } : health;
        const next = nextEndpointHealth(
          before,
          made.map((status) =>
            attempt(status, { answerWarning: status === 200 && minutes % 2 === 1 ? "html-answer" : null }),
          ),
          { now: at, jitter: 0.5 },
        );
        health = next.health;
        for (const { change } of next.changes) seen.add(change);
        breakers.add(before.breaker).add(health.breaker);
        if (health.disabledReason !== null) reasons.add(health.disabledReason);
        expect(health.windowFailures).toBeLessThanOrEqual(health.windowAttempts);
        expect(health.backoffUntil).toBeGreaterThanOrEqual(before.backoffUntil);
        if (made.includes(200)) expect(health.failuresSinceSuccess).toBe(0);
        if (before.breaker !== "open" && health.breaker === "open") expect(health.probeAt).toBeGreaterThan(at);
        if (before.state === "disabled") expect(health.state).toBe("disabled");
        expect(disableProgress(health, at)).toBeGreaterThanOrEqual(0);
        expect(disableProgress(health, at)).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: runsToReachAll(300) },
  );
  const kinds = {
    failing: "",
    "probe-failed": "",
    recovered: "",
    disabled: "",
    warned: "",
    doubtful: "",
    "no-longer-doubtful": "",
  };
  expect([...seen].toSorted()).toEqual(Object.keys(kinds satisfies Record<HealthChange["change"], string>).toSorted());
  const allBreakers = { closed: true, open: true, "half-open": true } satisfies Record<BreakerState, true>;
  expect([...breakers].toSorted()).toEqual(Object.keys(allBreakers).toSorted());
  const allReasons = { gone: true, failing: true } satisfies Record<Exclude<DisabledReason, "operator">, true>;
  expect([...reasons].toSorted()).toEqual(Object.keys(allReasons).toSorted());
});

test("each statement that changes the health or the address of an endpoint increases its version", () => {
  const written = ["url", ...healthColumnNames];
  const updates = knownStatements().flatMap(({ name, text }) => {
    if (name.startsWith("test.")) return [];
    const update = /update endpoints set ([\s\S]*?)(?:\bfrom\b(?! now)|\bwhere bot_id\b|\breturning\b)/.exec(text)?.[1];
    const upsert = /insert into endpoints[\s\S]*do update set ([\s\S]*)/.exec(text)?.[1];
    const changes = update ?? upsert;
    if (changes === undefined) return [];
    const isOfHealth = written.some((column) => new RegExp(`(^|[\\s,])${column} = `).test(changes));
    return [{ name, isOfHealth, isVersioned: /\bversion = /.test(changes) }];
  });
  expect(
    updates
      .filter(({ isOfHealth }) => isOfHealth)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([
    "bots.set-endpoint",
    "deliveries.backoffs-after-clock-jump",
    "deliveries.claim",
    "deliveries.finish",
    "deliveries.finish-late",
    "deliveries.tests-after-clock-jump",
    "endpoints.disable",
    "endpoints.enable",
    "endpoints.finish-test",
    "endpoints.write-health",
  ]);
  expect(updates.filter(({ isOfHealth, isVersioned }) => isOfHealth && !isVersioned)).toEqual([]);
});
