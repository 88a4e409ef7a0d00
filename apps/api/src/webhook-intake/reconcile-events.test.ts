import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { type Feed, startFeed } from "../../test/fixtures/feed-fixture.ts";
import { type AdServiceClient, adServiceClient } from "../ad-service-client.ts";
import { migrations } from "../migrations.ts";
import { reconcileEvents } from "./reconcile-events.ts";

const minute = 60_000;

describe("reconciliation", () => {
  let store: TestDatabase;
  let api: TestApi;
  let feed: Feed;
  let adService: AdServiceClient;
  let startedAt: Date;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });
  beforeEach(async () => {
    await rows("delete from reconciliations");
    startedAt = new Date(Date.now() + minute);
    feed = await startFeed();
    adService = adServiceClient({ url: feed.url, token: testToken, timeoutMilliseconds: 2000 });
  });
  afterEach(async () => {
    await adService.close();
    await feed.stop();
  });

  const rows = async <Row>(text: string) => store.database.run<Row>({ name: `test ${text}`.slice(0, 60), text }, []);
  const earn = (eventId: string, minutesLater = 1, changes: object = {}) =>
    feed.earn(eventId, {
      occurred_at: new Date(startedAt.getTime() + minutesLater * minute).toISOString(),
      ...changes,
    });
  const reconcile = (minutesLater = 5, stopping = new AbortController().signal) => {
    const { botId, payout } = testConfig;
    const logger = { debug: () => {}, info: () => {}, isLevelEnabled: () => true };
    const options = { database: store.database, adService, botId, payout, settleAfterSeconds: 30, stopping, logger };
    return reconcileEvents(options, new Date(startedAt.getTime() + minutesLater * minute));
  };
  /** The events that a round recorded, in order. */
  const recordedBy = async (round: () => Promise<unknown>) => {
    const before = new Set((await entries()).map(({ event_id }) => event_id));
    await round();
    return (await entries()).filter(({ event_id }) => !before.has(event_id)).map(({ event_id }) => event_id);
  };
  const entries = () =>
    rows<{ event_id: string; reason: string | null; amount: number }>(
      "select event_id, reason, amount from ledger_entries order by xid, entry_id",
    );
  const webhook = (eventId: string) =>
    api.deliver({ event: "rewarded", user_tg_id: "42", event_id: eventId, code: `code_${eventId}` });

  test("events that another receiver may have paid before the first start are not recorded", async () => {
    earn("evt_old", -100_000);
    earn("evt_older", -200_000);
    expect(await recordedBy(() => reconcile())).toEqual([]);
  });

  test("an event whose webhook never arrived is recorded, and one that arrived is not recorded again", async () => {
    await webhook("evt_came");
    earn("evt_came");
    earn("evt_lost");
    earn("evt_test", 1, { test: true });
    expect(await recordedBy(() => reconcile())).toEqual(["evt_lost", "evt_test"]);
    expect(await entries()).toContainEqual({ event_id: "evt_test", reason: "test", amount: 0 });
    expect(await reconcile()).toMatchObject({ outcome: "done", recorded: 0 });
  });

  test("the startapp value of an event whose webhook never arrived is in the ledger", async () => {
    earn("evt_launched", 1, { start_param: "ref_7", user_tg_id: "77" });
    await reconcile();
    const { entries } = await api.client().rewards.list.query({ userId: "77" });
    expect(entries).toMatchObject([{ eventId: "evt_launched", startParam: "ref_7" }]);
  });

  test("what an event is worth is in its receipt, also if its webhook never arrived", async () => {
    earn("evt_worth", 1, { revenue_micros: 1750, currency: "EUR", user_tg_id: "78" });
    await reconcile();
    const receipts = await api.client().receipts.list.query({ userId: "78" });
    expect(receipts).toMatchObject([{ eventId: "evt_worth", revenueMicros: 1750, currency: "EUR", rawBody: null }]);
  });

  test.each(["waiting", "sending", "delivered", "failed", "held", "unknown", "a state of tomorrow"])(
    "an event whose delivery is %s is recorded",
    async (delivery) => {
      earn(`evt_${delivery}`, 1, { delivery });
      expect(await recordedBy(() => reconcile())).toEqual([`evt_${delivery}`]);
    },
  );

  test("every page is read, and the next round continues from the last one", async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `evt_page_${index}`);
    for (const id of ids) earn(id);
    expect(await recordedBy(() => reconcile())).toEqual(ids);
    expect(feed.requested).toEqual([null, "after-3", "after-6", "after-9"]);
    feed.requested.length = 0;
    earn("evt_page_next");
    expect(await recordedBy(() => reconcile())).toEqual(["evt_page_next"]);
    expect(feed.requested).toEqual(["after-9"]);
  });

  test("the webhook of a reconciled event changes nothing", async () => {
    earn("evt_late");
    await reconcile();
    expect(await recordedBy(() => webhook("evt_late"))).toEqual([]);
  });

  test("a young event is left to its webhook, and recorded in a later round", async () => {
    earn("evt_ripe", 1);
    earn("evt_young", 20, { delivery: "sending" });
    earn("evt_behind", 1);
    expect((await recordedBy(() => reconcile(20))).toSorted()).toEqual(["evt_behind", "evt_ripe"]);
    expect(await recordedBy(() => reconcile(21))).toEqual(["evt_young"]);
  });

  test("a young event whose webhook is not on its way is recorded at once, and no round misses one or records it twice", async () => {
    const states = ["waiting", "failed", "held", "unknown", "sending", "delivered", "a state of tomorrow", "waiting"];
    for (const [index, delivery] of states.entries()) earn(`evt_away_${index}`, 20, { delivery });
    expect((await recordedBy(() => reconcile(20))).toSorted()).toEqual([0, 1, 2, 3, 7].map((n) => `evt_away_${n}`));
    feed.requested.length = 0;
    earn("evt_away_8", 20, { delivery: "waiting" });
    expect(await recordedBy(() => reconcile(20))).toEqual(["evt_away_8"]);
    // The position stays before the first event that is left to its webhook.
    expect(feed.requested[0]).toBe("after-3");
    expect((await recordedBy(() => reconcile(21))).toSorted()).toEqual([4, 5, 6].map((n) => `evt_away_${n}`));
  });

  test("an event that a wrong clock dated days ahead is recorded, and stops none that follow, on any page", async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `evt_around_${index}`);
    for (const [index, id] of ids.entries()) earn(id, index === 1 || index === 4 ? 10 * 24 * 60 : 1);
    expect((await recordedBy(() => reconcile())).toSorted()).toEqual(ids);
    earn("evt_around_next");
    expect(await recordedBy(() => reconcile())).toEqual(["evt_around_next"]);
  });

  test("another bot's event is skipped, and so is one of an unknown kind, which is reported", async () => {
    earn("evt_foreign", 1, { bot_id: "7000000002" });
    earn("evt_tomorrow", 1, { event: "purchased" });
    earn("evt_surrogate", 1, { code: "\ud800" });
    earn("evt_behind_them");
    feed.pageSize = 10;
    let result: unknown;
    expect(
      await recordedBy(async () => {
        result = await reconcile();
      }),
    ).toEqual(["evt_behind_them"]);
    expect(result).toMatchObject({ outcome: "done", recorded: 1, unreadable: 1 });
  });

  test("after a restore of the service its list is read from the start: nothing is missed and nothing is paid twice", async () => {
    for (const id of ["evt_b1", "evt_b2", "evt_b3", "evt_b4", "evt_b5"]) earn(id);
    await reconcile();
    const backup = feed.events.slice(0, 2);
    // Shorter than our position in it, …
    feed.events = [...backup];
    earn("evt_after_restore");
    let result: unknown;
    const round = async () => {
      result = await reconcile();
    };
    expect(await recordedBy(round)).toEqual(["evt_after_restore"]);
    expect(result).toMatchObject({ outcome: "done", hasRestarted: true });
    // … and longer.
    feed.events = [...backup];
    for (const id of ["evt_c1", "evt_c2", "evt_c3", "evt_c4"]) earn(id);
    expect(await recordedBy(round)).toEqual(["evt_c1", "evt_c2", "evt_c3", "evt_c4"]);
    expect(await recordedBy(round)).toEqual([]);
    expect(result).toMatchObject({ hasRestarted: false });
  });

  test.each([400, 410])(
    "a cursor that is answered %i is dropped, and the list is read from its start",
    async (status) => {
      earn(`evt_${status}_a`);
      earn(`evt_${status}_b`);
      earn(`evt_${status}_c`);
      earn(`evt_${status}_d`);
      await reconcile();
      feed.fault = (after) => (after === "after-3" && feed.requested.length === 1 ? { status, body: "{}" } : undefined);
      feed.requested.length = 0;
      earn(`evt_${status}_new`);
      expect(await recordedBy(() => reconcile())).toEqual([`evt_${status}_new`]);
      feed.fault = (after) => (after !== null ? { status, body: "{}" } : undefined);
      expect(await reconcile()).toMatchObject({ outcome: "unavailable", hasRestarted: true });
    },
  );

  test.each([
    ["500", { status: 500, body: "{}" }],
    ["401", { status: 401, body: "{}" }],
    ["200 with another body", { status: 200, body: "<html>" }],
  ])(
    "a service that answers %s midway loses nothing: the pages read are recorded, the rest in the next round",
    async (name, answer) => {
      const ids = Array.from({ length: 7 }, (_, index) => `evt_${name}_${index}`);
      for (const id of ids) earn(id);
      feed.fault = (after) => (after === "after-3" ? answer : undefined);
      expect(await recordedBy(async () => expect(await reconcile()).toMatchObject({ outcome: "unavailable" }))).toEqual(
        ids.slice(0, 3),
      );
      feed.fault = undefined;
      expect(await recordedBy(() => reconcile())).toEqual(ids.slice(3));
    },
  );

  test("an unreachable service is an outcome", async () => {
    await feed.stop();
    expect(await reconcile()).toMatchObject({ outcome: "unavailable", recorded: 0 });
  });

  test.each([404, 405, 410])("a service that answers the list itself with %i does not offer one", async (status) => {
    feed.fault = () => ({ status, body: "{}" });
    expect(await reconcile()).toMatchObject({ outcome: "not-offered" });
  });

  test.each([400, 404, 405, 410])(
    "a proxy's page with %i says nothing about the list, which is read in the next round",
    async (status) => {
      earn(`evt_page_${status}`);
      feed.fault = () => ({ status, body: "<html>Not found</html>" });
      expect(await reconcile()).toMatchObject({ outcome: "unavailable" });
      feed.fault = undefined;
      expect(await recordedBy(() => reconcile())).toEqual([`evt_page_${status}`]);
    },
  );

  test("an endless list is read up to a limit in one round, and a stop ends the round immediately", async () => {
    let made = 0;
    feed.fault = () => {
      made += 1;
      return { status: 200, body: JSON.stringify({ events: [], next: `after-${made}`, has_more: true }) };
    };
    expect(await reconcile()).toMatchObject({ outcome: "more" });
    expect(made).toBe(200);
    const stopping = new AbortController();
    stopping.abort();
    await reconcile(5, stopping.signal);
    expect(made).toBe(200);
  });

  test("two nodes that reconcile concurrently record each event once", async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `evt_two_${String(index).padStart(2, "0")}`);
    for (const id of ids) earn(id);
    expect(await recordedBy(() => Promise.all([reconcile(), reconcile(), reconcile()]))).toHaveLength(20);
    expect(await recordedBy(() => reconcile())).toEqual([]);
  });
});
