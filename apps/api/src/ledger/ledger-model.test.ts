// @module-tag enlarged
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sign } from "@intermission/ad-core/signature";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { LedgerModel, type ModelEvent } from "../../test/fixtures/ledger-model.ts";
import { requestCode } from "../codes/request-code.ts";
import { migrations } from "../migrations.ts";
import { receiveWebhook } from "../webhook-intake/receive-webhook.ts";
import { recordBatch } from "../webhook-intake/record-events.ts";
import { spend } from "./spend.ts";

const { payout } = testConfig;
const RUN_MS = process.env.LONG_TESTS === "true" ? 30_000 : 3000;

const userId = fc.constantFrom("1", "2", "3");
const code = fc.constantFrom("codeA", "codeB", "codeC", "codeD");
const kind = fc.constantFrom<ModelEvent["event"][]>("rewarded", "direct_link");
const isTest = fc.constantFrom(false, false, false, true);
const adEvent = fc.record({
  eventId: fc.nat(9).map((n) => `evt_${n}`),
  event: kind,
  userId,
  code: fc.option(code, { freq: 4 }),
  isTest,
});
const taskEvent = fc.record({
  eventId: fc.nat(9).map((n) => `evt_task_${n}`),
  event: fc.constantFrom<ModelEvent["event"][]>("task", "task_reversed"),
  userId,
  code: fc.constantFrom("taskA", "taskB"),
  isTest,
});
const event = fc.oneof(adEvent, taskEvent);
const order = fc.record({
  userId,
  amount: fc.constantFrom(1, 3, 7, 10, 25),
  idempotencyKey: fc.nat(4).map((n) => `order-${n}`),
});

type Step =
  | { do: "deliver" | "cut"; event: ModelEvent }
  | { do: "deliver-two-fields"; event: ModelEvent["event"]; userId: string }
  | { do: "issue"; code: string; userId: string }
  | { do: "spend"; order: { userId: string; amount: number; idempotencyKey: string } }
  | { do: "break-connections" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver"), event }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("spend"), order }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cut"), event }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("issue"), code, userId }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deliver-two-fields"), event: kind, userId }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("break-connections") }) },
);

interface Row {
  user_id: string;
  event_id: string | null;
  code: string | null;
  idempotency_key: string | null;
  amount: number;
  balance_after: number | null;
}

