import { randomUUID } from "node:crypto";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settleUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { setAdvertiserState } from "../advertisers/advertisers.ts";
import { addCampaign, updateCampaign } from "../campaigns/change-campaign.ts";
import { writeRefund } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import { migrations } from "../migrations.ts";
import {
  advertiserAccount,
  movement,
  newTransactionId,
  paidIn,
  publisherAccount,
  recordTransaction,
  spentBy,
  sumOfEntries,
} from "./ledger.ts";
import { settleCharges } from "./settle-charges.ts";
import { advertiserStandings, moneyOfAdvertiser, setTerms } from "./terms.ts";

let store: TestDatabase;
let database: Database;
const botIds = ["910", "911"];
const now = new Date("2026-03-01T12:00:00Z");
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  database = store.database;
  await run("insert into deployment (currency) values ('USD')");
  for (const botId of botIds)
    await run("insert into bots (bot_id, code_prefix, name) values ($1, '0' || $1, $1)", botId);
});
afterAll(() => store.dispose());

/** An advertiser with two campaigns. */
async function newAdvertiser(): Promise<{ advertiserId: string; campaignIds: string[] }> {
  const name = randomUUID();
  const campaignIds = [`cmp_${name.slice(0, 8)}_a`, `cmp_${name.slice(0, 8)}_b`];
  let advertiserId = "";
  for (const campaignId of campaignIds) {
    const draft = { campaignId, name, advertiser: name, formats: ["direct_link" as const], now };
    const newAdvertiser = { billing: "credit", creditLimitMicros: null } as const;
    const added = await addCampaign(database, { ...draft, newAdvertiser, landingUrl: "https://shop.example/" });
    if (added.outcome !== "added") throw new Error(added.outcome);
    advertiserId = added.campaign.advertiserId;
  }
  return { advertiserId, campaignIds };
}

const earn = statement<never>(
  "test.earn-priced",
  `with earned as (
    select $1::text as bot_id, $2::text as event_id, 'direct_link' as event, '1' as user_id, $2::text as code,
      null::text as reference, false as is_test, $3::text as campaign_id, null::text as creative_id,
      $4::bigint as price_micros, $5::bigint as revenue_micros, $6::timestamptz as occurred_at, '{}' as body
  ), ${enqueueWebhook({ from: "earned" })} select 1 from enqueued`,
);

interface Charged {
  botId: string;
  eventId: string;
  priceMicros: number;
  revenueMicros: number;
}

async function charge(tx: Pick<Transaction, "run">, campaignId: string, botId: string, priceMicros: number) {
  const eventId = `evt_${randomUUID()}`;
  const revenueMicros = Math.floor(priceMicros * 0.7);
  await tx.run(earn, [botId, eventId, campaignId, priceMicros, revenueMicros, now]);
  return { botId, eventId, priceMicros, revenueMicros };
}

async function topUp(tx: Pick<Transaction, "run">, advertiserId: string, amountMicros: number, id?: string) {
  const entries = movement({ from: "cash", to: advertiserAccount(advertiserId), amountMicros });
  const transactionId = id ?? newTransactionId("top_up");
  return recordTransaction(tx, { transactionId, kind: "top_up", entries, currency: "USD", at: now });
}

const settleAll = () => settleUntilNow(database);

class Crash extends Error {}
/** Everything that `work` wrote is undone, as by a node that dies before its commit. */
async function crash(work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const crashed = database.transaction(async (tx) => {
    await work(tx);
    throw new Crash();
  });
  await expect(crashed).rejects.toThrow(Crash);
}

const micros = fc.integer({ min: 1, max: 50_000 });
const command = fc.oneof(
  fc.record({ kind: fc.constant("top-up" as const), micros, isCrashing: fc.boolean() }),
  fc.record({
    kind: fc.constant("charge" as const),
    micros,
    campaign: fc.nat(1),
    bot: fc.nat(1),
    isCrashing: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("refund" as const), which: fc.nat(100) }),
  fc.record({ kind: fc.constant("correction" as const), micros: fc.integer({ min: -9000, max: 9000 }) }),
  fc.record({ kind: fc.constant("settle" as const), isCrashing: fc.boolean() }),
  fc.record({ kind: fc.constant("two-nodes-settle" as const) }),
);

