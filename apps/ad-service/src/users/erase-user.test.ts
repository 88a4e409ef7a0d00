import { type Database, statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readReportOf, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { noDeliveries } from "../deliveries/enqueue-webhook.ts";
import { replayDelivery } from "../deliveries/replay-deliveries.ts";
import { listEvents } from "../events/list-events.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "../views/player-routes.ts";
import { eraseUser, newPseudonym, steps } from "./erase-user.ts";

const ann = "730046005551";
const bob = "730046005552";

describe("erasing a user", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
    await liveOf(fixture, bob);
    await liveOf(fixture, ann);
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  const erase = (isMeant: boolean, userId = ann) =>
    eraseUser(store.database, { botId: fixture.botId, userId, isMeant });

  test("every table that may identify a person is among the steps", async () => {
    const text = `select relname::text as "table", attname::text as "column"
      from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`;
    const rows = await store.database.run<{ table: string; column: string }>({ name: "", text }, []);
    const telling =
      /^(user_id|user_agent|address_hash|network_hash|address|reference|start_param|client_note|body|response_text|last_answer|testers|ad|url)$/;
    // Addresses of publishers, creatives, campaigns and the operator of ad data, and codes of advertisers: they identify no user.
    const ofNobody = [
      "endpoints.url",
      "creatives.url",
      "buyers.url",
      "ord_account.url",
      "delivery_attempts.url",
      "delivery_attempts.address",
    ];
    ofNobody.push("notices.url", "notice_receivers.address");
    // Of an operator who changed something; the entry names no user.
    ofNobody.push("audit_entries.address");
    // Of a bank transfer or an invoice.
    ofNobody.push("money_transactions.reference", "held_payments.reference", "payout_runs.reference");
    // Activity of one address on a day, under a key of that day: kept for two days, and cannot be found by user.
    ofNobody.push("address_days.address_hash");
    const found = rows.filter(({ table, column }) => telling.test(column) && !ofNobody.includes(`${table}.${column}`));
    const handled = new Set(steps.map(({ table }) => table));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ table }) => !handled.has(table))).toEqual([]);
  });

  test("counting changes nothing, and names each table with the outcome for its rows", async () => {
    const before = await dump(store.database);
    const counted = await erase(false);
    expect(counted).toMatchObject({ outcome: "counted", undelivered: 1 });
    const tables = counted.outcome === "counted" ? counted.tables.map(({ table }) => table) : [];
    expect(new Set(tables)).toEqual(new Set(steps.map(({ table }) => table)));
    expect(await dump(store.database)).toEqual(before);
  });

  test("nothing is erased while a webhook is being sent", async () => {
    const sending = (state: string) =>
      store.database.run({ name: "", text: "update deliveries set state = $1 where event_id = $2" }, [
        state,
        `evt_open${ann.slice(-4)}`,
      ]);
    await sending("sending");
    expect(await erase(true)).toEqual({ outcome: "being-sent" });
    await sending("waiting");
  });

  test("no row of the database names the user, another user stays, and all sums reconcile", async () => {
    const { database } = store;
    await rollUpUntilNow(database);
    const sums = () => sumsOf(database, fixture.botId);
    const before = await sums();
    const ofBob = (await dump(database)).filter((row) => row.includes(bob)).length;

    expect(await erase(true)).toMatchObject({ outcome: "erased", undelivered: 1 });

    const rows = await dump(database);
    expect(rows.filter((row) => row.includes(ann))).toEqual([]);
    expect(rows.filter((row) => row.includes(`order-of-${ann}`) || row.includes(`Phone of ${ann}`))).toEqual([]);
    expect(rows.filter((row) => row.includes(bob))).toHaveLength(ofBob);
    await rollUpUntilNow(database);
    expect(await sums()).toEqual(before);
  });

  test("undelivered events are cancelled with the reason, and erased events are neither sent again nor listed", async () => {
    const { database } = store;
    const text = `select state, end_reason, event_id from deliveries join events using (bot_id, event_id)
      where bot_id = $1 and is_erased order by state`;
    const rows = await database.run<{ event_id: string }>({ name: "", text }, [fixture.botId]);
    expect(rows).toMatchObject([{ state: "delivered" }, { state: "failed", end_reason: "erased" }]);
    for (const { event_id: eventId } of rows) {
      const replayed = await replayDelivery({ database, deliveries: noDeliveries }, { botId: fixture.botId, eventId });
      expect(replayed).toEqual({ outcome: "unknown-event" });
    }
    const listed = async () => {
      const page = await listEvents(database, { botId: fixture.botId, limit: 100 });
      return new Set(page.outcome === "page" ? page.events.map((event) => event.user_tg_id) : []);
    };
    // The feed is up to date once every older transaction has ended, also those of other tests on the same server.
    await expect.poll(listed, { timeout: 20_000 }).toEqual(new Set([bob]));
  });

  test("erasing again finds nothing, and the person may return like any new user", async () => {
    expect(await erase(true)).toEqual({ outcome: "erased", undelivered: 0, tables: [] });
    expect(await erase(false)).toEqual({ outcome: "counted", undelivered: 0, tables: [] });
    expect((await fixture.open(ann)).body).toMatchObject({ outcome: "session" });
    expect(await erase(true)).toMatchObject({ outcome: "erased" });
    expect((await dump(store.database)).filter((row) => row.includes(ann))).toEqual([]);
  });
});

