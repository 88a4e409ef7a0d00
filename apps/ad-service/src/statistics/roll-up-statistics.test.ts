// @module-tag enlarged
import { randomUUID } from "node:crypto";
import { type Database, openDatabase, statement, type Transaction } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  anyFact,
  dayStart,
  differencesOfLevels,
  expectedReasons,
  expectedSums,
  type Fact,
  insertBotsAndCampaigns,
  insertFacts,
  readReasons,
  readSums,
  rollUpUntilNow,
  shares,
} from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { rememberPublisherShare } from "./publisher-share.ts";
import { rollUpStatistics } from "./roll-up-statistics.ts";
import { audienceTables, reasonTables, sumTables } from "./sum-tables.ts";

/** Events that may happen during a day; `node` is one of two. */
type Step =
  | { step: "commit"; facts: Fact[] }
  | { step: "roll-back"; facts: Fact[] }
  | { step: "begin"; facts: Fact[] }
  /** A transaction that began earlier commits only now. */
  | { step: "end" }
  | { step: "roll-up"; node: number }
  | { step: "roll-up-on-both" }
  /** The node crashes after `after` statements. */
  | { step: "crash"; node: number; after: number };

const facts = fc.array(anyFact, { minLength: 1, maxLength: 12 });
const node = fc.nat(1);
const commits = ["commit", "roll-back", "begin"] as const;
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.oneof(...commits.map((step) => fc.record({ step: fc.constant(step), facts }))),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant("end" as const) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant("roll-up" as const), node }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("roll-up-on-both" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant("crash" as const), node, after: fc.integer({ min: 1, max: 12 }) }),
  },
);

describe("statistics", () => {
  let store: TestDatabase;
  let second: Database | undefined;
  let nodes: [Database, Database];

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    const { databaseUrl } = store;
    second = databaseUrl
      ? await openDatabase({
          databaseUrl,
          dataDirectory: "",
          schema: "ad_service",
          migrations,
        })
      : undefined;
    nodes = [store.database, second ?? store.database];
    await insertBotsAndCampaigns(store.database);
    const noon = new Date(dayStart + shares.changedAtHour * 3_600_000);
    await rememberPublisherShare(
      store.database,
      { configured: shares.morning, now: new Date(dayStart) },
      { warn: () => {} },
    );
    await rememberPublisherShare(store.database, { configured: shares.afternoon, now: noon }, { warn: () => {} });
  });
  afterAll(async () => {
    await second?.close();
    await store.dispose();
  });
  beforeEach(() => empty(store.database));

  test("after any sequence of crashes, late commits and roll-ups by two nodes, the sums equal the raw rows", {
    tags: "long",
    timeout: 180_000,
  }, async () => {
    const day = fc.array(anyStep, { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(day, async (steps) => {
        await empty(store.database);
        const committed = await live(steps, nodes);
        for (let time = 0; time < 2; time++) {
          await rollUpUntilNow(store.database);
          expect(await readSums(store.database)).toEqual(expectedSums(committed));
          expect(await readSums(store.database, "stats_audiences")).toEqual(expectedSums(committed));
          expect(await readReasons(store.database)).toEqual(expectedReasons(committed));
          expect(await differencesOfLevels(store.database)).toEqual([]);
        }
      }),
      { numRuns: process.env.LONG_TESTS === "true" ? 12 : 8 },
    );
  });

  test("more rows than one batch, in one transaction and in many, are all counted", async () => {
    const many = statement<never>(
      "test.many-requests",
      `insert into ad_requests (bot_id, user_id, outcome, occurred_at)
       select '910', '1', 'no-ad', $1 from generate_series(1, $2)`,
    );
    for (const count of [25_000, 4000, 4000, 4000])
      await store.database.run(many, [new Date(dayStart + 3 * 3_600_000), count]);
    await rollUpUntilNow(store.database);
    expect(await readSums(store.database)).toEqual({
      "quarter 12 910  no-fills": [37_000, 0, 0],
      "hour 3 910  no-fills": [37_000, 0, 0],
      "six-hours 0 910  no-fills": [37_000, 0, 0],
      "day 0 910  no-fills": [37_000, 0, 0],
    });
  });

  test("more counts of refused clicks than one batch are all added, and later increments of each, too", {
    tags: "long",
  }, async () => {
    const many = statement<never>(
      "test.many-refusals",
      `insert into click_refusals (bot_id, code, reason, quarter, count)
       select '910', n, 'expired', $1, 3 from generate_series(1, 2500) as made (n)
       on conflict (bot_id, code, reason, quarter) do update set count = click_refusals.count + 4, is_summed = false`,
    );
    for (const sum of [7500, 17_500]) {
      await store.database.run(many, [new Date(dayStart + 3 * 3_600_000)]);
      await rollUpUntilNow(store.database);
      expect(await readReasons(store.database)).toEqual({ "910  clicks-refused expired": sum });
      expect(await readSums(store.database)).toMatchObject({ "hour 3 910  clicks-refused": [sum, 0, 0] });
    }
  });

  test("a node that begins its turn before another one's commit, and gets it after, adds nothing twice", async () => {
    const { database } = store;
    const request = statement<never>(
      "test.request",
      "insert into ad_requests (bot_id, user_id, outcome, occurred_at) values ('910', '1', 'no-ad', $1)",
    );
    let made = 0;
    const late = beginningTurns(database, async () => {
      await database.run(request, [new Date(dayStart + 3 * 3_600_000)]);
      made += 1;
      await rollUpStatistics(database);
    });
    await rollUpStatistics(late);
    await rollUpUntilNow(database);
    expect(made).toBeGreaterThan(2);
    expect(await readSums(database)).toMatchObject({ "hour 3 910  no-fills": [made, 0, 0] });
  });

  test("a refused visit waits for no sum, and is added by the next roll-up", async () => {
    const [added, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = holdingBefore("statistics.move-position", store.database, () => {
      added.resolve();
      return go.promise;
    });
    const refused = statement<never>(
      "test.refused-visit",
      `insert into click_refusals (bot_id, code, reason, quarter, count) values ('910', 'c', 'expired', $1, 1)
       on conflict (bot_id, code, reason, quarter) do update set count = click_refusals.count + 1, is_summed = false`,
    );
    const visit = () => store.database.run(refused, [new Date(dayStart + 3 * 3_600_000)]);
    await visit();
    const rollUp = rollUpStatistics(held);
    await added.promise;
    try {
      await visit();
    } finally {
      go.resolve();
      await rollUp;
    }
    expect(await readReasons(store.database)).toEqual({ "910  clicks-refused expired": 1 });
    await rollUpUntilNow(store.database);
    expect(await readReasons(store.database)).toEqual({ "910  clicks-refused expired": 2 });
  });
});