test("after any top-ups, charges, refunds, corrections and crashes, on two nodes, the entries equal what happened", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 30 }), async (commands) => {
      const { advertiserId, campaignIds } = await newAdvertiser();
      const earnedBefore = await Promise.all(botIds.map((botId) => sumOfEntries(database, publisherAccount(botId))));
      let paid = 0;
      const charged: Charged[] = [];
      const refunded = new Set<Charged>();
      for (const one of commands) {
        if (one.kind === "top-up") {
          if (one.isCrashing) await crash((tx) => topUp(tx, advertiserId, one.micros));
          else {
            await topUp(database, advertiserId, one.micros);
            paid += one.micros;
          }
        } else if (one.kind === "charge") {
          const [campaignId = "", botId = ""] = [campaignIds[one.campaign], botIds[one.bot]];
          if (one.isCrashing) await crash((tx) => charge(tx, campaignId, botId, one.micros));
          else charged.push(await charge(database, campaignId, botId, one.micros));
        } else if (one.kind === "refund") {
          const which = charged[one.which % Math.max(1, charged.length)];
          if (which === undefined) continue;
          await writeRefund(database, {
            objectId: which.eventId,
            botId: which.botId,
            eventId: which.eventId,
            author: undefined,
            now,
          });
          refunded.add(which);
        } else if (one.kind === "correction" && one.micros !== 0) {
          const entries = movement({ from: "revenue", to: advertiserAccount(advertiserId), amountMicros: one.micros });
          const transactionId = newTransactionId("correction");
          await recordTransaction(database, { transactionId, kind: "correction", entries, currency: "USD", at: now });
          paid += one.micros;
        } else if (one.kind === "settle") {
          if (one.isCrashing) {
            const inOneTransaction = (tx: Transaction) =>
              settleCharges({ transaction: (work: (tx: Transaction) => Promise<never>) => work(tx) });
            await crash(inOneTransaction);
          } else await settleCharges(database);
        } else await Promise.all([settleCharges(database), settleCharges(database)]);
      }
      await settleAll();

      const kept = charged.filter((one) => !refunded.has(one));
      const spent = kept.reduce((sum, { priceMicros }) => sum + priceMicros, 0);
      expect(await sumOfEntries(database, advertiserAccount(advertiserId))).toBe(BigInt(paid - spent));
      const [live] = await run<{ left: string }>(
        `select (${paidIn("$1")} - ${spentBy("$1")})::text as left`,
        advertiserId,
      );
      expect(live?.left, "what selection decides from").toBe(String(paid - spent));
      for (const [index, botId] of botIds.entries()) {
        const earned = kept.reduce((sum, one) => sum + (one.botId === botId ? one.revenueMicros : 0), 0);
        const entries = await sumOfEntries(database, publisherAccount(botId));
        expect(entries - (earnedBefore[index] ?? 0n)).toBe(BigInt(earned));
      }
      const unbalanced = "select transaction_id from money_entries group by 1 having sum(amount_micros) <> 0";
      expect(await run(unbalanced)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});

test("a transaction is recorded once, however often it is sent, and also at the same moment", async () => {
  const { advertiserId } = await newAdvertiser();
  const sent = await Promise.all(Array.from({ length: 8 }, () => topUp(database, advertiserId, 700, "payment once")));
  expect(sent.filter((outcome) => outcome === "recorded")).toHaveLength(1);
  expect(await topUp(database, (await newAdvertiser()).advertiserId, 900, "payment once")).toBe("recorded-before");
  expect(await sumOfEntries(database, advertiserAccount(advertiserId))).toBe(700n);
});

test("the database refuses entries that do not sum to 0, and changes of entries", async () => {
  const { advertiserId } = await newAdvertiser();
  await topUp(database, advertiserId, 5);
  const oneSided = [{ account: advertiserAccount(advertiserId), amountMicros: 5 }];
  const transaction = { transactionId: "one-sided", kind: "top_up" as const, currency: "USD", at: now };
  await expect(recordTransaction(database, { ...transaction, entries: oneSided })).rejects.toThrow("must sum to 0");
  for (const text of [
    "update money_entries set amount_micros = 1",
    "delete from money_entries",
    "truncate money_entries",
  ])
    await expect(run(text)).rejects.toThrow("append-only");
});

test("a campaign that was charged keeps its advertiser; one that was not may move", async () => {
  const { campaignIds } = await newAdvertiser();
  const [campaignId = "", other = ""] = campaignIds;
  await charge(database, campaignId, "910", 100);
  const move = (id: string) => updateCampaign(database, { campaignId: id, changes: { advertiser: "Another" }, now });
  expect(await move(campaignId)).toMatchObject({ outcome: "invalid", fault: { field: "advertiser" } });
  expect(await move(other)).toMatchObject({ outcome: "updated", campaign: { advertiser: "Another" } });
});

test("of two people who have seen the same terms, the first one changes them, and the other learns of it", async () => {
  const { advertiserId } = await newAdvertiser();
  const terms = async () => {
    const { billing, creditLimitMicros } = await moneyOfAdvertiser(database, advertiserId);
    return { billing, creditLimitMicros };
  };
  const credit = (creditLimitMicros: number | null) => ({ billing: "credit" as const, creditLimitMicros });
  const prepaid = { billing: "prepaid" as const, creditLimitMicros: null };
  for (const [next, late] of [
    [credit(5000), prepaid],
    [prepaid, credit(null)],
    [credit(null), credit(7)],
  ] as const) {
    const expected = await terms();
    expect(await setTerms(database, { advertiserId, ...next, expected })).toEqual({ outcome: "set" });
    expect(await setTerms(database, { advertiserId, ...late, expected })).toEqual({ outcome: "changed-since" });
    expect(await terms()).toEqual(next);
  }
  expect(await setTerms(database, { advertiserId, ...prepaid })).toEqual({ outcome: "set" });
});

test("what an advertiser has left for its campaigns is known where there is a limit", async () => {
  const { advertiserId } = await newAdvertiser();
  const standing = async () => (await advertiserStandings(database, [advertiserId])).get(advertiserId);
  expect(await standing()).toEqual({ advertiserLeftMicros: null, isAdvertiserStopped: false });
  await topUp(database, advertiserId, 4000);
  await setTerms(database, { advertiserId, billing: "credit", creditLimitMicros: 5000 });
  expect(await standing()).toEqual({ advertiserLeftMicros: 9000, isAdvertiserStopped: false });
  await setTerms(database, { advertiserId, billing: "prepaid", creditLimitMicros: null });
  await setAdvertiserState(database, { advertiserId, state: "archived" });
  expect(await standing()).toEqual({ advertiserLeftMicros: 4000, isAdvertiserStopped: true });
});
