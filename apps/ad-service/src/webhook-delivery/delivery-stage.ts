import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { newEventId } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement } from "@intermission/postgres/open-database";
import type { Updateable } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { addBot } from "../bots/add-bot.ts";
import type { BotSettings } from "../bots/bot-settings.ts";
import type { DeliveryMode } from "../bots/schema.ts";
import { secretBox } from "../bots/secret-box.ts";
import { updateBot } from "../bots/update-bot.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { type DeliveryLimits, openWebhookDelivery, type WebhookDelivery } from "./deliver-due-webhooks.ts";
import { type ClaimedEvent, type Deliveries, noDeliveries } from "./deliveries.ts";
import { enqueueWebhook } from "./enqueue-webhook.ts";
import type { WebhookDeliveryTables } from "./schema.ts";

/** What a webhook looked like when it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  at: number;
}

export interface TestEndpoint {
  readonly url: string;
  readonly received: Received[];
  /** The most requests that were open at once. */
  mostAtOnce: number;
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

/** A publisher's endpoint that does as the test says; 200 unless told. For tests. */
export async function openTestEndpoint(): Promise<TestEndpoint> {
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    endpoint.mostAtOnce = Math.max(endpoint.mostAtOnce, open);
    response.on("close", () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const received = { headers: request.headers, body: Buffer.concat(chunks), at: Date.now() };
      endpoint.received.push(received);
      endpoint.answer(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: TestEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    mostAtOnce: 0,
    answer: (response) => response.end("thanks"),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

const insertEvents = statement<{ eventId: string; url: string | null; deliveryMode: DeliveryMode | null }>(
  "test.enqueue",
  `with earned as (
    select *, null::text as campaign_id, null::text as creative_id, null::bigint as price_micros
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[], $9::text[])
      as earned(bot_id, event_id, event, user_id, code, reference, is_test, occurred_at, body)
  ), ${enqueueWebhook({ from: "earned", slots: "$10::integer" })}
  select event_id as "eventId", null as url, null as "deliveryMode" from enqueued
  union all
  select event_id, url, delivery_mode from claimed_events`,
);

let lastBot = 700_000_000;
let lastCode = 0;
export const testSecretBox = secretBox(Buffer.alloc(32, 7));

/** A bot of its own, and what a test does to it. */
export async function openDeliveryStage(database: AdDatabase, settings: Partial<BotSettings>) {
  lastBot += 1;
  const botId = String(lastBot);
  const added = await addBot({ database, secretBox: testSecretBox }, { botId, settings, now: new Date() });
  if (added.outcome !== "added") throw new Error(added.outcome);
  await database.query.updateTable("endpoints").set({ state: "active" }).where("bot_id", "=", botId).execute();

  return {
    botId,
    token: added.token,
    /** Makes events: for the loops to claim, or `by` a node that claims what it can itself. */
    async enqueue(
      count = 1,
      options: { code?: string; event?: "rewarded" | "direct_link"; by?: Deliveries } = {},
    ): Promise<string[]> {
      const { event = "rewarded", by = startedDeliveries(database) } = options;
      const occurredAt = new Date();
      const rows = Array.from({ length: count }, () => {
        lastCode += 1;
        const code = options.code ?? `tttt${lastCode}`;
        const eventId = newEventId(occurredAt.getTime(), randomBytes(10));
        const body = encodeWebhookEvent({
          ...{ event, event_id: eventId, bot_id: botId, user_tg_id: "501", code },
          ...{ reference: "Bestellung №7 🎁", occurred_at: occurredAt.toISOString() },
        });
        return [botId, eventId, event, "501", code, "Bestellung №7 🎁", false, occurredAt, body];
      });
      const columns = Array.from({ length: 9 }, (_, column) => rows.map((row) => row[column]));
      const bodyOf = new Map(rows.map(([, eventId, , , , , , , body]) => [eventId, String(body)]));
      return by.sendNew(count, async (slots) => {
        const told = await database.run(insertEvents, [...columns, slots]);
        const result = told.filter(({ url }) => url === null).map(({ eventId }) => eventId);
        const claimed: ClaimedEvent[] = [];
        for (const { eventId, url, deliveryMode } of told) {
          if (url !== null && deliveryMode !== null)
            claimed.push({ botId, eventId, body: bodyOf.get(eventId) ?? "", url, deliveryMode });
        }
        return { result, made: result.length, claimed };
      });
    },
    deliveries: () =>
      database.query.selectFrom("deliveries").selectAll().where("bot_id", "=", botId).orderBy("event_id").execute(),
    attempts: () =>
      database.query
        .selectFrom("delivery_attempts")
        .selectAll()
        .where("bot_id", "=", botId)
        .orderBy("event_id")
        .orderBy("attempt")
        .execute(),
    /** What waits for its time is due now, at an endpoint that nobody blames for anything. */
    async makeDue() {
      await this.setEndpoint({ breaker: "closed", failures_in_row: 0, window_attempts: 0, window_failures: 0 });
      await this.setEndpoint({ rest_until: Number.NEGATIVE_INFINITY });
      const makeDue = statement(
        "test.make-due",
        "update deliveries set due_at = now() where bot_id = $1 and state = 'waiting'",
      );
      await database.run(makeDue, [botId]);
      startedDeliveries(database).wake();
    },
    async deliverAtMostOnce() {
      await updateBot(database, { botId, settings: { deliveryMode: "at-most-once" }, now: new Date() });
    },
    async endpoint() {
      const row = await database.query
        .selectFrom("endpoints")
        .innerJoin("endpoint_claims", "endpoint_claims.bot_id", "endpoints.bot_id")
        .selectAll("endpoints")
        .select("claimed")
        .where("endpoints.bot_id", "=", botId)
        .executeTakeFirstOrThrow();
      return { ...row, in_flight: row.claimed - row.ended };
    },
    async setClaims(change: Updateable<WebhookDeliveryTables["endpoint_claims"]>) {
      await database.query.updateTable("endpoint_claims").set(change).where("bot_id", "=", botId).execute();
    },
    async setEndpoint(change: Updateable<WebhookDeliveryTables["endpoints"]>) {
      await database.query.updateTable("endpoints").set(change).where("bot_id", "=", botId).execute();
    },
    /** Gives the bot another address, or none; active at once, where a publisher would have to answer a test. */
    async moveTo(webhookUrl: string | null) {
      await updateBot(database, { botId, settings: { webhookUrl }, now: new Date() });
      await this.setEndpoint({ state: "active" });
      startedDeliveries(database).wake();
    },
  };
}

const started = new Set<{ database: AdDatabase; deliveries: WebhookDelivery }>();

/** Wakes the loops that tests have started on the database; claims nothing. */
export function startedDeliveries(database: AdDatabase): Deliveries {
  const wake = () => {
    for (const one of started) if (one.database === database) one.deliveries.wake();
  };
  return {
    wake,
    async sendNew(most, make) {
      const result = await noDeliveries.sendNew(most, make);
      wake();
      return result;
    },
  };
}

const logged: { facts: object; message: string }[] = [];
const silent = (facts: object, message: string) => void logged.push({ facts, message });

export function startTestDelivery(database: AdDatabase, limits: Partial<DeliveryLimits> = {}) {
  const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: ["127.0.0.0/8"] } });
  const deliveries = openWebhookDelivery({
    ...{ database, secretBox: testSecretBox, requests },
    log: { info: silent, warn: silent, error: silent },
    limits: { sweepMs: 100, pollMs: 100, ...limits },
  });
  const entry = { database, deliveries };
  started.add(entry);
  deliveries.start();
  return {
    deliveries,
    async stop() {
      started.delete(entry);
      await deliveries.stop();
      await requests.close();
    },
  };
}

/** Waits for what is true soon, or fails with what it saw last. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isTrue: (value: T) => boolean,
  withinMs = 8000,
): Promise<T> {
  const until = Date.now() + withinMs;
  while (true) {
    const value = await look();
    if (isTrue(value)) return value;
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
