import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settleUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { type Account, advertiserAccount, movement, publisherAccount, recordTransaction } from "./ledger.ts";
import { printedStatement } from "./printed-statement.ts";
import { statementCsv, statementPage } from "./statement-files.ts";
import { issueStatements, listStatements } from "./statements.ts";

let store: TestDatabase;
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
const [shop, bot] = [advertiserAccount("adv_shop"), publisherAccount("910")];

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  await run("insert into deployment (currency) values ('EUR')");
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', 'Quiz')");
  await run("insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')");
  await run(
    "insert into campaigns (campaign_id, name, advertiser_id, formats) values ('cmp_1', 'One', 'adv_shop', '{rewarded}')",
  );
  // As it was charged before there were items.
  await record("2026-03-02", "charge", shop, -300_000);
});
afterAll(() => store.dispose());

async function record(day: string, kind: "charge" | "correction", account: Account, amountMicros: number) {
  const entries = movement({ from: kind === "charge" ? bot : "revenue", to: account, amountMicros });
  const at = new Date(`${day}T08:00:00Z`);
  await recordTransaction(store.database, { transactionId: `${kind} ${day}`, kind, entries, currency: "EUR", at });
}

const settledAt = (moment: string) => run("update money_progress set settled_until = $1", moment);

test("charges and refunds are listed by campaign and price, and their rows add up with the balances", async () => {
  const price = (id: string, event: string, micros: number, at: string) =>
    run(
      `insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at)
       values ($1, '910', $2, '1', $1, 'cmp_1', $3, $3::bigint / 2, $4)`,
      `evt_${id}`,
      event,
      micros,
      at,
    );
  for (const n of [1, 2, 3]) await price(`view_${n}`, "rewarded", 3_333, "2026-03-10T08:00:00Z");
  await price("click", "direct_link", 20_000, "2026-03-11T08:00:00Z");
  await price("dear", "rewarded", 40_000, "2026-03-12T08:00:00Z");
  await run(`insert into refunds (event_id, campaign_id, bot_id, event, price_micros, revenue_micros, charged_at, occurred_at)
    values ('evt_dear', 'cmp_1', '910', 'rewarded', 40000, 20000, '2026-03-12T08:00:00Z', '2026-03-13T08:00:00Z')`);
  await settleUntilNow(store.database);
  await run("update campaigns set name = 'Spring' where campaign_id = 'cmp_1'");
  const details = (text: Record<string, string>) => JSON.stringify(text);
  await run(
    "insert into money_parties values ('operator', $1), ('advertiser:adv_shop', $2), ('publisher:910', $3)",
    details({ legal_name: "Rewards Ltd", iban: "DE89370400440532013000", tax_name: "VAT", tax_percent: "19" }),
    details({ legal_name: "Shop Ltd", address: "1 High Street", tax_id: "IE 1", language: "ru" }),
    details({ legal_name: "Quiz Studio", iban: "NL91ABNA0417164300" }),
  );
  await settledAt("2026-04-02T00:00:00Z");
  await issueStatements(store.database);
  const [ofBot, ofShop] = await listStatements(store.database, { limit: 2 });
  if (ofShop === undefined || ofBot === undefined) throw new Error("they were issued");
  const items = ({ items: all }: typeof ofShop) =>
    all.map(({ kind, event, campaign, unitMicros, quantity }) => [kind, event, campaign, unitMicros, quantity]);
  expect(items(ofShop)).toEqual([
    ["charge", "direct_link", "Spring", 20_000n, 1],
    ["charge", "rewarded", "Spring", 3_333n, 3],
    ["charge", "rewarded", "Spring", 40_000n, 1],
    ["refund", "rewarded", "Spring", 40_000n, 1],
  ]);
  expect(items(ofBot).every(([, , campaign]) => campaign === null)).toBe(true);
  for (const statement of [ofShop, ofBot]) {
    const printed = printedStatement(statement);
    const cents = (amount: string) => Math.round(Number(amount) * 100);
    const sum = printed.lines.reduce((all, { amount }) => all + cents(amount), cents(printed.opening));
    expect(sum).toBe(cents(printed.closing));
    expect(
      printed.lines.some(({ item }) => item === undefined),
      "charged without items",
    ).toBe(true);
  }
  // 0.30 without items, three views of 0.003333 and a click of 0.02: the dear view was refunded.
  expect(printedStatement(ofShop).tax).toEqual({ spent: "0.33", contained: "0.05", percent: "19", name: "VAT" });
  expect(printedStatement(ofBot).tax).toBeUndefined();
  const page = statementPage(ofShop);
  expect(page).toContain('<html lang="ru"');
  for (const text of ["Rewards Ltd", "Shop Ltd", "1 High Street", "IE 1", "Spring", "0,003333", "март 2026"])
    expect(page).toContain(text);
  for (const text of ["DE89", "NL91"]) expect(page + statementPage(ofBot)).not.toContain(text);
});

test("a month that was stated stays equal, whatever is corrected, renamed or charged later", async () => {
  const files = async () =>
    (await listStatements(store.database, { limit: 100 })).map((one) => [
      one.number,
      statementPage(one),
      statementCsv(one),
    ]);
  const before = await files();
  await run("update campaigns set name = 'Another'");
  await run("update advertisers set name = 'Another'");
  await run("update money_parties set details = '{}'");
  await record("2026-04-20", "correction", shop, 5_000_000);
  await settledAt("2026-05-02T00:00:00Z");
  expect(await issueStatements(store.database), "of April").toBe(2);
  expect((await files()).slice(2)).toEqual(before);
});
