import { codeWeekAt, newEventId } from "@intermission/ad-core/code";
import type { OpenedDatabase, Transaction } from "@intermission/postgres/open-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPartitionedStore } from "./fixtures/partitioned-store.ts";
import { textOfStatement } from "./fixtures/partitions-read.ts";
import "../src/advertisers/advertisers.ts";
import "../src/deliveries/claim-deliveries.ts";
import "../src/money/settle-charges.ts";
import "../src/statistics/delivery-success.ts";
import "../src/users/read-timeline.ts";
import { listLatestEvents } from "../src/events/list-events.ts";

/** A Wednesday: its week began on the 8th. */
const now = new Date("2026-06-10T12:00:00Z");
const code = codeWeekAt(now.getTime());

describe("what a statement reads does not grow with what is stored", () => {
  let store: OpenedDatabase;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await openPartitionedStore(now));
  });
  afterAll(() => close());

  /** Runs it in a transaction that is undone, with so many event ids of the week as the rows `made (id, n)`. */
  async function inStore(ids: number, work: (tx: Transaction, made: string) => Promise<void>): Promise<void> {
    const done = new Error("undo");
    const undone = store.transaction(async (tx) => {
      const all = Array.from({ length: ids }, (_, index) => newEventId(now.getTime() + index, new Uint8Array(10)));
      await run(tx, "insert into bots (bot_id, code_prefix, name) values ('910', 'abcd', 'Quiz')");
      await work(tx, `from unnest('{${all}}'::text[]) with ordinality as made (id, n)`);
      throw done;
    });
    await expect(undone).rejects.toBe(done);
  }

  const run = (tx: Transaction, text: string) => tx.run({ name: "", text }, []);

  /** How many rows of a table are read meanwhile. */
  async function rowsRead(tx: Transaction, table: string, work: () => Promise<unknown>): Promise<number> {
    const text = `select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as rows
      from pg_stat_xact_user_tables where relname = '${table}'`;
    const soFar = async () => (await tx.run<{ rows: number }>({ name: "", text }, []))[0]?.rows ?? 0;
    const before = await soFar();
    await work();
    return (await soFar()) - before;
  }

  const named = (tx: Transaction, name: string, values: readonly unknown[]) =>
    tx.run({ name: "", text: textOfStatement(name) }, values);

  test("a claim reads the bodies of what it claims", async () => {
    await inStore(500, async (tx, made) => {
      await run(tx, "insert into endpoints (bot_id, url, state) values ('910', 'https://quiz.example', 'active')");
      await run(tx, "insert into endpoint_claims (bot_id) values ('910') on conflict do nothing");
      await run(tx, `insert into event_bodies (event_id, bot_id, body) select id, '910', '{}' ${made}`);
      await run(
        tx,
        `insert into deliveries (event_id, bot_id, state)
         select id, '910', case when n = 250 then 'waiting' else 'delivered' end ${made}`,
      );
      const claim = async () => expect(await named(tx, "deliveries.claim", [4, 60])).toHaveLength(1);
      expect(await rowsRead(tx, "event_bodies_20260608", claim)).toBe(1);
    });
  });

  test("a page of a bot's events looks up the webhooks that it lists", async () => {
    await inStore(20_000, async (tx, made) => {
      // Older than the feed's end.
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, occurred_at, xid)
         select id, '910', 'rewarded', n, '2026-06-10', '3' ${made}`,
      );
      await run(tx, `insert into deliveries (event_id, bot_id, state) select id, '910', 'delivered' ${made}`);
      for (const table of ["events", "deliveries_20260608"]) await run(tx, `analyze ${table}`);
      for (const [name, values, rows] of [
        ["events.list", ["910", "0", "", 4], 4],
        ["events.list-end", ["910", 4], 4],
        ["events.list-latest", ["910", "evt_g", "", "2026-01-01", "2027-01-01", 4], 4],
        ["events.list-latest-of-user", ["910", "evt_g", "2026-01-01", "2027-01-01", 4, "7"], 1],
      ] as const) {
        const list = async () => expect(await named(tx, name, values)).toHaveLength(rows);
        expect([name, await rowsRead(tx, "deliveries_20260608", list)]).toEqual([name, rows]);
      }
    });
  });

  test("a publisher's feed does not read the interstitials that it hides, again at each poll", async () => {
    await inStore(5000, async (tx, made) => {
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, occurred_at, xid)
         select id, '910', case when n in (1, 2500) then 'rewarded' else 'interstitial' end, n, '2026-06-10', '3' ${made}`,
      );
      await run(tx, "analyze events");
      for (const [name, values, rows] of [
        ["events.list-shown", ["910", "0", "", 4], 2],
        ["events.list-end-shown", ["910", 4], 2],
      ] as const) {
        const list = async () => expect(await named(tx, name, values)).toHaveLength(rows);
        expect(await rowsRead(tx, "events", list), name).toBeLessThan(10);
      }
    });
  });

  test("the events of a period are read without those before and behind it", async () => {
    await inStore(0, async (tx) => {
      const minute = (n: number) => new Date(now.getTime() + n * 60_000);
      const ids = Array.from({ length: 3000 }, (_, n) => newEventId(minute(n).getTime(), new Uint8Array(10)));
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, occurred_at)
         select id, '910', 'rewarded', n, timestamptz '${now.toISOString()}' + (n - 1) * interval '1 minute'
         from unnest('{${ids}}'::text[]) with ordinality as made (id, n)`,
      );
      const list = (from: Date, to: Date | undefined, rows: number) => async () =>
        expect(await listLatestEvents(tx, { botId: "910", from, to, limit: 50 })).toHaveLength(rows);
      expect(await rowsRead(tx, "events", list(minute(1000), minute(1020), 20))).toBeLessThan(50);
      expect(await rowsRead(tx, "events", list(minute(2998), undefined, 2))).toBeLessThan(20);
    });
  });

  test("a report counts the webhooks that failed without reading their events", async () => {
    await inStore(2000, async (tx, made) => {
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, occurred_at)
         select id, '910', 'rewarded', n, '2026-06-10' ${made}`,
      );
      await run(tx, `insert into deliveries (event_id, bot_id, state) select id, '910', 'failed' ${made}`);
      const count = async () =>
        expect(await named(tx, "statistics.undelivered-of-bot", ["evt_", "evt_g", "910"])).toEqual([
          { underWay: 0, failed: 2000 },
        ]);
      expect(await rowsRead(tx, "events", count)).toBe(0);
    });
  });

  const addCampaign = async (tx: Transaction) => {
    await run(tx, "insert into advertisers (advertiser_id, name, name_key) values ('adv_1', 'The Shop', 'the shop')");
    await run(
      tx,
      `insert into campaigns (campaign_id, name, advertiser_id, formats)
       values ('cmp_1', 'Spring', 'adv_1', '{direct_link}')`,
    );
  };

  test("a timeline reads the conversions of its clicks, and an advertiser's page none", async () => {
    await inStore(2000, async (tx, made) => {
      await addCampaign(tx);
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, code, occurred_at)
         select id, '910', 'direct_link', n, '${code}' || n, '2026-06-10' ${made}`,
      );
      await run(
        tx,
        `insert into conversions (click_id, event, bot_id, campaign_id, occurred_at, clicked_at)
         select 'clk_' || substr(id, 5), 'purchase', '910', 'cmp_1', '2026-06-10', '2026-06-10' ${made}`,
      );
      for (const table of ["events", "conversions_20260608"]) await run(tx, `analyze ${table}`);
      const converted = async () =>
        expect(await named(tx, "timeline.converted", ["910", [`${code}7`, `${code}8`]])).toHaveLength(2);
      expect(await rowsRead(tx, "conversions_20260608", converted)).toBe(2);
      const described = async () => expect(await named(tx, "advertisers.describe", ["adv_1"])).toHaveLength(1);
      expect(await rowsRead(tx, "conversions_20260608", described)).toBe(0);
    });
  });

  test("a batch of charges is found without reading those that wait behind it", async () => {
    await inStore(30_000, async (tx, made) => {
      await addCampaign(tx);
      await run(
        tx,
        `insert into events (event_id, bot_id, event, user_id, campaign_id, price_micros, revenue_micros, occurred_at, xid)
         select id, '910', 'direct_link', n, 'cmp_1', 10, 7, '2026-06-10', n::text::xid8 ${made}`,
      );
      await run(tx, "analyze events");
      const found = async () => expect(await named(tx, "money.end-of-events", ["1"])).toEqual([{ xid: "10001" }]);
      expect(await rowsRead(tx, "events", found)).toBe(10_001);
    });
  });
});
