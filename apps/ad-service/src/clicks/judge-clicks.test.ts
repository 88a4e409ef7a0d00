import { randomBytes } from "node:crypto";
import { newClickId, newCode } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/outgoing-webhook";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import type { Visitor } from "@intermission/server/visitor";
import { readyToFill } from "@intermission/testing/fill-tables";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { migrations } from "../migrations.ts";
import { refusalOf } from "./click-verdict.ts";
import { judgeClicks } from "./judge-clicks.ts";
import { noUsers } from "./network-users.ts";
import { directLinkRoutes } from "./routes.ts";
import type { JudgedVisit } from "./visit.ts";

/** Runs the statement that judges visits as a node does. */
describe("following links in the database", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await store.database.run(addBotAndCampaign, []);
  });
  afterAll(() => store.dispose());

  let users = 500;
  async function issue(userId = String(++users)): Promise<{ code: string; userId: string }> {
    const code = newCode("abcd", randomBytes(32), new Date());
    await store.database.run(addCode, [code, userId]);
    return { code, userId };
  }
  const address = () => randomBytes(16);

  test("the node's loop is told of events that it did not claim, unless their endpoint is not active", async () => {
    const visit = async (number: number) => [{ ...(await issue()), hash: Buffer.alloc(16, number) }];
    expect(await follow(store.database, await visit(201))).toEqual(["counted"]);
    await store.database.run(setEndpoint, ["disabled"]);
    expect(await follow(store.database, await visit(202))).toEqual(["counted"]);
    await store.database.run(setEndpoint, ["active"]);
    expect(await follow(store.database, await visit(203))).toEqual([null, "counted"]);
    expect(
      await follow(store.database, [{ code: "4Yunknownunknownun", userId: "", hash: Buffer.alloc(16, 204) }]),
    ).toEqual(["unknown-code"]);
    await store.database.run(removeEndpoint, []);
  });

  test("the stored body is the text of encodeWebhookEvent, whatever the reference", async () => {
    const reference = '\u0001\b"\\/\u007f\u2028😀 –';
    const { code, userId } = await issue();
    const withReference = { name: "", text: "update codes set reference = $2 where code = $1" };
    await store.database.run(withReference, [code, reference]);
    expect(await follow(store.database, [{ code, userId, hash: address() }])).toContain("counted");
    const ofCode = {
      name: "",
      text: "select event_id, body, occurred_at from events join event_bodies using (event_id, bot_id) where code = $1",
    };
    const [event] = await store.database.run<{ event_id: string; body: string; occurred_at: Date }>(ofCode, [code]);
    expect(event?.body).toBe(
      encodeWebhookEvent({
        event: "direct_link",
        event_id: event?.event_id ?? "",
        bot_id: "910",
        user_tg_id: userId,
        code,
        reference,
        occurred_at: event?.occurred_at.toISOString() ?? "",
      }),
    );
  });

  test("of a viewer's visits in one batch one is counted, and the others must be judged again", async () => {
    const [first, second] = [await issue("600"), await issue("600")];
    const followed = await follow(store.database, [
      { ...first, hash: Buffer.alloc(16, 1) },
      { ...first, hash: Buffer.alloc(16, 2) },
      { ...second, hash: Buffer.alloc(16, 3) },
    ]);
    expect(followed).toEqual(["counted", "again", "again"]);
    const again = await follow(store.database, [
      { ...first, hash: Buffer.alloc(16, 2) },
      { ...second, hash: Buffer.alloc(16, 3) },
    ]);
    expect(again).toEqual(["used", "daily-cap"]);
  });

  test("users of one network in one batch count towards its bound, in this batch and the next", async () => {
    const network = address();
    const batch = (count: number) =>
      Promise.all(Array.from({ length: count }, async () => ({ ...(await issue()), hash: address(), network })));
    const first = await follow(store.database, await batch(40));
    expect(first.filter((outcome) => outcome === "counted")).toHaveLength(30);
    expect(first.filter((outcome) => outcome === "held")).toHaveLength(10);
    expect(new Set(await follow(store.database, await batch(2)))).toEqual(new Set(["held"]));
  });

  test("a preview of a link does not put off the click of its viewer in the same batch", async () => {
    const code = await issue("601");
    const followed = await follow(store.database, [
      { ...code, hash: Buffer.alloc(16, 4), visitor: { kind: "machine", reason: "crawler" } },
      { ...code, hash: Buffer.alloc(16, 5) },
    ]);
    expect(followed).toEqual(["machine-crawler", "counted"]);
  });

  test("the number of rows that a batch reads does not grow with the tables", { tags: "long" }, async () => {
    const small = await openTestDatabase({ schema: "ad_service", migrations, poolSize: 1 });
    try {
      const { database } = small;
      await database.run(addBotAndCampaign, []);
      const batch = async (tx: Transaction) => {
        const visits = Array.from({ length: 10 }, () => ({
          code: newCode("abcd", randomBytes(32), new Date()),
          userId: String(++users),
        }));
        for (const { code, userId } of visits) await tx.run(addCode, [code, userId]);
        const [before] = await tx.run(rowsRead, []);
        const hashes = visits.map(() => randomBytes(16)).sort(Buffer.compare);
        const hashedVisits = visits.flatMap((visit, index) => [{ ...visit, hash: hashes[index] ?? Buffer.alloc(16) }]);
        // Counted, and used in the next call: refusals are written, too.
        expect(new Set(await follow(tx, hashedVisits))).toEqual(new Set(["counted"]));
        expect(new Set(await follow(tx, hashedVisits))).toEqual(new Set(["used"]));
        const [after] = await tx.run(rowsRead, []);
        return (after?.count ?? 0) - (before?.count ?? 0);
      };
      // The plans are made while the tables are empty.
      const few = await database.transaction(batch);
      const fill = await readyToFill(database, "ad_service");
      // The rows are random: they sum to nothing.
      const text = "alter table money_entries disable trigger money_entries_balance";
      await database.run({ name: "", text }, []);
      await fill(20_000);
      expect(await database.transaction(batch)).toBeLessThanOrEqual(few * 1.5);
    } finally {
      await small.dispose();
    }
  });

  test.each([
    ["a viewer", { sameUser: true }, "daily-cap"],
    ["an address", { sameUser: false }, "tap-asked-address"],
  ])(
    "%s that another node counts first at the same moment is judged by what that node committed",
    async (_what, { sameUser }, verdict) => {
      const hash = address();
      const first = await issue();
      const second = await issue(sameUser ? first.userId : undefined);
      const other = { ...second, hash: sameUser ? address() : hash };
      let late: ReturnType<typeof follow> | undefined;
      await store.database.transaction(async (tx) => {
        expect(await follow(tx, [{ ...first, hash }], 60)).toEqual(["counted"]);
        late = follow(store.database, [other], 60);
        await expect.poll(async () => (await store.database.run(waiting, []))[0]?.count).toBe(1);
      });
      expect(await late).toEqual(["again"]);
      const ofViewer = { name: "", text: "select from viewers where user_id = $1" };
      expect(await store.database.run(ofViewer, [second.userId])).toHaveLength(sameUser ? 1 : 0);
      expect(await follow(store.database, [other], 60)).toEqual([verdict]);
    },
  );

  test("a known viewer's code that another node counts at the same moment is used", async () => {
    const visit = await issue();
    await store.database.run({ name: "", text: knownViewer }, [visit.userId]);
    let late: ReturnType<typeof follow> | undefined;
    await store.database.transaction(async (tx) => {
      expect(await follow(tx, [{ ...visit, hash: address() }], 60)).toEqual(["counted"]);
      late = follow(store.database, [{ ...visit, hash: address() }], 60);
      await expect.poll(async () => (await store.database.run(waiting, []))[0]?.count).toBe(1);
    });
    // Not the daily cap, which the newest row shows beside an older view of the events.
    expect(await late).toEqual(["again"]);
    expect(await follow(store.database, [{ ...visit, hash: address() }], 60)).toEqual(["used"]);
  });

  test("a viewer whose row is removed after a click is judged, and made anew by another node's click, is judged again", async () => {
    const first = await issue();
    const late = await issue(first.userId);
    await store.database.run({ name: "", text: knownViewer }, [first.userId]);
    const meanwhile: Transaction = {
      async run(statement, values) {
        if (statement.name === "clicks.record") {
          await store.database.run({ name: "", text: "delete from viewers where user_id = $1" }, [first.userId]);
          expect(await follow(store.database, [{ ...first, hash: address() }])).toEqual(["counted"]);
        }
        return store.database.run(statement, values);
      },
    };
    expect(await follow(meanwhile, [{ ...late, hash: address() }])).toEqual(["again"]);
    expect(await follow(store.database, [{ ...late, hash: address() }])).toEqual(["daily-cap"]);
  });

  test("a visitor who reached a campaign's cap per user gets another ad, and none when all caps are reached", async () => {
    const fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    try {
      const cap =
        "update campaigns set user_cap = 2, user_cap_seconds = 3600, priority = 'sponsorship' where campaign_id = $1";
      await store.database.run({ name: "", text: cap }, [fixture.campaignId]);
      await fixture.refresh();
      const followed: (string | number)[] = [];
      for (let click = 0; click < 4; click++) {
        if (click === 3) await fixture.addCampaign("https://other.test/");
        const { status, headers } = await fixture.visit(await fixture.issue("501", `order ${click}`));
        followed.push(headers.location === undefined ? status : new URL(headers.location).host);
      }
      expect(followed).toEqual(["shop.test", "shop.test", 200, "other.test"]);
      fixture.advance(3600);
      expect((await fixture.visit(await fixture.issue("501", "later"))).headers.location).toContain("//shop.test/");
    } finally {
      await fixture.close();
    }
  });
});