test("a pseudonym has the form of an id that belongs to no user", () => {
  const many = new Set(Array.from({ length: 1000 }, newPseudonym));
  expect(many.size).toBe(1000);
  for (const one of many) expect(one).toMatch(/^9\d{19}$/);
});

/** A row in every table: views watched and in progress, a click, webhooks delivered and waiting, and rows referring to them. */
async function liveOf(fixture: ViewFixture, userId: string): Promise<void> {
  const { botId, database } = fixture;
  const paid = await fixture.begin(userId, await fixture.issue(userId, `order-of-${userId}`));
  await fixture.play(paid, 0, 10);
  await fixture.report(paid, { closed: "tap" });
  const left = await fixture.begin(userId, await fixture.issue(userId, "next"));
  await fixture.play(left, 0, 2);
  const values = { bot: botId, user: userId, view: paid.session_id, left: left.session_id };
  for (const [index, text] of rowsOfUser.entries()) {
    const names = [...new Set([...text.matchAll(/:(bot|user|view|left)\b/g)].map(([, name = ""]) => name))];
    const numbered = text.replace(/:(bot|user|view|left)\b/g, (_, name) => `$${names.indexOf(name) + 1}::text`);
    await database.run(
      statement(`test.row-of-user-${index}`, numbered),
      names.map((name) => values[name as keyof typeof values]),
    );
  }
}

