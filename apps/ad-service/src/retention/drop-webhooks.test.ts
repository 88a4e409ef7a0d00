import { randomBytes } from "node:crypto";
import { CODE_RANDOM_BYTES, newClickId, newCode, timeOfClick } from "@intermission/ad-core/code";
import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { readPartitions } from "@intermission/postgres/partitions";
import { untilFeedsAreCurrent } from "@intermission/testing/settled-feed";
import { createServerDatabase } from "@intermission/testing/test-database";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { noDeliveries } from "../deliveries/enqueue-webhook.ts";
import { noDeliveryOf, showDelivery } from "../deliveries/read-deliveries.ts";
import { countReplayable, replayDelivery } from "../deliveries/replay-deliveries.ts";
import { listEvents, listLatestEvents } from "../events/list-events.ts";
import { migrations } from "../migrations.ts";
import { releaseClick } from "../reviews/review-clicks.ts";
import { readDeliverySuccess } from "../statistics/delivery-success.ts";
import { dropExpired, makePastPartitions, makeUpcomingPartitions } from "./keep-partitions.ts";
import { keptKinds, type Retention } from "./kept-rows.ts";

const DAY_MS = 86_400_000;
const thirtyDays = Object.fromEntries(keptKinds.map((kind) => [kind, 30])) as Retention;
const daysFrom = (days: number) => new Date(Date.now() + days * DAY_MS);

let store: OpenedDatabase;
let fixture: Awaited<ReturnType<typeof openDeliveryFixture>>;

const ask = <Row>(text: string, ...values: unknown[]) => store.run<Row>({ name: "", text }, values);
const count = async (table: string) =>
  (await ask<{ count: number }>(`select count(*) as count from ${table}`))[0]?.count;
const counts = async () => [await count("events"), await count("deliveries"), await count("event_bodies")];
const drop = () => dropExpired(store, { retention: thirtyDays, now: daysFrom(40) });

/** A node's store, with a bot. */
beforeEach(async () => {
  const server = await createServerDatabase();
  store = await openDatabase({ databaseUrl: server.url, dataDirectory: "", schema: "ad_service", migrations });
  onTestFinished(async () => {
    await store.close();
    await server.drop();
  });
  await makeUpcomingPartitions(store, new Date());
  fixture = await openDeliveryFixture(store, { webhookUrl: "https://quiz.test/ads" });
});

test("webhooks are dropped by the week once none waits, is being sent or held; the bodies go after them; events stay", async () => {
  const [, second] = await fixture.enqueue(2);
  await ask("update deliveries set state = 'delivered'");
  for (const state of ["waiting", "sending", "held"]) {
    await ask("update deliveries set state = $2 where event_id = $1", second, state);
    expect((await drop()).needed, state).toEqual([expect.stringMatching(/^deliveries_\d{8}$/)]);
    expect(await counts(), state).toEqual([2, 2, 2]);
  }
  await ask("update deliveries set state = 'failed' where event_id = $1", second);
  // While a dump reads the deliveries, they are not dropped, and neither are their bodies.
  await store.withoutTimeout(async (dump) => {
    await dump.query("begin isolation level repeatable read");
    await dump.query("select from deliveries");
    const { busy } = await dropExpired(store, { retention: thirtyDays, now: daysFrom(40), waitMs: 300 });
    expect(busy).toContainEqual(expect.stringMatching(/^deliveries_/));
    await dump.query("commit");
  });
  expect(await count("event_bodies")).toBe(2);
  await drop();
  expect(await counts()).toEqual([2, 0, 0]);
});

