import { randomUUID } from "node:crypto";
import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";
import { parseWebhookEvent, type WebhookEvent } from "@intermission/ad-core/webhook-event";
import { groupCommits } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { bookEvents, isStorable } from "./book-events.ts";
import { bookTwoFieldEvent, type UnmatchedReason } from "./book-two-field-event.ts";
import type { EventLine, Payout } from "./schema.ts";

export interface WebhookRequest {
  body: Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type ReceiveWebhookOutcome =
  /** In the ledger, now or since an earlier delivery; paid, or with the reason why not. */
  | { outcome: "booked" }
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
  const group = groupCommits<EventLine, undefined>({
    async run(lines) {
      const counts = await bookEvents(database, botId, payout, lines);
      if (counts.length > 0) options.onBooked();
      return lines.map(() => undefined);
    },
    maxInFlight: 1,
  });

  return async ({ body, headers }, now) => {
    if (!isSigned(body, headers, options.tokens, now)) return { outcome: "bad-signature" };
    const parsed = parseWebhookEvent(body);
    if (parsed.outcome === "invalid") return { outcome: "bad-shape", message: parsed.message };
    const { event } = parsed;
    if (isForeign(headers["x-bot-id"], botId) || isForeign(event.bot_id, botId)) return { outcome: "foreign-bot" };
    const evidence = { rawBody: Buffer.from(body).toString("utf8"), signatureHeader: String(headers["x-signature"]) };
    const line = { ...lineOf(event, idOf(event) ?? `two-field:${randomUUID()}`), ...evidence };
    if (!isStorable(line)) return { outcome: "bad-shape", message: "a field contains U+0000" };
    if (!line.isTwoField) {
      await group.submit(line);
      return { outcome: "booked" };
    }
    const outcome = await bookTwoFieldEvent(database, botId, payout, options.twoFieldEvents, line);
    options.onBooked();
    return outcome;
  };
}

type Headers = WebhookRequest["headers"];

function isSigned(body: Uint8Array, headers: Headers, tokens: readonly string[], now: Date): boolean {
  const isSignedByContract = verify(body, headers["x-signature"], tokens);
  // A sender that speaks Standard Webhooks, too, binds the moment of sending: a replayed webhook does not pass.
  const isStandard = Object.keys(headers).some((name) => name.startsWith("webhook-"));
  return (
    isSignedByContract && (!isStandard || verifyStandardWebhook({ body, headers, tokens, now }).outcome === "valid")
  );
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
    isTwoField: idOf(event) === undefined,
  };
}