describe("the ledger", () => {
  let server: Awaited<ReturnType<typeof createServerDatabase>> | undefined;
  let dataDirectory: string;
  let database: Database;
  let bots = 0;
  const open = () => openDatabase({ databaseUrl: server?.url, dataDirectory, schema: "api", migrations });
  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), "intermission-model-"));
    server = await createServerDatabase();
    database = await open();
  });
  afterAll(async () => {
    await database.close();
    await server?.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  const rows = <Result>(name: string, text: string, values: unknown[]) =>
    untilDone(() => database.run<Result>({ name, text }, values));
  const entriesOf = (botId: string) =>
    rows<Row>("model-entries", "select * from ledger_entries where bot_id = $1 order by xid, entry_id", [botId]);
  const balancesOf = async (botId: string) =>
    new Map(
      (
        await rows<{ user_id: string; balance: number }>(
          "model-balances",
          "select user_id, balance from balances where bot_id = $1",
          [botId],
        )
      ).map(({ user_id, balance }) => [user_id, balance]),
    );

  /** Ends every connection except the one that runs this, including those with open transactions. */
  async function breakConnections(): Promise<void> {
    const text = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await rows("model-kill", text, []);
  }

  /** Retries unanswered requests, as a sender and a bot's backend do. */
  async function untilDone<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask();
      } catch (error) {
        if (attempt === 20) throw error;
      }
    }
  }

  function startBot() {
    bots += 1;
    const botId = String(7_000_000_000 + bots);
    const receive = receiveWebhook({
      database,
      botId,
      tokens: [testToken],
      payout,
      twoFieldEvents: "match",
      onRecorded: () => {},
      logger: { debug: () => {}, info: () => {}, isLevelEnabled: () => true },
    });
    const deliver = async (fields: object) => {
      const body = Buffer.from(JSON.stringify(fields));
      const headers = { "x-signature": sign(body, testToken) };
      await untilDone(() => receive({ body, headers }, new Date()));
    };
    return {
      botId,
      deliver: ({ eventId, event, userId, code, isTest }: ModelEvent) =>
        deliver({ event, user_tg_id: userId, event_id: eventId, ...(code && { code }), ...(isTest && { test: true }) }),
      deliverTwoFields: (event: ModelEvent["event"], userId: string) => deliver({ event, user_tg_id: userId }),
      spend: (order: { userId: string; amount: number; idempotencyKey: string }) =>
        untilDone(() => spend(database, botId, { ...order, note: null })),
      async issue(code: string, userId: string) {
        const expires_at = new Date(Date.now() + 3_600_000).toISOString();
        const adService = {
          createCode: async () => ({ outcome: "issued" as const, code: { code, expires_in: 3600, expires_at } }),
        };
        const links = { ...testConfig.links, botUsername: null, miniAppName: null };
        const request = { userId, reference: undefined };
        await untilDone(() => requestCode({ database, adService, botId, links, onUnavailable: () => {} }, request));
        // The model knows which of two codes is older.
        await wait(2);
      },
      /** Records the event, and aborts the transaction before its commit. */
      async cut({ eventId, event, userId, code, isTest }: ModelEvent) {
        const line = {
          eventId,
          event,
          userId,
          code,
          isTest,
          reference: null,
          startParam: null,
          revenue: null,
          occurredAt: null,
        };
        const evidence = { rawBody: "{}", signatureHeader: null };
        const cutting = database.transaction(async (tx) => {
          await recordBatch(tx, botId, payout, [{ line: { ...line, ...evidence }, repeats: 0 }]);
          await tx.run({ name: "model-die", text: "select pg_terminate_backend(pg_backend_pid())" }, []);
          throw new Error("cut");
        });
        await expect(cutting).rejects.toThrow();
      },
    };
  }

  test("the ledger behaves as its model, through repeats, broken connections and aborted transactions", async () => {
    const models = new Map<string, LedgerModel>();
    const compare = async (botId: string, model: LedgerModel) => {
      const entries = await entriesOf(botId);
      const events = entries.flatMap(({ event_id, amount, user_id, idempotency_key }) =>
        idempotency_key === null
          ? [`${event_id?.startsWith("two-field:") ? `two-field ${user_id}` : event_id} ${amount}`]
          : [],
      );
      const modelled = [...model.amounts].map(([id, amount]) => `${id.replace(/^(two-field \d+) .*/, "$1")} ${amount}`);
      expect(events.toSorted()).toEqual(modelled.toSorted());
      const balances = await balancesOf(botId);
      for (const user of ["1", "2", "3"]) {
        expect(balances.get(user) ?? 0).toBe(model.balanceOf(user));
        expect(sumOf(entries, user)).toBe(model.balanceOf(user));
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const bot = startBot();
        const model = new LedgerModel(payout);
        models.set(bot.botId, model);
        for (const each of steps) {
          if (each.do === "deliver") {
            await bot.deliver(each.event);
            model.receive(each.event);
          } else if (each.do === "deliver-two-fields") {
            await bot.deliverTwoFields(each.event, each.userId);
            model.receiveTwoField(each.event, each.userId);
          } else if (each.do === "issue") {
            await bot.issue(each.code, each.userId);
            model.issue(each.code, each.userId);
          } else if (each.do === "spend") {
            const { userId, amount, idempotencyKey } = each.order;
            expect(await bot.spend(each.order)).toMatchObject(model.spend(userId, amount, idempotencyKey));
          } else if (each.do === "cut") await bot.cut(each.event);
          else await breakConnections();
        }
        await compare(bot.botId, model);
      }),
      { numRuns: 1000, interruptAfterTimeLimit: RUN_MS },
    );
    await database.close();
    database = await open();
    for (const [botId, model] of models) await compare(botId, model);
  });

  test("under parallel deliveries, repeats, spends and broken connections: each event once, each code paid once, balance = sum, and no spend takes it below zero", {
    tags: "long",
  }, async () => {
    const wave = fc.array(step, { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(wave, { minLength: 1, maxLength: 5 }), async (waves) => {
        const bot = startBot();
        const delivered = new Set<string>();
        const spent = new Map<string, string>();
        for (const steps of waves) {
          await Promise.all(
            steps.map(async (each) => {
              if (each.do === "deliver") {
                await bot.deliver(each.event);
                delivered.add(each.event.eventId);
              } else if (each.do === "spend") {
                const outcome = await bot.spend(each.order);
                if (outcome.outcome !== "spent") return;
                const key = `${each.order.userId} ${each.order.idempotencyKey}`;
                expect(spent.get(key) ?? outcome.entryId).toBe(outcome.entryId);
                spent.set(key, outcome.entryId);
              } else if (each.do === "break-connections") await breakConnections();
            }),
          );
          const entries = await entriesOf(bot.botId);
          const balances = await balancesOf(bot.botId);
          const events = entries.filter(({ event_id }) => event_id !== null);
          expect(events.map(({ event_id }) => event_id).toSorted()).toEqual([...delivered].toSorted());
          const paid = events.flatMap(({ code, amount }) => (code !== null && amount > 0 ? [code] : []));
          expect(new Set(paid).size).toBe(paid.length);
          const keys = entries.flatMap(({ user_id, idempotency_key: key }) =>
            key === null ? [] : [`${user_id} ${key}`],
          );
          expect(keys.toSorted()).toEqual([...spent.keys()].toSorted());
          const spends = entries.filter(({ idempotency_key }) => idempotency_key !== null);
          expect(spends.every(({ balance_after }) => balance_after !== null && balance_after >= 0)).toBe(true);
          const reversed = events.flatMap(({ code, amount }) => (code !== null && amount < 0 ? [code] : []));
          expect(new Set(reversed).size).toBe(reversed.length);
          for (const code of reversed) expect(sumOfCode(entries, code)).toBeGreaterThanOrEqual(0);
          for (const user of ["1", "2", "3"]) {
            expect(balances.get(user) ?? 0).toBe(sumOf(entries, user));
          }
        }
      }),
      { numRuns: 1000, interruptAfterTimeLimit: RUN_MS },
    );
  });
});

function sumOfCode(entries: readonly Row[], code: string): number {
  return entries.filter((entry) => entry.code === code).reduce((sum, { amount }) => sum + amount, 0);
}

function sumOf(entries: readonly Row[], userId: string): number {
  return entries.filter(({ user_id }) => user_id === userId).reduce((sum, { amount }) => sum + amount, 0);
}
