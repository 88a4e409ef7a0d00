import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settleUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { readEarnings, readPublisherMoney, recordPayout } from "./earnings.ts";
import { advertiserAccount, type Entry, publisherAccount, recordTransaction, sumOfEntries } from "./ledger.ts";
import { statementCsv, statementPage, statementPolicy } from "./statement-files.ts";
import { issueStatements, listStatements } from "./statements.ts";

let store: TestDatabase;
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
const CENT = 10_000;
const [shop, bot] = [advertiserAccount("adv_shop"), publisherAccount("910")];

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  await run("insert into deployment (currency) values ('EUR')");
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', '=Quiz')");
  await run("insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', '<b>Shop</b>, Ltd', 'shop')");
  await run(
    "insert into campaigns (campaign_id, name, advertiser_id, formats) values ('cmp_1', 'One', 'adv_shop', '{rewarded}')",
  );
  await record(
    "2026-01-05",
    "top_up",
    [
      [shop, 100],
      ["cash", -100],
    ],
    { reference: "INV 1" },
  );
  await record("2026-01-20", "charge", [
    [shop, -30],
    [bot, 20],
    ["revenue", 10],
  ]);
  await record("2026-02-02", "charge", [
    [shop, -50],
    [bot, 35],
    ["revenue", 15],
  ]);
  await record(
    "2026-02-10",
    "correction",
    [
      [shop, 7],
      ["revenue", -7],
    ],
    { note: '@sum, "half"' },
  );
  await record("2026-03-01", "charge", [
    [shop, -3],
    [bot, 2],
    ["revenue", 1],
  ]);
});
afterAll(() => store.dispose());

async function record(
  day: string,
  kind: "top_up" | "charge" | "correction",
  entries: [Entry["account"], number][],
  words: { reference?: string; note?: string } = {},
) {
  const sides = entries.map(([account, cents]) => ({ account, amountMicros: cents * CENT }));
  const at = new Date(`${day}T08:00:00Z`);
  await recordTransaction(store.database, {
    transactionId: `${kind} ${day}`,
    kind,
    entries: sides,
    currency: "EUR",
    at,
    ...words,
  });
}

const settledAt = (moment: string) => run("update money_progress set settled_until = $1", moment);

test("a month is stated once, when it is over and settled, by any number of nodes, with numbers without a gap", async () => {
  await settledAt("2026-02-01T00:30:00Z");
  expect(await issueStatements(store.database), "the last charges may follow").toBe(0);
  await settledAt("2026-03-05T00:00:00Z");
  await Promise.all([1, 2, 3].map(() => issueStatements(store.database)));
  const all = (await listStatements(store.database, { limit: 100 })).toReversed();
  expect(all.map(({ number, month, side }) => `${number} ${month} ${side}`)).toEqual([
    "1 2026-01 advertiser",
    "2 2026-01 publisher",
    "3 2026-02 advertiser",
    "4 2026-02 publisher",
  ]);
  const ofShop = all.filter(({ side }) => side === "advertiser");
  expect(ofShop.map(({ openingMicros, closingMicros }) => [openingMicros, closingMicros])).toEqual([
    [0n, 700_000n],
    [700_000n, 270_000n],
  ]);
  for (const { openingMicros, closingMicros, lines } of all)
    expect(openingMicros + lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0n)).toBe(closingMicros);
});

