import type { Bot } from "@intermission/operator-api/bots";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import type { ClickRefusal, ClickSuspicion, WithheldOutcome } from "./click-verdict.ts";

/** The compiler refuses a table that lacks a member of its union. */
type Words<Union extends string> = Record<Union, true>;

const tapSuspicions = { "address-changed": true, "tap-unconfirmed": true } as const;
const suspicions = {
  "many-users-of-one-agent": true,
  "mostly-taps": true,
  "many-users-of-one-address": true,
  "crowded-network": true,
  "right-after-issue": true,
  ...tapSuspicions,
} satisfies Words<ClickSuspicion>;

const visitRefusals = {
  cooldown: true,
  "daily-cap": true,
  used: true,
  expired: true,
  "bot-suspended": true,
  "no-ad": true,
  "address-limit": true,
  "machine-head": true,
  "machine-prefetch": true,
  "machine-empty-agent": true,
  "machine-crawler": true,
  "machine-library": true,
  "tap-asked-address": true,
  "tap-asked-embedded": true,
  "tap-asked-scripted": true,
  "tap-asked-no-language": true,
  "tap-asked-foreign-form": true,
  "tap-asked-no-token": true,
  "tap-asked-crawler-like": true,
  "tap-asked-unknown-agent": true,
} satisfies Words<Exclude<ClickRefusal, "held" | "suspicious" | "operator">>;
const refusals = { ...visitRefusals, held: true, suspicious: true, operator: true } satisfies Words<ClickRefusal>;
const withheld = { ...visitRefusals, held: true, refused: true, released: true } satisfies Words<WithheldOutcome>;

const constraint = statement<{ definition: string }>(
  "test.check-constraint",
  `select pg_get_constraintdef(oid) as definition from pg_constraint
   where contype = 'c' and conrelid = ('ad_service.' || $1)::regclass and conname = $1 || '_' || $2 || '_check'`,
);

describe("the words of clicks", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test.each([
    ["click_refusals", "reason", refusals],
    ["withheld_clicks", "outcome", withheld],
    ["withheld_clicks", "suspicions", suspicions],
    ["events", "suspicions", suspicions],
    [
      "bots",
      "suspicious_clicks",
      { pay: true, "hold-farms": true, hold: true, refuse: true } satisfies Words<Bot["suspiciousClicks"]>,
    ],
  ])("the database accepts in %s.%s the members of the union, and no others", async (table, column, words) => {
    const [row] = await store.database.run(constraint, [table, column]);
    const accepted = [...(row?.definition ?? "").matchAll(/'([^']*)'/g)].map(([, word]) => word);
    expect(accepted.toSorted()).toEqual(Object.keys(words).toSorted());
  });
});