/** Runs the steps of a day; returns the facts that were committed in the end. */
async function live(steps: readonly Step[], nodes: readonly [Database, Database]): Promise<Fact[]> {
  const [database] = nodes;
  const committed: Fact[] = [];
  const open: { end: () => Promise<void> }[] = [];
  for (const one of steps) {
    if (one.step === "commit") {
      await database.transaction((tx) => insertFacts(tx, one.facts));
      committed.push(...one.facts);
    } else if (one.step === "roll-back") {
      const undone = database.transaction(async (tx) => {
        await insertFacts(tx, one.facts);
        throw new Error("undone");
      });
      await expect(undone).rejects.toThrow("undone");
    } else if (one.step === "begin") {
      if (open.length < 3) open.push(await beginTransaction(database, one.facts));
      else await database.transaction((tx) => insertFacts(tx, one.facts));
      committed.push(...one.facts);
    } else if (one.step === "end") await open.shift()?.end();
    else if (one.step === "roll-up") await rollUpStatistics(nodes[one.node === 0 ? 0 : 1]);
    else if (one.step === "roll-up-on-both") await Promise.all(nodes.map((each) => rollUpStatistics(each)));
    else await rollUpStatistics(dyingAfter(one.after, nodes[one.node === 0 ? 0 : 1])).catch(() => {});
  }
  for (const { end } of open) await end();
  return committed;
}

async function beginTransaction(database: Database, facts: readonly Fact[]): Promise<{ end: () => Promise<void> }> {
  const inserted = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const transaction = database.transaction(async (tx) => {
    await insertFacts(tx, facts, randomUUID());
    inserted.resolve();
    await ended.promise;
  });
  await inserted.promise;
  return {
    async end() {
      ended.resolve();
      await transaction;
    },
  };
}

/** A node that crashes after `most` statements. On a server its connection is terminated without a clean close. */
function dyingAfter(most: number, database: Database): Pick<Database, "transaction"> {
  let count = 0;
  return {
    transaction: (work) =>
      database.transaction((tx) => {
        const run: Transaction["run"] = async (each, values) => {
          const rows = await tx.run(each, values);
          if (++count < most) return rows as never;
          await tx.run(statement("test.die", "select pg_terminate_backend(pg_backend_pid())"), []);
          throw new Error("the node crashed");
        };
        return work({ run });
      }),
  };
}

/** A node that runs `meanwhile` after its locking statement has taken its snapshot, and before it gets the lock. */
function beginningTurns(database: Database, meanwhile: () => Promise<void>): Pick<Database, "transaction"> {
  const key = 7_300_460;
  const waiting = `select from pg_locks where locktype = 'advisory' and objid = ${key} and not granted`;
  return {
    transaction: (work) =>
      database.transaction((tx) => {
        const run: Transaction["run"] = async (each, values) => {
          if (!each.text.includes("skip locked")) return tx.run(each, values);
          const text = each.text.replace("'requests'", `'requests' and pg_advisory_xact_lock(${key}) is not null`);
          return database
            .transaction(async (holder) => {
              await holder.run({ name: "", text: `select pg_advisory_xact_lock(${key})` }, []);
              const turn = tx.run({ name: "", text }, values);
              await expect.poll(() => database.run({ name: "", text: waiting }, [])).toHaveLength(1);
              await meanwhile();
              return { turn };
            })
            .then(({ turn }) => turn as never);
        };
        return work({ run });
      }),
  };
}

/** A node that waits before a statement, once it has added the counts of refused visits. */
function holdingBefore(name: string, database: Database, wait: () => Promise<void>): Pick<Database, "transaction"> {
  return {
    transaction: (work) =>
      database.transaction((tx) => {
        const run: Transaction["run"] = async (each, values) => {
          if (each.name === name && values[0] === "refused-clicks") await wait();
          return tx.run(each, values);
        };
        return work({ run });
      }),
  };
}

async function empty(database: Database): Promise<void> {
  for (const table of [
    "ad_requests",
    "ad_milestones",
    "events",
    "withheld_clicks",
    "click_refusals",
    "conversions",
    ...[sumTables, audienceTables, reasonTables].flatMap((tables) => Object.values(tables).map(({ table }) => table)),
  ]) {
    await database.run(statement(`test.empty-${table}`, `delete from ${table}`), []);
  }
}
