import { randomUUID } from "node:crypto";
import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";
import { parseWebhookEvent, type WebhookEvent } from "@intermission/ad-core/webhook-event";
import { groupCommits } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { type BookedLine, bookEvents, type EventLine, type Payout } from "./book-events.ts";
import { bookTwoFieldEvent, type UnmatchedReason } from "./book-two-field-event.ts";

export interface WebhookRequest {
  body: Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type ReceiveWebhookOutcome =
  /** In the ledger, paid or with the reason why not; `entry` is undefined for an event that was there before. */
  | { outcome: "booked"; entry: BookedLine | undefined }
  | { outcome: "unmatched"; reason: UnmatchedReason }
  | { outcome: "bad-signature" }
  | { outcome: "bad-shape"; message: string }
  | { outcome: "foreign-bot" };

export type ReceiveWebhook = (request: WebhookRequest, now: Date) => Promise<ReceiveWebhookOutcome>;

export interface ReceiveWebhookOptions {
  database: Database<unknown>;
  botId: string;
  tokens: readonly string[];
  payout: Payout;
  twoFieldEvents: "off" | "match";
  /** Called after each commit that may have added entries. */
  onBooked: () => void;
}

/** Makes the receiver. It resolves only after the commit, so that a 2xx answer means: kept. */
export function receiveWebhook({ database, botId, payout, ...options }: ReceiveWebhookOptions): ReceiveWebhook {
  const group = groupCommits<EventLine, BookedLine | undefined>({
    async run(lines) {
      const booked = new Map((await bookEvents(database, botId, payout, lines)).map((line) => [line.event_id, line]));
      options.onBooked();
      return lines.map((line) => booked.get(line.eventId));
    },
    mergeBy: (line) => line.eventId,
    maxInFlight: database.kind === "embedded" ? 1 : 2,
  });

  return async ({ body, headers }, now) => {
    if (!isSigned(body, headers, options.tokens, now)) return { outcome: "bad-signature" };
    const parsed = parseWebhookEvent(body);
    if (parsed.outcome === "invalid") return { outcome: "bad-shape", message: parsed.message };
    const { event } = parsed;
    if (isForeign(headers["x-bot-id"], botId) || isForeign(event.bot_id, botId)) return { outcome: "foreign-bot" };
    // PostgreSQL's text cannot hold U+0000.
    if ([event.event_id, event.code, event.reference].some((text) => text?.includes("\0"))) {
      return { outcome: "bad-shape", message: "a field contains U+0000" };
    }
    const evidence = { rawBody: Buffer.from(body).toString("utf8"), signatureHeader: String(headers["x-signature"]) };
    const eventId = idOf(event);
    if (eventId !== undefined) {
      return { outcome: "booked", entry: await group.submit({ ...lineOf(event, eventId), ...evidence }) };
    }
    const line = { ...lineOf(event, `two-field:${randomUUID()}`), ...evidence };
    const outcome = await bookTwoFieldEvent(database, botId, payout, options.twoFieldEvents, line);
    options.onBooked();
    return outcome;
  };
}

type Headers = WebhookRequest["headers"];

function isSigned(body: Uint8Array, headers: Headers, tokens: readonly string[], now: Date): boolean {
  const isSignedByContract = verify(body, singleOf(headers["x-signature"]), tokens);
  // A sender that speaks Standard Webhooks, too, binds the moment of sending: a replayed webhook does not pass.
  const isStandard = Object.keys(headers).some((name) => name.startsWith("webhook-"));
  return isSignedByContract && (!isStandard || verifyStandardWebhook(body, headers, tokens, now));
}

function singleOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

function isForeign(botId: string | string[] | undefined, ours: string): boolean {
  return botId !== undefined && botId !== ours;
}

/** A code earns each kind of event once: code and kind are an id, too, where a service sends no other. */
function idOf(event: WebhookEvent): string | undefined {
  return event.event_id ?? (event.code && `${event.code}:${event.event}`);
}

function lineOf(event: WebhookEvent, eventId: string): Omit<EventLine, "rawBody" | "signatureHeader"> {
  return {
    eventId,
    event: event.event,
    userId: event.user_tg_id,
    code: event.code ?? null,
    reference: event.reference || null,
    occurredAt: event.occurred_at ?? null,
    isTest: event.test === true || event.user_tg_id === "0",
    isTwoField: event.event_id === undefined && event.code === undefined,
  };
}
