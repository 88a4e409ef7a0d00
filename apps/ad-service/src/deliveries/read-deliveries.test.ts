import type { DeliveryState } from "@intermission/ad-core/wire-fields";
import { type Database, statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { findBotOfEvent, listDeliveries, showDelivery } from "./read-deliveries.ts";

const states: DeliveryState[] = ["waiting", "sending", "delivered", "failed", "held", "unknown"];
const webhookUrl = "https://hook.test/ads";

describe("the list of deliveries", () => {
  let store: TestDatabase;
  let oldest = "";
  let newest: string[] = [];

  const sql = <Row>(name: string, text: string, values: unknown[] = []) =>
    store.database.run<Row>(statement<Row>(`test.deliveries-${name}`, text), values);

  // Enough that a full table scan is never cheaper: 30 bots with 600 deliveries each, 50 of each state, the rest delivered.
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    const made: string[] = [];
    for (let bots = 0; bots < 30; bots++) {
      const fixture = await openDeliveryFixture(store.database, { webhookUrl });
      made.push(...(await fixture.enqueue(600)));
    }
    await sql(
      "spread",
      `update deliveries set state = case when number % 12 < 6 then ($1::text[])[1 + number % 6] else 'delivered' end
       from (select bot_id, event_id, row_number() over (partition by bot_id order by event_id) as number from deliveries) as numbered
       where numbered.bot_id = deliveries.bot_id and numbered.event_id = deliveries.event_id`,
      [states],
    );
    await sql("analyze", "analyze");
    newest = made.sort().reverse();
    oldest = newest.at(-1) ?? "";
  });
  afterAll(() => store.dispose());

  test("the newest of all bots come first, page by page, each once", async () => {
    const seen: string[] = [];
    for (let page = 0; page < 5; page++) {
      const rows = await listDeliveries(store.database, { before: seen.at(-1), limit: 7 });
      seen.push(...rows.map(({ eventId }) => eventId));
    }
    expect(seen).toEqual(newest.slice(0, 35));
  });

  test.each(states)("only those that are %s, the newest first", async (state) => {
    const all = await sql<{ eventId: string }>(
      "of-state",
      `select event_id as "eventId" from deliveries where state = $1 order by event_id desc limit 20`,
      [state],
    );
    const rows = await listDeliveries(store.database, { state, limit: 20 });
    expect(rows.map(({ eventId }) => eventId)).toEqual(all.map(({ eventId }) => eventId));
    expect(new Set(rows.map((row) => row.state))).toEqual(new Set([state]));
  });

  test.each([...states, undefined])("no list reads a whole table: %s", async (state) => {
    expect(await wideReads((database) => listDeliveries(database, { state, limit: 50 }))).toEqual([]);
  });

  test("the search for one event does not read a whole table", async () => {
    expect(await wideReads((database) => findBotOfEvent(database, oldest))).toEqual([]);
  });

  /** The plan steps that read many deliveries or events of more than one bot; leased ones are exempt, since they are few. */
  async function wideReads(work: (database: Pick<Database, "run">) => Promise<unknown>): Promise<PlanStep[]> {
    const steps: PlanStep[] = [];
    await work({
      async run({ name, text }, values) {
        const [plan] = await sql<{ "QUERY PLAN": [{ Plan: PlanStep }] }>(
          `explain-${name}`.slice(0, 50),
          `explain (format json) ${text}`,
          [...values],
        );
        for (const { Plan } of plan?.["QUERY PLAN"] ?? []) steps.push(...stepsOf(Plan));
        return store.database.run({ name, text }, values);
      },
    });
    expect(steps.some((step) => /^(deliveries|events)_/.test(step["Index Name"] ?? ""))).toBe(true);
    const isWide = (step: PlanStep) =>
      step["Node Type"] === "Seq Scan"
        ? /^(deliveries_all|events)$/.test(step["Relation Name"] ?? "")
        : /^(deliveries|events)_(?!all_lease_until)/.test(step["Index Name"] ?? "") &&
          !/bot_id|event_id = /.test(step["Index Cond"] ?? "");
    return steps.filter(isWide);
  }
});

interface PlanStep {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanStep[];
}

function stepsOf(step: PlanStep): PlanStep[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

describe("one delivery", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  async function oneDelivery() {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl });
    const [eventId = ""] = await fixture.enqueue();
    const show = () => showDelivery(store.database, { botId: fixture.botId, eventId });
    return { fixture, eventId, show };
  }

  test("is found by its id alone, with its bytes", async () => {
    const { fixture, eventId, show } = await oneDelivery();
    const shown = await show();
    expect(shown).toMatchObject({
      botId: fixture.botId,
      state: "waiting",
      blockedReason: null,
      notBefore: null,
      log: [],
    });
    expect(shown?.body).toContain(eventId);
    expect(await showDelivery(store.database, { botId: fixture.botId, eventId: "evt_none" })).toBeUndefined();
  });

  test("shows what blocks it: no address, no answered test, disabled, a backoff, an open breaker", async () => {
    const { fixture, show } = await oneDelivery();
    const soon = new Date(Date.now() + 60_000);
    await fixture.setEndpoint({ backoff_until: soon });
    expect(await show()).toMatchObject({ blockedReason: null, notBefore: soon });
    const later = new Date(Date.now() + 90_000);
    await fixture.setEndpoint({ breaker: "open", probe_at: later });
    expect(await show()).toMatchObject({ blockedReason: null, notBefore: later });
    await fixture.setEndpoint({ state: "pending" });
    expect(await show()).toMatchObject({ blockedReason: "pending" });
    await fixture.setEndpoint({ state: "disabled", disabled_reason: "gone" });
    expect(await show()).toMatchObject({ blockedReason: "gone" });
    await fixture.moveTo(null);
    expect(await show()).toMatchObject({ blockedReason: "no-endpoint", notBefore: null });
  });

  test("shows why it is not sent again automatically", async () => {
    const { fixture, show } = await oneDelivery();
    const fail = statement("test.fail", "update deliveries set state = 'failed', end_reason = $2 where bot_id = $1");
    await store.database.run(fail, [fixture.botId, "attempts-used-up"]);
    expect(await show()).toMatchObject({ state: "failed", endReason: "attempts-used-up", dueAt: null });
  });
});