const rowsOfUser = [
  "update deliveries set state = 'delivered' from events where events.event_id = deliveries.event_id and user_id = :user",
  `insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, response_text)
   select :bot, event_id, 1, now(), 'https://bot.test/w', 'paid ' || :user from events where user_id = :user`,
  `insert into events (bot_id, event_id, event, user_id, code, reference, occurred_at)
   values (:bot, 'evt_open' || right(:user, 4), 'direct_link', :user, 'code' || right(:user, 4), 'order-of-' || :user, now())`,
  `insert into event_bodies (bot_id, event_id, body)
   values (:bot, 'evt_open' || right(:user, 4), '{"user_tg_id":"' || :user || '"}')`,
  "insert into deliveries (bot_id, event_id, state) values (:bot, 'evt_open' || right(:user, 4), 'waiting')",
  `insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, address_hash, occurred_at)
   values (:bot, 'clk_h' || right(:user, 3), 'c' || right(:user, 4), :user, 'cmp_1', 'held', 'Phone of ' || :user, '\\x01', now())`,
  `insert into events (bot_id, event_id, event, user_id, code, campaign_id, price_micros, revenue_micros, user_agent, address_hash, occurred_at)
   values (:bot, 'evt_' || right(:user, 3), 'direct_link', :user, 'd' || right(:user, 4), 'cmp_1', 7000, 4900, 'Phone of ' || :user, '\\x01', now())`,
  `insert into cta_clicks (bot_id, view_id, click_id, user_id, campaign_id, creative_id, occurred_at, opened_at)
   values (:bot, :view, 'adc_' || right(:user, 3), :user, 'cmp_1', 'cre_1', now(), now())`,
  `insert into ad_reports (bot_id, user_id, creative_id, day, reason, campaign_id, view_id, reported_at)
   values (:bot, :user, 'cre_1', now(), 'scam', 'cmp_1', :view, now())`,
  `insert into buyers (buyer_id, advertiser_id, campaign_id, creative_id, url, user_key, tmax_ms, sends, floor_micros, blocked_categories,
     category_taxonomy, blocked_domains, needs_category, always_tests)
   select 'buy_1', advertiser_id, campaign_id, 'cre_1', 'https://bids.test/', sha256('key'), 300, '{}', 0, '{}', 1, '{}', false, false
   from campaigns where campaign_id = 'cmp_1'
   on conflict do nothing`,
  `insert into bought_creatives (bought_creative_id, buyer_id, domains, categories, media_url, media_type, width, height, duration_ms,
     media, landing_hosts, first_seen_at, last_seen_at)
   select 'bcr_' || md5('seen'), buyer_id, '{}', '{}', 'https://cdn.test/ad.mp4', 'video/mp4', 640, 360, 10000, '{}', '{}', now(), now()
   from buyers limit 1
   on conflict do nothing`,
  `insert into bought_creative_reports (bought_creative_id, bot_id, user_id, reported_at)
   select bought_creative_id, :bot, :user, now() from bought_creatives`,
  `insert into cards (card_id, bot_id, user_id, buyer_id, campaign_id, is_test, price_micros, link, offered_at, expires_at)
   select md5(:user), :bot, :user, buyer_id, 'cmp_1', false, 310, 'https://shop.test/', now(), now() from buyers limit 1`,
  `insert into tasks (code, bot_id, user_id, campaign_id, chat_id, reference, price_micros, hold_days, paid_at, state, was_out,
     offered_at, expires_at)
   values ('t' || right(:user, 4), :bot, :user, 'cmp_1', '-1001', 'order-of-' || :user, 5000, 7, 'joined', 'offered', true, now(), now())`,
  `insert into conversions (click_id, conversion_id, bot_id, campaign_id, occurred_at, clicked_at)
   values ('clk_' || right(:user, 3), 'order-of-' || :user, :bot, 'cmp_1', now(), now())`,
  `insert into tracker_calls (bot_id, view_id, opened_at, event, position, url, user_agent, due_at)
   values (:bot, :view, now(), 'start', 0, 'https://ads.test/?u=' || :user, 'Phone of ' || :user, now())`,
  `insert into vast_ads (bot_id, view_id, opened_at, ad) values (:bot, :view, now(), jsonb_build_object('user', :user))`,
  "insert into viewer_consents (bot_id, user_id, consent, stated_at) values (:bot, :user, '{\"gdpr\": true}', now())",
  "insert into views_due (due_at, bot_id, view_id) values (now() + interval '1 day', :bot, :left)",
  "update events set start_param = 'of_' || :user, client_note = 'of ' || :user where user_id = :user",
  "update views set start_param = 'of_' || :user, client_note = 'of ' || :user where user_id = :user",
  "update bots set testers = array_append(testers, :user) where bot_id = :bot",
  "update endpoints set last_answer = 'no user ' || :user where bot_id = :bot",
];

/** Every row of every table, as text. */
async function dump(database: Database): Promise<string[]> {
  const text = `select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`;
  const tables = await database.run<{ name: string }>({ name: "", text }, []);
  const all: string[] = [];
  for (const { name } of tables) {
    const ofTable = `select ${name}::text as row from ${name}`;
    const rows = await database.run<{ row: string }>({ name: "", text: ofTable }, []);
    all.push(...rows.map(({ row }) => `${name} ${row}`).sort());
  }
  return all;
}

/** The sums behind an operator's figures and an advertiser's bill. */
async function sumsOf(database: Database, botId: string) {
  const day = { from: new Date("2026-02-01T00:00:00Z"), to: new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000) };
  const { rows, total } = await readReportOf(database, { ...day, by: "campaign", botId });
  const ask = (text: string) => database.run({ name: "", text }, []);
  const charged = await ask(
    `select campaign_id, event, count(*), sum(price_micros) from events where price_micros is not null
     group by 1, 2 order by 1, 2`,
  );
  const days = await ask("select * from campaign_days order by 1, 2");
  const counts = await ask(
    `select (select count(*) from events) as events, (select count(*) from withheld_clicks) as clicks,
       (select count(*) from conversions) as conversions, (select count(*) from codes) as codes`,
  );
  return { rows, total, charged, days, counts };
}