test("a charge that comes after its month was stated stands in the next one", async () => {
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at)
    values ('evt_late', '910', 'rewarded', '1', 'late', 'cmp_1', 100000, 70000, '2026-02-28T23:59:59Z')`);
  await settleUntilNow(store.database);
  const text = "select distinct at from money_entries where transaction_id like 'charge adv_shop 2026-02 %'";
  expect(await run(text)).toEqual([{ at: new Date("2026-03-01T00:00:00Z") }]);
});

test("a payout pays everything until the end of its month, once, also if it is recorded twice at the same moment", async () => {
  const pay = (month: string, amountMicros?: number) => {
    const payout = { botId: "910", month, amountMicros, reference: "SEPA", currency: "EUR" };
    return recordPayout(store.database, { ...payout, now: new Date("2026-03-05T00:00:00Z") });
  };
  const listed = async (month: string) => (await readPublisherMoney(store.database, { month, currency: "EUR" }))[0];
  await settledAt("2026-03-05T00:00:00Z");
  expect(await pay("2026-03")).toEqual({ outcome: "too-early" });
  expect(await listed("2026-02")).toMatchObject({
    botId: "910",
    earnedMicros: 350_000,
    owedMicros: 550_000,
    paidAt: null,
  });
  expect(await pay("2026-02", 540_000)).toEqual({ outcome: "owed-otherwise", payableMicros: 550_000n });
  const paid = await Promise.all([pay("2026-02"), pay("2026-02"), pay("2026-01")]);
  const amounts = paid.map((one) => (one.outcome === "paid" ? one.amountMicros : 0));
  expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(550_000);
  expect(await pay("2026-02")).toEqual({ outcome: "paid-before", until: "2026-02" });
  expect(await sumOfEntries(store.database, bot)).toBe(90_000n);
  const { months, owedMicros } = await readEarnings(store.database, "910");
  expect({ months, owedMicros }).toMatchObject({
    months: [
      { month: "2026-03", earnedMicros: 90_000, paidAt: null },
      { month: "2026-02", earnedMicros: 350_000, reference: "SEPA" },
      { month: "2026-01", earnedMicros: 200_000, reference: "SEPA" },
    ],
    owedMicros: 90_000,
  });
  expect(await listed("2026-02")).toMatchObject({ earnedMicros: 350_000, owedMicros: 0, reference: "SEPA" });
  expect(await listed("2026-01")).toMatchObject({ earnedMicros: 200_000, owedMicros: 0, reference: "SEPA" });
  expect(await listed("2026-03")).toMatchObject({ earnedMicros: 90_000, owedMicros: 90_000, paidAt: null });
});

test.each([
  ["EUR", "911", 8_641_975, 8_640_000, 10_000],
  ["JPY", "912", 8_641_975, 8_000_000, 1_000_000],
])("a payout in %s pays whole units, and the rest with a later month", async (currency, botId, owed, paid, later) => {
  const account = publisherAccount(botId);
  await run("insert into bots (bot_id, code_prefix, name) values ($1, $1 || '0', 'Quiz')", botId);
  const earn = (day: string, amountMicros: number) =>
    recordTransaction(store.database, {
      transactionId: `charge ${botId} ${day}`,
      kind: "charge",
      entries: [
        { account, amountMicros },
        { account: shop, amountMicros: -amountMicros },
      ],
      currency,
      at: new Date(`${day}T08:00:00Z`),
    });
  const pay = (month: string) =>
    recordPayout(store.database, { botId, month, reference: "SEPA", currency, now: new Date("2026-05-01T00:00:00Z") });
  const listed = async (month: string) =>
    (await readPublisherMoney(store.database, { month, currency })).find((one) => one.botId === botId);
  await settledAt("2026-05-01T00:00:00Z");
  await earn("2026-01-10", owed);
  expect(await listed("2026-01")).toMatchObject({ owedMicros: owed, payableMicros: paid });
  expect(await pay("2026-01")).toMatchObject({ outcome: "paid", amountMicros: paid });
  expect(await listed("2026-01")).toMatchObject({ owedMicros: owed - paid, payableMicros: 0 });
  expect(await pay("2026-02"), "less than a unit is owed").toEqual({ outcome: "nothing-owed" });
  await earn("2026-03-10", later - (owed - paid));
  expect(await pay("2026-03")).toMatchObject({ outcome: "paid", amountMicros: later });
  expect(await sumOfEntries(store.database, account)).toBe(0n);
});

test("a statement is a table for spreadsheets that run nothing, and a page that loads and runs nothing", async () => {
  const all = await listStatements(store.database, { limit: 100 });
  const ofShop = all.find(({ number }) => number === 3);
  const ofBot = all.find(({ number }) => number === 4);
  if (ofShop === undefined || ofBot === undefined) throw new Error("they were issued above");
  const rows = statementCsv(ofShop).split("\r\n");
  expect(rows[2]).toBe(
    `3,2026-02,"<b>Shop</b>, Ltd",2026-02-10T08:00:00.000Z,Correction,,"'@sum, ""half""",,,,0.07,EUR`,
  );
  expect(statementCsv(ofBot)).toContain("4,2026-02,'=Quiz,");
  const page = statementPage(ofShop);
  expect(page).toContain("&lt;b&gt;Shop&lt;/b&gt;, Ltd");
  expect(page).toContain('<td class="amount">0.07</td>');
  for (const file of [statementCsv, statementPage]) {
    const inYen = file({ ...ofShop, currency: "JPY", openingMicros: 700_000n, closingMicros: 270_000n });
    expect(inYen).not.toMatch(/\d\.\d+(<|,JPY)/);
  }
  expect(page).not.toMatch(/<script|<b>|src=|href=/);
  expect(statementPolicy).not.toContain("unsafe");
});