/** Counts the statements, and checks that none takes an advisory lock. */
describe("the statements of a click", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;
  let statements: string[] = [];
  /** Statements wait until this many more visits have arrived. */
  let awaited = 0;
  let allArrived = Promise.withResolvers<void>();

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    const { database } = store;
    const counted: Database = {
      ...database,
      async run(query, values) {
        statements.push(query.name);
        if (awaited > 0) await allArrived.promise;
        return database.run(query, values);
      },
      transaction(work) {
        statements.push("a transaction");
        return database.transaction(work);
      },
    };
    const mount: typeof directLinkRoutes = (app, deps) => {
      app.addHook("preHandler", async () => {
        awaited -= 1;
        if (awaited === 0) setImmediate(allArrived.resolve);
      });
      directLinkRoutes(app, deps);
    };
    fixture = await openDirectLinkFixture(counted, mount, { dailyCap: 1000 });
    // The bot is read once, and then once a second.
    await fixture.visit(await fixture.issue("1"));
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    statements = [];
    await work();
    return statements.filter((name) => name.startsWith("clicks") || name === "a transaction");
  }

  test("a first click is two statements, and so is each other visit; simultaneous visits share a few", async () => {
    const code = await fixture.issue("2");
    const two = ["clicks.read-facts", "clicks.record"];
    expect(await statementsOf(() => fixture.visit(code))).toEqual(two);
    expect(await statementsOf(() => fixture.visit(code))).toEqual(two);
    expect(await statementsOf(() => fixture.visit(code, { method: "HEAD" }))).toEqual(two);
    const codes = await Promise.all(Array.from({ length: 200 }, (_, user) => fixture.issue(`3${user}`)));
    awaited = codes.length;
    allArrived = Promise.withResolvers();
    const together = await statementsOf(() => Promise.all(codes.map((one) => fixture.visit(one))));
    // Two for each batch: the first visit, then at most half of those that are not answered: 100, 50, 25, 13, 8 and the rest.
    expect(together.length).toBeLessThanOrEqual(14);
  });

  test("a click takes no advisory lock", async () => {
    const functions = await store.database.run(advisory, []);
    expect(functions).toEqual([]);
  });
});