test("an event whose webhook was dropped is listed still; what needs the webhook says since when webhooks are kept", {
  tags: "long",
}, async () => {
  const [eventId = ""] = await fixture.enqueue();
  const { botId } = fixture;
  await ask("update deliveries set state = 'failed'");
  await makeUpcomingPartitions(store, daysFrom(40));
  await drop();
  await untilFeedsAreCurrent(store);
  const feed = await listEvents(store, { botId, limit: 10 });
  const listed = [expect.objectContaining({ event_id: eventId, user_tg_id: "501", delivery: "not-kept" })];
  expect(feed).toMatchObject({ outcome: "page", events: listed });
  expect(await listLatestEvents(store, { botId, limit: 10 })).toEqual(listed);
  expect(await listLatestEvents(store, { botId, userId: "501", limit: 10 })).toEqual(listed);

  const event = { botId, eventId };
  expect(await replayDelivery({ database: store, deliveries: noDeliveries }, event)).toEqual({ outcome: "not-kept" });
  expect(await replayDelivery({ database: store, deliveries: noDeliveries }, { botId, eventId: "evt_0" })).toEqual({
    outcome: "unknown-event",
  });
  expect(await showDelivery(store, event)).toBeUndefined();
  const starts = (await readPartitions(store, "ad_service")).flatMap(({ table, fromMs }) =>
    table === "deliveries" ? [fromMs] : [],
  );
  const since = new Date(Math.min(...starts));
  expect(await noDeliveryOf(store, event)).toMatchObject({
    statusCode: 410,
    code: "NOT_KEPT",
    message: expect.stringContaining(`since ${since.toISOString()}`),
  });
  const range = { botId, scope: "failed" as const, since: daysFrom(-1), until: daysFrom(41) };
  expect(await countReplayable(store, range)).toMatchObject({ count: 0, keptSince: since });
  expect(await countReplayable(store, { ...range, since })).toMatchObject({ keptSince: null });
});

test("a report counts the outcomes of webhooks since they are kept, and says so where earlier ones are missing", {
  tags: "long",
}, async () => {
  const { botId } = fixture;
  const read = (days: number, total: number, kept: number) =>
    readDeliverySuccess(store, {
      botId,
      from: daysFrom(-days),
      to: daysFrom(1),
      total: { rewards: total, clicks: 0 },
      totalSince: async () => ({ rewards: kept, clicks: 0 }),
    });
  await fixture.enqueue(3);
  await ask("update deliveries set state = 'failed' where event_id = (select max(event_id) from deliveries)");
  await ask("update deliveries set state = 'delivered' where state <> 'failed'");
  const all = { delivered: 2, underWay: 0, failed: 1, successRate: 0.6667 };
  expect(await read(1, 3, 0)).toEqual(all);
  // Nothing was earned before: all of it is known.
  expect(await read(60, 3, 3)).toEqual(all);
  expect(await read(60, 100, 3)).toEqual({ ...all, since: expect.any(Date) });
});

test("a click that is released when its week was dropped is sent and listed like any other, and its week goes again", {
  tags: "long",
}, async () => {
  const sixtyDaysAgo = daysFrom(-60);
  await makePastPartitions(store, { from: sixtyDaysAgo, to: sixtyDaysAgo });
  const clickId = newClickId(sixtyDaysAgo.getTime(), new Uint8Array(10));
  await ask(
    `insert into withheld_clicks (click_id, bot_id, code, user_id, outcome, suspicions, occurred_at)
     values ($1, $2, $4, '501', 'held', '{mostly-taps}', $3)`,
    clickId,
    fixture.botId,
    timeOfClick(clickId),
    newCode("abcd", randomBytes(CODE_RANDOM_BYTES), sixtyDaysAgo),
  );
  const retention = { ...thirtyDays, "withheld-clicks": 396 };
  const ofNow = () => dropExpired(store, { retention, now: new Date() });
  expect((await ofNow()).dropped).toContainEqual(expect.stringMatching(/^deliveries_/));
  const deps = {
    database: store,
    makePartitions: (period: Parameters<typeof makePastPartitions>[1]) => makePastPartitions(store, period),
  };
  const released = await releaseClick(deps, { clickId, now: new Date() });
  expect(released).toMatchObject({ outcome: "released" });
  expect(await fixture.deliveries()).toMatchObject([{ state: "waiting" }]);
  expect((await ofNow()).needed).toEqual([expect.stringMatching(/^deliveries_/)]);
  await ask("update deliveries set state = 'delivered'");
  await rollUpUntilNow(store);
  expect((await ofNow()).dropped).toEqual([
    expect.stringMatching(/^deliveries_/),
    expect.stringMatching(/^event_bodies_/),
  ]);
  expect(await counts()).toEqual([1, 0, 0]);
  await ask("delete from withheld_clicks");
  const listed = await listLatestEvents(store, { botId: fixture.botId, from: daysFrom(-1), limit: 10 });
  expect(listed.map(({ event_id }) => event_id)).toEqual([released.outcome === "released" && released.eventId]);
});
