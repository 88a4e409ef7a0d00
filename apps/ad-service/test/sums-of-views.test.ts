// @module-tag long
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { rollUpStatistics } from "../src/statistics/roll-up-statistics.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { readReportOf, rollUpUntilNow } from "./fixtures/facts-fixture.ts";
import { HonestPlayer, openViewerFixture, type ViewerFixture } from "./fixtures/viewer-fixture.ts";

/** A user's actions with an ad: how much is watched, and how it is left. */
const anyVisit = fc.record({
  userId: fc.integer({ min: 1, max: 6 }).map((id) => `80${id}`),
  ranges: fc.nat(10),
  leaving: fc.constantFrom("tap" as const, "page-hidden" as const, "swipe" as const, "reopen" as const),
  afterSeconds: fc.nat(5400),
  isCounted: fc.boolean(),
});
type Visit = typeof anyVisit extends fc.Arbitrary<infer One> ? One : never;

const rawNumbers = statement<Record<"starts" | "completions" | "rewards" | "closes" | "spend", number>>(
  "test.raw-numbers",
  `select count(started_at) as starts, count(watched_at) as completions, count(closed_at) as closes,
     count(*) filter (where state = 'rewarded') as rewards,
     (select coalesce(sum(price_micros), 0)::bigint from events where bot_id = $1) as spend
   from views where bot_id = $1`,
);

describe("the sums of real views", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test("for any behaviour of viewers, the statistics equal their views, charges and refusals", async () => {
    const visits = fc.array(anyVisit, { minLength: 10, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(visits, async (all) => {
        const fixture = await openViewerFixture(store.database, { cooldownSeconds: 30, dailyCap: 3 });
        const answered = { filled: 0, limited: 0 };
        for (const visit of all) answered[await live(fixture, visit)] += 1;
        await rollUpUntilNow(store.database);
        const time = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-05T00:00:00Z") };
        const { total, rows } = await readReportOf(store.database, { botId: fixture.botId, ...time, by: "hour" });
        const [raw] = await store.database.run(rawNumbers, [fixture.botId]);
        await fixture.close();

        const closes = Object.values(total.closes).reduce((sum, count) => sum + count, 0);
        const limited = Object.values(total.limited).reduce((sum, count) => sum + count, 0);
        const { starts, completions, rewards } = total;
        expect({ starts, completions, rewards, closes, spend: Number(total.spendMicros) }).toEqual(raw);
        expect({ filled: total.fills, limited }).toEqual(answered);
        for (const name of ["starts", "firstQuartiles", "midpoints", "thirdQuartiles", "completions"] as const) {
          expect(rows.reduce((sum, { figures }) => sum + figures[name], 0)).toBe(total[name]);
        }
        expect(total.firstQuartiles).toBeLessThanOrEqual(total.starts);
        expect(total.completions).toBeLessThanOrEqual(total.thirdQuartiles);
      }),
      { numRuns: 6 },
    );
  }, 60_000);
});

async function live(fixture: ViewerFixture, visit: Visit): Promise<"filled" | "limited"> {
  const code = await fixture.issue(visit.userId, `at-${fixture.clock.now.getTime()}`);
  const opened = await fixture.open(visit.userId, code);
  fixture.advance(visit.afterSeconds / 100);
  if (visit.isCounted) await rollUpStatistics(fixture.database);
  if (opened.body.outcome !== "session") return "limited";
  const player = new HonestPlayer(fixture, opened.body as never);
  if (visit.ranges > 0) await player.send();
  for (let count = 0; count < visit.ranges; count++) player.playOn();
  if (visit.leaving === "tap" || visit.leaving === "page-hidden") await player.send({ closed: visit.leaving });
  else await player.send();
  if (visit.leaving === "reopen") await fixture.open(visit.userId, code);
  fixture.advance(visit.afterSeconds);
  await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
  return "filled";
}