interface TestVisit {
  code: string;
  userId: string;
  hash: Buffer;
  network?: Buffer;
  visitor?: Visitor;
}

/** The outcomes, in the order of the visits; the first is null if events wait for the loop. */
async function follow(database: Transaction, visits: readonly TestVisit[], secondsAfterIssue = 60) {
  const now = new Date(Date.parse("2026-03-01T12:00:00Z") + secondsAfterIssue * 1000);
  const requests = visits.map(({ code, hash, network = hash, visitor = { kind: "person" } }) => {
    const hex = hash.toString("hex");
    const visit = {
      code,
      now,
      tap: undefined,
      userAgent: "Mozilla",
      acceptLanguage: "en",
      visitor,
      hashes: { today: hex, yesterday: hex, network: network.toString("hex") },
      clickId: newClickId(now.getTime(), randomBytes(10)),
      request: { bot: { botId: "910" }, user: {} },
    } as JudgedVisit;
    return {
      visit,
      campaignId: "cmp_910",
      isNearLimit: false,
      network: { isStored: true, pending: noUsers },
      usualClicks: 0,
    };
  });
  const { result, areWaiting } = await judgeClicks(database, requests, { slots: 0 });
  return [...(areWaiting ? [null] : []), ...result.map(({ verdict }) => refusalOf(verdict) ?? verdict.outcome)];
}

const addBotAndCampaign = statement<never>(
  "test.add-bot-and-campaign",
  `with bot as (
     insert into bots (bot_id, code_prefix, name, daily_cap) values ('910', 'abcd', 'Bot', 1) on conflict do nothing
   ), shop as (
     insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop') on conflict do nothing
   )
   insert into campaigns (campaign_id, name, advertiser_id, formats, landing_url, click_price_micros, targeting)
   values ('cmp_910', 'Link', 'adv_shop', '{direct_link}', 'https://shop.test/', 1500, '{"bots":["910"]}') on conflict do nothing`,
);
const knownViewer = `insert into viewers (bot_id, user_id, day, earned_today, decisions)
  values ('910', $1, '2026-02-01', 0, 1)`;
const setEndpoint = statement<never>(
  "test.set-endpoint",
  `insert into endpoints (bot_id, url, state) values ('910', 'https://bot.test/', $1)
   on conflict (bot_id) do update set state = excluded.state`,
);
const removeEndpoint = statement<never>("test.remove-endpoint", "delete from endpoints where bot_id = '910'");
const addCode = statement<never>(
  "test.add-code",
  `insert into codes (bot_id, code, user_id, issued_at, expires_at)
   values ('910', $1, $2, '2026-03-01T11:59:00Z', '2026-03-01T13:00:00Z')`,
);
const rowsRead = statement<{ count: number }>(
  "test.rows-read",
  "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as count from pg_stat_xact_user_tables",
);
const waiting = statement<{ count: number }>(
  "test.waiting",
  `select count(*)::integer as count from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'`,
);
const advisory = statement<{ name: string }>(
  "test.advisory",
  `select proname as name from pg_proc
   where pronamespace = 'ad_service'::regnamespace and prosrc like '%advisory%'`,
);
