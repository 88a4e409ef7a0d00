import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import type { Milestone } from "../views/accept-progress.ts";
import { type Measure, measureOfEvent, measureOfMilestone, measureOfRequest } from "./measures.ts";

/** The compiler refuses a table that lacks a member of the union. */
const measures = {
  fills: true,
  "no-fills": true,
  limited: true,
  "requests-refused": true,
  starts: true,
  "first-quartiles": true,
  midpoints: true,
  "third-quartiles": true,
  completions: true,
  closes: true,
  "views-held": true,
  "views-refused": true,
  "playback-faults": true,
  rewards: true,
  clicks: true,
  refunds: true,
  "clicks-refused": true,
  taps: true,
  conversions: true,
} satisfies Record<Measure, true>;

const constraint = statement<{ definition: string }>(
  "test.check-constraint-of-measures",
  `select pg_get_constraintdef(oid) as definition from pg_constraint
   where contype = 'c' and conrelid = ('ad_service.' || $1)::regclass and conname = $1 || '_' || $2 || '_check'`,
);

describe("what is counted", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test.each([
    ["ad_requests", "outcome", measureOfRequest],
    // The compiler refuses a milestone of views that has no measure.
    ["ad_milestones", "milestone", measureOfMilestone satisfies Record<Milestone, Measure>],
    ["events", "event", measureOfEvent],
    ["stats_hours", "measure", measures],
  ])("the database accepts in %s.%s the words that have a measure, and no others", async (table, column, words) => {
    const [row] = await store.database.run(constraint, [table, column]);
    const accepted = [...(row?.definition ?? "").matchAll(/'([^']*)'/g)].map(([, word]) => word);
    expect(accepted.toSorted()).toEqual(Object.keys(words).toSorted());
  });
});
