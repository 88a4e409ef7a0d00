import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import type { ListedEvent } from "@intermission/ad-core/listed-event";
import { encodeWebhookEvent, type OutgoingWebhookEvent } from "@intermission/ad-core/outgoing-webhook";
import { SIGNATURE_TEST_USER_AGENT } from "@intermission/ad-core/webhook-refusal";
import type { FakeWebhook } from "./fake-interface.ts";
import { signBody } from "./sign-webhook.ts";

export interface Attempt {
  readonly status: number | undefined;
  readonly isDelivered: boolean;
  /** The beginning of the answer, or why there was none. */
  readonly answer: string;
  readonly contentType?: string | null;
  readonly totalMs: number;
}

interface StoredEvent {
  readonly fields: OutgoingWebhookEvent;
  /** The same bytes on every attempt. */
  readonly text: string;
  delivery: Exclude<ListedEvent["delivery"], "not-kept">;
  readonly attempts: (Attempt & { readonly startedAt: Date; readonly url: string })[];
}

const MAX_ANSWER_LENGTH = 1000;
const TIMEOUT_MS = 10_000;
const SIGNATURE_TEST_TIMEOUT_MS = 5000;

/** The events of the fake's bot in their sequence, and their deliveries. */
export class FakeEvents {
  readonly #tokens: readonly string[];
  readonly #now: () => Date;
  readonly #events: StoredEvent[] = [];
  webhook: FakeWebhook | undefined;

  constructor(options: { tokens: readonly string[]; now: () => Date; webhook: FakeWebhook | undefined }) {
    this.#tokens = options.tokens;
    this.#now = options.now;
    this.webhook = options.webhook;
  }

  add(earned: Omit<OutgoingWebhookEvent, "event_id" | "occurred_at">): StoredEvent {
    const now = this.#now();
    const { event, bot_id, user_tg_id, ...others } = earned;
    const event_id = newEventId(now.getTime(), randomBytes(10));
    const fields = { event, event_id, bot_id, user_tg_id, ...others, occurred_at: now.toISOString() };
    const stored: StoredEvent = { fields, text: encodeWebhookEvent(fields), delivery: "waiting", attempts: [] };
    this.#events.push(stored);
    return stored;
  }

  find(eventId: string): StoredEvent | undefined {
    return this.#events.find(({ fields }) => fields.event_id === eventId);
  }

  /** One attempt. An event that is not accepted waits for the next one; a test event has failed. */
  async send(event: StoredEvent): Promise<Attempt> {
    if (this.webhook === undefined) {
      event.delivery = "held";
      return { status: undefined, isDelivered: false, answer: "the bot has no webhook address", totalMs: 0 };
    }
    event.delivery = "sending";
    const startedAt = this.#now();
    const { event_id: eventId, bot_id: botId, test } = event.fields;
    const signed = signBody(event.text, { botId, eventId, tokens: this.#tokens, now: this.#now() });
    const headers = { ...signed.headers, "webhook-attempt": String(event.attempts.length + 1) };
    const began = performance.now();
    const url = typeof this.webhook === "string" ? this.webhook : "http://bot.test/";
    const received = await receive(this.webhook, { ...signed, headers });
    const attempt = { ...received, totalMs: Math.round(performance.now() - began) };
    event.attempts.push({ ...attempt, startedAt, url });
    event.delivery = attempt.isDelivered ? "delivered" : test ? "failed" : "waiting";
    return attempt;
  }

  /** Whether the webhook accepts an event that is signed with another key, as the ad service tests it. */
  async acceptsWrongSignature(event: StoredEvent): Promise<boolean> {
    if (this.webhook === undefined) return false;
    const [eventId, botId] = [newEventId(this.#now().getTime(), randomBytes(10)), event.fields.bot_id];
    const fields = { event: "rewarded", event_id: eventId, bot_id: botId, user_tg_id: "0", test: true };
    const tokens = [randomBytes(32).toString("hex")];
    const signed = signBody(JSON.stringify(fields), { botId, eventId, tokens, now: this.#now() });
    const headers = { ...signed.headers, "webhook-attempt": "1", "user-agent": SIGNATURE_TEST_USER_AGENT };
    return (await receive(this.webhook, { ...signed, headers }, SIGNATURE_TEST_TIMEOUT_MS)).isDelivered;
  }

  /** Sends the events that wait, as the ad service does on its schedule. */
  async sendWaiting(): Promise<void> {
    for (const event of this.#events) {
      if (event.delivery === "waiting" || event.delivery === "held") await this.send(event);
    }
  }

  get length(): number {
    return this.#events.length;
  }

  /** How many events users earned, by type. */
  count(type: OutgoingWebhookEvent["event"]): number {
    return this.#events.filter(({ fields }) => fields.event === type && !fields.test).length;
  }

  /** What users earned, without tests. */
  earned(): OutgoingWebhookEvent[] {
    return this.#events.flatMap(({ fields }) => (fields.test ? [] : [fields]));
  }

  list(from: number, limit: number): ListedEvent[] {
    return this.#events.slice(from, from + limit).map(({ fields, delivery }) => ({ ...fields, delivery }));
  }
}

async function receive(
  webhook: FakeWebhook,
  request: RequestInit,
  timeoutMs = TIMEOUT_MS,
): Promise<Omit<Attempt, "totalMs">> {
  try {
    const init = { ...request, redirect: "manual" as const, signal: AbortSignal.timeout(timeoutMs) };
    const isAddress = typeof webhook === "string";
    const response = isAddress ? await fetch(webhook, init) : await webhook(new Request("http://bot.test/", init));
    return {
      status: response.status,
      isDelivered: response.ok,
      contentType: response.headers.get("content-type"),
      answer: (await response.text()).slice(0, MAX_ANSWER_LENGTH),
    };
  } catch (error) {
    return { status: undefined, isDelivered: false, answer: error instanceof Error ? error.message : String(error) };
  }
}
