import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { setAlertSettings } from "../src/alerts/alert-settings.ts";
import { makeAlerts } from "../src/alerts/make-alerts.ts";
import { noteDevice } from "../src/alerts/note-device.ts";
import { listAlerts, markAlertsRead, unreadAlerts } from "../src/alerts/read-alerts.ts";
import { sendAlerts } from "../src/alerts/send-alerts.ts";
import { migrations } from "../src/migrations.ts";
import { advertiserAccount, movement, recordTransaction } from "../src/money/ledger.ts";
import { openMailServer } from "./fixtures/mail-server.ts";

let store: TestDatabase;
let nodes: readonly [Database, Database];
let mail: Awaited<ReturnType<typeof openMailServer>>;
const clock = { now: new Date("2026-03-10T12:00:00Z") };
const later = (minutes: number) => {
  clock.now = new Date(clock.now.getTime() + minutes * 60_000);
};

const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
const people = { owner: "owner", finance: "finance", shop: "advertiser", rival: "advertiser", publisher: "publisher" };

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const options = { databaseUrl: store.databaseUrl, dataDirectory: "", schema: "ad_service", migrations };
  nodes = [await openDatabase(options), await openDatabase(options)];
  mail = await openMailServer();
  await run("insert into deployment (currency) values ('EUR')");
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', 'Quiz'), ('911', '0911', 'Chess')");
  for (const name of ["shop", "rival"])
    await run(
      "insert into advertisers (advertiser_id, name, name_key, billing, credit_limit_micros) values ('adv_' || $1, $1, $1, 'prepaid', 0)",
      name,
    );
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats)
    values ('cmp_1', 'Spring', 'adv_shop', '{rewarded}'), ('cmp_2', 'Autumn', 'adv_rival', '{rewarded}')`);
  for (const [name, role] of Object.entries(people))
    await run(
      `insert into people (person_id, email, role, totp_secret, advertiser_id, bot_ids, password_hash)
       values ('per_' || $1, $1 || '@ads.test', $2, '\\x00', $3, $4, 'hash')`,
      name,
      role,
      role === "advertiser" ? `adv_${name}` : null,
      role === "publisher" ? ["910"] : [],
    );
});
afterAll(async () => {
  await mail.close();
  await Promise.all(nodes.map((node) => node.close()));
  await store.dispose();
});
beforeEach(() => {
  later(48 * 60);
  mail.received.length = 0;
});
afterEach(async () => {
  await run("delete from alerts");
  await run("delete from alert_conditions");
  await run("delete from alert_messages");
  await run("delete from alert_settings");
});

const look = (withPayouts = false) => makeAlerts(nodes[0], { now: clock.now, currency: "EUR", withPayouts });
const send = (node: Database = nodes[0]) =>
  sendAlerts({
    database: node,
    requests: { guardedRequest: () => Promise.reject(new Error("no Telegram bot is set")) },
    settings: { smtpUrl: mail.url, smtpFrom: "ads@ads.test", telegramBotToken: undefined, telegramApiUrl: "" },
    consoleUrl: "https://ads.test/console",
    log: { warn: () => {} },
    now: () => clock.now,
  });
const receivers = () => mail.received.flatMap(({ to }) => to).toSorted();

/** So that this much is left of what was paid in, half of it spent today. */
async function spend(name: "shop" | "rival", paidMicros: number, spentMicros: number) {
  const entries = movement({ from: "cash", to: advertiserAccount(`adv_${name}`), amountMicros: paidMicros });
  const transactionId = `top-up ${name} ${clock.now.toISOString()}`;
  await recordTransaction(store.database, { transactionId, kind: "top_up", entries, currency: "EUR", at: clock.now });
  await run(
    "insert into campaign_days (campaign_id, day, spent_micros) values ($1, $2, $3)",
    name === "shop" ? "cmp_1" : "cmp_2",
    clock.now.toISOString().slice(0, 10),
    spentMicros,
  );
}

async function alertsOf(name: keyof typeof people) {
  const alerts = await listAlerts(store.database, { personId: `per_${name}`, limit: 50 });
  return alerts.map(({ cause, facts }) => [cause, facts]);
}

test("who is told that money is nearly used up: the operator's, and people of this advertiser, once while it lasts", async () => {
  // Invited, by an address that may be mistyped.
  await run("update people set password_hash = null where person_id = 'per_finance'");
  await spend("shop", 10e6, 6e6);
  expect(await Promise.all([1, 2, 3].map(() => look()))).toContain(true);
  await look();
  const low = ["money-low", { name: "shop", amount: "4.00 EUR" }];
  expect(await Promise.all((["owner", "finance", "shop", "rival", "publisher"] as const).map(alertsOf))).toEqual([
    [low],
    [],
    [low],
    [],
    [],
  ]);
  await run("update people set password_hash = 'hash' where person_id = 'per_finance'");
  // It is over, and begins again on another day.
  later(3 * 24 * 60);
  await look();
  await spend("shop", 1e6, 3e6);
  await look();
  expect((await alertsOf("shop")).length).toBe(2);
});

test("eight senders at once on two nodes send one mail for one cause, and within the hour no other one", async () => {
  await spend("shop", 10e6, 9e6);
  await look();
  await Promise.all(Array.from({ length: 8 }, (_, n) => send(nodes[n % 2 === 0 ? 0 : 1])));
  const all = ["finance@ads.test", "owner@ads.test", "shop@ads.test"];
  expect(receivers()).toEqual(all);
  // What comes within the hour waits, and stands in one mail after it.
  const more = `insert into alerts (person_id, cause, object_id, facts, made_at, unsent)
    select 'per_owner', 'money-low', 'adv_' || n, jsonb_build_object('name', 'Other ' || n, 'amount', '1.00 EUR'), $1, '{email}'
    from generate_series(1, 12) as n`;
  await run(more, clock.now);
  later(59);
  await Promise.all(Array.from({ length: 8 }, (_, n) => send(nodes[n % 2 === 0 ? 0 : 1])));
  expect(receivers()).toEqual(all);
  later(2);
  await Promise.all(Array.from({ length: 8 }, (_, n) => send(nodes[n % 2 === 0 ? 0 : 1])));
  expect(receivers()).toEqual([...all, "owner@ads.test"].toSorted());
  const text = mail.received.at(-1)?.text ?? "";
  expect(text).toContain("Subject: Money is nearly used up");
  expect(text).toContain("Other 12 has 1.00 EUR left");
  expect(text).toContain("And 2 more, in the console.");
  later(120);
  await send();
  expect(receivers().length).toBe(4);
});

test("what a person has muted is not sent, and not counted as unread; the language is the person's", async () => {
  const change = { channels: { "money-low": ["email" as const] }, language: "ru" as const };
  await setAlertSettings(store.database, { personId: "per_shop", change, author: undefined });
  const owner = { channels: { "money-low": ["console" as const] } };
  await setAlertSettings(store.database, { personId: "per_owner", change: owner, author: undefined });
  await spend("shop", 10e6, 9e6);
  await look();
  await send();
  expect(receivers()).toEqual(["finance@ads.test", "shop@ads.test"]);
  const ofShop = mail.received.find(({ to }) => to.includes("shop@ads.test"));
  expect(ofShop?.text).toContain("Content-Type: text/plain; charset=utf-8");
  expect(ofShop?.text).toMatch(/Subject: =\?UTF-8\?/);
  const unread = (name: string) => unreadAlerts(store.database, `per_${name}`);
  expect([await unread("shop"), await unread("owner")]).toEqual([0, 1]);
  const [latest] = await listAlerts(store.database, { personId: "per_owner", limit: 1 });
  const other = { personId: "per_finance", upTo: latest?.alertId ?? "", now: clock.now };
  await markAlertsRead(store.database, { ...other, personId: "per_owner" });
  expect([await unread("owner"), await unread("finance")]).toEqual([0, 1]);
});

test("a mail that the server refuses is sent again later, and given up after some tries", async () => {
  mail.state.isRefusing = true;
  await spend("rival", 10e6, 9e6);
  await look();
  const failures = async () =>
    (await run<{ failures: number }>("select max(failures)::int as failures from alert_messages"))[0]?.failures;
  await send();
  expect(await failures()).toBe(1);
  await send();
  expect(await failures(), "not before a minute").toBe(1);
  mail.state.isRefusing = false;
  later(2);
  await send();
  expect(receivers()).toEqual(["finance@ads.test", "owner@ads.test", "rival@ads.test"]);
  mail.state.isRefusing = true;
  await run(
    `insert into alerts (person_id, cause, object_id, facts, made_at, unsent)
     values ('per_owner', 'videos-waiting', '', '{"count": "1"}', $1, '{email}')`,
    clock.now,
  );
  for (let tries = 0; tries < 4; tries++) {
    await send();
    later(31);
  }
  mail.state.isRefusing = false;
  await send();
  expect(receivers().length).toBe(3);
  const rows = await run("select last_error from alert_messages where cause = 'videos-waiting'");
  expect(rows).toMatchObject([{ last_error: expect.stringContaining("status 452") }]);
});

test("spent budgets, failing webhooks, waiting videos and due payouts are found, each for those whom it concerns", async () => {
  await run("update campaigns set total_budget_micros = 1000000, status = 'active' where campaign_id = 'cmp_1'");
  await run(`insert into creatives (creative_id, name, kind, url, review, submitted_at)
    values ('cre_1', 'Video', 'vast', 'https://tags.test/', 'waiting', now())`);
  await run(`insert into endpoints (bot_id, url, state, breaker) values ('910', 'https://quiz.test/', 'active', 'open'),
    ('911', 'https://chess.test/', 'active', 'open')`);
  const hour = (ago: number) => new Date(Math.floor(clock.now.getTime() / 3_600_000 - ago) * 3_600_000);
  const sums =
    "insert into stats_bot_sums (bot_id, span, starts_at, fills, no_fills) values ('910', 'hour', $1, $2, $3)";
  await run(sums, hour(30), 300, 0);
  await run(sums, hour(5), 100, 200);
  await recordTransaction(store.database, {
    transactionId: "charge of February",
    kind: "charge",
    entries: movement({ from: advertiserAccount("adv_rival"), to: "publisher:910", amountMicros: 5e6 }),
    currency: "EUR",
    at: new Date("2026-02-10T00:00:00Z"),
  });
  await run("update money_progress set settled_until = $1", clock.now);
  await look(true);
  const causes = async (name: keyof typeof people) => (await alertsOf(name)).map(([cause]) => cause).toSorted();
  expect(await causes("owner")).toEqual([
    "budget-spent",
    "fill-fallen",
    "payout-due",
    "videos-waiting",
    "webhooks-failing",
    "webhooks-failing",
  ]);
  expect(await causes("finance")).toEqual(["payout-due"]);
  expect(await causes("shop")).toEqual(["budget-spent"]);
  expect(await alertsOf("publisher")).toEqual(
    expect.arrayContaining([
      ["webhooks-failing", { name: "Quiz" }],
      ["fill-fallen", { name: "Quiz", before: "100", now: "33" }],
    ]),
  );
  expect((await causes("publisher")).length).toBe(2);
  // Without a look at the ledger, what was due stays as it was found.
  await look();
  const held = await run<{ cause: string }>("select cause from alert_conditions where cause = 'payout-due'");
  expect(held.length).toBe(1);
});

test("a sign-in from another network or browser is told to its person; the first one is none", async () => {
  const signIn = (name: string, network: string) =>
    store.database.transaction((tx) =>
      noteDevice(tx, { personId: "per_owner", device: { name, network }, now: clock.now }),
    );
  await signIn("Firefox, Linux", "192.0.2.1");
  await signIn("Firefox, Linux", "192.0.2.1");
  expect(await alertsOf("owner")).toEqual([]);
  await signIn("Firefox, Linux", "198.51.100.7");
  await signIn("Chrome, Windows", "192.0.2.1");
  await signIn("Chrome, Windows", "198.51.100.7");
  expect(await alertsOf("owner")).toEqual([
    ["new-device", { browser: "Chrome, Windows, 192.0.2.1" }],
    ["new-device", { browser: "Firefox, Linux, 198.51.100.7" }],
  ]);
});
