import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { newEventId } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { addBot } from "../bots/add-bot.ts";
import type { BotSettings } from "../bots/bot-settings.ts";
import { secretBox } from "../bots/secret-box.ts";
import { type DeliveryLimits, startWebhookDelivery } from "./deliver-due-webhooks.ts";
import { enqueueWebhook } from "./enqueue-webhook.ts";
import { wakeDeliveries } from "./wake-deliveries.ts";

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

const insertEvents = statement<{ eventId: string }>(
  "test.enqueue",
  `with earned as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[], $9::text[])
      as earned(bot_id, event_id, event, user_id, code, reference, is_test, occurred_at, body)
  ), ${enqueueWebhook({ from: "earned" })}
  select event_id as "eventId" from enqueued`,
);

let lastBot = 700_000_000;
let lastCode = 0;
const box = secretBox(Buffer.alloc(32, 7));

/** A bot of its own, and what a test does to it. */
export async function openDeliveryStage(database: AdDatabase, settings: Partial<BotSettings>) {
  lastBot += 1;
  const botId = String(lastBot);
  const added = await addBot({ database, secretBox: box }, { botId, settings, now: new Date() });
  if (added.outcome !== "added") throw new Error(added.outcome);

  return {
    botId,
    token: added.token,
    async enqueue(count = 1, options: { code?: string; event?: "rewarded" | "direct_link" } = {}): Promise<string[]> {
      const { event = "rewarded" } = options;
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
      const made = await database.run(insertEvents, columns);
      wakeDeliveries();
      return made.map(({ eventId }) => eventId);
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
    /** What waits for its time is due now. */
    async makeDue() {
      const makeDue = statement(
        "test.make-due",
        "update deliveries set due_at = now() where bot_id = $1 and state = 'waiting'",
      );
      await database.run(makeDue, [botId]);
      wakeDeliveries();
    },
    async set(column: "webhook_url" | "delivery_mode", value: string | null) {
      await database.query
        .updateTable("bots")
        .set({ [column]: value })
        .where("bot_id", "=", botId)
        .execute();
    },
  };
}

const logged: { facts: object; message: string }[] = [];
const silent = (facts: object, message: string) => void logged.push({ facts, message });

export function startTestDelivery(database: AdDatabase, limits: Partial<DeliveryLimits> = {}) {
  return startWebhookDelivery({
    ...{ database, secretBox: box, isPlainHttpAllowed: true, allowedNetworks: ["127.0.0.0/8"] },
    log: { warn: silent, error: silent },
    limits: { sweepMs: 100, pollMs: 100, ...limits },
  });
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
